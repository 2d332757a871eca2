"""The pictures of the report's page in the documentation: ``python -m bench.screenshots [PAGE]``.

PAGE is what ``navaudit demo`` wrote. A headless Chromium opens it as wide as a desk and as a phone,
in light and in dark, chooses a candidate that passes every check but lane keeping, which the
overwrite turns to passing, and takes pictures: of the beginning, and on the phone of the scene.
"""

from __future__ import annotations

import argparse
import shutil
from io import BytesIO
from pathlib import Path
from typing import Final

from bench.places import ROOT
from PIL import Image
from playwright.sync_api import Browser, sync_playwright

IMAGES: Final = ROOT / "docs" / "images"
PAGE: Final = Path("navaudit-demo") / "report" / "index.html"
SIZES: Final = {"desktop": (1280, 1560, 1.0, "verdict"), "phone": (390, 1290, 1.5, "browse")}
"""Width and height in CSS pixels, device pixels in each of them, and where the picture begins."""
SCHEMES: Final = ("light", "dark")
SHADES: Final = 5
"""Channels are rounded to this; 255 is a multiple of it."""
CHOOSE: Final = """() => {
  for (let k = 0; k < 1000; k++) {
    document.getElementById("next").click();
    const told = [...document.querySelectorAll("#choice tr")].map(
      (row) => [row.children[0].textContent, row.children[1].textContent]);
    const checks = told.filter(([name]) => !["EP", "PDM"].includes(name));
    if (checks.every(([name, raw]) => raw === (name === "LK" ? "0" : "1"))) return true;
  }
  return false;
}"""
"""Steps through candidates to one that passes every check but lane keeping."""


def main() -> None:
    """Take every picture of the page that the command line names."""
    parser = argparse.ArgumentParser(description="Take pictures of a report's page.")
    parser.add_argument("page", nargs="?", type=Path, default=PAGE)
    page = parser.parse_args().page.resolve()
    with sync_playwright() as play:
        browser = play.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        for device, size in SIZES.items():
            for scheme in SCHEMES:
                _keep(_take(browser, page, size, scheme), IMAGES / f"page-{device}-{scheme}.png")
        browser.close()


def _take(browser: Browser, page: Path, size: tuple[int, int, float, str], scheme: str) -> bytes:
    """Return a picture of the page from one of its sections on, as PNG."""
    width, height, ratio, section = size
    tab = browser.new_page(
        viewport={"width": width, "height": height},
        device_scale_factor=ratio,
        color_scheme="dark" if scheme == "dark" else "light",
        reduced_motion="reduce",
    )
    tab.goto(page.as_uri())
    tab.wait_for_function("window.navaudit && window.navaudit.ready")
    if not tab.evaluate(CHOOSE):
        raise SystemExit(
            "no candidate of the first scene fails lane keeping alone: look at another page"
        )
    tab.evaluate(
        "(id) => { document.activeElement.blur(); scrollTo(0, id === 'verdict' ? 0 :"
        " document.getElementById(id).offsetTop + 24); }",
        section,
    )
    taken = tab.screenshot()
    tab.close()
    return taken


def _keep(taken: bytes, path: Path) -> None:
    """Write a picture in fewer shades, which makes it a third smaller; white stays white."""
    with Image.open(BytesIO(taken)) as picture:
        few = picture.convert("RGB").point(lambda value: SHADES * round(value / SHADES))
        few.save(path, optimize=True)


if __name__ == "__main__":
    main()
