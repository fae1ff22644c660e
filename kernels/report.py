"""What the compiled kernels cost: instructions, registers and spills, and how many instructions an output pixel takes.

build.py calls it. Instructions are those of the machine code (SASS), as nvdisasm lists them, without the NOPs behind the end.

How many are executed for a pixel is counted and not estimated: testdouble/ptx translates the PTX with a counter at the
head of each straight run of instructions, and testdouble/ptx/count/job.cpp runs it on a recipe's crops. ptxas is given the
PTX with a line number for each of its instructions, so each instruction of the machine code names the one that it was made
of. A basic block of the machine code ran as often as most of its instructions' lines did. That is exact where ptxas keeps
the loops of the PTX; where it would unroll or copy one, its dot products would be counted too often, and `executed` fails.
"""

import bisect
import collections
import pathlib
import re
import subprocess
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
PREBUILT = FOLDER / "prebuilt"
TABLE = FOLDER / "report.md"
DOUBLE = FOLDER.parent / "testdouble"
ARCHITECTURES = ["sm_75", "sm_80", "sm_90", "sm_100"]
# Kernels that render a recipe's crops.
COUNTED = ["crop", "render"]

HEAD = """# What the kernels cost

Written by `kernels/build.py VENV --report`, and compared by `--report --check`. In each cell: instructions of the machine
code, registers of a thread, and bytes that it spills. Shared memory is a block's.

"""
MIDDLE = """
## Instructions for each output pixel

Random crops to 224x224 pixels in float16, planar and normalised, half of them mirrored, that shrink by 1.25 in the mean of
their edges: 280x280, 240x320 and 320x240 pixels of an image of 500x375. What is executed in the threads, divided by the
pixels; behind the stroke, what the processor issues for it: 32 for each instruction of a warp, whether all its threads take
part or not, if they go through a loop together. Instructions whose predicate is false count. `kernels/report.py` says how
it is counted. The kernel `taps`, which runs once for each axis and not for each pixel, is not in it.

"""

INSTRUCTION = re.compile(r"(@!?%p\d+ )?[a-z][\w.:]* ?.*;$")


def write(tools):
    TABLE.write_text(table(tools))
    print(TABLE.read_text(), end="")


def compare(tools):
    now = table(tools)
    if TABLE.exists() and TABLE.read_text() == now:
        return 0
    print(f"kernels/{TABLE.name} is not what the kernels give: run kernels/build.py VENV --report\n\n{now}", end="")
    return 1


def table(tools):
    out = [HEAD, "| kernel | ", " | ".join(ARCHITECTURES), " | shared memory |\n", "|---|" + "---|" * (len(ARCHITECTURES) + 1), "\n"]
    for path in sorted(PREBUILT.glob("*.ptx")):
        cells = [costs(tools, path, architecture) for architecture in ARCHITECTURES]
        shared = max(shared for *_, shared in cells)
        row = " | ".join(f"{instructions}, {registers}, {spilled}" for instructions, registers, spilled, _ in cells)
        out.append(f"| `{path.stem}` | {row} | {shared} bytes |\n")
    out += [MIDDLE, "| kernel | ", " | ".join(ARCHITECTURES), " |\n", "|---|" + "---|" * len(ARCHITECTURES), "\n"]
    for name in COUNTED:
        text = (PREBUILT / f"{name}.ptx").read_text()
        counts, pixels = counted(name)
        cells = [executed(disassembled(tools, text, architecture), text, counts, pixels) for architecture in ARCHITECTURES]
        out.append(f"| `{name}` | " + " | ".join(f"{threads:.1f} / {issued:.1f}" for threads, issued in cells) + " |\n")
    return "".join(out)


def costs(tools, path, architecture):
    """Instructions, registers, spilled bytes and shared memory."""
    command = [tools / "ptxas", "-v", f"-arch={architecture}", path, "-o", "/dev/null"]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    numbers = lambda pattern: [int(number) for number in re.findall(pattern, said)] or [0]
    blocks = disassembled(tools, path.read_text(), architecture)
    return (sum(map(len, blocks)), max(numbers(r"Used (\d+) registers")), sum(numbers(r"(\d+) bytes spill stores")),
            max(numbers(r"(\d+) bytes smem")))


