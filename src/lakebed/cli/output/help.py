"""Typer's help, loaded without what Lakebed's help never uses."""

import sys
from types import ModuleType

# Typer's help imports these for texts in Markdown and for tracebacks; they bring a parser and a
# highlighter along and take longer than the rest of it.
_UNUSED = {"rich.markdown": "Markdown", "rich.traceback": "Traceback"}


def load_help(arguments: list[str]) -> None:
    """Import Typer's help quickly, if the arguments ask for help. Without this call it is the same
    help, later.
    """
    if arguments and not {"-h", "--help"} & set(arguments):
        return
    placed = [name for name in _UNUSED if name not in sys.modules]
    sys.modules.update({name: _placeholder(name) for name in placed})
    try:
        import typer.rich_utils  # noqa: F401
    finally:
        for name in placed:
            del sys.modules[name]


def _placeholder(name: str) -> ModuleType:
    module = ModuleType(name)
    setattr(module, _UNUSED[name], type(_UNUSED[name], (), {}))
    return module
