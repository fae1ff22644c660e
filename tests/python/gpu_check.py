"""Tests of the scripts below gpu/ that need neither torch nor a GPU: `python3 -m unittest tests/python/gpu_check.py`."""

import re
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "gpu"))

import acceptance  # noqa: E402
import damage  # noqa: E402
import kernels  # noqa: E402
import kit  # noqa: E402
import pack  # noqa: E402
import plot  # noqa: E402
import schedule  # noqa: E402
import tables  # noqa: E402

PHOTO = next(iter(sorted((ROOT / "data/photos").rglob("*.jpg"))))


class Schedule(unittest.TestCase):
    def test_each_call_ends_within_ten_minutes_and_the_last_section_has_time(self):
        self.assertEqual(schedule.names_of([1]) + schedule.names_of([2]), schedule.names_of())
        for call in schedule.CALLS:
            self.assertLessEqual(schedule.seconds_of([call]), schedule.CALL_S)
        self.assertGreaterEqual(schedule.REST_S, 30)
        self.assertEqual([section.name for section in schedule.SECTIONS if not section.seconds], [schedule.REST])

    def test_every_section_has_a_script_and_tables(self):
        for section in schedule.SECTIONS:
            self.assertTrue((ROOT / "gpu" / f"{section.name}.py").exists(), section.name)
            self.assertIn(section.name, tables.MAKERS)

    def test_a_section_gets_its_limit_and_the_last_one_all_that_is_left(self):
        names = ["start", "decode", "peers"]
        self.assertEqual(schedule.limit("decode", 500, names), 150)
        self.assertEqual(schedule.limit("decode", 40, names), 40)
        self.assertEqual(schedule.limit("decode", 500, names, dry_run=True), 300)
        self.assertEqual(schedule.limit("peers", 500, names), 500)

    def test_the_plan_says_when_each_section_begins(self):
        self.assertIn(" 135 s  decode            150 s", schedule.text())

    def test_the_documentation_has_the_same_sections_and_seconds(self):
        page = (ROOT / "docs/gpu.md").read_text()
        rows = re.findall(r"^\| `(\w+)` \| .* \| (\d+|the rest) \|$", page, re.MULTILINE)
        told = [(section.name, str(section.seconds or "the rest")) for section in schedule.SECTIONS]
        self.assertEqual(rows, told)


class Data(unittest.TestCase):
    def test_few_files_become_many_by_links(self):
        with tempfile.TemporaryDirectory() as folder:
            links = Path(folder)
            made = kit.files_of(kit.many(PHOTO.parent, 100, links))
            own = kit.files_of(PHOTO.parent)
            self.assertEqual(len(made), 100)
            self.assertEqual([Path(name).resolve() for name in made[:len(own) + 1]],
                             [Path(name).resolve() for name in [*own, own[0]]])


class Pack(unittest.TestCase):
    def test_only_what_decodes_jpegs_under_this_python_is_carried(self):
        def of(name, python="cp312"):
            return pack.wanted(f"nvidia/nvimgcodec/{name}", python)

        self.assertTrue(of("nvimgcodec_impl.cpython-312-x86_64-linux-gnu.so"))
        self.assertFalse(of("nvimgcodec_impl.cpython-313-x86_64-linux-gnu.so"))
        self.assertFalse(of("nvimgcodec_impl.cpython-313t-x86_64-linux-gnu.so", "cp313"))
        self.assertTrue(of("extensions/libnvjpeg_ext.so.0.9.0"))
        self.assertFalse(of("extensions/libopencv_ext.so.0.9.0"))
        for needed in ("image", "pybind_ops"):
            self.assertTrue(pack.wanted(f"torchcodec/libtorchcodec_{needed}.so", "cp312"), needed)
        self.assertFalse(pack.wanted("torchcodec/libtorchcodec_core7.so", "cp312"))

    def test_a_wheel_for_one_python_is_carried_for_that_one(self):
        self.assertEqual(pack.pythons_of("torchcodec-0.17.0-cp312-cp312-manylinux_2_28_x86_64.whl"), ("cp312",))
        self.assertEqual(pack.pythons_of("nvidia_nvimgcodec_cu13-0.9.0.20-py3-none-manylinux_2_28_x86_64.whl"), pack.PYTHONS)

    def test_an_archive_gives_back_files_and_modes(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            (folder / "in/bin").mkdir(parents=True)
            (folder / "in/bin/program").write_bytes(b"\x7fELF" * 9)
            (folder / "in/bin/program").chmod(0o755)
            pack.write(pack.programs(folder / "in"), folder / "all.tar.xz")
            with tarfile.open(folder / "all.tar.xz") as archive:
                archive.extractall(folder / "out", filter="data")
            back = folder / "out/bin/program"
            self.assertEqual(back.read_bytes(), b"\x7fELF" * 9)
            self.assertTrue(back.stat().st_mode & 0o100)

    def test_a_kit_above_the_limit_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "data").mkdir()
            with open(Path(folder) / "data/large", "wb") as file:
                file.truncate(pack.MOST_MIB << 20)
            pack.check_size(Path(folder))
            (Path(folder) / "more").write_bytes(b"1")
            with self.assertRaisesRegex(SystemExit, "too large"):
                pack.check_size(Path(folder))


