"""What people read: the terminal table and the one HTML report."""
