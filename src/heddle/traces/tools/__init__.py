"""What one does with traces: cut, scale, sample, write in other formats, share."""
