"""Broken and hostile pickles: one clear error, no code run, little memory and time."""

from __future__ import annotations

import contextlib
import copyreg
import io
import lzma
import operator
import os
import pickle
import struct
import sys
import time
import tracemalloc
import zlib
from dataclasses import replace

import numpy as np
import pytest

from navaudit.errors import BadInput, NavauditError, Refused
from navaudit.world import pickles
from navaudit.world.pickles import KINDS, LABELS, METRIC_CACHE, PLAIN

CACHE = replace(METRIC_CACHE, xz=False)
BARE_KINDS = [replace(kind, xz=False) for kind in KINDS]
PROTOCOLS = range(6)

fired: list[object] = []


def fire(*arguments):
    fired.append(arguments)
    return 1


class Calls:
    """Pickles as a call of some function."""

    def __init__(self, *reduction):
        self.reduction = reduction

    def __reduce__(self):
        return self.reduction


@pytest.fixture(autouse=True)
def canary():
    fired.clear()
    yield
    assert fired == []


@contextlib.contextmanager
def within(seconds=5.0, megabytes=64):
    """Hold what happens inside to a time of this process, traced as it is, and to a memory."""
    tracemalloc.start()
    start = time.process_time()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert time.process_time() - start < seconds
    assert peak < megabytes << 20


def loads(data, kind=PLAIN):
    return pickles.loads(data, kind, "here")


def text(value):
    content = value.encode()
    return b"X" + struct.pack("<I", len(content)) + content


def named(module, name):
    return text(module) + text(name) + b"\x93"


HOSTILE = {
    "os.system": (os.system, ("true",)),
    "eval": (eval, ("fire()",)),
    "exec": (exec, ("fire()",)),
    "getattr": (getattr, ("", "join")),
    "import": (__import__, ("os",)),
    "open": (open, ("/etc/hostname",)),
    "attrgetter": (operator.attrgetter, ("__class__.__base__.__subclasses__",)),
    "methodcaller": (operator.methodcaller, ("system", "true")),
    "fire": (fire, ()),
    "type": (type, ("X", (), {})),
    "compile": (compile, ("1", "x", "eval")),
    "reconstructor": (copyreg._reconstructor, (dict, dict, {})),
    "numpy load": (np.load, ("x.npy",)),
    "random state": (np.random.RandomState, (1,)),
    "frombuffer of numpy": (np.frombuffer, (b"12345678",)),
    "complex": (complex, (1, 2)),
}


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("kind", BARE_KINDS, ids=lambda kind: kind.title)
@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_not_on_the_list_is_refused_by_name(name, kind, protocol):
    data = pickle.dumps([1, Calls(*HOSTILE[name])], protocol)
    with pytest.raises(Refused) as caught:
        loads(data, kind)
    function = HOSTILE[name][0]
    if name not in ("reconstructor", "methodcaller", "attrgetter"):
        assert function.__name__ in caught.value.what
    assert kind.title in caught.value.what or name == "reconstructor"
    assert caught.value.where == "here"


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("numpy", "core.multiarray.scalar"),
        ("numpy.core", "multiarray.scalar"),
        ("numpy.core.multiarray", "scalar.__call__"),
        ("builtins", "object.__subclasses__"),
        ("numpy", "ndarray.tofile"),
        ("", ""),
        ("os", "system\nx"),
        ("\x1b[31m", "\u202e"),
        ("pickle", "loads"),
        ("torch.storage", "_load_from_bytes"),
    ],
)
def test_dotted_and_strange_names_are_refused(module, name):
    with pytest.raises(Refused) as caught:
        loads(named(module, name) + b".")
    assert caught.value.what.isascii()
    assert caught.value.what.isprintable()


@pytest.mark.parametrize(
    "data",
    [
        b"Pabc\n.",
        b"Vabc\nQ.",
        b"\x82\x01.",
        b"\x83\x01\x00.",
        b"\x84\x01\x00\x00\x00.",
        b"\x97.",
        b"C\x01a\x98.",
        b"(inavaudit\nx\n.",
        b"(cnumpy\nndarray\no.",
        b"S'abc'\n.",
        b"U\x01a.",
        b"T\x01\x00\x00\x00a.",
        b"N2.",
        b"NN0.",
        b"N(1.",
        named("numpy", "dtype") + b")}\x92.",
    ],
)
def test_opcodes_without_use_are_refused_by_name(data):
    with pytest.raises(Refused, match="opcode"):
        loads(data)


