"""Other people's (or anyone's) ways to simulate the same thing: what heddle's speed is measured against."""
