"""Small label sets, with every degenerate case a column can be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

DISCRETE = (0, 1, 2, 3, 5, 6, 7)
HALVES = (0, 2)


@dataclass(frozen=True)
class Small:
    """Labels of a few tokens, and how they are handed to the audit."""

    raw: np.ndarray
    human: np.ndarray | None
    published: np.ndarray

    @property
    def derived(self):
        """Whether the published labels follow from the raw ones and the human."""
        return self.human is not None and np.array_equal(
            self.published, np.where((self.human == 0)[:, :, None], np.float16(1), self.raw)
        )


def draw(rng, tokens, candidates, fires, only, levels, passes, residuals, known):
    """Labels of `tokens`, each column constant, sparse or mixed by chance."""
    raw = np.empty((tokens, 9, candidates), np.float16)
    for token in range(tokens):
        for column in range(9):
            if column in DISCRETE and rng.random() < passes:
                raw[token, column] = 1.0
            else:
                raw[token, column] = _column(rng, column, candidates, levels)
    human = rng.choice(
        [0.0, 0.5, 1.0], (tokens, 9), p=[fires, 0.3 * (1 - fires), 0.7 * (1 - fires)]
    )
    human[rng.random((tokens, 9)) < 0.05] = np.nan
    human[:, [column for column in range(9) if column not in only]] = 1.0
    published = np.where((human == 0)[:, :, None], np.float16(1), raw)
    if residuals:
        wrong = rng.random((tokens, 9)) < 0.15
        other = rng.permuted(published, axis=2)
        other[rng.random((tokens, 9)) < 0.2] = 0.5
        turned = rng.random((tokens, 9)) < 0.3
        other[turned] = 1 - other[turned]
        published = np.where(wrong[:, :, None], other, published)
    return Small(raw, human if known else None, published)


def _column(rng, column, candidates, levels):
    values = [0.0, 1.0] if column in DISCRETE else list(np.linspace(0, 1, levels))
    if column in HALVES or rng.random() < 0.2:
        values.append(0.5)
    kind = rng.integers(4)
    if kind == 0:
        return np.full(candidates, rng.choice(values), np.float16)
    if kind == 1:
        drawn = np.full(candidates, rng.choice(values))
        drawn[rng.integers(candidates)] = rng.choice(values)
        return drawn.astype(np.float16)
    if kind == 2:
        return rng.choice(values, candidates).astype(np.float16)
    return rng.choice(values, candidates, p=rng.dirichlet(np.ones(len(values)))).astype(np.float16)


SMALL = st.builds(
    lambda seed, **how: draw(np.random.default_rng(seed), **how),
    seed=st.integers(0, 2**32 - 1),
    tokens=st.integers(1, 6),
    candidates=st.sampled_from((1, 2, 3, 4, 5, 8, 17, 64)),
    fires=st.sampled_from((0.0, 0.1, 0.5, 1.0)),
    only=st.sampled_from((range(9), (6,), (2, 5, 6))),
    levels=st.sampled_from((1, 2, 3, 200)),
    passes=st.sampled_from((0.0, 0.8)),
    residuals=st.booleans(),
    known=st.booleans(),
)
