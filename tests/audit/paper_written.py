"""The paper's numbers as exact fractions, and how closely a relation between written ones holds.

A relation is ``(what, left, right, slack)``: the two sides agree within the slack, which is what
rounding of the written numbers allows and otherwise nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

EXACT = Fraction(0)
SEEDS = ("0", "1", "2")


class Written(Mapping[str, Fraction]):
    """Named numbers as exact fractions; remembers who was asked for."""

    def __init__(self, texts):
        self.texts = dict(texts)
        self.asked = set()

    def __getitem__(self, name):
        self.asked.add(name)
        return Fraction(self.texts[name].replace(",", ""))

    def __iter__(self):
        return iter(self.texts)

    def __len__(self):
        return len(self.texts)

    def many(self, name):
        """Whole numbers that are written one after the other."""
        self.asked.add(name)
        return tuple(int(one.replace(",", "")) for one in self.texts[name].split(", "))

    def half(self, name):
        """Half a unit in the last place that is written."""
        _, _, places = self.texts[name].partition(".")
        return Fraction(1, 2 * 10 ** len(places))


def percent(part, whole):
    return Fraction(100 * part, whole)


def rounded(n, what, name, exact):
    """The named number is the exact one, rounded to the nearest."""
    return what, n[name], Fraction(exact), n.half(name)
