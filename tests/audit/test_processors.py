"""The same labels under other kernels: a broken one for real, and libraries made sick."""

from __future__ import annotations

import doctest
import hashlib
import stat
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.kept_scenes import keep
from navaudit.audit import environments as environments_module
from navaudit.audit.elsewhere import Fitter
from navaudit.audit.environments import Absent, Environment, Ready, make_ready
from navaudit.audit.processed import Processors
from navaudit.audit.processors import READINGS, ProcessorsQuestion, _differences
from navaudit.audit.regenerated import Labels
from navaudit.audit.rounds import Answers, gather, go_round, read_part
from navaudit.axes import COLUMNS
from navaudit.errors import BadInput, Unhealthy
from navaudit.numerics import lapack
from navaudit.scene.digest import digest_arrays
from navaudit.scene.vocabulary import Vocabulary
from navaudit.score.score import Settings, score_human, score_scene
from score.golden import OURS, ours

COUNT = 16
POSES = ours(OURS[0]).poses[:COUNT]
NAMES = ("straight_green", "random0", "curve", "ttc_brake", "lane_change", "synthetic_token")
"""One of them has no human, and two humans do not keep their lane."""


def ready(name, interpreter=sys.executable, label=""):
    found = make_ready(Environment.named(name, str(interpreter), label))
    assert isinstance(found, Ready), found
    return found


def scenes_of(folder, names=NAMES):
    return keep(folder / "scenes", [ours(name).scene for name in names], each=4)


def regenerate(folder, environments, names=NAMES, **how):
    scenes = scenes_of(folder, names)
    question = ProcessorsQuestion(scenes, Vocabulary(POSES), environments, **how)
    answers = gather(map(read_part, go_round(scenes, question, folder / "out")), "here")
    return scenes, answers, Processors.of(answers, environments, (), question.repeats)


def closed_digest(scenes):
    """Digest over labels by the closed forms, from what the stock generator wrote."""
    digests = []
    for token, name in zip(scenes.tokens, NAMES, strict=True):
        golden, human = ours(name), np.full(9, np.nan)
        if scenes.scene(token).human is not None:
            human = golden.human("v2.0", "per-candidate")
        raw = golden.labels("v2.0", "per-candidate")[:, :COUNT]
        digests.append(digest_arrays([np.ascontiguousarray(raw), human]))
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()


@pytest.fixture(scope="module")
def stock(sick_interpreter, tmp_path_factory):
    """The NumPy of the benchmark under three kernels and without AVX-512; Haswell first."""
    names = ("haswell", "cooperlake", "skylakex", "haswell-noavx512", "default")
    environments = tuple(ready(name, sick_interpreter) for name in names)
    return regenerate(tmp_path_factory.mktemp("stock"), environments)


def test_the_broken_kernel_changes_labels_in_every_scene(stock):
    _, answers, found = stock
    broken = found.outcomes[1]
    assert (broken.ready.blas, broken.ready.healthy) == ("0.3.20 Cooperlake", False)
    assert broken.equal == (0, 0)
    assert (broken.differing.sum(axis=1) > 0).all()
    assert broken.largest.max() == 1.0
    assert broken.median_share > 10.0
    assert broken.moved_m > 1000.0
    # of one scene there is no human
    assert broken.human_differs >= len(answers.tokens) - 2
    assert not found.all_equal


def test_it_does_so_again_and_again(stock):
    _, _, found = stock
    for one in found.outcomes:
        assert one.repeats_equal == one.repeated_drives_equal == found.tokens


def test_neither_paths_nor_scorer_nor_closed_forms_are_touched(stock):
    """The cross-feed: what Haswell drove is scored under the broken kernel as under its own."""
    scenes, _, found = stock
    assert found.closed_holds
    for one in found.outcomes:
        assert one.paths_equal == one.crossfeed_equal == one.closed_equal == found.tokens
    assert found.closed_digest == closed_digest(scenes)


def test_other_kernels_of_the_same_library_give_the_stock_labels(stock):
    """The drives differ by bits, the labels do not: they are also those of the closed forms."""
    _, _, found = stock
    reference, _, avx512, quiet, chosen = found.outcomes
    for one in (reference, avx512, quiet):
        assert one.equal == (found.tokens, found.tokens)
        assert one.from_closed.sum() == 0
        assert one.moved_m < 1e-6
    assert avx512.drives_differ > 0
    assert not any(path.startswith("AVX512") for path in quiet.ready.examination.simd_running)
    # left alone, the library takes the broken kernel
    assert chosen.ready.blas == "0.3.20 Cooperlake"
    np.testing.assert_array_equal(chosen.differing, found.outcomes[1].differing)