class Damage(unittest.TestCase):
    def test_every_flaw_changes_the_file_and_no_two_are_the_same(self):
        data = PHOTO.read_bytes()
        flaws = damage.flaws(data)
        self.assertEqual(len({data, *flaws.values()}), len(flaws) + 1)

    def test_tables_are_taken_out_whole(self):
        data = PHOTO.read_bytes()
        left = damage.segments(damage.flaws(data)["no-huffman-tables"])
        self.assertNotIn(damage.DHT, [marker for marker, _, _ in left])
        self.assertEqual(len(left), sum(marker != damage.DHT for marker, _, _ in damage.segments(data)))


class Tables(unittest.TestCase):
    def results(self, **section):
        return {"gpu": "G", "driver": "1", "nvjpeg": "13", "cores": 2, "cpu": "C", "commit": "c", "profile": "release",
                "simulated": False,
                "sections": {"parity": {"section": "parity", "ended": "done", "left_out": [], **section}}}

    def test_a_value_that_differs_where_it_may_not_fails_the_run(self):
        row = {"what": "hardware", "of": "files", "values": 9, "different": 1}
        self.assertTrue(tables.is_sound(self.results(hazard=[{**row, "required": False}])))
        self.assertFalse(tables.is_sound(self.results(hazard=[{**row, "required": True}])))

    def test_a_dry_run_must_do_every_part(self):
        results = self.results(left_out=["hazard: RuntimeError: no"])
        self.assertTrue(tables.is_sound(results))
        self.assertFalse(tables.is_sound({**results, "simulated": True}))
        self.assertTrue(tables.is_sound({**self.results(left_out=["ncu of the renderer: needs a GPU"]), "simulated": True}))

    def own(self, **changed):
        row = {"name": "photos", "entry": "decode index", "of": "whole", "files": 2, "values": 9, "different": 0,
               "first": None, "cpu_hash": "a", "device_hash": "a", "indexes": 1, "indexes_different": 0, "left_out": {},
               "wrong_verdicts": 0, "found_damaged": [], "damaged_but_taken": []}
        return self.results(own=[{**row, **changed}])

    def test_a_value_or_an_index_or_a_verdict_of_feedline_s_decoder_that_differs_fails_the_run(self):
        self.assertTrue(tables.is_sound(self.own()))
        self.assertTrue(tables.is_sound(self.own(files=0, left_out={"progressive": 2})))
        for change in ({"different": 1}, {"indexes_different": 1}, {"wrong_verdicts": 1},
                       {"files": 0, "left_out": {"not settled": 2}}):
            self.assertFalse(tables.is_sound(self.own(**change)), change)
        self.assertIn("What differs", tables.text(self.own(different=1, first={"file": "a.jpg"})))

    def test_a_comparison_of_feedline_s_decoder_that_was_left_out_fails_the_run(self):
        self.assertFalse(tables.is_sound(self.results(left_out=["feedline's decoder, photos: needs 2 s"])))

    def test_a_damaged_file_may_not_harm_what_feedline_s_decoder_makes_of_sound_ones(self):
        row = {"backend": "feedline", "process": "goes on", "sound_files_beside": "as before",
               "sound_files_after": "1 of 15: other pixels"}
        self.assertFalse(tables.is_sound(self.results(damage=[row])))
        self.assertTrue(tables.is_sound(self.results(damage=[{**row, "backend": "hardware"}])))

    def test_sections_without_results_have_tables_that_say_so(self):
        for name, maker in tables.MAKERS.items():
            self.assertIn("No", "".join(maker({"section": name, "left_out": []})), name)

    def test_counters_are_read_behind_ncu_s_own_messages(self):
        output = '==PROF== Connected\n"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"\n' \
                 '"0","render(int)","gpu__time_duration.sum","ns","1,234"\n'
        self.assertEqual(kernels.counted(output), [{"kernel": "render", "counter": "gpu__time_duration.sum",
                                                    "unit": "ns", "value": "1,234"}])

    def test_the_picture_has_a_line_for_each_loader_of_one_model(self):
        runs = [{"contender": name, "model": "resnet50" if name == "c" else "resnet18", "cores": cores, "fed": 0.5}
                for name in "abc" for cores in (1, 4)]
        self.assertEqual(plot.fed({"runs": runs}, "G").count("<polyline"), 2)


