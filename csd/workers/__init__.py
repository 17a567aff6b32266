"""Worker processes, one for each device: families and races outside the page's process."""
