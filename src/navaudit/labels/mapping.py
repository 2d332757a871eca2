"""Labels as trainers read them: ``labels[token][column]``, one token in memory at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from navaudit.axes import COLUMNS
from navaudit.errors import BadInput
from navaudit.labels.chunks import Halves
from navaudit.labels.labelset import LabelSet
from navaudit.labels.policies import apply, needs_human, no_human


class Labels(Mapping[str, Mapping[str, Halves]]):
    """Stands in the place of an unpickled label file.

    Nothing is read before a column is asked for; then the token is, and stays with what
    ``labels[token]`` has returned. Can be pickled and forked. Arrays are read-only, and NaN where
    the policy abstains::

        labels = Labels(LabelSet.open(folder), "published")
        labels["17aea395c71117ae"]["lane_keeping"]  # float16 [candidate]
    """

    def __init__(self, label_set: LabelSet, policy: str = "published") -> None:
        """Refuses a policy that needs human scores where the set has none."""
        if needs_human(policy) and not label_set.knows_human:
            raise no_human(policy, str(label_set.folder))
        self.label_set = label_set
        self.policy = policy

    def __getitem__(self, token: str) -> Mapping[str, Halves]:
        if token not in self.label_set:
            raise KeyError(token)
        return TokenLabels(self.label_set, self.policy, token)

    def __contains__(self, token: object) -> bool:
        return token in self.label_set

    def __iter__(self) -> Iterator[str]:
        return iter(self.label_set.tokens)

    def __len__(self) -> int:
        return len(self.label_set)

    def values_of(self, token: str) -> Halves:
        """Return all columns of a token: ``[column, candidate]``."""
        return read_token(self.label_set, self.policy, token)


class TokenLabels(Mapping[str, Halves]):
    """The columns of one token, in stored order."""

    def __init__(self, label_set: LabelSet, policy: str, token: str) -> None:
        self._of = (label_set, policy, token)
        self._values: Halves | None = None

    def __getitem__(self, column: str) -> Halves:
        if column not in COLUMNS:
            raise KeyError(column)
        if self._values is None:
            self._values = read_token(*self._of)
        return self._values[COLUMNS.index(column)]

    def __iter__(self) -> Iterator[str]:
        return iter(COLUMNS)

    def __len__(self) -> int:
        return len(COLUMNS)


def read_token(label_set: LabelSet, policy: str, token: str) -> Halves:
    """Return what a policy makes of one token: ``[column, candidate]``.

    A scene without a human, in a set that knows the others', is one in which the rule never fires.
    """
    human = label_set.human[label_set.index(token)]
    if np.isnan(human).all() and label_set.knows_human:
        human = np.ones(len(COLUMNS))
    path = label_set.path_lane_keeping(token) if policy == "path" else None
    try:
        return apply(policy, label_set.raw(token), human, path)
    except BadInput as error:
        if error.where is not None:
            raise
        where = f"{label_set.folder}, token {token}"
        raise BadInput(
            error.what, where=where, expected=error.expected, remedy=error.remedy
        ) from error