def test_the_papers_names_are_given_where_its_kernels_ran(stock):
    from navaudit.report.needs import PROCESSORS, need
    from navaudit.report.paper import paper_numbers

    _, _, found = stock
    numbers = {one.name: one.text for one in found.findings()}
    wanted = {name for name in paper_numbers() if need(name) is PROCESSORS}
    # a second sample, another processor, and the published file are not part of a run
    assert wanted - set(numbers) == {
        "ob_pin_reproduced", "ob_skx_tokens", "rome_expected", "rome_tokens",
        "spr_sample_reproduced", "spr_sample_tokens",
    }  # fmt: skip
    assert (numbers["spr_default_reproduced"], numbers["ob_pin_tokens"]) == ("0", "6")
    assert numbers["ob_allpin_nodispatch_tokens"] == "6"
    turned = replace(found, outcomes=(found.outcomes[2], *found.outcomes[:2]))
    assert not wanted & {one.name for one in turned.findings()}


# ------------------------------------------------------------------------- ones that are made sick


def interpreter(folder, patch):
    """This interpreter with a NumPy whose pseudoinverse does something else."""
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(f"import numpy as np\n{patch}\n")
    script = folder / "python"
    script.write_text(f'#!/bin/sh\nPYTHONPATH="{folder}" exec "{sys.executable}" "$@"\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return script


SCALED = "true = np.linalg.pinv\nnp.linalg.pinv = lambda *a, **k: 1.02 * true(*a, **k)"
GIVES_UP = (
    "true = np.linalg.pinv\n"
    "def pinv(a, *rest, **how):\n"
    "    if len(a) > 3:\n"
    "        raise np.linalg.LinAlgError('no convergence')\n"
    "    return true(a, *rest, **how)\n"
    "np.linalg.pinv = pinv"
)
SHAKY = (
    "import os\ntrue = np.linalg.pinv\n"
    "np.linalg.pinv = lambda *a, **k: (1.0 + 1e-4 * (os.getpid() % 97 + 1)) * true(*a, **k)"
)
DIES = (
    "import os\ntrue = np.linalg.pinv\n"
    "np.linalg.pinv = lambda a, *r, **k: os._exit(9) if len(a) > 3 else true(a, *r, **k)"
)


def test_a_library_that_is_off_by_two_percent_is_seen_entry_by_entry(tmp_path, monkeypatch):
    environments = (
        ready("default"), ready("default", interpreter(tmp_path / "off", SCALED), "off"),
    )  # fmt: skip
    scenes, answers, found = regenerate(tmp_path, environments)
    off = found.outcomes[1]
    assert off.equal[1] < found.tokens
    assert off.repeats_equal == off.crossfeed_equal == off.closed_equal == found.tokens
    assert found.closed_digest == closed_digest(scenes)
    # the same, made here and all at once
    whole = [pinv_labels(scenes.scene(token)) for token in scenes.tokens]
    true = np.linalg.pinv
    monkeypatch.setattr(np.linalg, "pinv", lambda *words, **how: 1.02 * true(*words, **how))
    scaled = [pinv_labels(scenes.scene(token)) for token in scenes.tokens]
    for k, (one, other) in enumerate(zip(whole, scaled, strict=True)):
        for reading in ("published", "raw"):
            unlike = (one[reading] != other[reading]).sum(axis=1)
            place = READINGS.index(reading)
            assert answers.array["differing"][k, 1, place].tolist() == unlike.tolist()


def pinv_labels(scene):
    """Labels through this process's own pseudoinverse, with the rule applied and without."""
    settings = Settings(solver="pinv")
    raw = score_scene(scene, Vocabulary(POSES), settings).labels()
    if scene.human is None:
        return {"raw": raw, "published": raw}
    human = score_human(scene, settings).columns[:, 0]
    return {"raw": raw, "published": np.where(human[:, None] == 0, np.float16(1), raw)}


def test_a_library_that_gives_up_has_no_labels_and_equals_nothing(tmp_path):
    sick = interpreter(tmp_path / "sick", GIVES_UP)
    environments = (ready("default"), ready("default", sick, "sick"))
    _, _, found = regenerate(tmp_path, environments, NAMES[:2])
    gone = found.outcomes[1]
    assert (gone.gave_up, gone.equal, gone.repeats_equal) == (2, (0, 0), 0)
    assert gone.shares.size == 0
    assert np.isnan(gone.moved_m)
    assert gone.crossfeed_equal == gone.closed_equal == 2
    row = next(row for row in found.tables()[0].rows if row[0] == "sick default")
    assert row[-3:] == ("---", "---", 2)


def test_a_reference_that_gives_up_is_refused(tmp_path):
    sick = interpreter(tmp_path / "sick", GIVES_UP)
    scenes = scenes_of(tmp_path, NAMES[:1])
    question = ProcessorsQuestion(scenes, Vocabulary(POSES), (ready("default", sick),))
    (part,) = map(read_part, go_round(scenes, question, tmp_path / "out"))
    assert "the reference could not fit" in part.failures[0].what
    assert "name another reference" in part.failures[0].remedy


def test_a_library_that_differs_from_run_to_run_is_caught(tmp_path):
    sick = interpreter(tmp_path / "sick", SHAKY)
    environments = (ready("default"), ready("default", sick, "shaky"))
    _, _, found = regenerate(tmp_path, environments, NAMES[:2], repeats=2)
    assert found.outcomes[0].repeated_drives_equal == 2
    assert found.outcomes[1].repeated_drives_equal == 0


def test_a_process_that_dies_is_named_and_kills_no_other(tmp_path):
    sick = interpreter(tmp_path / "sick", DIES)
    paths = tmp_path / "paths.npy"
    np.save(paths, np.zeros((4, 41, 3)))
    fitter = Fitter(str(sick), {}, tmp_path / "fit")
    with pytest.raises(BadInput, match="ended over its work: exit code 9"):
        fitter.fit(paths, "pinv")
    fitter.close()
    whole = Fitter(sys.executable, {}, tmp_path / "fit")
    np.testing.assert_array_equal(
        whole.fit(paths, "pinv"), np.stack(lapack.fit(np.load(paths), "pinv"))
    )
    whole.close()


# ---------------------------------------------------------------------------------- environments


def test_what_cannot_be_had_is_told_with_the_reason(tmp_path):
    told = make_ready(Environment.named("haswell", str(tmp_path / "no-python")))
    assert isinstance(told, Absent)
    assert "no-python" in told.reason
    # SciPy's pseudoinverse needs SciPy, which the sick library does without
    bare = interpreter(tmp_path / "bare", "import sys\nsys.modules['scipy'] = None")
    told = make_ready(Environment.named("default", str(bare)), "pinvh")
    assert isinstance(told, Absent)
    assert "SciPy" in told.reason


def test_a_kernel_that_the_library_takes_for_another_is_left_out(sick_interpreter):
    told = make_ready(Environment.named("sapphirerapids", sick_interpreter))
    assert isinstance(told, Absent)
    assert "takes this for its Cooperlake kernel" in told.reason


@pytest.mark.parametrize("name", ["broadwell", "haswell-avx2", ""])
def test_no_other_kernel_is_accepted(name):
    with pytest.raises(BadInput, match="no kernel"):
        Environment.named(name, "python")


def test_settings_pin_a_kernel_and_a_single_thread():
    told = Environment.named("zen", "python").settings(["AVX512_SKX"])
    assert told == {
        "OPENBLAS_CORETYPE": "Zen", "NPY_DISABLE_CPU_FEATURES": "", "OPENBLAS_NUM_THREADS": "1",
    }  # fmt: skip
    quiet = Environment.named("default-noavx512", "python").settings(["X86_V3", "AVX512_SKX"])
    assert (quiet["OPENBLAS_CORETYPE"], quiet["NPY_DISABLE_CPU_FEATURES"]) == ("", "AVX512_SKX")


# -------------------------------------------------------------------------------------- counting


@given(st.integers(0, 2**32 - 1), st.integers(1, 9))
def test_differences_are_those_of_plain_loops(seed, candidates):
    rng = np.random.default_rng(seed)
    values = np.array([0.0, -0.0, 0.25, 0.5, 1.0, np.nan], np.float16)

    def draw():
        raw = rng.choice(values, (9, candidates), p=[0.2, 0.02, 0.2, 0.2, 0.36, 0.02])
        return Labels(raw, rng.choice([0.0, 1.0, np.nan], 9, p=[0.3, 0.6, 0.1]))

    one, other = draw(), draw()
    found = _differences(one, other)
    for k, (ours_, theirs) in enumerate([(one.published(), other.published()),
                                         (one.raw, other.raw)]):  # fmt: skip
        for column in range(9):
            pairs = list(zip(ours_[column], theirs[column], strict=True))
            unlike = [(a, b) for a, b in pairs if a.tobytes() != b.tobytes()]
            assert found["differing"][k, column] == len(unlike)
            apart = [abs(float(a) - float(b)) for a, b in unlike]
            largest = max((np.inf if np.isnan(x) else x for x in apart), default=0.0)
            assert found["largest"][k, column] == largest


def drawn_answers(tokens, environments, candidates, seed):
    rng = np.random.default_rng(seed)
    shape = (tokens, environments)
    differing = rng.integers(0, candidates + 1, (*shape, 2, 9)) * (rng.random((*shape, 2, 9)) < 0.3)
    gave_up = rng.random(shape) < 0.2
    differing[gave_up] = 0
    differing[:, 0] = 0
    gave_up[:, 0] = False
    array = {
        "candidates": np.full(tokens, candidates),
        "closed_digest": np.array([f"{rng.integers(2**60):x}" for _ in range(tokens)]),
        "gave_up": gave_up,
        "differing": differing,
        "largest": np.where(differing > 0, rng.choice([0.5, 1.0], differing.shape), 0.0),
        "from_closed": rng.integers(0, 5, (*shape, 9)),
        "human_differs": rng.random((*shape, 9)) < 0.1,
        "moved_m": np.where(gave_up, np.nan, rng.uniform(0, 9, shape)),
        "drives_differ": rng.integers(0, 5, shape),
        **{name: rng.random(shape) < 0.8 for name in (
            "repeats_equal", "repeated_drives_equal", "paths_equal", "crossfeed_equal",
            "closed_equal")},
    }  # fmt: skip
    tokens_ = tuple(f"{k:016x}" for k in range(tokens))
    return Answers(tokens_, ("log",) * tokens, array, (), ())


@pytest.fixture(scope="module")
def here():
    one = ready("default")
    return tuple(replace(one, environment=replace(one.environment, name=name)) for name in "abc")


@given(st.integers(1, 12), st.integers(1, 20), st.integers(0, 2**32 - 1))
def test_counts_are_those_of_plain_loops(here, tokens, candidates, seed):
    answers = drawn_answers(tokens, 3, candidates, seed)
    found = Processors.of(answers, here, (), 1)
    array = answers.array
    for k, one in enumerate(found.outcomes):
        there = [t for t in range(tokens) if not array["gave_up"][t, k]]
        assert one.gave_up == tokens - len(there)
        for reading in range(2):
            same = [t for t in there if not array["differing"][t, k, reading].any()]
            assert one.equal[reading] == len(same)
            sums = [int(array["differing"][:, k, reading, c].sum()) for c in range(len(COLUMNS))]
            assert one.differing[reading].tolist() == sums
        shares = sorted(100.0 * array["differing"][t, k, 0].sum() / (9 * candidates) for t in there)
        assert one.median_share == (shares[len(shares) // 2] if shares else None)
        assert one.largest_share == (shares[-1] if shares else None)
        moved = [array["moved_m"][t, k] for t in there]
        assert one.moved_m == max(moved) if moved else np.isnan(one.moved_m)
        assert one.human_differs == sum(array["human_differs"][t, k].any() for t in range(tokens))
        assert one.closed_equal == sum(array["closed_equal"][:, k])
    digests = "\n".join(array["closed_digest"].tolist())
    assert found.closed_digest == hashlib.sha256(digests.encode()).hexdigest()
    controls = ("closed_equal", "crossfeed_equal", "paths_equal")
    assert found.closed_holds == all(array[name].all() for name in controls)


def test_a_reference_that_differs_from_itself_is_refused(here):
    answers = drawn_answers(4, 3, 8, 0)
    differing = answers.array["differing"].copy()
    differing[0, 0, 0, 0] = 1
    broken = replace(answers, array={**answers.array, "differing": differing})
    with pytest.raises(Unhealthy, match="an identity fails"):
        Processors.of(broken, here, (), 1)


def test_every_table_and_number_can_be_written(here):
    absent = (Absent(Environment.named("zen", "python"), "it is not there"),)
    found = Processors.of(drawn_answers(5, 3, 8, 1), here, absent, 0)
    assert [one.name for one in found.tables()][-1] == "processors_absent"
    for table in found.tables():
        assert all(len(row) == len(table.columns) for row in table.rows)
    names = [one.name for one in found.findings()]
    assert len(names) == len(set(names))


def test_examples():
    assert doctest.testmod(environments_module).failed == 0
