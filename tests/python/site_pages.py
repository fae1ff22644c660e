"""What becomes of the list of the site's pages, and of links between them: site/pages.py.

python3 -m unittest tests/python/site_pages.py
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "site"))

import pages  # noqa: E402


class TheListOfPages(unittest.TestCase):
    FILES = {"docs/a.md", "docs/b.md", "docs/notebooks/c.ipynb", "README.md"}

    def test_a_page_that_comes_twice_is_named(self):
        (problem,) = pages.problems(["docs/a.md", "docs/b.md", "docs/a.md"], self.FILES)
        self.assertIn("docs/a.md is in site/SUMMARY.md 2 times", problem)

    def test_a_page_that_is_gone_is_named(self):
        (problem,) = pages.problems(["docs/a.md", "docs/b.md", "docs/c.md"], self.FILES)
        self.assertIn("docs/c.md is in site/SUMMARY.md and does not exist", problem)

    def test_a_list_of_what_is_there_passes(self):
        self.assertEqual(pages.problems(["docs/b.md", "docs/a.md", "README.md"], self.FILES), [])

    def test_the_list_of_this_site_passes(self):
        listed = pages.listed((ROOT / "site/SUMMARY.md").read_text())
        there = {page for page in listed if (ROOT / page).is_file()}
        self.assertEqual(pages.problems(listed, there), [])
        self.assertGreater(len(listed), 30)


class Links(unittest.TestCase):
    def setUp(self):
        self.layout = pages.Layout(
            ["site/index.md", "docs/python.md", "README.md"], {"examples/a.py", "recipes/b.toml", "recipes/c.toml"}
        )

    def test_pages_keep_their_places_but_for_the_front_page(self):
        self.assertEqual(self.layout.target("docs/python.md", "../README.md#limits"), "../README.md#limits")
        self.assertEqual(self.layout.target("site/index.md", "../docs/python.md"), "docs/python.md")

    def test_a_file_and_a_folder_become_pages(self):
        self.assertEqual(self.layout.target("docs/python.md", "../examples/a.py"), "../examples/a.py.md")
        self.assertEqual(self.layout.target("docs/python.md", "../recipes"), "../recipes.md")
        self.assertEqual(self.layout.files, {"examples/a.py", "recipes"})

    def test_a_notebook_is_the_page_that_is_made_of_it(self):
        self.assertEqual(
            self.layout.target("README.md", "docs/notebooks/first-steps.ipynb"), "docs/notebooks/first-steps.md"
        )

    def test_a_picture_comes_along(self):
        self.assertEqual(self.layout.target("README.md", "docs/pictures/a.svg"), "docs/pictures/a.svg")
        self.assertEqual(self.layout.pictures, {"docs/pictures/a.svg"})

    def test_links_to_elsewhere_and_within_the_page_stay(self):
        for target in ("https://example.org/a.md", "#part", "mailto:a@example.org"):
            self.assertEqual(self.layout.target("README.md", target), target)

    def test_a_link_that_leads_nowhere_ends_the_build(self):
        with self.assertRaisesRegex(SystemExit, "README.md: `docs/nothing.md` leads nowhere"):
            self.layout.target("README.md", "docs/nothing.md")

    def test_code_and_comments_have_no_links(self):
        text = "[a](b)\n`[a](b)`\n```\n[a](b)\n```\n<!-- [a](b) -->\n"
        self.assertEqual(pages.prose(text, str.upper), text.replace("[a](b)\n`", "[A](B)\n`", 1))

    def changed(self, text):
        """What of a text is prose."""
        found = []
        pages.prose(text, lambda part: found.append(part) or part)
        return "".join(found)

    def test_a_fence_of_tildes_is_one(self):
        self.assertEqual(self.changed("a\n~~~sh\nb\n```\n~~~~\nc\n"), "a\n\nc\n")
        self.assertEqual(self.changed("a\n  ~~~~\nb\n~~~\nb\n  ~~~~\nc ~~d~~\n"), "a\n\nc ~~d~~\n")

    def test_a_fence_ends_with_one_as_long_or_with_the_page(self):
        self.assertEqual(self.changed("a\n````md\n```\nb\n```\nb\n`````\nc\n"), "a\n\nc\n")
        self.assertEqual(self.changed("a\n```\nb\n"), "a\n")

    def test_code_in_a_paragraph_ends_with_as_many_backticks(self):
        self.assertEqual(self.changed("a ``b ` b`` c `b `` b` d"), "a  c  d")
        self.assertEqual(self.changed("a ```b``` c\n"), "a  c\n")
        self.assertEqual(self.changed("a `b\nb` c ` d\n\ne ` f \n\n\\`g\\`"), "a  c ` d\n\ne ` f \n\n\\`g\\`")

    def test_a_name_may_hold_any_letters(self):
        layout = pages.Layout(["docs/a.md", "docs/größe.md"], {"recipes/naïve.toml"})
        for target in ("größe.md#b", "gr%C3%B6%C3%9Fe.md#b"):
            self.assertEqual(layout.target("docs/a.md", target), "gr%C3%B6%C3%9Fe.md#b")
        self.assertEqual(layout.target("docs/a.md", "../recipes/na%C3%AFve.toml"), "../recipes/na%C3%AFve.toml.md")
        self.assertEqual(layout.files, {"recipes/naïve.toml"})
        self.assertEqual(pages.listed("- [A](../docs/gr%C3%B6%C3%9Fe.md)\n"), ["docs/größe.md"])

    def test_files_are_found_under_their_own_names(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
            (folder / ".gitignore").write_text("*.log\n")
            for file in ("größe.md", 'a "b".md', "c.log"):
                (folder / file).write_text("")
            self.assertEqual(pages.files(folder), {".gitignore", "größe.md", 'a "b".md'})


class TheFrontPage(unittest.TestCase):
    PROOF = "| feedline | 2018 [1923..2185] | 4.55x |"

    def test_a_figure_that_the_benchmarks_have_not_is_named(self):
        front = "* makes 2018 images, 4.56 times as many ([all](../docs/benchmarks.md))\n* on 64 cores\n"
        self.assertEqual(pages.unproven(front, self.PROOF), ["4.56"])

    def test_a_part_of_a_figure_is_no_figure(self):
        self.assertEqual(pages.unproven("201 and 4.5 ([all](../docs/benchmarks.md))", self.PROOF), ["201", "4.5"])

    def test_programs_come_from_the_readme(self):
        self.assertIn("import feedline", pages.in_place("<!-- README.md: In Python -->"))
        with self.assertRaisesRegex(SystemExit, "README.md has no block of code"):
            pages.in_place("<!-- README.md: In Latin -->")

    def test_a_link_without_a_target_is_one_to_what_the_build_makes(self):
        self.assertEqual(pages.filled("[First steps]()", "docs/a.md"), "[First steps](notebooks/first-steps.md)")
        with self.assertRaisesRegex(SystemExit, "makes no page `Last steps`"):
            pages.filled("[Last steps]()", "docs/a.md")

    def test_code_is_not_filled(self):
        text = "`[a]()` and ``[First steps]()``\n\n~~~\n[First steps]()\n~~~\n"
        self.assertEqual(pages.filled(text, "docs/a.md"), text)


if __name__ == "__main__":
    unittest.main()
