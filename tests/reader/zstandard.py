"""Unpacks a frame of Zstandard, as RFC 8878 says: slowly, and without dictionaries."""


class Damaged(Exception):
    """Bytes that are no frame."""


class Bits:
    """Reads bits from the end of bytes to their beginning; before them are zeros."""

    def __init__(self, data):
        if not data or not data[-1]:
            raise Damaged("a bit stream has no end")
        self.data = data
        self.left = 8 * len(data) - 9 + data[-1].bit_length()

    def take(self, count):
        self.left -= count
        mask = (1 << count) - 1
        if self.left >= 0:
            begin = self.left >> 3
            word = int.from_bytes(self.data[begin : begin + (count + 15 >> 3)], "little")
            return word >> (self.left & 7) & mask
        word = int.from_bytes(self.data[: count + 7 >> 3], "little")
        return word << -self.left & mask

    def peek(self, count):
        value = self.take(count)
        self.left += count
        return value


# Finite state entropy


def read_table(data, at, most_log, most_symbol):
    """The probabilities of symbols: the decoding table, and where it ends."""
    value, bit = int.from_bytes(data[at : at + 600], "little"), 0

    def take(count):
        nonlocal bit
        bit += count
        return value >> (bit - count) & ((1 << count) - 1)

    log = take(4) + 5
    if log > most_log:
        raise Damaged("a table is too large")
    left, counts = (1 << log) + 1, []
    while left > 1 and len(counts) <= most_symbol:
        bits = left.bit_length()
        small = (1 << bits) - 1 - left
        count = value >> bit & ((1 << bits) - 1)
        low = count & ((1 << bits - 1) - 1)
        if low < small:
            bit += bits - 1
            count = low
        else:
            bit += bits
            if count >= 1 << bits - 1:
                count -= small
        count -= 1
        left -= abs(count)
        counts.append(count)
        if count == 0:
            while True:
                zeros = take(2)
                counts += [0] * zeros
                if zeros < 3:
                    break
    if left != 1:
        raise Damaged("a table has too many states")
    return decoding(counts, log), at + (bit + 7) // 8


def decoding(counts, log):
    """By state: symbol, bits to read, and what they are added to."""
    size = 1 << log
    symbols, high = [0] * size, size
    following = {}
    for symbol, count in enumerate(counts):
        if count == -1:
            high -= 1
            symbols[high] = symbol
        following[symbol] = 1 if count == -1 else count
    step, place = (size >> 1) + (size >> 3) + 3, 0
    for symbol, count in enumerate(counts):
        for _ in range(max(count, 0)):
            symbols[place] = symbol
            place = place + step & size - 1
            while place >= high:
                place = place + step & size - 1
    table = []
    for symbol in symbols:
        number = following[symbol]
        following[symbol] += 1
        bits = log - number.bit_length() + 1
        table.append((symbol, bits, (number << bits) - size))
    return table, log


# Huffman codes


