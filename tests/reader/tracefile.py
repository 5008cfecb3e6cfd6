"""A trace, read as tracer/FORMAT.md says: the description, the records, and the events of each stream."""

import struct
import zlib
from dataclasses import dataclass, field

from roles import roles_by_name
from zstandard import Damaged, unpacked

FILE_HEADER = 4096
BLOCK_HEADER = 128
ALIGN = 512
FOOTER = 32
NEWEST_VERSION = 13
PART_VERSIONS = (11, 13)
MAX_RECORD = 65536
EVENTS, RECORDS, INDEX = 1, 2, 3
PACKED = 16
MAX_UNPACKED = 16 << 20
UNKNOWN = "<unknown>"


def quoted(name):
    """A name as an atom. The traces that are compared have only names of letters, digits, `_` and `$`."""
    return name if "$" not in name else f"'{name}'"


class Malformed(Exception):
    """Bytes that are not what they should be."""


class Cursor:
    """Reads values from bytes, one after the other."""

    def __init__(self, data, at=0):
        self.data = data
        self.at = at

    def take(self, count):
        if count > len(self.data) - self.at:
            raise Malformed("the bytes end")
        taken = self.data[self.at : self.at + count]
        self.at += count
        return taken

    def byte(self):
        return self.take(1)[0]

    def done(self):
        return self.at == len(self.data)

    def leb128(self):
        value = 0
        for shift in range(0, 70, 7):
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                if value >> 64:
                    break
                return value
        raise Malformed("a number is too large")

    # bincode

    def unsigned(self, bits=64):
        prefix = self.byte()
        if prefix < 251:
            return prefix
        if prefix > 253:
            raise Malformed("a number is too large")
        value = int.from_bytes(self.take(1 << (prefix - 250)), "little")
        if value >> bits:
            raise Malformed("a number is too large")
        return value

    def u32(self):
        return self.unsigned(32)

    def u64(self):
        return self.unsigned(64)

    def signed(self):
        value = self.unsigned(32)
        return -(value + 1) // 2 if value & 1 else value // 2

    def boolean(self):
        byte = self.byte()
        if byte > 1:
            raise Malformed("not a boolean")
        return byte == 1

    def string(self):
        return self.take(self.u64()).decode("utf-8")

    def list_of(self, read):
        return [read() for _ in range(self.u64())]

    def array(self, count, read):
        return [read() for _ in range(count)]

    def option(self, read):
        return read() if self.boolean() else None

    def variant(self, *readers):
        number = self.u32()
        if number >= len(readers):
            raise Malformed(f"no variant {number}")
        return number, readers[number]()


def nothing():
    return None


@dataclass
class Description:
    recorder: str
    engine: str
    command: list
    directory: str
    machine: str
    process: int
    started_unix: int
    clock: int
    ticks_per_second: int
    byrd: bool
    no_tail: bool
    keep_last: bool


def description(data):
    at = Cursor(data)
    read = Description(
        at.string(), at.string(), at.list_of(at.string), at.string(), at.string(), at.u32(), at.u64(),
        at.variant(nothing, nothing, nothing)[0], at.u64(), at.boolean(), at.boolean(), at.boolean(),
    )
    if not at.done():
        raise Malformed("bytes are left over behind the description")
    return read


@dataclass
class Block:
    offset: int
    size: int
    kind: int
    stream: int
    sequence: int
    first_event: int
    base_tick: int
    base_ns: int
    # None: open. False: closed, and the summary is wrong. Else a pair: number of events, CRC of the payload.
    closing: object
    payload: bytes
    whole: bool
    dropped: int

    def checked(self):
        """True: the payload agrees with its checksum; False: it is damaged; None: there is no checksum."""
        if self.closing is None or (self.closing and not self.whole):
            return None
        if not self.closing:
            return False
        return zlib.crc32(self.payload) == self.closing[1]


