#!/usr/bin/env python3
"""Translates PTX to C++ that the double compiles in the place of a kernel's source.

    testdouble/ptx/translate.py FILE.ptx >kernel_FILE.cpp
    testdouble/ptx/translate.py FILE.ptx --count      calls testdouble_count(LINE) where a straight run of instructions begins

Registers become variables, labels stay labels, and each instruction is one statement, as instructions.py and accesses.py
have it. An instruction, a modifier or a declaration that it does not know ends it with file, line and text.
"""

import re
import sys
from pathlib import Path

import accesses  # noqa: F401, it fills the table of forms.py
import forms
import instructions  # noqa: F401
import source
from source import Refused

KINDS = {"pred": "bool", "b16": "uint16_t", "b32": "uint32_t", "b64": "uint64_t", "f32": "float", "f64": "double"}
KINDS |= {f"{sign}{bits}": f"uint{bits}_t" for sign in "us" for bits in (16, 32, 64)}
# Where the first shared variable lies: an address that is far too small is in none.
SHARED_BEGIN = 1024
# Between two variables, so that an access beyond one is not in the next.
SHARED_GAP = 256
# Alignments are kept as declared, and not better by chance.
SHARED_PITCH = 256


def main():
    if len(sys.argv) != 2 and sys.argv[2:] != ["--count"]:
        sys.exit(__doc__)
    path = Path(sys.argv[1])
    try:
        print(translated(path, counts=len(sys.argv) == 3))
    except Refused as refused:
        sys.exit(f"{path}:{refused.line or 1}: {refused}")


def translated(path, counts=False):
    """The C++ text of a file. It holds the file's hash, which the driver compares with a module that it loads."""
    content = path.read_bytes()
    module = source.read(content.decode())
    out = [
        f"// Made by {Path(__file__).name} from {path.name}.",
        f'#include "{Path(__file__).resolve().parent}/memory.h"',
        *(['extern "C" void testdouble_count(int line);'] if counts else []),
        "namespace {",
        *shared_memory(module),
    ]
    names = {function.name: function for function in module.functions}
    out += [prototype(function) + ";" for function in module.functions if not function.entry]
    for function in module.functions:
        out += Body(module, names, function, path, counts).lines()
        if function.entry:
            out += registration(function, fnv(content))
    return "\n".join([*out, "}  // namespace"])