@pytest.mark.parametrize(
    "data",
    [
        named("numpy", "ndarray") + b")R.",
        named("numpy", "ndarray") + b")\x81.",
        named("builtins", "object") + b")\x81.",
        text("x") + b")R.",
        text("x") + b")\x81.",
        b"N)R.",
        b"})\x81.",
        named("numpy", "dtype") + text("x") + b"R.",
        named("collections", "OrderedDict") + b"]R.",
        b"}}b.",
        b"]}b.",
        text("x") + b"}b.",
        named("numpy", "dtype") + b"}b.",
    ],
)
def test_calling_and_filling_other_things_is_refused(data):
    with pytest.raises(Refused):
        loads(data)


def test_a_class_is_no_value():
    for data in (
        named("numpy", "dtype") + b".",
        b"}" + text("a") + named("numpy", "ndarray") + b"s.",
    ):
        with pytest.raises(BadInput, match="where a value should be"):
            loads(data)


def test_records_are_made_without_arguments():
    cls = named("navsim.planning.metric_caching.metric_cache", "MetricCache")
    with pytest.raises(Refused):
        loads(cls + b"K\x01\x85\x81.", CACHE)
    with pytest.raises(Refused):
        loads(cls + b")R.", CACHE)
    with pytest.raises(BadInput, match="state"):
        loads(cls + b")\x81]b.", CACHE)
    assert loads(cls + b")\x81}b.", CACHE).fields == {}


def test_setstate_of_a_record_is_only_a_field():
    cls = named("navsim.planning.metric_caching.metric_cache", "MetricCache")
    state = (
        b"}("
        + text("__class__")
        + b"K\x01"
        + text("__reduce__")
        + b"K\x02"
        + text("fields")
        + b"Nu"
    )
    read = loads(cls + b")\x81" + state + b"b.", CACHE)
    assert type(read) is pickles.Record
    assert read["__class__"] == 1


# --------------------------------------------------------------------------- arrays of malice

RECONSTRUCT = named("numpy.core.multiarray", "_reconstruct") + named("numpy", "ndarray")
BLANK = RECONSTRUCT + b"K\x00\x85C\x01b\x87R"
PLAIN_STATE = b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00"


def dtype(code, order="<", rest=PLAIN_STATE):
    return (
        named("numpy", "dtype") + text(code) + b"\x89\x88\x87R(K\x03" + text(order) + rest + b"tb"
    )


ONE_FLOAT = named("numpy.core.numeric", "_frombuffer") + b"(C\x04" + bytes(4) + dtype("f4")


def array(shape, kind, content):
    return BLANK + b"(K\x01" + shape + kind + b"\x89" + content + b"tb."


def test_the_pieces_make_an_array():
    read = loads(array(b"K\x02\x85", dtype("i4"), b"C\x08" + bytes(8)))
    assert np.array_equal(read, np.zeros(2, np.int32))


