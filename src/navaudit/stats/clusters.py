"""Cluster bootstrap over logs: token-weighted means whose logs are drawn with replacement.

A resample draws as many logs as there are, and a mean over its tokens is the drawn logs' sums
divided by the drawn logs' sizes: a product of how often each log was drawn ``[resample, log]`` with
each log's sum and size ``[log, column]``. Only finite values count, so every column has sizes of
its own. One draw serves all subsets and all columns of a call, and the same seed draws the same
logs in any other call on as many: columns may come in several calls.

The product is a plain loop over logs, in the sorted order of their names, not a matrix product of a
linear-algebra library: its bits depend neither on threads nor on the processor.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from navaudit.arrays import frozen
from navaudit.compiled import njit, prange
from navaudit.errors import BadInput
from navaudit.stats.bootstrap import RESAMPLES, Estimate, draw_blocks, estimate

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class ClusterMeans:
    """Means of every column over every subset, and their resamples.

    ``mean`` and ``tokens`` are ``[subset, column]``, ``replicates [resample, subset, column]``;
    NaN where no token has a finite value. ``logs`` counts the clusters.
    """

    subsets: tuple[str, ...]
    mean: FloatArray
    tokens: NDArray[np.int64]
    replicates: FloatArray
    logs: int

    def over(self, subset: str) -> Estimate:
        """Means over a subset, ``[column]``, with their intervals."""
        at = self._index(subset)
        return estimate(self.mean[at], self.replicates[:, at])

    def between(self, first: str, second: str) -> Estimate:
        """Means over the first subset minus those over the second, ``[column]``: interactions."""
        at, minus = self._index(first), self._index(second)
        difference = self.replicates[:, at] - self.replicates[:, minus]
        return estimate(self.mean[at] - self.mean[minus], difference)

    def _index(self, subset: str) -> int:
        if subset not in self.subsets:
            raise BadInput(f"no subset {subset!r}", expected=f"one of {', '.join(self.subsets)}")
        return self.subsets.index(subset)


def cluster_means(
    values: ArrayLike,
    logs: ArrayLike,
    subsets: Mapping[str, ArrayLike],
    *,
    resamples: int = RESAMPLES,
    seed: int,
) -> ClusterMeans:
    """Token-weighted means with logs resampled.

    Parameters
    ----------
    values
        ``[token, column]``, not finite where a token has no value. A paired contrast is a column:
        one run's scores minus another's, token by token.
    logs
        Name of each token's log, ``[token]``; the sorted names are what a draw indexes.
    subsets
        Masks ``[token]`` by name, for instance all, F and R.
    resamples, seed
        How many draws of the logs, and which.

    Examples
    --------
    >>> scores = [[1.0], [3.0], [8.0]]
    >>> means = cluster_means(scores, ["a", "a", "b"], {"all": [True] * 3}, resamples=99, seed=0)
    >>> means.over("all").point.tolist()
    [4.0]
    """
    table = _table(values)
    names, log = np.unique(np.asarray(logs), return_inverse=True)
    masks = _masks(subsets, len(table))
    if log.shape != (len(table),):
        raise BadInput(f"{log.shape} logs for {len(table)} tokens", expected="one log a token")
    sums, sizes = _log_sums(table, log.astype(np.int64), masks, names.size)
    once = np.ones((1, names.size), np.int64)
    replicates = np.empty((resamples, sums.shape[1]))
    for rows, draws in draw_blocks(names.size, resamples, seed):
        _drawn_means(_tallies(draws), sums, sizes, replicates[rows])
    mean = np.empty((1, sums.shape[1]))
    _drawn_means(once, sums, sizes, mean)
    shape = (len(masks), table.shape[1])
    return ClusterMeans(
        subsets=tuple(subsets),
        mean=frozen(mean.reshape(shape), np.float64, shape),
        tokens=frozen(sizes.sum(axis=0).reshape(shape), np.int64, shape),
        replicates=frozen(replicates.reshape(-1, *shape), np.float64, (None, *shape)),
        logs=names.size,
    )


def _table(values: ArrayLike) -> FloatArray:
    table = np.ascontiguousarray(values, dtype=np.float64)
    if table.ndim != 2 or not len(table):
        raise BadInput(f"values have shape {table.shape}", expected="tokens by columns")
    return table


def _masks(subsets: Mapping[str, ArrayLike], tokens: int) -> NDArray[np.bool_]:
    masks = [np.asarray(mask) for mask in subsets.values()]
    for name, mask in zip(subsets, masks, strict=True):
        if mask.dtype != np.bool_ or mask.shape != (tokens,):
            raise BadInput(
                f"subset {name!r} is {mask.dtype} of shape {mask.shape}",
                expected=f"a bool mask of {tokens} tokens",
            )
    if not masks:
        raise BadInput("no subset", expected="at least one, for instance all tokens")
    return np.stack(masks)


@njit(cache=True)
def _log_sums(
    table: FloatArray, log: NDArray[np.int64], masks: NDArray[np.bool_], logs: int
) -> tuple[FloatArray, FloatArray]:
    """Sum and number of the finite values, ``[log, subset x column]`` each, tokens in order."""
    tokens, columns = table.shape
    sums = np.zeros((logs, masks.shape[0] * columns))
    sizes = np.zeros_like(sums)
    for t in range(tokens):
        for s in range(masks.shape[0]):
            for c in range(columns):
                if masks[s, t] and np.isfinite(table[t, c]):
                    sums[log[t], s * columns + c] += table[t, c]
                    sizes[log[t], s * columns + c] += 1.0
    return sums, sizes


@njit(cache=True)
def _tallies(draws: NDArray[np.int64]) -> NDArray[np.int64]:
    """How often each resample drew each log, ``[resample, log]``."""
    counts = np.zeros_like(draws)
    for row in range(draws.shape[0]):
        for i in range(draws.shape[1]):
            counts[row, draws[row, i]] += 1
    return counts


@njit(parallel=True, cache=True)
def _drawn_means(
    counts: NDArray[np.int64], sums: FloatArray, sizes: FloatArray, out: FloatArray
) -> None:
    """Write ``out [resample, column]``: drawn sums over drawn sizes, NaN where nothing is drawn."""
    for row in prange(counts.shape[0]):
        _drawn_mean(counts[row], sums, sizes, out[row])


@njit(cache=True, error_model="numpy")
def _drawn_mean(
    counts: NDArray[np.int64], sums: FloatArray, sizes: FloatArray, out: FloatArray
) -> None:
    tokens = np.zeros(out.size)
    out[:] = 0.0
    for log in range(counts.size):
        times = float(counts[log])
        if times > 0.0:
            for column in range(out.size):
                out[column] += times * sums[log, column]
                tokens[column] += times * sizes[log, column]
    for column in range(out.size):
        out[column] /= tokens[column]
