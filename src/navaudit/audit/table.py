"""A table of results: the same rows for a spreadsheet and for a reader."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass

Cell = str | int | float | None


@dataclass(frozen=True)
class Table:
    """Rows under named columns; text is written as it is, None as nothing."""

    name: str
    """Stem of its files."""
    title: str
    """One sentence: what is counted, and of what."""
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def csv(self) -> str:
        r"""Write it with whole numbers bare and floats unrounded.

        Examples
        --------
        >>> Table("t", "Tokens.", ("predicate", "tokens"), (("P1", 12576),)).csv()
        'predicate,tokens\nP1,12576\n'
        """
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(["" if one is None else one for one in row] for row in self.rows)
        return text.getvalue()

    def markdown(self) -> str:
        """Write it under its title, whole numbers in groups of three, and nothing as ``---``.

        Examples
        --------
        >>> print(Table("t", "Tokens.", ("predicate", "tokens"), (("P1", 12576),)).markdown())
        Tokens.
        <BLANKLINE>
        | predicate | tokens |
        | --- | ---: |
        | P1 | 12,576 |
        <BLANKLINE>
        """
        lines = [self.title, "", _line(self.columns), _line(tuple(self._rules()))]
        lines += [_line(tuple(_read(one) for one in row)) for row in self.rows]
        return "\n".join(lines) + "\n"

    def _rules(self) -> Iterator[str]:
        for index in range(len(self.columns)):
            left = index == 0 or any(
                isinstance(row[index], str) and not _numeric(str(row[index])) for row in self.rows
            )
            yield "---" if left else "---:"


def _numeric(text: str) -> bool:
    return not text.strip("+-0123456789.,%")


def _read(cell: Cell) -> str:
    if cell is None:
        return "---"
    if isinstance(cell, float):
        return f"{cell:.6g}"
    return f"{cell:,}" if isinstance(cell, int) else cell


def _line(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(one.replace("|", "\\|") for one in cells) + " |"
