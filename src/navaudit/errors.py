"""One family of exceptions: what happened, where, what was expected, what to do about it."""

from __future__ import annotations


class NavauditError(Exception):
    """A failure that a person can act on.

    Parameters
    ----------
    what
        One sentence with the offending value in it.
    where
        The token, file, table or option it was found in.
    expected
        What would have been right, with its value.
    remedy
        What to do next.

    Examples
    --------
    >>> print(NavauditError("vocabulary has 39 poses", where="v.npy", expected="40 poses"))
    vocabulary has 39 poses
      where: v.npy
      expected: 40 poses
    """

    exit_code = 2

    def __init__(
        self,
        what: str,
        *,
        where: str | None = None,
        expected: str | None = None,
        remedy: str | None = None,
    ) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.expected = expected
        self.remedy = remedy

    def __str__(self) -> str:
        parts = (("where", self.where), ("expected", self.expected), ("remedy", self.remedy))
        return "\n".join([self.what, *(f"  {name}: {text}" for name, text in parts if text)])

    def __reduce__(self) -> tuple[object, ...]:
        # keyword-only arguments do not survive the default protocol, and errors cross processes
        return _rebuild, (type(self), self.what, self.where, self.expected, self.remedy)


def _rebuild(
    kind: type[NavauditError],
    what: str,
    where: str | None,
    expected: str | None,
    remedy: str | None,
) -> NavauditError:
    return kind(what, where=where, expected=expected, remedy=remedy)


class BadInput(NavauditError):  # noqa: N818 - the name is what a reader says
    """A file, an array or an option is not what it should be."""


class Refused(NavauditError):  # noqa: N818
    """A file asks for something the house does not do, such as running code."""


class Unhealthy(NavauditError):  # noqa: N818
    """The machine computes wrong numbers, or the answer to a question is no."""

    exit_code = 1
