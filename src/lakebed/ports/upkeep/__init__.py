"""What checks, backups and relocation need."""