class Acceptance(unittest.TestCase):
    def results(self, rate, **more):
        own = {"data": "imagenet", "batch_size": 256, "index": False, "wanted": "whole", "images_per_s": rate,
               "left_out": 0, "with_copies_per_s": 50000.0, "decoded_per_s": 90000.0, "cpu_s_per_1000": 0.04,
               "kernels_us": {"entropy": 6.0, "inverse_dct": 2.0}, "settling": {"unsettled_cuts": 0, "largest": 7}}
        speed = {"data": "imagenet", "batch_size": 256, "backend": "hardware", "mixed": False, "images_per_s": 10000.0}
        slow = {**speed, "batch_size": 512, "images_per_s": 90000.0}
        mixed = {**speed, "mixed": True, "images_per_s": 3000.0}
        other = {"data": "imagenet", "batch_size": 256, "library": "nvImageCodec", "images_per_s": 9000.0}
        return {"sections": {"decode": {"own": [own], "speed": [speed, slow, mixed], "others": [other]}}, **more}

    def test_three_times_the_fastest_other_decoder_is_enough(self):
        self.assertIn("Decoding: met", acceptance.lines(self.results(30001.0))[0])
        self.assertIn("3.0 times nvJPEG, hardware", acceptance.lines(self.results(30001.0))[0])

    def test_where_it_is_not_fast_enough_the_profile_says_why(self):
        found = acceptance.lines(self.results(29000.0))
        self.assertIn("NOT met", found[0])
        self.assertIn("Limited by the host's part", found[1])
        self.assertIn("entropy 75 %", found[1])
        row = self.results(49000.0)["sections"]["decode"]["own"][0]
        self.assertIn("Limited by copies", acceptance.why_not({("whole", False): row}))

    def test_a_rate_of_other_files_or_without_all_others_decides_nothing(self):
        left_out = self.results(90000.0)
        left_out["sections"]["decode"]["own"][0]["left_out"] = 7
        self.assertIn("not decided, feedline's decoder has left out 7 files", acceptance.lines(left_out)[0])
        for key, row, missing in (("others", 0, "nvImageCodec"), ("speed", 0, "")):
            results = self.results(90000.0)
            del results["sections"]["decode"][key][row]
            said = acceptance.lines(results)[0]
            self.assertIn(f"not decided ({missing} not measured)" if missing else "Decoding: met", said)
        results = self.results(90000.0)
        results["sections"]["decode"]["speed"] = []
        self.assertIn("not decided (nvJPEG, hardware not measured)", acceptance.lines(results)[0])
        # What is too slow beside one is too slow.
        results = self.results(20000.0)
        results["sections"]["decode"]["speed"] = []
        self.assertIn("NOT met", acceptance.lines(results)[0])

    def test_dali_counts_from_files_to_batches(self):
        def said(rate, **more):
            results = self.results(30001.0, **more)
            runs = [{"decoder": name, "cores": 16, "images_per_s": each}
                    for name, each in (("feedline", rate), ("nvjpeg-hardware", 5000.0), ("nvjpeg", 6000.0))]
            results["sections"]["end_to_end"] = {"runs": runs}
            results["sections"]["peers"] = {"runs": [{"contender": acceptance.LIBRARY, "mode": "alone", "images_per_s": 4000.0}]}
            return acceptance.lines(results)[-1]

        dali = {"loader": "DALI 2", "images_per_s": 9000.0}
        self.assertIn("NOT met", said(18000.0, dali=dali))
        self.assertIn("2.0 times DALI 2", said(18000.0, dali=dali))
        self.assertIn("batches: met", said(27001.0, dali=dali))
        self.assertIn("not decided (DALI not measured)", said(27001.0))
        self.assertIn("4.5 times nvjpeg", said(27000.0))

    def test_without_figures_nothing_is_decided(self):
        self.assertIn("not decided", acceptance.lines({"sections": {"decode": {}}})[0])


class Shares(unittest.TestCase):
    def test_time_is_shared_among_the_parts_that_are_left(self):
        section = kit.Section.__new__(kit.Section)
        section.left_s = lambda: 60.0
        self.assertEqual(section.share_s(10, 5.0, beside=2.0), 4.0)
        self.assertEqual(section.share_s(2, 5.0), 5.0)
        self.assertEqual(section.share_s(100, 5.0), 1.0)

    def test_no_figure_is_kept_of_a_simulated_device(self):
        section = kit.Section.__new__(kit.Section)
        section.simulated = Path("lib")
        self.assertIsNone(section.figure(1.5))
        section.simulated = None
        self.assertEqual(section.figure(1.23456), 1.235)


if __name__ == "__main__":
    unittest.main()
