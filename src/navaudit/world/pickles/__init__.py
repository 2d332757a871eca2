"""The only unpickler in the house: pickled files are read into plain values, and no code runs.

A pickle is a program, and Python's own unpickler runs it.  Overriding ``find_class`` there stops
foreign code but not the rest: it allocates whatever length or memo index a file declares before
it looks whether the bytes are there, hashes tuples of any depth on the C stack, and drives the
constructors of whatever class it was given.  So the house has an opcode machine of its own
(``machine``), written in Python, which

- knows the opcodes that picklers write for acyclic data and refuses the others by name
  (persistent ids, the extension registry, out-of-band buffers, Python 2 strings and instances);
- resolves a global only through the allow-list of the file's `Kind`, to a stand-in of our own:
  a pure function of this package or the name of a record.  Nothing is ever imported;
- checks every declared length against the bytes at hand before it takes them, bounds the number
  of operations, and charges whatever a file could make it repeat against a budget that grows
  with the file;
- takes only short flat keys for dictionaries and sets, so that nothing deep is hashed;
- weighs the finished value (``weigh``): no cycles, bounded depth, and a bounded size once all
  sharing is written out.

What comes out is lists, dicts, numbers, strings, read-only NumPy arrays, and the few classes of
``values``.  The price is time: a metric cache is many small opcodes, each a call in Python where
the C unpickler needs an instruction or two.  It is paid once per scene, in front of a simulation
of thousands of candidates.  In a label file the huge strings are one opcode each, and the price
vanishes.  The machine works on anything that indexes like bytes, so `items` walks a mapped file
far larger than memory and hands over each top-level entry as soon as it is complete, forgetting
it afterwards; `places` does the same and leaves the arrays themselves in the file, to be read when
they are wanted, in any order and by any process.

The way back is ``writer``: the same values become a pickle that names the foreign classes, with
none of them installed.
"""

from navaudit.world.pickles.arrays import Placed
from navaudit.world.pickles.files import items, loads, places, read
from navaudit.world.pickles.kinds import KINDS, LABELS, LOG, METRIC_CACHE, PLAIN, PREDICTIONS, Kind
from navaudit.world.pickles.values import Member, Objects, Record, Wkb
from navaudit.world.pickles.writer import dumps, write, write_items

__all__ = [
    "KINDS",
    "LABELS",
    "LOG",
    "METRIC_CACHE",
    "PLAIN",
    "PREDICTIONS",
    "Kind",
    "Member",
    "Objects",
    "Placed",
    "Record",
    "Wkb",
    "dumps",
    "items",
    "loads",
    "places",
    "read",
    "write",
    "write_items",
]