@pytest.mark.parametrize(
    "data",
    [
        array(b"K\x03\x85", dtype("i4"), b"C\x08" + bytes(8)),
        array(b"J\xff\xff\xff\xff\x85", dtype("i4"), b"C\x08" + bytes(8)),
        array(b"\x8a\x09" + bytes(8) + b"\x01\x85", dtype("i4"), b"C\x08" + bytes(8)),
        array(b"J\xff\xff\xff\x7fJ\xff\xff\xff\x7f\x86", dtype("i4"), b"C\x00"),
        array(b"K\x02\x85", dtype("i4"), b"]"),
        array(b"K\x02\x85", dtype("i4"), text("12345678")),
        array(b"K\x02\x85", dtype("O8"), b"C\x10" + bytes(16)),
        array(b"K\x02\x85", dtype("O8"), b"](K\x01e"),
        array(b"(" + b"K\x01" * 40 + b"t", dtype("i4"), b"C\x04" + bytes(4)),
        array(b"\x88\x85", dtype("i4"), b"C\x04" + bytes(4)),
        array(b"K\x01\x85", text("i4"), b"C\x04" + bytes(4)),
        array(b"K\x01\x85", dtype("b1"), b"C\x01\x07"),
        array(b"K\x01\x85", dtype("U1"), b"C\x04\xff\xff\xff\xff"),
        array(b"K\x01\x85", dtype("U1", ">"), b"C\x04\xff\xff\xff\xff"),
        array(b"J\x00\x00\x10\x00K\x00\x86", dtype("f8"), b"C\x00"),
        BLANK + b"(NNNNNtb.",
        BLANK + b"Nb.",
        BLANK + b".",
        b"]" + BLANK + b"a.",
        dtype("i4")[:-1] + b".",
        dtype("i4") + b"(K\x03" + text("<") + PLAIN_STATE + b"tb.",
        named("numpy.core.multiarray", "scalar") + dtype("f8") + b"C\x04" + bytes(4) + b"\x86R.",
        named("numpy.core.multiarray", "scalar") + dtype("f8") + b"N\x86R.",
        ONE_FLOAT + b"K\x01\x85" + text("X") + b"tR.",
        ONE_FLOAT + b"K\x01\x85" + text("K") + b"K\x05\x85tR.",
        ONE_FLOAT + b"tR.",
    ],
)  # fmt: skip
def test_arrays_that_do_not_add_up_are_told(data):
    with within(), pytest.raises(BadInput):
        loads(data)


@pytest.mark.parametrize(
    "data",
    [
        array(b"K\x01\x85", dtype("V8"), b"C\x08" + bytes(8)),
        array(b"J\x00\x00\x10\x00\x85", dtype("U0"), b"C\x00"),
        array(b"K\x01\x85", dtype("M8"), b"C\x08" + bytes(8)),
        array(b"K\x01\x85", dtype("i4,f4"), b"C\x08" + bytes(8)),
        array(b"K\x01\x85", dtype("U9999999999"), b"C\x08" + bytes(8)),
        dtype("i4", "<", b"N(" + text("x") + b"t}" + PLAIN_STATE[2:]) + b".",
        named("numpy", "dtype") + named("builtins", "object") + b"\x89\x88\x87R.",
        named("numpy", "dtype") + text("i4") + b"\x89\x88\x87R}b.",
        named("numpy.core.multiarray", "scalar") + dtype("O8") + b"C\x08" + bytes(8) + b"\x86R.",
        named("numpy.core.multiarray", "_reconstruct") + named("builtins", "object")
        + b"K\x00\x85C\x01b\x87R.",
        named("numpy.core.multiarray", "_reconstruct") + named("numpy", "ndarray")
        + b"K\x09\x85C\x01b\x87R.",
        named("_codecs", "encode") + text("x") + text("rot13") + b"\x86R.",
    ],
)  # fmt: skip
def test_arrays_of_another_sort_are_refused(data):
    with within(), pytest.raises(Refused):
        loads(data)


# --------------------------------------------------------------------------------------- bombs


def test_lists_shared_to_the_power_are_refused():
    shared = [1]
    for _ in range(50):
        shared = [shared, shared]
    for protocol in PROTOCOLS:
        with within(), pytest.raises(BadInput, match="stands for more"):
            loads(pickle.dumps(shared, protocol))


def test_sharing_within_reason_is_read():
    row = list(range(1000))
    assert loads(pickle.dumps([row] * 1000)) == [row] * 1000


DEEP = 200_000
"""Enough to overflow the C stack of whoever hashes or compares that deep."""

