"""The probe as a function: what it says of scenes that lack something."""

import dataclasses

import numpy as np
import pytest

from navaudit.axes import DAC, LK
from navaudit.errors import BadInput
from navaudit.probe.named import findings, places_of
from navaudit.probe.probe import probe
from navaudit.probe.question import Question
from navaudit.probe.tables import auc_table, every_scene, failing_table, tables
from navaudit.probe.telling import cautions, lead, sentences
from probe.drawn import draw, write

QUESTION = Question(resamples=30, tie_draws=2)


def of_world(folder, world, question=QUESTION):
    return probe(*write(folder, world), question)


def test_a_head_that_knows_less_of_forgiven_scenes_is_found_out(tmp_path):
    found = of_world(tmp_path, draw(scenes=120, kept=0.1))
    places = places_of(found)
    assert places["R1"].high < places["R2"].low
    assert places["R3"].low > 0.1
    assert places["R4"].low > 0.1


def test_a_head_that_knows_as_much_of_them_is_not(tmp_path):
    found = of_world(tmp_path, draw(scenes=120, kept=1.0))
    places = places_of(found)
    assert abs(places["R3"].point) < 0.05
    assert abs(places["R4"].point) < 0.05


def test_the_lead_says_what_the_head_knows(drawn_world):
    _, logits, labels = drawn_world
    found = probe(logits, labels, QUESTION)
    said = lead(found)
    assert f"On {found.pairing.forgiven.size} scenes" in said
    assert f"{places_of(found)['R1'].point:.4f}" in said
    assert f"{places_of(found)['R3'].point:.4f}" in said


def test_without_a_forgiven_column_it_says_so_and_leaves_numbers_out(tmp_path):
    world = draw()
    human = world.human.copy()
    human[:, LK] = 1.0
    found = of_world(tmp_path, dataclasses.replace(world, human=human))
    assert lead(found) == "The rule fired on no scene whose LK column is mixed."
    assert any("nothing is contrasted" in one for one in cautions(found))
    names = {one.name for one in findings(found, "probe")}
    assert "probe_U_lk_auc" in names
    assert not any(name.startswith(("probe_T_lk", "probe_did_match", "probe_R")) for name in names)
    assert {one.name: one.value for one in findings(found, "probe")}["probe_pairs"] == 0
    for table in (*tables(found), every_scene(found), auc_table(found), failing_table(found)):
        assert table.csv()
        assert table.markdown()


def test_without_an_unforgiven_column_it_says_so(tmp_path):
    world = draw()
    human = world.human.copy()
    human[:, LK] = 0.0
    found = of_world(tmp_path, dataclasses.replace(world, human=human))
    assert "no other scene matches" in lead(found)
    assert any("no pairs are contrasted" in one for one in cautions(found))
    names = {one.name for one in findings(found, "probe")}
    assert {"probe_T_lk_auc", "probe_R1"} <= names
    assert not {"probe_U_lk_auc", "probe_did_match", "probe_delta_strat", "probe_R3"} & names


def test_a_column_that_nobody_tells_apart_is_refused(tmp_path):
    world = draw()
    raw = world.raw.copy()
    raw[:, LK] = 1.0
    with pytest.raises(BadInput, match="the column LK is mixed in none of 90 scenes"):
        of_world(tmp_path, dataclasses.replace(world, raw=raw))


def test_a_control_that_was_forgiven_itself_is_told(tmp_path):
    world = draw()
    human = world.human.copy()
    human[:, DAC] = 0.0
    found = of_world(tmp_path, dataclasses.replace(world, human=human))
    assert any("there it is no control" in one for one in sentences(found))


def test_a_scene_without_a_human_is_not_forgiven(tmp_path):
    world = draw()
    human = world.human.copy()
    human[9:30] = np.nan
    found = of_world(tmp_path, dataclasses.replace(world, human=human))
    fired = dict(zip(found.scenes.tokens, found.scenes.forgiven, strict=True))
    assert not any(fired.get(world.tokens[k], False) for k in range(9, 30))


def test_figures_count_every_scene_once(drawn_world):
    _, logits, labels = drawn_world
    found = probe(logits, labels, QUESTION)
    pairs = found.pairing
    wanted = (pairs.forgiven, pairs.treatment, pairs.control)
    sums = np.array(auc_table(found).rows)[:, 2:].sum(axis=0)
    assert sums.tolist() == [one.size for one in wanted]
    sums = np.array(failing_table(found).rows)[:, 2:].sum(axis=0)
    sizes = [pairs.forgiven.size, pairs.unforgiven.size, pairs.treatment.size, pairs.control.size]
    assert sums.tolist() == sizes


def test_the_table_of_scenes_names_partners_both_ways(drawn_world):
    _, logits, labels = drawn_world
    found = probe(logits, labels, QUESTION)
    table = every_scene(found)
    partner = {row[0]: row[-1] for row in table.rows}
    there = [token for token, other in partner.items() if other is not None]
    assert len(there) == 2 * found.pairing.treatment.size
    assert all(partner[partner[token]] == token for token in there)