def fnv(content):
    """FNV-1a, 64 bits, as testdouble/driver/module.cpp computes it."""
    state = 0xCBF29CE484222325
    for byte in content:
        state = (state ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return state


def layout(module):
    """The address of each shared variable of the module, in the block's shared memory."""
    addresses, end = {}, SHARED_BEGIN
    for variable in shared_variables(module):
        start = -(-(end + SHARED_GAP) // SHARED_PITCH) * SHARED_PITCH + variable.align
        addresses[variable.name] = (start, variable)
        end = start + variable.bytes
    return addresses


def shared_variables(module):
    inner = (s for function in module.functions for s in function.body if s.text.startswith(".shared "))
    return [*module.shared, *(source.variable(statement.text) for statement in inner)]


def shared_memory(module):
    """An array for each variable, which the linker puts to the kernels' shared memory; and what finds an address."""
    out, cases = [], []
    for start, variable in layout(module).values():
        array, size = f"memory_of_{variable.name}", variable.bytes
        out.append(f"alignas({SHARED_PITCH}) unsigned char {array}[{variable.align} + {size}];")
        cases.append(
            f"    if (sizeof(T) <= {size} && address - {start}u <= {size}u - sizeof(T))\n"
            f"        return reinterpret_cast<T*>({array} + {variable.align} + (address - {start}u));")
    return [*out, "template <class T>", "T* shared(uint32_t address) {", "    (void)address;", *cases,
            '    ptx::beyond("shared");', "}"]


def prototype(function):
    if function.entry:
        return f"void entry_{function.name}(void** values)"
    buffers = [f"unsigned char* {v.name}" for v in function.returned]
    buffers += [f"const unsigned char* {v.name}" for v in function.parameters]
    return f"__attribute__((noinline)) void function_{function.name}({', '.join(buffers)})"


def registration(function, text_hash):
    name, parameters = function.name, function.parameters
    rows = ", ".join(f"{{{v.bytes}, {v.align}, ParameterKind::value}}" for v in parameters)
    return [
        f"const Parameter parameters_{name}[] = {{{rows}{', ' if rows else ''}{{0, 0, ParameterKind::value}}}};",
        f'const Kernel kernel_{name} = {{"{name}", {len(parameters)}, parameters_{name}, entry_{name}, '
        f"0x{text_hash:016x}u}};",
        f"__attribute__((constructor)) void register_{name}() {{ testdouble_register(&kernel_{name}); }}",
    ]


class Body:
    """One function's body; forms.py asks it for operands."""

    def __init__(self, module, functions, function, path, counts):
        self.module, self.functions, self.function, self.path = module, functions, function, path
        # Whether runs of instructions are counted, and whether the next instruction begins one.
        self.counts, self.begins = counts, True
        self.shared = layout(module)
        self.kinds = {}  # of each register, or of a row of them: (kind, how many)
        self.used = {}  # registers that occur: their C++ names and types
        self.line = function.line
        # Parameters by scope: the function's own, and those of calls.
        own = [*function.returned, *function.parameters]
        self.scopes = [{v.name: Buffer(v) for v in own}]
        self.local = {}

    def lines(self):
        out = []
        try:
            for statement in self.function.body:
                self.line = statement.line
                out += self.statement(statement)
        except Refused as refused:
            raise Refused(str(refused), refused.line or self.line) from None
        copies = []
        if self.function.entry:
            for number, v in enumerate(self.function.parameters):
                copies.append(f"    alignas({v.align}) unsigned char {v.name}[{v.bytes}];")
                copies.append(f"    memcpy({v.name}, values[{number}], {v.bytes});")
        registers = [f"    {kind} {name} = ptx::undefined<{kind}>;" for name, kind in self.used.items()]
        memory = [
            f"    alignas({v.align}) unsigned char {v.name}[{v.bytes}];\n"
            f"    memset({v.name}, ptx::undefined_byte, sizeof {v.name});" for v in self.local.values()]
        return [prototype(self.function) + " {", *copies, *registers, *memory, *out, "}"]

    def statement(self, statement):
        text = statement.text
        if text == "{":
            self.scopes.append({})
            return ["    {"]
        if text == "}":
            self.scopes.pop()
            return ["    }"]
        if text.endswith(":"):
            self.begins = True
            return [f"{text} ;"]
        if text.startswith("."):
            return self.directive(text)
        count = [f"    testdouble_count({statement.line});"] if self.counts and self.begins else []
        self.begins = re.search(r"(^| )(bra|ret|exit)\b", text) is not None
        return [*count, f'#line {statement.line} "{self.path}"', "    " + self.guarded(text)]

    def directive(self, text):
        if text.startswith(".reg "):
            self.declare_registers(text)
        elif text.startswith(".param "):
            variable = source.variable(text)
            self.scopes[-1][variable.name] = Buffer(variable, of_a_call=True)
            return [f"    alignas({variable.align}) unsigned char {variable.name}[{variable.bytes}];"]
        elif text.startswith(".local "):
            self.local[source.variable(text).name] = source.variable(text)
        elif not text.startswith(".shared ") and text != '.pragma "nounroll"':
            raise Refused(f"not known here: `{text}`")
        return []

    def declare_registers(self, text):
        found = re.fullmatch(r"\.reg \.(\w+) (.+)", text)
        if not found or found[1] not in KINDS:
            raise Refused(f"registers that are not known here: `{text}`")
        for name in found[2].split(","):
            row = re.fullmatch(r"(%?[\w$]+?)(?:<(\d+)>)?", name.strip())
            if not row:
                raise Refused(f"registers that are not known here: `{text}`")
            self.kinds[row[1]] = (found[1], row[2] and int(row[2]))

    def guarded(self, text):
        found = re.fullmatch(r"(?:@(!?)(%[\w$]+) )?([a-z][\w.:]*) ?(.*)", text)
        if not found:
            raise Refused(f"no instruction: `{text}`")
        negated, guard, name, operands = found.groups()
        try:
            out = forms.statement(self, name.split("."), forms.split(operands), guarded=guard is not None)
            return f"if ({negated}{self.register(guard, 'pred')}) {{ {out} }}" if guard else out
        except Refused as refused:
            raise Refused(f"{refused}: `{text}`") from None

    def kind_of(self, name):
        """The declared kind of a register."""
        row = re.fullmatch(r"(%?[A-Za-z_$]+)(\d+)", name)
        if name in self.kinds and self.kinds[name][1] is None:
            return self.kinds[name][0]
        if not row or row[1] not in self.kinds or not int(row[2]) < (self.kinds[row[1]][1] or 0):
            raise Refused(f"{name} is no register of this function")
        return self.kinds[row[1]][0]

    def register(self, name, kind=None):
        """Its C++ name."""
        found = self.kind_of(name)
        if kind is not None and found != kind:
            raise Refused(f"{name} is a register of kind .{found} and not .{kind}")
        self.used[name.lstrip("%")] = KINDS[found]
        return name.lstrip("%")

    def parameter(self, name):
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        raise Refused(f"{name} is no parameter here")


class Buffer:
    """A parameter's memory, and which of its bytes were stored."""

    def __init__(self, variable, of_a_call=False):
        self.variable, self.of_a_call, self.stored = variable, of_a_call, set()

    def check(self, offset, size):
        v = self.variable
        if offset % size or v.align < min(size, 16):
            raise Refused(f"{size} bytes at {offset} of {v.name}, which is aligned to {v.align}")
        if not 0 <= offset <= v.bytes - size:
            raise Refused(f"{size} bytes at {offset} of {v.name}, which has {v.bytes}")


if __name__ == "__main__":
    main()
