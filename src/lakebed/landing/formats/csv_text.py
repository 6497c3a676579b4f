"""CSV headers and quotes; everything else is parsed by Spark."""

import csv
import io
import re
from collections.abc import Iterable
from dataclasses import dataclass

_BLANK = "".join(map(chr, range(33)))  # what Spark strips before it treats a line as empty
LINE_BREAK = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True)
class CsvDialect:
    """Delimiter, quote and escape characters."""

    delimiter: str
    quote: str
    escape: str

    def records(self, lines: Iterable[str]) -> Iterable[list[str]]:
        """The fields of each record; `csv.Error` where quotes are left open."""
        doubled = self.escape == self.quote
        return csv.reader(
            lines,
            delimiter=self.delimiter,
            quotechar=self.quote,
            doublequote=doubled,
            escapechar=None if doubled else self.escape,
            strict=True,
        )


def first_record(text: str, signs: CsvDialect, *, multiline: bool) -> list[str] | None:
    """The fields of the first record that is not blank, if any; `csv.Error` if its quotes are not
    closed.
    """
    lines = list(io.StringIO(text, newline="")) if multiline else LINE_BREAK.split(text)
    filled = next((place for place, line in enumerate(lines) if line.strip(_BLANK)), None)
    if filled is None:
        return None
    return next(iter(signs.records(lines[filled:] if multiline else [lines[filled]])))


def next_records(
    text: str, signs: CsvDialect, *, whole: bool
) -> tuple[list[list[str]], int | None]:
    """The records after the first one, as far as lines of the text can be read on their own, and
    the number of the first line before the last that ends inside quotes, if any does. The last line
    is read only if the text is the `whole` file.
    """
    numbered = enumerate(LINE_BREAK.split(text), 1)
    lines = [(number, line) for number, line in numbered if line.strip(_BLANK)]
    found: list[list[str]] = []
    open_line = None
    for number, line in lines[1:] if whole else lines[1:-1]:
        try:
            found += signs.records([line])
        except csv.Error:
            is_last = number == lines[-1][0]
            if open_line is None and not is_last and ends_inside_quotes(line, signs):
                open_line = number
    return found, open_line


def ends_inside_quotes(line: str, signs: CsvDialect) -> bool:
    """Whether a line that begins outside of quotes leaves some open."""
    quotes = QuoteTracker(signs)
    quotes.feed(line)
    return quotes.open


def last_line(text: str) -> str:
    """The last line that is not blank."""
    return next((line for line in reversed(LINE_BREAK.split(text)) if line.strip(_BLANK)), "")


def other_delimiter(record: list[str], delimiter: str) -> str:
    """The delimiter that a record of one field seems to have instead; empty if none."""
    if len(record) != 1:
        return ""
    return next((sign for sign in ",;\t|" if sign != delimiter and sign in record[0]), "")


def header_error(names: list[str], quote: str) -> str:
    """Why these cannot be the names of columns; empty if they can."""
    for place, name in enumerate(names, 1):
        if not name.strip(_BLANK):
            return f"column {place} of its header has no name"
        if any(ord(sign) < 32 for sign in name):
            return f"the name of column {place} in its header holds control characters: {name!r}"
        if name != name.lstrip() and name.lstrip().startswith(quote):
            return f"a blank stands before the quotes of column {place} in its header: {name!r}"
    if twice := duplicate_names(name.strip() for name in names):
        return f"its header has the column {twice[0]} twice" + (
            f" (also as {twice[1]})" if twice[0] != twice[1] else ""
        )
    return ""


def duplicate_names(names: Iterable[str]) -> tuple[str, str] | None:
    """Two names that are the same to Spark, which ignores case; None if there are none."""
    seen: dict[str, str] = {}
    for name in names:
        if name.casefold() in seen:
            return seen[name.casefold()], name
        seen[name.casefold()] = name
    return None


class QuoteTracker:
    """Follows CSV text line by line and knows whether it is inside quotes."""

    def __init__(self, signs: CsvDialect) -> None:
        self._signs = signs
        self._special = re.compile(
            "[" + re.escape(f"{signs.delimiter}{signs.quote}{signs.escape}\r\n") + "]"
        )
        self.open = False

    def feed(self, line: str) -> None:
        """Read the next line, given whole with its line break."""
        signs, field_at, at = self._signs, 0, 0
        while found := self._special.search(line, at):
            sign, place, at = found[0], found.start(), found.end()
            if self.open and sign == signs.escape and self._escapes(line[at : at + 1]):
                at += 1
            elif sign == signs.quote:
                self.open = not self.open and place == field_at
            elif not self.open and sign != signs.escape:
                field_at = at

    def _escapes(self, following: str) -> bool:
        return following == self._signs.quote or self._signs.escape != self._signs.quote
