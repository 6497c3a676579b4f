"""What a landing file is: its format, its header, whether it is whole."""
