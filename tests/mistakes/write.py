"""Writes the tables of mistakes anew: `python -m tests.mistakes.write`."""

from pathlib import Path

from tests.mistakes.generated import table

if __name__ == "__main__":
    (Path(__file__).parent / "settings.txt").write_text(table())