BOMBS = {
    "giant bytes": b"\x8e" + struct.pack("<Q", 1 << 62) + b"abc.",
    "giant bytes within an int": b"\x8e" + struct.pack("<Q", (1 << 64) - 1) + b".",
    "giant text": b"\x8d" + struct.pack("<Q", 1 << 40) + b"abc.",
    "giant bytearray": b"\x96" + struct.pack("<Q", 1 << 40) + b".",
    "four bytes of length": b"B\xff\xff\xff\xff.",
    "giant frame": b"\x80\x04\x95" + struct.pack("<Q", 1 << 50) + b"N.",
    "memo slot": b"Nr\xff\xff\xff\x7f0.",
    "memo slot in digits": b"Np999999999999999999999\n(0.",
    "negative memo slot": b"Np-1\n.",
    "negative number length": b"\x8b\xff\xff\xff\xff.",
    "giant number": b"\x8b\xff\xff\xff\x7f.",
    "long digits": b"I" + b"9" * DEEP + b"\n.",
    "long float": b"F" + b"9" * DEEP + b"\n.",
    "no end of line": b"V" + b"x" * DEEP,
    "marks": b"(" * DEEP,
    "marks and a stop": b"(" * DEEP + b".",
    "nested lists": b"]" * DEEP + b"a" * (DEEP - 1) + b".",
    "nested tuples": b")" + b"\x85" * DEEP + b".",
    "nested tuples as a key": b"})" + b"\x85" * DEEP + b"Ns.",
    "nested tuples in a set": b"\x8f()" + b"\x85" * DEEP + b"\x90.",
    "nested tuples in a frozenset": b"()" + b"\x85" * DEEP + b"\x91.",
    "tuple that holds its key": b"}q\x00h\x00\x85h\x00s.",
    "dictionary keyed by itself": b"}q\x00h\x00Ns.",
    "dictionary keyed by itself in a tuple": b"}q\x00h\x00\x85Ns.",
    "list in itself": b"]q\x00h\x00a.",
    "list in a tuple in itself": b"]q\x00h\x00\x85a.",
    "dictionary in itself": b"}q\x00Nh\x00s.",
    "float key": b"}G" + bytes(8) + b"Ns.",
    "huge key": b"}\x8a\x09" + bytes(8) + b"\x01Ns.",
    "odd dictionary": b"}(N\x88\x89u.",
    "two values": b"NN.",
    "no value": b".",
    "nothing": b"",
    "only a protocol": b"\x80\x04",
    "unknown protocol": b"\x80\x06N.",
    "no pickle": b"\x89PNG\r\n\x1a\n",
    "text": b"hello, world\n",
    "bytes after the end": b"N.N.",
    "zeros": bytes(10_000),
    "bad text": b"X\x02\x00\x00\x00\xff\xfe.",
    "bad escape": b"V\\u12\n.",
    "missing memo": b"h\x05.",
    "append to a tuple": b")Na.",
    "append to nothing": b"Na.",
    "items into a list": b"](N\x88u.",
    "adding to a list": b"](N\x90.",
    "global by numbers": b"K\x01K\x02\x93.",
    "global in bad letters": b"c\xff\n\xff\n.",
}  # fmt: skip


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_fizzle(name):
    with within(), pytest.raises(NavauditError):
        loads(BOMBS[name])


def test_the_number_of_operations_is_bounded():
    with within(), pytest.raises(BadInput, match="more than 1000 operations"):
        loads(b"N" * 5000, replace(PLAIN, operations=1000))


def test_keys_made_to_collide_are_refused():
    keys = b"".join(
        b"\x8a\x10" + ((2**61 - 1) * n).to_bytes(16, "little") + b"N" for n in range(1, 20000)
    )
    with within(), pytest.raises(BadInput, match="key"):
        loads(b"}(" + keys + b"u.")


def test_small_whole_keys_do_not_collide_for_long():
    keys = b"".join(b"\x8a\x08" + (n << 40).to_bytes(8, "little") + b"N" for n in range(1 << 16))
    with within(seconds=10, megabytes=200):
        assert len(loads(b"}(" + keys + b"u.")) == 1 << 16


def copies(repeat, size):
    """A large string remembered once, and an operation on it over and over."""
    start = b"]X" + struct.pack("<I", size) + b"a" * size + b"q\x01a"
    return start + b"(" + repeat * 20_000 + b"e."