def block_at(data, offset, file_id):
    """The block that begins here, or None."""
    head = data[offset : offset + BLOCK_HEADER]
    if len(head) < BLOCK_HEADER or head[:4] != b"PMBK":
        return None
    first_size, owner, kind, stream, sequence, first_event, base_tick, base_ns, size, crc = struct.unpack_from(
        "<IQIIQQQQII", head, 4
    )
    recorded, packed = struct.unpack_from("<II", head, 116)
    size = size or first_size
    is_packed, kind = kind & PACKED, kind & ~PACKED
    room = (recorded or first_size if is_packed else size) - BLOCK_HEADER
    known = kind in (EVENTS, RECORDS, INDEX) and owner == file_id
    if zlib.crc32(head[4:60]) != crc or not known or size == 0 or size % ALIGN:
        return None
    committed, state, _last_tick, events, _regressions, payload_crc, close_crc, dropped = struct.unpack_from(
        "<IIQIIIIQ", head, 64
    )
    if is_packed and (packed > size - BLOCK_HEADER or (room + BLOCK_HEADER) % ALIGN or room < 0):
        return None
    if state == 0:
        closing = False if is_packed else None
    elif state == 1 and zlib.crc32(head[64:92]) == close_crc and committed <= room:
        closing = (events, payload_crc)
    else:
        closing = False
    begin = offset + BLOCK_HEADER
    wanted = packed if is_packed else min(committed, room)
    payload = data[begin : min(begin + wanted, end_of_blocks(data))]
    whole = len(payload) == wanted
    if is_packed:
        payload = unpacked_payload(payload, committed) if whole else b""
    return Block(
        offset, size, kind, stream, sequence, first_event, base_tick, base_ns,
        closing, payload, whole, dropped,
    )


def unpacked_payload(payload, length):
    """What was packed; nothing if it is damaged."""
    try:
        found = unpacked(payload) if length <= MAX_UNPACKED else b""
    except Damaged:
        return b""
    return found if len(found) == length else b""


def end_of_blocks(data):
    """Where no block can be any more: a valid footer belongs to none."""
    footer = data[-FOOTER:]
    is_footer = len(footer) == FOOTER and footer[:8] == b"PMTRACE."
    is_valid = is_footer and zlib.crc32(footer[:24]) == struct.unpack_from("<I", footer, 24)[0]
    return len(data) - FOOTER if is_valid else len(data)


def blocks_by_index(data, file_id):
    """The blocks that the index lists, or None if there is no valid footer and index."""
    footer = data[-FOOTER:]
    if len(data) < FILE_HEADER + FOOTER or footer[:8] != b"PMTRACE.":
        return None
    offset, owner, crc = struct.unpack_from("<QQI", footer, 8)
    if owner != file_id or zlib.crc32(footer[:24]) != crc:
        return None
    index = block_at(data, offset, file_id)
    if index is None or index.kind != INDEX or index.checked() is not True:
        return None
    at = Cursor(index.payload)
    entries = at.list_of(lambda: (at.u64(), at.u32(), at.u64()))
    found = [block_at(data, offset, file_id) for offset, _, _ in entries]
    return [block for block in found if block]


def blocks_by_walk(data, file_id):
    at = FILE_HEADER
    found = []
    while at < len(data):
        block = block_at(data, at, file_id)
        if block:
            found.append(block)
        at += block.size if block else ALIGN
    return found


@dataclass
class Predicate:
    id: int
    module: str
    name: str
    arity: int
    file: object
    line: int
    roles: int


@dataclass
class Site:
    id: int
    callee: int
    caller: int
    clause: int
    goal: int
    line: int
    file: object
    then_fails: bool


@dataclass
class Clause:
    id: int
    predicate: int
    number: int
    line: int
    file: object


@dataclass
class StreamInfo:
    id: int
    dialect: int = 0
    begin: object = None
    end: object = None  # (tick, events)
    blocks: list = field(default_factory=list)


