#!/usr/bin/env python3
"""What the translator refuses, and how translated kernels reach parameters, memory and each other."""

import ctypes
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

import built

REGISTERS = """.reg .pred %p<9>;
.reg .b16 %rs<9>;
.reg .b32 %r<19>;
.reg .f32 %f<9>;
.reg .f64 %fd<9>;
.reg .b64 %rd<9>;
"""


def entry(body, parameters=".param .u64 at", name="one"):
    return f".visible .entry {name}(\n{parameters}\n)\n{{\n{REGISTERS}{body}\nret;\n}}\n"


# From `from` to `to`, scaled: three parameters of two sizes.
SCALED = entry("""ld.param.u64 %rd1,[from];
ld.param.u64 %rd2,[to];
ld.param.f32 %f1,[by];
ld.global.f32 %f2,[%rd1];
mul.rn.f32 %f3,%f2,%f1;
st.global.f32 [%rd2],%f3;""", ".param .u64 from,\n.param .u64 to,\n.param .f32 by", "scaled")


class Refusals(unittest.TestCase):
    def refused(self, text, *said):
        with tempfile.TemporaryDirectory() as folder:
            ran = built.translate(built.HEAD + text, folder, "spoiled.ptx")
        self.assertNotEqual(ran.returncode, 0, "it was translated")
        for words in said:
            self.assertIn(words, ran.stderr)

    def test_an_unknown_instruction_is_named_with_its_file_and_line(self):
        text = entry("mov.u32 %r1,1;\nvote.sync.any.pred %p1,%p2,-1;")
        line = (built.HEAD + text).splitlines().index("vote.sync.any.pred %p1,%p2,-1;") + 1
        self.refused(text, f"spoiled.ptx:{line}: ", "`vote.sync.any.pred %p1,%p2,-1`")

    def test_an_unknown_modifier_is_refused(self):
        for instruction in ("add.rn.ftz.f32 %f1,%f2,%f3", "div.approx.f32 %f1,%f2,%f3", "ld.global.cg.u32 %r1,[%rd1]",
                            "cvt.rni.ftz.s32.f32 %r1,%f1", "setp.lt.and.f32 %p1,%f1,%f2,%p2", "mov.u32 %r1,%laneid",
                            "bar.sync 1", "atom.global.add.f32 %f1,[%rd1],%f2", "min.NaN.f32 %f1,%f2,%f3"):
            self.refused(entry(instruction + ";"), f"`{instruction}`")

    def test_what_a_driver_may_fuse_is_refused(self):
        self.refused(entry("add.f32 %f1,%f2,%f3;"), "`.f32` is not known here")
        self.refused(entry("mul.f64 %fd1,%fd2,%fd3;"), "`.f64` is not known here")

    def test_a_conversion_without_its_rounding_is_refused(self):
        for instruction in ("cvt.f32.u32 %f1,%r1", "cvt.f32.f64 %f1,%fd1", "cvt.rn.s32.f32 %r1,%f1",
                            "cvt.rni.f32.s32 %f1,%r1", "cvt.rn.f64.f32 %fd1,%f1"):
            self.refused(entry(instruction + ";"), f"`{instruction}`")

    def test_operands_of_another_type_are_refused(self):
        for instruction in ("add.s32 %r1,%rd1,1", "add.rn.f64 %fd1,%f1,%fd2", "mov.u32 %r1,%f1", "mov.f32 %f1,1",
                            "add.s32 %r1,%r2,0f00000000", "st.global.u32 [%rd1],%rs1", "mov.u16 %rs1,65536",
                            "ld.global.u32 %r1,[%r2]", "ld.shared.u32 %r1,[%rd1]", "add.s32 %r1,%r77,1"):
            self.refused(entry(instruction + ";"), f"`{instruction}`")

    def test_a_parameter_read_beyond_its_end_or_misaligned_is_refused(self):
        self.refused(entry("ld.param.u64 %rd1,[at+8];"), "8 bytes at 8 of at, which has 8")
        self.refused(entry("ld.param.u32 %r1,[at+2];"), "4 bytes at 2 of at")

    def test_a_call_with_other_parameters_is_refused(self):
        function = ".func (.param .b32 result) twice(\n.param .b32 given\n)\n{\n" + REGISTERS + \
            "ld.param.b32 %r1,[given];\nadd.s32 %r1,%r1,%r1;\nst.param.b32 [result+0],%r1;\nret;\n}\n"
        call = "{{\n.param .b{0} param0;\nst.param.b32 [param0+0],1;\n.param .b32 retval0;\ncall.uni (retval0),\n" \
            "twice,\n(\nparam0\n);\nld.param.b32 %r1,[retval0+0];\n}}"
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(built.translate(built.HEAD + function + entry(call.format(32)), folder).stderr, "")
        self.refused(function + entry(call.format(64)), "param0 is not laid out as given")
        unset = call.format(32).replace("st.param.b32 [param0+0],1;\n", "")
        self.refused(function + entry(unset), "param0 was stored in part only")