@pytest.mark.parametrize(
    "repeat",
    [
        named("_codecs", "encode") + b"h\x01" + text("latin1") + b"\x86R",
        named("pathlib", "PosixPath") + b"h\x01\x85R",
    ],
    ids=["encoding", "path"],
)
def test_the_same_bytes_are_not_copied_without_end(repeat):
    with within(megabytes=100), pytest.raises(BadInput, match="over and over"):
        loads(copies(repeat, 200_000))


def test_the_same_state_is_not_merged_without_end():
    cls = named("navsim.planning.metric_caching.metric_cache", "MetricCache")
    fields = b"".join(text(f"field {n}") + b"N" for n in range(20_000))
    data = b"}(" + fields + b"uq\x01" + cls + b")\x81" + b"h\x01b" * 100_000 + b"\x86."
    with within(megabytes=100), pytest.raises(BadInput, match="over and over"):
        loads(data, CACHE)


def test_sets_are_not_made_without_end():
    numbers = b"".join(b"J" + struct.pack("<i", n) for n in range(50_000))
    data = (
        b"]("
        + numbers
        + b"eq\x01("
        + (named("builtins", "set") + b"h\x01\x85R") * 20_000
        + b"t\x86."
    )
    with within(megabytes=200), pytest.raises(BadInput, match="over and over"):
        loads(data)


def test_xz_bombs_are_not_unpacked():
    small = replace(METRIC_CACHE, pickle_bytes=1 << 20)
    data = lzma.compress(bytes(200 << 20), preset=0)
    assert len(data) < 100_000
    with within(megabytes=8), pytest.raises(BadInput, match="unpacks to more"):
        loads(data, small)


def test_an_xz_container_that_wants_gigabytes_is_refused():
    data = bytearray(
        lzma.compress(b"N.", filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 20}])
    )
    # the dictionary's size stands in the block header, guarded by its checksum
    at = data.index(b"\x21\x01") + 2
    data[at] = 38
    header = data[12 : 12 + 4 * (data[12] + 1)]
    data[12 + len(header) - 4 : 12 + len(header)] = struct.pack("<I", zlib.crc32(header[:-4]))
    with within(), pytest.raises(BadInput, match="xz container is broken: Memory usage"):
        loads(bytes(data), METRIC_CACHE)


@pytest.mark.parametrize("cut", [0, 1, 5, 12, 30, -13, -1])
def test_cut_containers_are_told(cut):
    with pytest.raises(BadInput):
        loads(lzma.compress(pickle.dumps([1, 2, 3]))[:cut], METRIC_CACHE)


def test_what_follows_a_container_is_told():
    data = lzma.compress(pickle.dumps([1]))
    with pytest.raises(BadInput, match="follow the xz container"):
        loads(data + b"more", METRIC_CACHE)
    with pytest.raises(BadInput):
        loads(data + data, METRIC_CACHE)


def test_a_plain_pickle_is_no_container():
    with pytest.raises(BadInput, match="xz container is broken"):
        loads(pickle.dumps([1]), METRIC_CACHE)


def test_every_cut_of_a_pickle_is_told():
    value = {"a": [1, 2.5, "x" * 300], "b": np.arange(4.0), "c": (None, True, b"z")}
    for protocol in PROTOCOLS:
        data = pickle.dumps(value, protocol)
        for cut in range(len(data)):
            with pytest.raises(BadInput):
                loads(data[:cut])


def test_walking_meets_the_same_refusals(tmp_path):
    out = io.BytesIO()
    pickles.write_items(out, [("a", {"c": 1})])
    data = out.getvalue()[:-1] + text("b") + named("os", "system") + text("true") + b"\x85Rs."
    path = tmp_path / "labels.pkl"
    path.write_bytes(data)
    walk = pickles.items(path, LABELS)
    assert next(walk) == ("a", {"c": 1})
    with pytest.raises(Refused, match=r"os\.system"):
        next(walk)


def test_nothing_is_imported_by_name():
    before = set(sys.modules)
    for module in ("this", "antigravity", "turtle"):
        with pytest.raises(Refused):
            loads(f"c{module}\nx\n.".encode())
    assert set(sys.modules) == before
