"""Damaged JPEGs, made of a sound one: each has one flaw, and a name that says which."""

SOS, DHT, DQT = 0xDA, 0xC4, 0xDB
FRAMES = (0xC0, 0xC1, 0xC2)


def segments(data):
    """The marker segments ahead of the entropy-coded data: marker, first byte (its 0xFF), and the byte behind it."""
    found, at = [], 2
    while at + 4 <= len(data):
        marker, length = data[at + 1], int.from_bytes(data[at + 2:at + 4], "big")
        found.append((marker, at, at + 2 + length))
        at += 2 + length
        if marker == SOS:
            return found
    raise ValueError("a JPEG without a scan")


def flaws(data):
    """The damaged files by name."""
    parts = segments(data)
    scan = parts[-1][2]
    middle = (scan + len(data)) // 2
    frame = next(first for marker, first, _ in parts if marker in FRAMES)
    size = frame + 5
    return {
        "cut-in-the-middle": data[:middle],
        "cut-near-the-end": data[:len(data) - 40],
        "cut-in-the-header": data[:frame + 6],
        "no-end-of-image": data[:-2],
        "bytes-behind-the-end": data + bytes(range(256)),
        "zeros-in-the-scan": data[:middle] + bytes(64) + data[middle + 64:],
        "ones-in-the-scan": data[:middle] + b"\xff" * 64 + data[middle + 64:],
        "a-bit-turned": data[:middle] + bytes([data[middle] ^ 0x10]) + data[middle + 1:],
        "a-stray-restart-marker": data[:middle] + b"\xff\xd3" + data[middle:],
        "no-huffman-tables": without(data, parts, DHT),
        "no-quantisation-tables": without(data, parts, DQT),
        "no-scan": data[:parts[-1][1]] + b"\xff\xd9",
        "height-0": data[:size] + b"\0\0" + data[size + 2:],
        "taller-than-its-data": data[:size] + b"\x10\x00" + data[size + 2:],
        "width-65535": data[:size + 2] + b"\xff\xff" + data[size + 4:],
        "12-bits": data[:size - 1] + b"\x0c" + data[size:],
        "restart-interval-without-markers": data[:frame] + b"\xff\xdd\0\4\0\1" + data[frame:],
        "empty": b"",
        "no-jpeg": b"GIF89a" + bytes(200),
    }


def without(data, parts, wanted):
    """The file with all segments of one kind taken out."""
    for marker, first, end in reversed(parts):
        if marker == wanted:
            data = data[:first] + data[end:]
    return data


def write(source, folder):
    """Every flaw of one file below a folder; returns the names in the order in which a folder is read."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {f"{name}.jpg": data for name, data in flaws(source.read_bytes()).items()}
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return sorted(files)