def read_huffman(data, at):
    """The codes of literals, and where they end."""
    head = data[at]
    at += 1
    if head >= 128:
        count = head - 127
        weights = [data[at + i // 2] >> (4 if i % 2 == 0 else 0) & 15 for i in range(count)]
        end = at + (count + 1) // 2
    else:
        end = at + head
        (table, log), begin = read_table(data, at, 6, 255)
        bits = Bits(data[begin:end])
        states = [bits.take(log), bits.take(log)]
        weights = []
        while True:
            symbol, count, base = table[states[0]]
            weights.append(symbol)
            states[0] = base + bits.take(count)
            if bits.left < 0:
                weights.append(table[states[1]][0])
                break
            states.reverse()
    total = sum(1 << weight - 1 for weight in weights if weight)
    most = total.bit_length()
    rest = (1 << most) - total
    if rest & rest - 1:
        raise Damaged("codes do not fill their tree")
    weights.append(rest.bit_length())
    codes = []
    for weight in range(1, most + 1):
        for symbol, of in enumerate(weights):
            if of == weight:
                codes += [(symbol, most + 1 - weight)] * (1 << weight - 1)
    return (codes, most), end


def huffman(codes, data, count):
    table, most = codes
    bits = Bits(data)
    out = bytearray()
    for _ in range(count):
        symbol, length = table[bits.peek(most)]
        bits.left -= length
        out.append(symbol)
    if bits.left:
        raise Damaged("literals do not end with their bits")
    return out


# Sequences

LITERALS = [(i, 0) for i in range(16)] + [
    (16, 1), (18, 1), (20, 1), (22, 1), (24, 2), (28, 2), (32, 3), (40, 3), (48, 4), (64, 6),
    (128, 7), (256, 8), (512, 9), (1024, 10), (2048, 11), (4096, 12), (8192, 13), (16384, 14), (32768, 15), (65536, 16),
]
MATCHES = [(i + 3, 0) for i in range(32)] + [
    (35, 1), (37, 1), (39, 1), (41, 1), (43, 2), (47, 2), (51, 3), (59, 3), (67, 4), (83, 4),
    (99, 5), (131, 7), (259, 8), (515, 9), (1027, 10), (2051, 11), (4099, 12), (8195, 13), (16387, 14), (32771, 15), (65539, 16),
]
USUAL_LITERALS = decoding(
    [4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1], 6
)
USUAL_OFFSETS = decoding(
    [1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1], 5
)
USUAL_MATCHES = decoding([1, 4, 3, 2, 2, 2, 2, 2, 2] + [1] * 37 + [-1] * 7, 6)


class Frame:
    """What is kept from block to block."""

    def __init__(self):
        self.out = bytearray()
        self.codes = None
        self.tables = [None, None, None]
        self.offsets = [1, 4, 8]

    def block(self, data):
        literals, at = self.literals(data)
        count = data[at]
        at += 1
        if count == 255:
            count = int.from_bytes(data[at : at + 2], "little") + 0x7F00
            at += 2
        elif count > 127:
            count = (count - 128 << 8) + data[at]
            at += 1
        used = self.sequences(data, at, count, literals) if count else 0
        self.out += literals[used:]

    def literals(self, data):
        kind, form = data[0] & 3, data[0] >> 2 & 3
        if kind < 2:
            length, shift = (1, 3) if form in (0, 2) else (2, 4) if form == 1 else (3, 4)
            size = int.from_bytes(data[:length], "little") >> shift
            if kind == 1:
                return data[length : length + 1] * size, length + 1
            return data[length : length + size], length + size
        length, bits = ((3, 10), (3, 10), (4, 14), (5, 18))[form]
        sizes = int.from_bytes(data[:length], "little") >> 4
        size, packed = sizes & (1 << bits) - 1, sizes >> bits
        end, at = length + packed, length
        if kind == 2:
            self.codes, at = read_huffman(data, at)
        if self.codes is None:
            raise Damaged("there are no codes")
        if form == 0:
            return huffman(self.codes, data[at:end], size), end
        ends = [int.from_bytes(data[at + i : at + i + 2], "little") for i in (0, 2, 4)]
        part, out, begin = (size + 3) // 4, bytearray(), at + 6
        for one in ends:
            out += huffman(self.codes, data[begin : begin + one], part)
            begin += one
        return out + huffman(self.codes, data[begin:end], size - 3 * part), end

    def sequences(self, data, at, count, literals):
        modes = data[at]
        at += 1
        usual = (USUAL_LITERALS, USUAL_OFFSETS, USUAL_MATCHES)
        most = ((9, 35), (8, 31), (9, 52))
        for which in range(3):
            mode = modes >> 6 - 2 * which & 3
            if mode == 0:
                self.tables[which] = usual[which]
            elif mode == 1:
                self.tables[which] = [(data[at], 0, 0)], 0
                at += 1
            elif mode == 2:
                self.tables[which], at = read_table(data, at, *most[which])
        bits = Bits(data[at:])
        tables = [table for table, _ in self.tables]
        states = [bits.take(log) for _, log in self.tables]
        used = 0
        for number in range(count):
            (of_literals, *_), (of_offset, *_), (of_match, *_) = (
                table[state] for table, state in zip(tables, states)
            )
            offset = (1 << of_offset) + bits.take(of_offset)
            base, extra = MATCHES[of_match]
            match = base + bits.take(extra)
            base, extra = LITERALS[of_literals]
            length = base + bits.take(extra)
            if number + 1 < count:
                for which in (0, 2, 1):
                    _, extra, base = tables[which][states[which]]
                    states[which] = base + bits.take(extra)
            self.out += literals[used : used + length]
            used += length
            self.copy(self.distance(offset, length), match)
        if bits.left:
            raise Damaged("sequences do not end with their bits")
        return used

    def distance(self, offset, length):
        """The offsets used last have short codes."""
        last = self.offsets
        if offset > 3:
            last[:] = [offset - 3, last[0], last[1]]
            return last[0]
        which = offset - 1 + (length == 0)
        found = last[0] - 1 if which == 3 else last[which]
        if which:
            last[:] = [found, last[0], last[2] if which == 1 else last[1]]
        return found

    def copy(self, distance, count):
        begin = len(self.out) - distance
        if begin < 0 or distance == 0:
            raise Damaged("a match begins before the frame")
        while count > 0:
            part = self.out[begin : begin + count]
            self.out += part
            begin += len(part)
            count -= len(part)


def unpacked(data):
    """The contents of one frame."""
    try:
        return frame(data)
    except (IndexError, TypeError, ValueError) as error:
        raise Damaged("the frame ends early") from error


def frame(data):
    if data[:4] != b"\x28\xb5\x2f\xfd":
        raise Damaged("no frame begins here")
    head = data[4]
    is_single, has_checksum = head >> 5 & 1, head >> 2 & 1
    size = (is_single, 2, 4, 8)[head >> 6]
    at = 5 + (1 - is_single) + (0, 1, 2, 4)[head & 3] + size
    found = Frame()
    is_last = False
    while not is_last:
        block = int.from_bytes(data[at : at + 3], "little")
        if at + 3 > len(data):
            raise Damaged("the frame ends early")
        at += 3
        is_last, kind, size = block & 1, block >> 1 & 3, block >> 3
        if kind == 0:
            found.out += data[at : at + size]
        elif kind == 1:
            found.out += data[at : at + 1] * size
            size = 1
        elif kind == 2:
            found.block(data[at : at + size])
        else:
            raise Damaged("a block of no kind")
        at += size
    if at + 4 * has_checksum != len(data):
        raise Damaged("the frame has another length")
    return bytes(found.out)
