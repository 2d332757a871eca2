"""An audit on disk: its tables, its figure with the data beside it, and its numbers.

::

    audit.md                     every table to read
    <table>.csv                  one table, unrounded; tables.json has their titles
    failing_LK.png, .svg, .csv   the histogram of overwritten lane-keeping columns
    numbers.json                 every number by name, and numbers.trace.json where it comes from
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from navaudit.audit.audit import Audit
from navaudit.report.histogram import histogram_of
from navaudit.report.numbers import write_numbers
from navaudit.report.saved import save_figure
from navaudit.report.tabled import write_tables
from navaudit.scene.whole import put

MARKDOWN: Final = "audit.md"


def write_audit(folder: Path, audit: Audit) -> dict[str, str]:
    """Write everything an audit found, the numbers last; return them."""
    write_tables(folder, audit.tables())
    put(folder / MARKDOWN, "\n".join(_page(audit)).encode())
    histogram = audit.counted.histogram
    save_figure(folder, histogram_of(histogram), histogram.table())
    return write_numbers(folder, audit.findings(), "navaudit audit", audit.record)


def _page(audit: Audit) -> Iterator[str]:
    record = audit.record
    yield "# The audit of a label set\n"
    yield f"{record['tokens']:,} tokens of {record['candidates']:,} candidates each."
    yield f"Which columns were forgiven is known from {record['forgiven_known_from']}."
    yield "".join(f"\n- {caution}" for caution in audit.cautions()) + "\n"
    for table in audit.tables():
        yield f"## {table.name.replace('_', ' ')}\n"
        yield table.markdown()
