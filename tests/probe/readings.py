"""Scenes whose readings are given, and those that are not are drawn."""

import numpy as np

from navaudit.probe.scenes import Scenes

RATES = ("auc", "control_auc", "own_auc", "precision", "grouped_precision")


def scenes_of(forgiven, seed=0, max_fpr=0.1, draws=0, **given):
    forgiven = np.asarray(forgiven)
    count = len(forgiven)
    random = np.random.default_rng(seed)
    values = {name: random.random(count) for name in RATES}
    values["area"] = max_fpr * random.random(count) * (random.random(count) < 0.7)
    values["grouped_area"] = values["area"]
    values["gap"] = values["grouped_gap"] = np.zeros(count)
    values["failing"] = random.integers(1, 100, count)
    values["own_forgiven"] = np.zeros(count, bool)
    there = int(forgiven.sum())
    drawn = {"drawn_precision": values["precision"], "drawn_area": values["area"]}
    values.update(given)
    return Scenes(
        tokens=tuple(f"token-{k:04d}" for k in range(count)),
        forgiven=forgiven,
        constant=(0, 0),
        max_fpr=max_fpr,
        **{name: np.resize(each[forgiven], (draws, there)) for name, each in drawn.items()},
        **values,
    )
