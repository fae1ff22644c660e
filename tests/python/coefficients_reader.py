"""A second reader of files of coefficients (.fjc), made from their specification alone. With a FOLDER, it
compares the folder's files with the JPEGs beside them, which jpeglib reads (pip install jpeglib)."""
import sys
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
import numpy as np

COLOURS = [("grey", 1), ("YCbCr", 3), ("RGB", 3), ("CMYK", 4), ("YCCK", 4)]  # and how many components
CRC_TABLE = [reduce(lambda crc, _: crc >> 1 ^ 0x82F63B78 * (crc & 1), range(8), byte) for byte in range(256)]
ZIGZAG = sorted(range(64), key=lambda at: (at // 8 + at % 8, at // 8 if (at // 8 + at % 8) % 2 else at % 8))

@dataclass
class Component:
    """A component of a picture."""
    factors: tuple[int, int]  # across, down
    quantisation: np.ndarray  # (8, 8)
    widths: np.ndarray  # bits of the values of each zigzag position
    coefficients: np.ndarray  # int16, quantised: (rows of blocks, columns of blocks, 8, 8)

    def groups(self, row_of_mcus: int) -> list[np.ndarray]:
        """The blocks of each group in a row of MCUs, as views of the coefficients."""
        rows = self.coefficients[row_of_mcus * self.factors[1] : (row_of_mcus + 1) * self.factors[1]]
        count = -(-rows.shape[1] // 32)
        return [group for row in rows for group in np.split(row, np.arange(1, count) * len(row) // count)]

@dataclass
class Picture:
    """What a file holds."""
    size: tuple[int, int]  # width and height, as stored
    orientation: int
    colour: str
    components: list[Component]

class Cursor:
    """Takes numbers from bytes, one after the other, and never goes beyond their end."""
    def __init__(self, data: bytes, what: str):
        self.data, self.what, self.at = data, what, 0

    def numbers(self, kind: str, count: int = 1) -> np.ndarray:
        """The next numbers of a type as NumPy writes it ("u2"), as int64."""
        kind, start = np.dtype("<" + kind), self.at
        self.at += int(count) * kind.itemsize
        check(self.at <= len(self.data), f"{self.what} ends too early")
        return np.frombuffer(self.data[start : self.at], kind).astype(np.int64)

    def bits(self, width: int, count: int) -> np.ndarray:
        """A stream of whole bytes, of numbers of `width` bits, lowest bits first."""
        stream = self.numbers("u1", (width * count + 7) // 8).astype(np.uint8)
        values = np.unpackbits(stream, bitorder="little").reshape(-1, width) @ (1 << np.arange(width))
        check(not values[count:].any(), f"{self.what} has a stream with bits beyond its numbers")
        return values[:count]

def check(condition: bool, message: str):
    """Refuses the file unless the condition holds."""
    if not condition:
        raise ValueError(message)

def crc32c(data: bytes) -> int:
    """CRC-32C (Castagnoli) of the bytes."""
    return reduce(lambda crc, byte: CRC_TABLE[(crc ^ byte) & 255] ^ crc >> 8, data, 0xFFFFFFFF) ^ 0xFFFFFFFF

def read(data: bytes) -> Picture:
    """Reads a file; raises ValueError where it is not as specified."""
    head = Cursor(data, "head")
    *magic, version, colour, orientation, count = head.numbers("u1", 12).tolist()
    *size, segment_rows = head.numbers("u2", 3).tolist()
    check(bytes(magic) == b"\x89FJC\r\n\x1a\n" and version == 1, "not a file of coefficients of version 1")
    check(colour < 5 and count == COLOURS[colour][1], "colour and components do not fit")
    check(1 <= orientation <= 8 and min(*size, segment_rows) > 0, "orientation, size or rows are wrong")
    components = read_components(head, count, np.array(size))
    rows = range(-(-size[1] // (8 * max(component.factors[1] for component in components))))
    offsets = head.numbers("u4", -(-len(rows) // segment_rows) + 1)
    check(crc32c(data[: head.at]) == head.numbers("u4")[0], "checksum of the head is wrong")
    check((np.diff([head.at, *offsets, len(data) - 64]) >= 0).all(), "offsets fall, or leave their place")
    for first, start, end in zip(rows[::segment_rows], offsets, offsets[1:]):
        read_segment(Cursor(data[start:end], "segment"), rows[first : first + segment_rows], components)
    return Picture(tuple(size), orientation, COLOURS[colour][0], components)

def read_components(head: Cursor, count: int, size: np.ndarray) -> list[Component]:
    """Reads components and tables; the coefficients of these components are still 0."""
    table_count, zero = head.numbers("u1", 2)
    factors, tables, *widths = head.numbers("u1", 4 * count).reshape(count, 4).T
    quantisation = head.numbers("u2", 64 * table_count).reshape(-1, 8, 8)
    factors = np.stack([factors >> 4, factors & 15], axis=1)
    most = factors.max(axis=0)
    check(factors.all() and most.max() <= 4 ** (count > 1) and not (most % factors).any(), "bad sampling")
    widths = (widths[0] + 256 * widths[1])[:, None] >> 2 * np.arange(8) & 3
    check(tables.max() < table_count <= count and zero == 0 and widths.max() < 3, "bad tables, widths or 0")
    blocks = -(-size * factors // most // 8)  # across, down; rounded up twice
    return [Component(tuple(factors[i].tolist()), quantisation[tables[i]], 2 << widths[i].repeat(8),
                      np.zeros((blocks[i, 1], blocks[i, 0], 8, 8), np.int16)) for i in range(count)]

def read_segment(segment: Cursor, rows: range, components: list[Component]):
    """Reads the rows of MCUs of a segment."""
    check(segment.numbers("u4")[0] == crc32c(segment.data[4:]), "checksum of a segment is wrong")
    groups = [(group, one.widths) for row in rows for one in components for group in one.groups(row)]
    lengths = segment.numbers("u2", len(groups))
    ends = segment.at + lengths.cumsum()
    check(ends[-1] == len(segment.data), "lengths of groups do not add up to their segment")
    for (group, widths), start, end in zip(groups, ends - lengths, ends):
        group[...] = read_group(Cursor(segment.data[start:end], "group"), len(group), widths)

def read_group(group: Cursor, blocks: int, widths: np.ndarray) -> np.ndarray:
    """Reads the blocks of a group, as (blocks, 8, 8)."""
    first, differences, counts = group.numbers("i2"), group.numbers("i1", blocks - 1), group.bits(4, blocks)
    check(counts.max() <= 8, "count is above 8")
    positions = np.zeros((blocks, 8), np.uint8)
    positions[np.arange(8) < counts[:, None]] = group.numbers("u1", counts.sum())
    present = np.roll(np.unpackbits(positions, axis=1, bitorder="little"), 1, axis=1) == 1  # [block, z]
    check(not present[:, 0].any(), "position 64 is there")  # it came to 0, the place of DC
    values = read_values(group, present, widths)
    differences[differences == -128] = group.numbers("i2", (differences == -128).sum())
    values[:, 0] = np.cumsum([*first, *differences])
    places, patches = group.numbers("u2", (len(group.data) - group.at) // 4 * 2).reshape(-1, 2).T
    check(group.at == len(group.data), "streams do not use their group to its last byte")
    check((np.diff(places) > 0).all(), "patches do not rise")
    check(np.max(places, initial=0) < present.size and present.flat[places].all(), "patch of a 0")
    values.flat[places] = patches
    return values[:, np.argsort(ZIGZAG)].astype(np.int16).reshape(blocks, 8, 8)  # modulo 2^16

def read_values(group: Cursor, present: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """Reads the coefficients that are present, but for patches, as (blocks, 64) in zigzag order."""
    twos, fours, eights = [present & (widths == width) for width in (2, 4, 8)]
    two_codes = group.bits(2, twos.sum())
    after_twos, four_codes = np.split(group.bits(4, sum(two_codes == 2) + fours.sum()), [sum(two_codes == 2)])
    two_values, four_values = 1 - 2 * two_codes, np.where(four_codes > 8, 8 - four_codes, four_codes)
    two_values[two_codes == 2] = np.where(after_twos < 8, after_twos + 2, 6 - after_twos)
    two_values[two_codes == 3] = group.numbers("i1", (two_codes == 3).sum())
    four_values[four_codes == 0] = group.numbers("i1", (four_codes == 0).sum())
    values = np.zeros(present.shape, np.int64)
    values[twos], values[fours], values[eights] = two_values, four_values, group.numbers("i1", eights.sum())
    return values

def is_equal(picture: Picture, jpeg) -> bool:
    """Whether a JPEG, as jpeglib reads it, has the same size, factors, tables and coefficients."""
    arrays = [array for array in (jpeg.Y, jpeg.Cb, jpeg.Cr, jpeg.K) if array is not None]
    return picture.size == (jpeg.width, jpeg.height) and len(picture.components) == len(arrays) and all(
        (len(arrays) == 1 or component.factors == tuple(jpeg.samp_factor[index][::-1]))
        and np.array_equal(component.quantisation, jpeg.get_component_qt(index))
        and np.array_equal(component.coefficients, array[tuple(map(slice, component.coefficients.shape))])
        for index, (component, array) in enumerate(zip(picture.components, arrays)))

if __name__ == "__main__":
    import jpeglib
    files = sorted(Path(sys.argv[1]).glob("*.fjc"))
    different = [file.name for file in files
                 if not is_equal(read(file.read_bytes()), jpeglib.read_dct(file.with_suffix(".jpg")))]
    print(f"{len(files) - len(different)} files equal" + "".join(f", {name} differs" for name in different))
    sys.exit(bool(different) or not files)
