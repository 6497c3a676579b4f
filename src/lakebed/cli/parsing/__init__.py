"""How commands are declared: shared options, completion, errors as exit codes."""
