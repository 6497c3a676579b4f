"""How the command line spells an option."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Spelling:
    """How the command line spells a field, where `--` and the field's name do not say it all."""

    short: str = ""  # such as `-x`
    long: str = ""  # instead of `--` and the name
    metavar: str = ""  # what help texts show for the value
    help: str = ""  # instead of the description
    argument: str = ""  # values may also follow the command without a flag; what help calls them
    offered: bool = True  # whether the command line has this option at all
