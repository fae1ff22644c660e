"""Translates a PTX text, compiles it as the makefile does, and runs its kernels from Python."""

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TRANSLATE = HERE.parent / "translate.py"
HEAD = ".version 6.3\n.target sm_75\n.address_size 64\n"
# As the makefile's, for a plain build.
CHECKS = "alignment,bounds,integer-divide-by-zero,vla-bound"
FLAGS = ["-std=c++17", "-O1", "-fPIC", "-fvisibility=hidden", "-ffp-contract=off", "-fno-strict-aliasing", "-w",
         f"-fsanitize={CHECKS}", "-fsanitize-undefined-trap-on-error", "-shared"]


def translate(text, folder, name="text.ptx"):
    path = Path(folder) / name
    path.write_text(text)
    return subprocess.run([sys.executable, "-B", TRANSLATE, path], capture_output=True, text=True)


class Built:
    """The kernels of a text, until it is closed."""

    def __init__(self, text):
        self.folder = tempfile.mkdtemp()
        self.text = HEAD + text
        ran = translate(self.text, self.folder)
        if ran.returncode:
            raise ValueError(ran.stderr)
        source, library = Path(self.folder, "kernel_text.cpp"), Path(self.folder, "text.so")
        source.write_text(ran.stdout)
        subprocess.run([os.environ.get("CXX", "g++"), *FLAGS, source, HERE / "harness.cpp", "-o", library], check=True)
        self.library = ctypes.CDLL(str(library))
        self.library.text.restype = ctypes.c_ulonglong

    def close(self):
        shutil.rmtree(self.folder)

    def run(self, name, threads, *values):
        """Values are ctypes objects, a parameter each."""
        pointers = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        if not self.library.run(name.encode(), threads, pointers):
            raise KeyError(name)

    def signal_of(self, name, threads, *values):
        """The signal that ends a process in which the kernel runs, or 0."""
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            self.run(name, threads, *values)
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


def address(buffer):
    return ctypes.c_uint64(ctypes.addressof(buffer))


# The register that holds so many bytes, and the type of its load.
REGISTERS = {1: ("%rs", "u8"), 2: ("%rs", "b16"), 4: ("%r", "b32"), 8: ("%rd", "b64")}


def register_of(type_):
    """Prefix of the register and type of the load and store."""
    if type_ in ("f32", "f64"):
        return {"f32": "%f", "f64": "%fd"}[type_], type_
    if type_ == "pred":
        return "%p", None
    return REGISTERS[width(type_)]


def width(type_):
    return {"pred": 4, "f16": 2, "bf16": 2}.get(type_) or int(type_[1:]) // 8


def case(name, instruction, to, operands):
    """An entry that applies an instruction to thread i's operands, eight bytes each, and keeps the result's eight."""
    lines = ["mov.u32 %r90,%tid.x;", "ld.param.u64 %rd91,[in];", "ld.param.u64 %rd92,[out];",
             f"mul.wide.u32 %rd93,%r90,{8 * len(operands)};", "add.s64 %rd91,%rd91,%rd93;",
             "mul.wide.u32 %rd94,%r90,8;", "add.s64 %rd92,%rd92,%rd94;"]
    names = []
    for number, type_ in enumerate(operands, 1):
        prefix, load = register_of(type_)
        if type_ == "pred":
            lines.append(f"ld.global.u32 %r80,[%rd91+{8 * (number - 1)}];")
            lines.append(f"setp.ne.u32 %p{number},%r80,0;")
        else:
            sign = "s" if load == "u8" and type_[0] == "s" else None
            lines.append(f"ld.global.{'s8' if sign else load} {prefix}{number},[%rd91+{8 * (number - 1)}];")
        names.append(f"{prefix}{number}")
    prefix, load = register_of(to)
    lines.append(f"{instruction} {prefix}0,{','.join(names)};")
    if to == "pred":
        lines += ["selp.u32 %r81,1,0,%p0;", "st.global.u32 [%rd92],%r81;"]
    else:
        lines.append(f"st.global.{load} [%rd92],{prefix}0;")
    kinds = {"pred": "%p", "b16": "%rs", "b32": "%r", "b64": "%rd", "f32": "%f", "f64": "%fd"}
    registers = "\n".join(f".reg .{kind} {prefix}<99>;" for kind, prefix in kinds.items())
    body = "\n".join(lines)
    return f".visible .entry {name}(\n.param .u64 in,\n.param .u64 out\n)\n{{\n{registers}\n{body}\nret;\n}}\n"


def results(built, name, rows, to):
    """The bits that the case makes of each row of operands' bits."""
    flat = [bits & (1 << 64) - 1 for row in rows for bits in row]
    given = (ctypes.c_uint64 * len(flat))(*flat)
    made = (ctypes.c_uint64 * len(rows))()
    built.run(name, len(rows), address(given), address(made))
    return [bits & (1 << 8 * width(to)) - 1 for bits in made]
