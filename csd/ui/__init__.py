"""What people see; everything here reads traces."""
