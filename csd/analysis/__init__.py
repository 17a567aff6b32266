"""What runs and numbers mean."""