class Counting(unittest.TestCase):
    def test_the_report_knows_the_lines_that_are_counted(self):
        kernels = pathlib.Path(__file__).resolve().parents[3] / "kernels"
        sys.path.insert(0, str(kernels))
        import report

        for name in report.COUNTED:
            path = kernels / "prebuilt" / f"{name}.ptx"
            command = [sys.executable, "-B", built.TRANSLATE, path, "--count"]
            text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            counted = [int(line) for line in re.findall(r"^ *testdouble_count\((\d+)\);", text, flags=re.M)]
            self.assertEqual(counted, report.heads(path.read_text())[1:])
            self.assertGreater(len(counted), 30)


class Running(unittest.TestCase):
    def built(self, text):
        program = built.Built(text)
        self.addCleanup(program.close)
        return program

    def scaled(self, text, *values):
        """What the kernel makes of 3 scaled by 0.1."""
        given, made = ctypes.c_float(3), ctypes.c_float(-1)
        program = self.built(text)
        program.run("scaled", 1, built.address(given), built.address(made), ctypes.c_float(0.1), *values)
        return given.value, made.value

    def test_a_changed_rounding_changes_the_result(self):
        (_, nearest), (_, down) = (self.scaled(SCALED.replace("mul.rn", f"mul.{mode}")) for mode in ("rn", "rz"))
        self.assertEqual(nearest - down, 2.0 ** -25)

    def test_exchanged_parameters_change_the_result(self):
        self.assertEqual(self.scaled(SCALED)[0], 3)
        exchanged = SCALED.replace("from,", "x,").replace("u64 to,", "u64 from,").replace("u64 x,", "u64 to,")
        self.assertNotEqual(self.scaled(exchanged)[0], 3)

    def test_parameters_are_told_as_the_head_has_them(self):
        program = self.built(SCALED + entry("", ".param .align 8 .b8 plan[56],\n.param .u64 .ptr .align 1 at", "two"))
        layouts = [[program.library.layout(name, at) for at in range(4)] for name in (b"scaled", b"two")]
        self.assertEqual(layouts, [[8 * 257, 8 * 257, 4 * 257, 0], [56 * 256 + 8, 8 * 257, 0, 0]])

    def test_a_kernel_knows_the_text_that_it_was_translated_from(self):
        program = self.built(SCALED)
        state = 0xCBF29CE484222325
        for byte in program.text.encode():
            state = (state ^ byte) * 0x100000001B3 % (1 << 64)
        self.assertEqual(program.library.text(b"scaled"), state)

    def test_an_access_that_is_not_aligned_is_caught(self):
        memory = (ctypes.c_uint32 * 16)()
        at = ctypes.addressof(memory) + -ctypes.addressof(memory) % 16
        program = self.built(
            entry("ld.param.u64 %rd1,[at];\nld.global.v4.u32 {%r1,%r2,%r3,%r4},[%rd1];", name="wide")
            + entry("ld.param.u64 %rd1,[at];\nst.global.u16 [%rd1],7;", name="narrow")
            + entry("ld.param.u64 %rd1,[at];\natom.global.add.u64 %rd2,[%rd1],1;", name="atomic"))
        for name, aligned in (("wide", 16), ("narrow", 2), ("atomic", 8)):
            ended = [program.signal_of(name, 1, ctypes.c_uint64(at + off)) for off in (0, aligned // 2, aligned)]
            self.assertEqual(ended, [0, signal.SIGILL, 0], name)

    def test_an_access_beyond_shared_or_local_memory_is_caught(self):
        shared = ".shared .align 4 .b8 first[12];\n.shared .align 8 .b8 second[16];\n"
        body = "ld.param.u64 %rd1,[at];\ncvt.u32.u64 %r1,%rd1;\nmov.u32 %r2,{0};\nadd.s32 %r2,%r2,%r1;\n" \
            "st.shared.{1} [%r2],{2};"
        local = ".local .align 8 .b8 depot[16];\nld.param.u64 %rd1,[at];\nmov.u64 %rd2,depot;\n" \
            "add.s64 %rd2,%rd2,%rd1;\nst.local.u32 [%rd2+4],7;"
        program = self.built(shared + entry(body.format("first", "u32", "7"), name="words")
                             + entry(body.format("second", "u64", "7"), name="longs")
                             + entry(body.format("0", "u32", "7"), name="nowhere") + entry(local, name="local"))
        ended = lambda name, at: program.signal_of(name, 1, ctypes.c_uint64(at % (1 << 64)))
        ill = signal.SIGILL
        self.assertEqual([ended("words", at) for at in (0, 8, 12, -4, 256)], [0, 0, ill, ill, ill])
        self.assertEqual([ended("longs", at) for at in (0, 8, 16, 4)], [0, 0, ill, ill])
        self.assertEqual([ended("local", at) for at in (0, 8, 12, -8)], [0, 0, ill, ill])
        self.assertEqual(ended("nowhere", 0), ill)

    def test_a_shared_variable_is_aligned_as_declared_and_no_better(self):
        body = "st.shared.v4.u32 [bytes],{%r1,%r2,%r3,%r4};"
        for align, ended in ((16, 0), (4, signal.SIGILL)):
            program = self.built(f".shared .align {align} .b8 bytes[64];\n" + entry(body))
            self.assertEqual(program.signal_of("one", 1, ctypes.c_uint64(0)), ended, align)

    def test_branches_calls_and_loops_go_where_they_say(self):
        text = ".func (.param .b32 result) squared(\n.param .b32 given\n)\n{\n" + REGISTERS + \
            "ld.param.b32 %r1,[given];\nmul.lo.s32 %r1,%r1,%r1;\nst.param.b32 [result+0],%r1;\nret;\n}\n"
        # The sum of the squares of 1 to 4 but 3.
        text += entry("""ld.param.u64 %rd1,[at];
mov.u32 %r1,0;
mov.u32 %r2,0;
$LOOP:
add.s32 %r1,%r1,1;
setp.eq.s32 %p1,%r1,3;
@%p1 bra $LOOP;
{
.param .b32 param0;
st.param.b32 [param0+0],%r1;
.param .b32 retval0;
call.uni (retval0),
squared,
(
param0
);
ld.param.b32 %r3,[retval0+0];
}
add.s32 %r2,%r2,%r3;
setp.lt.s32 %p2,%r1,4;
@!%p2 bra $END;
bra.uni $LOOP;
$END:
bar.sync 0;
@%p1 st.global.u32 [%rd1],7;
st.global.u32 [%rd1+4],%r2;""")
        made, program = (ctypes.c_uint32 * 2)(), self.built(text)
        program.run("one", 1, built.address(made))
        self.assertEqual(list(made), [0, 1 + 4 + 16])
        self.assertEqual(program.library.barrier(), program.text.splitlines().index("bar.sync 0;") + 1)

    def test_loads_extend_by_their_type_and_stores_cut_off(self):
        types = ("u8", "s8", "b8", "u16", "s16", "b16", "u32", "s32", "b32", "u64")
        body = ["ld.param.u64 %rd1,[at];"]
        for number, type_ in enumerate(types):
            body.append(f"ld.global.{type_} %rd2,[%rd1];\nst.global.u64 [%rd1+{8 * number + 8}],%rd2;")
        body += ["ld.global.u64 %rd3,[%rd1];", "ld.global.s8 %rs1,[%rd1];", "st.global.u16 [%rd1+96],%rs1;"]
        body += ["st.global.u8 [%rd1+104],%rd3;", "st.global.u32 [%rd1+112],%rd3;", "st.global.b16 [%rd1+120],%rd3;"]
        memory = (ctypes.c_uint64 * 16)(0x8877665544F3C2E1)
        self.built(entry("\n".join(body))).run("one", 1, built.address(memory))
        ones = (1 << 64) - 1
        self.assertEqual(list(memory[1:11]), [
            0xE1, ones - 0xFF + 0xE1, 0xE1, 0xC2E1, ones - 0xFFFF + 0xC2E1, 0xC2E1,
            0x44F3C2E1, 0x44F3C2E1, 0x44F3C2E1, 0x8877665544F3C2E1])
        self.assertEqual(list(memory[12:16]), [0xFFE1, 0xE1, 0x44F3C2E1, 0xC2E1])

    def test_atomics_return_what_was_there(self):
        wanted = {"add.u32": 0xFFFFFFF1, "min.u32": 9, "max.u32": 0xFFFFFFE8, "min.s32": 0xFFFFFFE8, "max.s32": 9,
                  "and.b32": 8, "or.b32": 0xFFFFFFE9, "xor.b32": 0xFFFFFFE1, "exch.b32": 9}
        body = ["ld.param.u64 %rd1,[at];"]
        for number, name in enumerate(wanted):
            body.append(f"atom.global.{name} %r1,[%rd1+{8 * number}],9;\nst.global.u32 [%rd1+{8 * number + 4}],%r1;")
        memory = (ctypes.c_uint32 * (2 * len(wanted)))(*([0xFFFFFFE8, 0] * len(wanted)))
        self.built(entry("\n".join(body))).run("one", 1, built.address(memory))
        self.assertEqual(dict(zip(wanted, memory[::2])), wanted)
        self.assertEqual(set(memory[1::2]), {0xFFFFFFE8})

    def test_vectors_and_atomics_keep_their_order(self):
        text = entry("""ld.param.u64 %rd1,[at];
ld.global.v4.u32 {%r1,%r2,%r3,_},[%rd1];
mov.b64 %rd2,{%r1,%r2};
mov.b64 {_,%r5},%rd2;
st.global.v2.u32 [%rd1],{%r3,%r5};
atom.global.add.u32 %r6,[%rd1+8],5;
red.global.max.u32 [%rd1+12],%r6;""")
        memory = (ctypes.c_uint32 * 8)()
        at = -ctypes.addressof(memory) % 16 // 4
        memory[at:at + 4] = [1, 2, 30, 4]
        self.built(text).run("one", 1, ctypes.c_uint64(ctypes.addressof(memory) + 4 * at))
        self.assertEqual(memory[at:at + 4], [30, 2, 35, 30])


if __name__ == "__main__":
    unittest.main()
