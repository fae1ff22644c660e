"""The time table of `gpu/run`: what is done in which order, in how many seconds, and which question that answers.

What matters most comes first: a run that is ended early has answered the questions that the others rest on.
"""

import textwrap
from dataclasses import dataclass

# Two calls of at most ten minutes, for where no command may take longer; without a call named, all is run in one.
CALLS = (1, 2)
CALL_S = 590
# The last section has what is left: so many seconds if all others use all of theirs.
REST, REST_S = "sanitizer", 60
# A dry run shares its machine with other work and measures nothing: its sections may take so many times as long.
DRY_RUN_PATIENCE = 2


@dataclass(frozen=True)
class Section:
    """One process with a limit of its own; it is called as its script."""

    name: str
    call: int
    seconds: int
    title: str
    answers: str


SECTIONS = (
    Section("start", 1, 25, "Start and constants",
            "Which GPU, driver and libraries? What do translating kernels, events, allocations and freeing under load "
            "cost, and how fast are copies from pinned memory?"),
    Section("parity", 1, 110, "Parity and overwriting",
            "Does feedline's decoder give the CPU's bits, of every image of every data set, by every way into a file? Are "
            "rendered values equal too? How far are nvJPEG's pixels from the CPU's? Do the engines write without waiting "
            "for their stream, and does the host's wait prevent it?"),
    Section("decode", 1, 150, "Decoding speed",
            "How many images a second does feedline's decoder make in batches of 32 to 512, of crops and of whole images, "
            "and which of its kernels takes how long? How many do nvJPEG's decoders, nvImageCodec, torchcodec and "
            "torchvision, and what of the CPU? Is a batch of several samplings slower in one call than grouped?"),
    Section("kernels", 1, 50, "Kernels",
            "What do the hardware's counters say of our kernels, where ncu works? How far is rendering from the speed of a "
            "copy on the device?"),
    Section("end_to_end", 1, 130, "From files to batches, alone",
            "How many images a second with each decoder forced, feedline's own first, on 16, 4 and 1 cores? Is that "
            "the fastest, and is the GPU ever slower than the CPU device?"),
    Section("support", 2, 100, "What each decoder takes",
            "Which decoder takes which sampling, part, restart markers and flags? What does a damaged file do to it, "
            "and to the sound file after it?"),
    Section("plugs", 2, 45, "Trainers' frameworks on the GPU",
            "Do torch, CuPy, JAX, timm, torchvision's references, Lightning, accelerate and transformers get on the GPU what the "
            "CPU device makes?"),
    Section("graphs", 2, 40, "CUDA graphs beside a loader",
            "Can a trainer capture CUDA graphs while a loader works, hold and drop batches meanwhile, and are the pixels right?"),
    Section("training", 2, 150, "With a training step in the same process",
            "Does a ResNet-18 or a ResNet-50 wait for feedline, on how many cores, and with which decoder and priority?"),
    Section("peers", 2, 45, "Other loaders",
            "How fast are torchvision, torchcodec and nvImageCodec on the same files and crops, and a DataLoader on "
            "the CPU?"),
    Section(REST, 2, 0, "Our kernels under compute-sanitizer",
            "Do memcheck, racecheck and initcheck find anything in the decoder's kernels and in those that render? With "
            "what time is left."),
)
TITLES = {section.name: section.title for section in SECTIONS}


def limit(name, left_s, names, dry_run=False):
    """The seconds that a section gets when so many are left; the last of `names` may use them all."""
    if name == names[-1]:
        return left_s
    seconds = next(section.seconds for section in SECTIONS if section.name == name)
    return min(seconds * DRY_RUN_PATIENCE if dry_run else seconds, left_s)


def names_of(calls=CALLS):
    """The sections of these calls."""
    return [section.name for section in SECTIONS if section.call in calls]


def seconds_of(calls=CALLS):
    """The seconds that these calls may take together."""
    told = sum(section.seconds for section in SECTIONS if section.call in calls)
    return told + (REST_S if REST in names_of(calls) else 0)


def text():
    """The plan as it is printed."""
    lines = [f"{seconds_of()} seconds at most, or in two calls:"]
    for call in CALLS:
        lines += ["", f"--call {call}: {seconds_of([call])} seconds", ""]
        begins = 0
        for section in (section for section in SECTIONS if section.call == call):
            seconds = section.seconds or REST_S
            lines.append(f"{begins:4} s  {section.name:16} {seconds:4} s  {section.title}")
            lines += wrapped(section.answers)
            begins += seconds
    return "\n".join(lines)


def wrapped(words, width=88, indent=31):
    """Lines of so many characters behind an indent."""
    return textwrap.wrap(words, width + indent, initial_indent=" " * indent, subsequent_indent=" " * indent)
