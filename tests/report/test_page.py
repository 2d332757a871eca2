"""The page: what it says is what the numbers say, and its browser works in a browser."""

from __future__ import annotations

import base64
import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from navaudit.axes import COLUMNS, LK, SHORT
from navaudit.cli import main
from navaudit.errors import BadInput
from navaudit.findings import count, percent
from navaudit.labels.generate import Job, generate
from navaudit.labels.labelset import LabelSet
from navaudit.labels.policies import POLICIES, apply
from navaudit.report.numbers import read_numbers, write_numbers
from navaudit.report.report import Browse, worth_a_look, write_report
from navaudit.report.stage import SHOWN, spread_out
from navaudit.scene.from_caches import FromCaches
from navaudit.scene.prepare import prepare
from navaudit.scene.store import SceneSet
from navaudit.scene.vocabulary import Vocabulary, read_vocabulary
from navaudit.score.score import Settings, score_scene

GOLDEN = Path(__file__).parents[1] / "golden"


SCENES = ("lane_change", "ddc_half", "red_run", "collide_stopped", "straight_green")


def cache(folder):
    """Lay golden caches out as metric caching does."""
    table = ["file_name"]
    for name in SCENES:
        arrays = np.load(GOLDEN / "labels" / f"{name}.npz")
        place = Path(str(arrays["log"]), "unknown", str(arrays["token"]), "metric_cache.pkl")
        own = GOLDEN / "labels" / f"{name}.pkl"
        source = own if own.exists() else GOLDEN / "metric_cache" / place
        (folder / place).parent.mkdir(parents=True)
        shutil.copy(source, folder / place)
        table.append(f"/data/{place}")
    (folder / "metadata").mkdir()
    (folder / "metadata" / "c_metadata_node_0.csv").write_text("\n".join(table) + "\n")
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Scenes of golden caches, labels of their own candidates, and some results."""
    folder = tmp_path_factory.mktemp("page")
    poses = np.load(GOLDEN / "labels" / "candidates.npy")
    np.save(folder / "v.npy", poses)
    scenes = prepare(folder / "scenes", FromCaches(cache(folder / "caches")))
    labels = generate(folder / "labels", Job(scenes, Vocabulary(poses), Settings()))
    fired = labels.human == 0.0
    found = [
        count("population_tokens", len(labels)),
        count("P1_count", int(fired.any(axis=1).sum()), "predicates.csv"),
        count("headline_count", 3),
        percent("headline_percent", 3, len(labels), 4),
        count("LK_forgiven", int(fired[:, LK].sum())),
        percent("LK_forgiven_share", int(fired[:, LK].sum()), int(fired.any(axis=1).sum()), 2),
    ]
    write_numbers(folder / "audit", found, "navaudit audit labels --out audit", {})
    text = 'predicate,tokens\n"<P1 & more>",2\n'
    (folder / "audit" / "predicates.csv").write_text(text)
    return folder


@pytest.fixture(scope="module")
def report(made):
    out = made / "report"
    arguments = ["report", "audit", "scenes", "labels", "--vocabulary", "v.npy", "--out", "report"]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(made)
        result = CliRunner().invoke(main, [*arguments, "--json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["numbers"] == 6
    return out


def stages_of(html):
    return json.loads(re.search(r'id="stages">(.*?)</script>', html, re.DOTALL)[1])


def unpacked(text, dtype, shape):
    return np.frombuffer(base64.b64decode(text), dtype).reshape(shape)


class Reader(HTMLParser):
    """Collects numbers, what is loaded, and whether every element that opens closes."""

    def __init__(self):
        super().__init__()
        self.numbers, self.loads, self.open, self.name = [], [], [], None

    def handle_starttag(self, tag, attrs):
        known = dict(attrs)
        if tag not in {"meta", "link", "input", "img", "br"}:
            self.open.append(tag)
        self.loads += [known[one] for one in ("src", "href") if one in known]
        if tag == "data":
            self.name = known["data-name"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        if tag == "data":
            self.name = None

    def handle_data(self, data):
        if self.name:
            self.numbers.append((self.name, data))


def test_numbers_on_the_page_are_those_of_the_table(report):
    reader = Reader()
    reader.feed((report / "index.html").read_text())
    flat = read_numbers(report)
    assert reader.open == []
    assert set(dict(reader.numbers)) == set(flat)
    assert all(flat[name] == text for name, text in reader.numbers)


def test_the_page_asks_the_network_for_nothing(report):
    reader = Reader()
    html = (report / "index.html").read_text()
    reader.feed(html)
    assert all(one.startswith(("#", "data:")) for one in reader.loads)
    assert not re.search(r"https?://|@import|url\(", html)


def test_what_stands_in_a_table_cannot_become_markup(report):
    html = (report / "index.html").read_text()
    assert "&lt;P1 &amp; more&gt;" in html
    assert "<P1" not in html


def test_the_same_folders_give_the_same_page(made, report):
    browse = Browse(
        SceneSet.open(made / "scenes"),
        LabelSet.open(made / "labels"),
        read_vocabulary(made / "v.npy"),
    )
    again = write_report(made / "again", [made / "audit"], browse, "navaudit")
    assert again.read_bytes() == (report / "index.html").read_bytes()


def test_the_browser_is_given_the_labels_themselves(made, report):
    labels = LabelSet.open(made / "labels")
    data = stages_of((report / "index.html").read_text())
    assert tuple(data["columns"]) == COLUMNS
    assert len(data["scenes"]) == len(labels)
    for one in data["scenes"]:
        shown = one["shown"]["index"]
        raw = labels.raw(one["token"])
        told = unpacked(one["shown"]["raw"], "<f4", (len(COLUMNS), len(shown)))
        np.testing.assert_array_equal(told, raw[:, shown].astype(np.float32))
        assert one["failing"] == [int((row < 1).sum()) for row in raw]
        path = labels.path_lane_keeping(one["token"])
        assert (path is None) == (one["shown"]["path"] is None)
        if path is not None:
            np.testing.assert_array_equal(
                unpacked(one["shown"]["path"], "<f4", len(shown)), path[shown]
            )


def test_labels_of_other_candidates_are_refused(made):
    other = np.load(made / "v.npy")[::-1]
    browse = Browse(
        SceneSet.open(made / "scenes"), LabelSet.open(made / "labels"), Vocabulary(other.copy())
    )
    with pytest.raises(BadInput, match="not of this vocabulary"):
        write_report(made / "other", [], browse, "navaudit")


def test_a_folder_of_something_else_is_refused(made, tmp_path):
    result = CliRunner().invoke(main, ["report", str(tmp_path), "--out", str(tmp_path / "r")])
    assert result.exit_code == 2
    assert "holds nothing that a report can show" in result.output


def test_scenes_to_look_at_show_every_forgiven_column():
    rng = np.random.default_rng(3)
    human = (rng.random((200, len(COLUMNS))) > 0.1).astype(np.float64)
    chosen = worth_a_look(human, 12)
    assert len(set(chosen.tolist())) == len(chosen) == 12
    fired = human[chosen, :-1] == 0
    assert fired.any(axis=0).all()
    assert fired.any(axis=1).all()


def test_where_nothing_is_forgiven_one_scene_is_shown():
    assert worth_a_look(np.ones((5, len(COLUMNS))), 12).tolist() == [0]
    assert worth_a_look(np.ones((0, len(COLUMNS))), 12).tolist() == []


@pytest.mark.parametrize("size", [1, SHOWN, SHOWN + 1, 5_000])
def test_candidates_are_spread_out(size):
    rng = np.random.default_rng(size)
    poses = np.zeros((size, 40, 3), np.float32)
    poses[:, -1, :2] = rng.normal(0, 12, (size, 2))
    chosen = spread_out(Vocabulary(poses))
    assert len(chosen) == min(size, SHOWN)
    assert (np.diff(chosen) > 0).all()


# ------------------------------------------------------------------------------- in a browser


CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
QUIET = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--no-first-run")  # fmt: skip


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        pytest.skip("there is no Chromium here: install the package chromium")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        yield opened
        opened.close()


@pytest.fixture(params=[(1280, 900, "light"), (390, 844, "dark")], ids=["desktop", "phone"])
def opened(request, browser, report):
    wide, tall, scheme = request.param
    window = browser.new_page(
        viewport={"width": wide, "height": tall}, color_scheme=scheme, reduced_motion="reduce"
    )
    said = []
    window.on("console", lambda message: said.append(message.text))
    window.on("pageerror", lambda error: said.append(str(error)))
    window.goto((report / "index.html").as_uri())
    window.wait_for_function("window.navaudit && window.navaudit.ready")
    yield window
    assert said == []
    window.close()


def rows_of(window):
    return window.evaluate(
        """[...document.querySelectorAll("#choice tr")].map((row) =>
        [...row.children].map((cell) => cell.textContent))"""
    )


def test_nothing_is_wider_than_the_window(opened):
    assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_scenes_columns_and_policies_can_be_switched(opened, made):
    labels = LabelSet.open(made / "labels")
    data = stages_of(opened.content())
    for place, one in enumerate(data["scenes"]):
        opened.select_option("#scene", str(place))
        assert one["token"] in opened.inner_text("#about")
        opened.click("#next")
        candidate = one["shown"]["index"][0]
        row = labels.index(one["token"])
        raw = labels.raw(one["token"])
        path = labels.path_lane_keeping(one["token"])
        for policy in POLICIES if path is not None else POLICIES[:-1]:
            opened.check(f"input[name=policy][value={policy}]", force=True)
            given = apply(policy, raw, labels.human[row], path)[:, candidate]
            assert [cells[0] for cells in rows_of(opened)] == list(SHORT)
            assert [cells[2] for cells in rows_of(opened)] == [as_told(v) for v in given]


def as_told(value):
    if np.isnan(value):
        return "abstains"
    return str(int(value)) if float(value).is_integer() else f"{float(value):.3f}"


def test_a_column_says_how_many_fail_before_and_after(opened, made):
    labels = LabelSet.open(made / "labels")
    data = stages_of(opened.content())
    place = next(k for k, one in enumerate(data["scenes"]) if one["human"][LK] == 0.0)
    opened.select_option("#scene", str(place))
    opened.check(f"input[name=column][value='{LK}']", force=True)
    failing = int((labels.raw(data["scenes"][place]["token"])[LK] < 1).sum())
    said = opened.inner_text("#counts")
    assert f"{failing:,} of {labels.candidates:,} candidates fail on lane keeping" in said
    assert "after the overwrite every candidate passes" in said


def test_bars_show_what_all_candidates_are_given(opened, made):
    """A bar a policy: raw, published, and the chosen one; widths are shares of all candidates."""
    labels = LabelSet.open(made / "labels")
    for place, one in enumerate(stages_of(opened.content())["scenes"]):
        opened.select_option("#scene", str(place))
        row, raw = labels.index(one["token"]), labels.raw(one["token"])
        path = labels.path_lane_keeping(one["token"])
        for column in range(len(COLUMNS)):
            opened.check(f"input[name=column][value='{column}']", force=True)
            for policy in POLICIES if path is not None else POLICIES[:-1]:
                opened.check(f"input[name=policy][value={policy}]", force=True)
                shown = bars_of(opened)
                assert list(shown) == list(dict.fromkeys(("raw", "published", policy)))
                for name, parts in shown.items():
                    given = apply(name, raw, labels.human[row], path)[column]
                    assert parts == pytest.approx(shares_of(given), abs=1e-3)


def bars_of(window):
    return window.evaluate(
        """Object.fromEntries([...document.querySelectorAll("#bars .bar")].map((bar) =>
        [bar.dataset.policy, Object.fromEntries([...bar.children].map((part) =>
        [part.className, parseFloat(part.style.width)]))]))"""
    )


def shares_of(given):
    if np.isnan(given).all():
        return {"abstain": 100.0}
    failing = 100.0 * float((given < 1).mean())
    return {"fail": failing, "pass": 100.0 - failing}


def test_a_candidate_is_told_in_a_sentence(opened, made):
    """What it does on the chosen column, and what a trainer is told of it."""
    labels = LabelSet.open(made / "labels")
    data = stages_of(opened.content())
    place = next(k for k, one in enumerate(data["scenes"]) if one["human"][LK] == 0.0)
    one = data["scenes"][place]
    raw = labels.raw(one["token"])[LK]
    shown = one["shown"]["index"]
    failing = next(k for k, candidate in enumerate(shown) if raw[candidate] == 0)
    opened.select_option("#scene", str(place))
    opened.check(f"input[name=column][value='{LK}']", force=True)
    for _ in range(failing + 1):
        opened.click("#next")
    opened.check("input[name=policy][value=raw]", force=True)
    assert re.fullmatch(r"Fails lane keeping, first at \d\.\d s\.", opened.inner_text("#outcome"))
    opened.check("input[name=policy][value=published]", force=True)
    assert opened.inner_text("#outcome").endswith("a trainer is told that it passes.")
    opened.check("input[name=policy][value=masked]", force=True)
    assert opened.inner_text("#outcome").endswith("a trainer is told nothing.")


def test_a_scene_is_played_and_paused(opened):
    opened.select_option("#scene", "0")
    opened.click("#play")
    opened.wait_for_function("window.navaudit.state.step >= 3")
    opened.click("#play")
    step = opened.evaluate("window.navaudit.state.step")
    opened.wait_for_timeout(350)
    assert opened.evaluate("window.navaudit.state.step") == step
    assert opened.inner_text("#when") == f"{step / 10:.1f} s"
    assert opened.inner_text("#play") == "Play"


def test_paper_is_light_whatever_the_page_was(opened):
    """The button chose dark; on paper both the words and the picture are dark on light."""
    page = "getComputedStyle(document.documentElement).getPropertyValue('--page')"
    corner = "[...document.getElementById('stage').getContext('2d').getImageData(2, 2, 1, 1).data]"
    opened.evaluate("document.documentElement.dataset.theme = 'dark'")
    opened.emulate_media(media="print")
    assert opened.evaluate(page) == "#fff"
    opened.emulate_media(media="screen")
    opened.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert opened.evaluate(corner) == [255, 255, 255, 255]
    assert opened.evaluate("document.getElementById('key').open")
    opened.evaluate("dispatchEvent(new Event('afterprint'))")
    assert opened.evaluate("document.documentElement.dataset.theme") == "dark"
    assert opened.evaluate(page) == "#14181d"


def test_candidates_are_reached_by_keyboard_and_pointer(opened):
    opened.focus("#stage")
    opened.keyboard.press("ArrowRight")
    first = opened.inner_text("#which")
    opened.keyboard.press("ArrowRight")
    assert opened.inner_text("#which") != first
    opened.keyboard.press("Escape")
    assert "No candidate is chosen" in opened.inner_text("#which")
    picture = opened.locator("#stage")
    box = picture.bounding_box()
    # every candidate starts where the car stands: going up the picture, one comes near
    for step in range(1, 25):
        picture.hover(position={"x": box["width"] / 2, "y": box["height"] * (1 - step / 25)})
        opened.wait_for_timeout(40)
        if opened.inner_text("#which").startswith("Candidate"):
            return
    pytest.fail("no candidate was found by pointing")


def test_a_candidate_shows_nine_values_and_where_each_first_fails(opened, made):
    """What is shown is what the scorer says, for every scene and some candidates of each."""
    scenes, vocabulary = SceneSet.open(made / "scenes"), read_vocabulary(made / "v.npy")
    for place, one in enumerate(stages_of(opened.content())["scenes"]):
        opened.select_option("#scene", str(place))
        sheet = score_scene(scenes.scene(one["token"]), vocabulary, Settings())
        for candidate in one["shown"]["index"][:3]:
            opened.click("#next")
            first = sheet.first_step[:, candidate]
            rows = rows_of(opened)
            assert [cells[1] for cells in rows] == [
                as_told(v) for v in sheet.labels()[:, candidate]
            ]
            assert [cells[4] for cells in rows] == [
                "\N{EN DASH}" if step < 0 else f"{step / 10:.1f} s" for step in first
            ]


def test_a_number_of_the_verdict_leads_to_its_command_and_file(opened):
    row = opened.locator("#n-P1_count")
    assert not row.is_visible()
    opened.click(".lead a[href='#n-P1_count']")
    row.wait_for(state="visible")
    told = row.inner_text()
    assert "navaudit audit labels --out audit" in told
    assert "predicates.csv" in told
    box = row.bounding_box()
    assert 0 <= box["y"] < opened.viewport_size["height"]


def test_everything_can_be_done_with_the_keyboard_alone(opened):
    """Tab comes to every control in turn; arrows choose columns, policies, scenes and moments."""
    seen = []
    for _ in range(60):
        opened.keyboard.press("Tab")
        where = opened.evaluate("document.activeElement.id || document.activeElement.name || ''")
        if where:
            seen.append(where)
    controls = ["theme", "scene", "stage", "previous", "next", "farther", "closer", "step"]
    assert [one for one in seen if one in controls][: len(controls)] == controls
    assert {"column", "policy"} <= set(seen)
    before = opened.inner_text("#about"), opened.inner_text("#counts")
    opened.focus("#scene")
    opened.keyboard.press("ArrowDown")
    assert opened.inner_text("#about") != before[0]
    opened.focus("input[name=column]:checked")
    opened.keyboard.press("ArrowRight")
    said = opened.inner_text("#counts")
    assert said != before[1]
    opened.focus("input[name=policy]:checked")
    opened.keyboard.press("ArrowRight")
    assert opened.evaluate("window.navaudit.state.policy") == "published"
    opened.focus("#step")
    opened.keyboard.press("ArrowRight")
    assert opened.inner_text("#when") == "0.1 s"
    opened.focus("#theme")
    was = opened.evaluate("document.documentElement.dataset.theme")
    opened.keyboard.press("Enter")
    assert opened.evaluate("document.documentElement.dataset.theme") != was


def test_numbers_as_a_browser_shows_them_are_those_of_the_table(opened, report):
    shown = opened.evaluate(
        """[...document.querySelectorAll("data.number")].map((one) =>
        [one.dataset.name, one.textContent, one.value])"""
    )
    trace = json.loads((report / "numbers.trace.json").read_text())["numbers"]
    assert {name: text for name, text, _ in shown} == read_numbers(report)
    assert all(json.loads(value) == trace[name]["value"] for name, _, value in shown)


def test_on_paper_nothing_is_cut_off(opened):
    opened.emulate_media(media="print")
    assert (
        opened.evaluate("getComputedStyle(document.querySelector('header nav')).display") == "none"
    )
    assert opened.evaluate(
        """[...document.querySelectorAll(".scroll")].every((one) =>
        getComputedStyle(one).overflowX === "visible")"""
    )


def test_the_picture_changes_with_the_policy_and_the_theme(opened):
    opened.select_option("#scene", "0")
    looks = set()
    for policy in ("raw", "published", "masked"):
        opened.check(f"input[name=policy][value={policy}]", force=True)
        looks.add(opened.evaluate("document.getElementById('stage').toDataURL()"))
    opened.click("#theme")
    looks.add(opened.evaluate("document.getElementById('stage').toDataURL()"))
    assert len(looks) == 4


def test_everything_that_can_be_used_has_a_name(opened):
    nameless = opened.evaluate(
        """[...document.querySelectorAll("button, select, input, canvas, img")].filter((one) =>
        !(one.labels && [...one.labels].some((label) => label.textContent.trim()))
        && !one.getAttribute("aria-label") && !one.textContent.trim() && !one.alt).length"""
    )
    assert nameless == 0
