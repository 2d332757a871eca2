"""The pictures of the report's page in the documentation: ``python -m bench.screenshots [PAGE]``.

PAGE is what ``navaudit demo`` wrote. A headless Chromium opens it as wide as a desk and as a phone,
in light and in dark, chooses a candidate that the overwrite turned to passing, and takes pictures.
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
SIZES: Final = {"desktop": (1280, 1560, 1.5), "phone": (390, 1560, 2.0)}
"""Width and height in CSS pixels, and device pixels in each of them."""
SCHEMES: Final = ("light", "dark")
COLOURS: Final = 128
CHOSEN: Final = 12
"""Candidates to step through before the picture is taken: one that reaches well ahead."""


def main() -> None:
    """Take every picture of the page that the command line names."""
    parser = argparse.ArgumentParser(description="Take pictures of a report's page.")
    parser.add_argument("page", nargs="?", type=Path, default=PAGE)
    page = parser.parse_args().page.resolve()
    with sync_playwright() as play:
        browser = play.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        for device, (width, height, ratio) in SIZES.items():
            for scheme in SCHEMES:
                taken = _take(browser, page, (width, height), ratio, scheme)
                _keep(taken, IMAGES / f"page-{device}-{scheme}.png")
        browser.close()


def _take(browser: Browser, page: Path, size: tuple[int, int], ratio: float, scheme: str) -> bytes:
    """Return a picture of the page's beginning, as PNG."""
    width, height = size
    tab = browser.new_page(
        viewport={"width": width, "height": height},
        device_scale_factor=ratio,
        color_scheme="dark" if scheme == "dark" else "light",
    )
    tab.goto(page.as_uri())
    tab.wait_for_function("window.navaudit && window.navaudit.ready")
    for _ in range(CHOSEN):
        tab.click("#next")
    tab.evaluate("document.activeElement.blur(); window.scrollTo(0, 0)")
    taken = tab.screenshot()
    tab.close()
    return taken


def _keep(taken: bytes, path: Path) -> None:
    """Write a picture in few colours: it is drawn, not photographed."""
    with Image.open(BytesIO(taken)) as picture:
        picture.convert("RGB").quantize(COLOURS).save(path, optimize=True)


if __name__ == "__main__":
    main()
