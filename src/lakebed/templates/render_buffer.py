"""Collecting rendered text with the source line of each of its lines."""

from lakebed.templates.literal import write_escapes

LONGEST = 1_048_576


class TooLong(Exception):
    """The text is longer than any query should be."""

    def __init__(self, line: int) -> None:
        self.line = line
        super().__init__(f"the template produces more than {LONGEST:,} characters.")


class RenderBuffer:
    """Pieces of output in order. A line belongs to the piece with its first visible character."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._length = 0
        self._lines: list[int] = []
        self._settled = False

    def add(self, piece: str, *, line: int, plain: bool) -> None:
        """Append a piece from a source line; the lines of `plain` text are consecutive source
        lines.
        """
        piece = write_escapes(piece)
        self._length += len(piece)
        if self._length > LONGEST:
            raise TooLong(line)
        self._pieces.append(piece)
        for row, part in enumerate(piece.split("\n")):
            self._place(part, line + row if plain else line, begins=row > 0)

    def text(self) -> str:
        return "".join(self._pieces)

    def lines(self) -> tuple[int, ...]:
        return tuple(self._lines) or (1,)

    def _place(self, part: str, line: int, *, begins: bool) -> None:
        if begins or not self._lines:
            self._lines.append(line)
            self._settled = False
        if part.strip() and not self._settled:
            self._lines[-1] = line
            self._settled = True