class Trace:
    """A trace file: its description, names and streams."""

    def __init__(self, data):
        if data[:8] != b"\x89PMT\r\n\x1a\n":
            raise Malformed("not a trace")
        version, _, length, file_id, text_crc, crc = struct.unpack_from("<HHIQII", data, 8)
        if version > NEWEST_VERSION:
            raise Malformed(f"format version {version} is newer than {NEWEST_VERSION}")
        text = data[32 : 32 + length]
        if zlib.crc32(data[:28]) != crc or zlib.crc32(text) != text_crc:
            raise Malformed("the header is damaged")
        self.description = description(text)
        self.files = {}
        self.predicates = {}
        self.sites = {}
        self.clauses = {}
        self.end = None
        # Of a part of a trace: its first tick, the first one after it, streams, name of the trace.
        self.part = None
        self.records_lost = False
        self._streams = {}
        blocks = blocks_by_index(data, file_id)
        if blocks is None:
            blocks = blocks_by_walk(data, file_id)
        self._read_records(in_order(block for block in blocks if block.kind == RECORDS))
        if version in PART_VERSIONS and self.part is None:
            raise Malformed("it is not known which part of a trace it is")
        for block in in_order(block for block in blocks if block.kind == EVENTS):
            self._stream(block.stream).blocks.append(block)
        self.streams = [self._streams[id] for id in sorted(self._streams)]
        self._set_clock(blocks)

    def _stream(self, id):
        return self._streams.setdefault(id, StreamInfo(id))

    def _read_records(self, blocks):
        for expected, block in enumerate(blocks):
            if block.sequence != expected or block.checked() is False:
                self.records_lost = True
            if block.checked() is False:
                continue
            at = Cursor(block.payload)
            while not at.done():
                try:
                    record = Cursor(at.take(at.leb128()))
                except Malformed:
                    self.records_lost = True
                    break
                try:
                    self._read_record(record)
                except (Malformed, UnicodeDecodeError):
                    self.records_lost = True

    def _read_record(self, at):
        cost = lambda: (at.option(at.u32), at.u32(), at.u32(), at.u32(), at.u64())
        trial = lambda: (at.array(8, at.u64), at.u64(), at.u64(), at.u64(), at.u64())
        number, fields = at.variant(
            lambda: (at.u32(), at.string()),
            lambda: self._predicate(at),
            lambda: (at.u32(), at.variant(nothing, nothing), at.string(), at.variant(nothing, nothing), at.u64()),
            lambda: (at.u32(), at.u64(), at.u64()),
            lambda: (at.u32(), at.string()),
            lambda: (at.string(),),
            lambda: (at.u64(), at.u64(), at.variant(at.signed, nothing, nothing)),
            lambda: (at.u32(), at.string()),
            lambda: (at.u32(), at.u32()),
            lambda: (at.list_of(cost), at.boolean()),
            lambda: (at.array(8, at.u32), at.array(8, at.u32), at.u32(), at.u32(), at.u32()),
            lambda: (at.u64(), at.u32(), at.u32()),
            lambda: (at.option(at.u32), at.u32(), at.u32()),
            lambda: Site(*(at.u32() for _ in range(6)), at.option(at.u32), not at.done() and at.boolean()),
            lambda: (at.u64(), at.list_of(trial), [] if at.done() else at.list_of(at.u64)),
            lambda: Clause(*(at.u32() for _ in range(4)), at.option(at.u32)),
            lambda: (at.u32(),),
            lambda: (at.variant(nothing, nothing),),
            lambda: (at.u32(),),
            lambda: (at.u32(),),
            lambda: (at.u32(), at.string()),
            lambda: (at.u64(), at.u64(), at.list_of(at.u32), at.string()),
        )
        if not at.done():
            raise Malformed("bytes are left over behind a record")
        if number == 0:
            self.files.setdefault(*fields)
        elif number == 1:
            self.predicates.setdefault(fields.id, fields)
        elif number == 2:
            stream = self._stream(fields[0])
            if stream.begin is None:
                stream.dialect, stream.begin = fields[3][0], fields[4]
        elif number == 3:
            stream = self._stream(fields[0])
            stream.end = stream.end or fields[1:]
        elif number == 6:
            self.end = fields
        elif number == 13:
            self.sites.setdefault(fields.id, fields)
        elif number == 15:
            self.clauses.setdefault(fields.id, fields)
        elif number == 21:
            self.part = self.part or fields

    def _predicate(self, at):
        said = at.u32(), at.string(), at.string(), at.u32(), at.option(at.u32), at.u32()
        _, module, name, arity, *_ = said
        roles = roles_by_name(f"{module}:{name}/{arity}") if at.done() else at.u32()
        return Predicate(*said, roles)

    def _set_clock(self, blocks):
        pairs = [(block.base_tick, block.base_ns) for block in blocks]
        if self.end:
            pairs.append(self.end[:2])
        # min and max take the first of several.
        first = min(pairs, key=lambda pair: pair[0], default=(0, 0))
        last = max(pairs, key=lambda pair: pair[0], default=(0, 0))
        self._ticks, self._ns = last[0] - first[0], last[1] - first[1]
        stated = self.description.ticks_per_second
        if self._ticks <= 0 or self._ns <= 0 or (self._ns < 1_000_000 and stated):
            self._ticks, self._ns = (stated, 1_000_000_000) if stated else (1, 1)

    def duration_ns(self, ticks):
        return (ticks * self._ns + self._ticks // 2) // self._ticks

    def name(self, id):
        """Indicator of a predicate; the module `user` is left out."""
        predicate = self.predicates.get(id)
        if predicate is None:
            return UNKNOWN
        module = "" if predicate.module == "user" else quoted(predicate.module) + ":"
        return f"{module}{quoted(predicate.name)}/{predicate.arity}"

    def site(self, id):
        """The site that a call of this id is from, or None."""
        site = self.sites.get(id)
        known = site and site.caller in self.predicates and site.callee in self.predicates
        return site if known and id not in self.predicates else None

    def clause(self, id):
        """The clause of this id, or None."""
        clause = self.clauses.get(id)
        return clause if clause and clause.predicate in self.predicates else None

    def events(self, stream):
        """The events of a stream with their ticks: (name, argument, tick), gaps included. Of calls the argument is
        a pair: the predicate, and the site or None."""
        tick = number = 0
        lost_track = False
        total = stream.end[1] if stream.end else None
        for block in stream.blocks:
            lost = max(block.first_event - number, 0)
            lost_track |= block.first_event < number
            number += lost
            tick = max(tick, block.base_tick)
            if lost or lost_track:
                yield "gap", lost, tick
            checked = block.checked()
            lost_track = checked is False
            at = Cursor(b"" if lost_track else block.payload)
            before = number
            while not at.done():
                try:
                    name, argument, delta = event(at)
                except Malformed:
                    lost_track = True
                    break
                if name == "skip":
                    if self.part is None:
                        lost_track = True
                        break
                    number += argument + 1
                    continue
                if name in ("call", "tail"):
                    site = self.site(argument)
                    predicate = site.callee if site else argument
                    if predicate not in self.predicates:
                        if checked is None and not self.records_lost:
                            lost_track = True
                            break
                        predicate = None
                    argument = (predicate, site)
                tick += delta
                number += 1
                yield name, argument, tick
            announced = before + block.closing[0] if block.closing else number
            lost_track |= number < announced
            if stream.end is None:
                total = max(number, announced) + block.dropped
        lost = max((total or 0) - number, 0)
        if lost or lost_track:
            yield "gap", lost, max(tick, stream.end[0] if stream.end else 0)


def in_order(blocks):
    """By stream and sequence; of two with the same number the first in the file."""
    by_number = {}
    for block in sorted(blocks, key=lambda block: block.offset):
        by_number.setdefault((block.stream, block.sequence), block)
    return [by_number[number] for number in sorted(by_number)]


SIMPLE = {3: "exit_det", 4: "exit_nondet", 5: "redo", 6: "fail"}
EXTENDED = {
    1: "exception", 2: "pause", 3: "resume", 4: "gap", 5: "mark", 6: "clause", 7: "arguments", 8: "table", 9: "value",
    10: "sync", 11: "skip",
}


def called_with(at):
    """Passes over what is said of arguments."""
    kind = at.byte()
    if kind == 0:
        at.take(8)
    elif kind in (3, 4):
        at.byte()
        at.leb128()
    elif kind not in (1, 2):
        raise Malformed("an unknown word on arguments")


def value(at):
    """Passes over what an argument is at a call or at an exit."""
    kind = at.byte() & 7
    at.byte()
    if kind > 4:
        raise Malformed("an unknown kind of value")
    if kind in (1, 2, 4) and at.leb128() >> 32:
        raise Malformed("a size is too large")
    if kind in (1, 2):
        at.take(8)


def event(at):
    """The next event: name, argument, delta."""
    head = at.byte()
    delta = at.leb128() << 5 | head >> 3
    if delta >> 64:
        raise Malformed("a delta is too large")
    tag = head & 7
    argument = None
    if tag == 0:
        name = EXTENDED.get(at.byte())
        if name is None:
            raise Malformed("an unknown event")
        if name in ("gap", "mark", "clause", "skip"):
            argument = at.leb128()
        if name == "arguments":
            called_with(at)
        if name == "table":
            for number in (at.leb128() for _ in range(3)):
                if number >> 32:
                    raise Malformed("a number is too large")
        if name == "value":
            value(at)
        if name == "sync":
            if at.byte() > 5:
                raise Malformed("an unknown role")
            if at.leb128() >> 32:
                raise Malformed("a number is too large")
    elif tag in SIMPLE:
        name = SIMPLE[tag]
    else:
        name = {1: "call", 2: "tail", 7: "cut"}[tag]
        argument = at.leb128()
    if argument is not None and argument >> 32 and name != "gap":
        raise Malformed("a number is too large")
    return name, argument, delta
