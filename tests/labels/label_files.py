"""Labels drawn at random, as tables, as files of the GTRS generator, and as label sets."""

from __future__ import annotations

import pickle

import numpy as np

from navaudit.axes import COLUMNS, LK
from navaudit.labels.labelset import LabelSet, writing

PROTOCOLS = range(2, 6)
STEPS = np.array([0, 0, 0.5, 1, 1, 1, 0.9995, 0.3333, 6e-8], np.float16)


def draw(tokens, candidates=40, seed=0):
    """Labels of some tokens: ``{token: float16[column, candidate]}``."""
    rng = np.random.default_rng(seed)
    return {token: rng.choice(STEPS, (len(COLUMNS), candidates)) for token in tokens}


def humans(table, seed=0):
    """Scores of the human: about half of the tokens have a zero in lane keeping, some elsewhere."""
    rng = np.random.default_rng(seed + 1)
    human = rng.choice([1.0, 1.0, 1.0, 0.5, 0.0], (len(table), len(COLUMNS)))
    human[:, LK] = rng.choice([0.0, 1.0], len(table))
    return dict(zip(table, human, strict=True))


def as_gtrs(table):
    """The same as the generator has it: ``{token: {column: float16[candidate]}}``."""
    return {
        token: {name: values[k].copy() for k, name in enumerate(COLUMNS)}
        for token, values in table.items()
    }


def write_pickle(path, table, protocol=4):
    path.write_bytes(pickle.dumps(as_gtrs(table), protocol))
    return path


def write_folder(path, table, protocol=4):
    for token, columns in as_gtrs(table).items():
        (path / token).mkdir(parents=True)
        (path / token / "tmp.pkl").write_bytes(pickle.dumps(columns, protocol))
    return path


def write_set(folder, table, human=None, logs=None, failures=(), along=None):
    """A label set; without ``human`` its scores are unknown, as in an imported one."""
    candidates = next(iter(table.values())).shape[1]
    along = along or {}
    with writing(folder, {"source": "test"}, {}, candidates=candidates) as draft:
        with draft.parcel("all") as parcel:
            for token, values in table.items():
                score = np.full(len(COLUMNS), np.nan) if human is None else human[token]
                parcel.add(token, (logs or {}).get(token, ""), score, values, along.get(token))
        draft.close(["all"], failures)
    return LabelSet.open(folder)


def load(path):
    """What Python's own unpickler makes of a file."""
    with path.open("rb") as stream:
        return pickle.load(stream)


def same_bytes(found, table):
    """Whether a GTRS dictionary holds the labels of a table, in its order, bit by bit."""
    assert list(found) == list(table)
    for token, values in table.items():
        assert list(found[token]) == list(COLUMNS)
        for k, name in enumerate(COLUMNS):
            array = found[token][name]
            assert type(array) is np.ndarray
            assert array.dtype == np.dtype("<f2")
            assert array.shape == values[k].shape
            assert array.tobytes() == values[k].tobytes(), (token, name)
    return True