def disassembled(tools, text, architecture):
    """The basic blocks of the machine code: of each instruction its name and the line of the PTX that it was made of."""
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        lines += [f".loc 1 {number} 0"] * bool(INSTRUCTION.match(line)) + [line]
        lines += ['.file 1 "kernel.ptx"'] * line.startswith(".address_size")
    with tempfile.TemporaryDirectory() as folder:
        ptx, cubin = pathlib.Path(folder, "kernel.ptx"), pathlib.Path(folder, "kernel.cubin")
        ptx.write_text("\n".join(lines))
        subprocess.run([tools / "ptxas", "-lineinfo", f"-arch={architecture}", ptx, "-o", cubin], check=True, capture_output=True)
        sass = subprocess.run([tools / "nvdisasm", "-g", "-c", cubin], check=True, capture_output=True, text=True).stdout
    blocks, line = [[]], 0
    for text in sass.splitlines():
        if found := re.search(r'//## File "kernel.ptx", line (\d+)', text):
            line = int(found[1])
        elif re.match(r"\s*[.\w$]+:", text):
            blocks.append([])
        elif found := re.match(r"\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\d+ )?\s*([A-Z]\w*)", text):
            if found[1] != "NOP":
                blocks[-1].append((found[1], line))
            if found[1] in ("BRA", "EXIT", "RET", "BRX", "JMP"):
                blocks.append([])
    return [block for block in blocks if block]


def executed(blocks, text, counts, pixels):
    """Instructions that threads execute for each pixel, and those that are issued for them."""
    threads, warps, products = ran(blocks, text, counts)
    starts = heads(text)
    count = lambda line: counts.get(starts[bisect.bisect_right(starts, line) - 1], (0, 0))
    in_ptx = sum(count(line)[0] for line, code in enumerate(text.splitlines(), 1) if code.startswith("dp2a"))
    if products != in_ptx:
        raise SystemExit(f"{products} dot products in the machine code and {in_ptx} in the PTX: loops were changed")
    return threads / pixels, warps * 32 / pixels


def ran(blocks, text, counts):
    """Instructions that threads execute, that warps do, and dot products of threads."""
    starts = heads(text)
    count = lambda line: counts.get(starts[bisect.bisect_right(starts, line) - 1], (0, 0))
    threads = warps = products = 0
    for block in blocks:
        by_threads, by_warps = collections.Counter(count(line) for _, line in block).most_common(1)[0][0]
        threads += len(block) * by_threads
        warps += len(block) * by_warps
        products += by_threads * sum(name == "IDP" for name, _ in block)
    return threads, warps, products


def heads(text):
    """The lines that testdouble/ptx/translate.py --count counts: the first behind a label, a head or a branch."""
    found, begins = [0], True
    for number, line in enumerate(text.splitlines(), 1):
        begins = begins or line.startswith((".visible", ".func")) or line.endswith(":")
        if INSTRUCTION.match(line):
            found += [number] * begins
            begins = re.search(r"(^| )(bra|ret|exit)\b", line) is not None
    return found


def counted(name):
    """How many threads and warps ran each of those lines, and how many pixels they made."""
    flags = ["-std=c++17", "-O1", "-w", "-ffp-contract=off", "-fno-strict-aliasing", f"-I{FOLDER}"]
    with tempfile.TemporaryDirectory() as folder:
        objects = []
        for kernel in ("taps", name):
            translate = ["python3", "-B", DOUBLE / "ptx/translate.py", PREBUILT / f"{kernel}.ptx", "--count"]
            source = pathlib.Path(folder, f"kernel_{kernel}.cpp")
            source.write_bytes(subprocess.run(translate, check=True, capture_output=True).stdout)
            # What a kernel's object holds is its shared memory, by its name: testdouble/shim/shared.ld.
            objects.append(source.with_suffix(".o"))
            subprocess.run(["g++", *flags, "-c", source, "-o", objects[-1]], check=True)
        job, grid = pathlib.Path(folder, "job"), sorted((DOUBLE / "grid").glob("*.cpp"))
        link = [f"-Wl,-T,{DOUBLE / 'shim/shared.ld'}", DOUBLE / "ptx/count/job.cpp", *grid, *objects, "-lpthread", "-o", job]
        subprocess.run(["g++", *flags, *link], check=True)
        lines = subprocess.run([job, name], check=True, capture_output=True, text=True).stdout.splitlines()
    pixels = next(int(line.split()[1]) for line in lines if line.startswith("pixels"))
    rows = (map(int, line.split()) for line in lines if not line.startswith("pixels"))
    return {line: (threads, warps) for line, threads, warps in rows}, pixels
