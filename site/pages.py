"""Lays the site out as mdBook reads it: the pages that site/SUMMARY.md lists, in the places that they have in the
repository, the pictures and files that they link to, and the list with the pages that the build makes.

    python site/pages.py FOLDER

FOLDER holds the pages that the build has made already (MADE). Fails where a page is on the list twice, or does not exist. That
all pages of docs/ are on it is checked at every change, by tests/tidy/docs.rs.
"""

import collections
import os
import pathlib
import re
import subprocess
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
#: Pages that the build makes, by the titles by which site/SUMMARY.md and site/index.md link to them, without a target.
MADE = {
    "First steps": "docs/notebooks/first-steps.md",
    "Gallery of transforms": "docs/gallery.md",
    "Interface of Rust and Python": "api/index.md",
    "Interface of C": "api/c.md",
    "Interface of C++": "api/cpp.md",
}
#: The same of what is made once the pages are laid out.
LATER = {"llms.txt": "llms.txt", "llms-full.txt": "llms-full.txt"}
FRONT = "site/index.md"
INTERFACES = """# Interface of Rust and Python

Made of the comments in the code:

* [Rust](rust/feedline/index.html), by rustdoc: the crate `feedline` with all of its features.
* [Python](python/feedline.html), by pdoc: the package `feedline`, with its [transforms](python/feedline/transforms.html)
  and its [plugs for trainers](python/feedline/plug.html).

The [Interface of C](c.md) and the [Interface of C++](cpp.md) are pages of this site. The [options](../docs/options.md)
are the same in all of them.
"""
#: Code between fences of backticks and of tildes, which ends with the page at the latest, code in a paragraph between as many
#: backticks, and comments: in them nothing is a link.
NO_PROSE = re.compile(
    r"^ *(?P<ticks>```+)[^`\n]*\n.*?(?:^ *(?P=ticks)`* *$|\Z)"
    r"|^ *(?P<tildes>~~~+).*?(?:^ *(?P=tildes)~* *$|\Z)"
    r"|(?<![`\\])(?P<few>`+)(?!`)(?:(?!\n *\n).)+?(?<!`)(?P=few)(?!`)"
    r"|<!--.*?-->",
    re.DOTALL | re.MULTILINE,
)
LINK = re.compile(r"(\]\(|^\[[^\]]+\]: +)([^)\s]+)", re.MULTILINE)
LISTED = re.compile(r"^ *(?:- )?\[([^\]]+)\]\(([^)]*)\)$", re.MULTILINE)
PICTURES = (".jpg", ".png", ".svg")
LANGUAGES = {".c": "c", ".cpp": "cpp", ".h": "cpp", ".md": "markdown", ".py": "python", ".rs": "rs", ".toml": "toml"}
#: Most bytes of a file, or of all files of a folder, that is shown as a page.
MOST_BYTES = 256 << 10


def listed(summary):
    """The pages on the list, as paths in the repository; those that the build makes have none there."""
    return [meant("site/SUMMARY.md", target) for _, target in LISTED.findall(summary) if target]


def meant(page, path):
    """The path in the repository that a link of a page means, whose bytes may be written as %C3 and the like."""
    return os.path.normpath(os.path.join(os.path.dirname(page), urllib.parse.unquote(path)))


def problems(pages, there):
    """What is wrong with a list of pages, each with its remedy; `there` are the files that exist."""
    wrong = [
        f"{page} is in site/SUMMARY.md {times} times: leave one"
        for page, times in sorted(collections.Counter(pages).items())
        if times > 1
    ]
    wrong += [f"{page} is in site/SUMMARY.md and does not exist: take it off" for page in pages if page not in there]
    return wrong


def prose(text, change):
    """The text with what is neither code nor comment changed."""
    parts, at = [], 0
    for kept in NO_PROSE.finditer(text):
        parts += [change(text[at : kept.start()]), kept.group()]
        at = kept.end()
    return "".join(parts) + change(text[at:])


class Layout:
    """The pages, and what they turn out to link to."""

    def __init__(self, pages, tracked):
        self.places = {page: "index.md" if page == FRONT else page for page in pages}
        self.tracked = tracked
        self.pictures = set()
        self.files = set()

    def page(self, page):
        """The text of a page, with its links as they must be where it is laid."""

        def change(text):
            return LINK.sub(lambda link: link[1] + self.target(page, link[2]), text)

        return filled(prose(in_place((ROOT / page).read_text()), change), self.places[page])

    def target(self, page, target):
        """A link of a page, as it must be where the page is laid; notes what has to be laid beside it."""
        path, hash_, anchor = target.partition("#")
        if not path or ":" in path:
            return target
        there = meant(page, path)
        if there in self.places:
            place = self.places[there]
        elif there.endswith(".ipynb") and f"{there.removesuffix('.ipynb')}.md" in MADE.values():
            place = f"{there.removesuffix('.ipynb')}.md"
        elif there.endswith(PICTURES):
            self.pictures.add(there)
            place = there
        elif there in self.tracked or any(file.startswith(f"{there}/") for file in self.tracked):
            self.files.add(there)
            place, hash_, anchor = f"{there}.md", "", ""
        else:
            sys.exit(f"{page}: `{target}` leads nowhere: mend the link")
        return urllib.parse.quote(os.path.relpath(place, os.path.dirname(self.places[page]))) + hash_ + anchor

    def file(self, file):
        """A page that shows a file of the repository, or all files of a folder."""
        paths = [file] if file in self.tracked else sorted(path for path in self.tracked if path.startswith(f"{file}/"))
        texts = {path: (ROOT / path).read_text() for path in paths}
        if sum(map(len, texts.values())) > MOST_BYTES:
            sys.exit(f"{file} has more than {MOST_BYTES} bytes, too many for a page: link to a part of it")
        head = f"# {file}\n\n"
        if file in texts:
            return head + fenced(file, texts[file])
        return head + "".join(f"## {path[len(file) + 1 :]}\n\n{fenced(path, text)}" for path, text in texts.items())


def fenced(path, text):
    language = LANGUAGES.get(pathlib.Path(path).suffix, "bash" if text.startswith("#!") else "text")
    fence = "`" * max([3, *(len(ticks) + 1 for ticks in re.findall("`{3,}", text))])
    return f"{fence}{language}\n{text.rstrip()}\n{fence}\n\n"


def filled(text, place):
    """The text with the targets of its links to pages that the build makes, which have none in the repository."""
    made = MADE | LATER

    def fill(link):
        if link[1] not in made:
            sys.exit(f"{place}: the build makes no page `{link[1]}`: it makes {', '.join(made)}")
        return f"[{link[1]}]({os.path.relpath(made[link[1]], os.path.dirname(place))})"

    return prose(text, lambda part: re.sub(r"\[([^\]]+)\]\(\)", fill, part))


def in_place(text):
    """The text with the programs that it takes from README.md: the first block of code below a heading there."""

    def program(mark):
        parts = (ROOT / "README.md").read_text().split(f"\n## {mark[1]}\n")
        block = re.search(r"^```\w.*?^```$", parts[1], re.DOTALL | re.MULTILINE) if len(parts) == 2 else None
        return block[0] if block else sys.exit(f"README.md has no block of code below one heading `{mark[1]}`")

    return re.sub(r"<!-- README.md: (.+) -->", program, text)


def unproven(front, proof):
    """Figures in paragraphs and items of the front page that link to the benchmarks, and that are not in these."""
    claims = [claim for claim in re.split(r"\n(?=\n|\* )", front) if "benchmarks.md" in claim]
    figures = [figure for claim in claims for figure in re.findall(r"\d[\d,.]*\d|\d", claim)]
    return [figure for figure in figures if not re.search(rf"(?<![\d.,]){re.escape(figure)}(?![\d]|[.,]\d)", proof)]


def summary_of(layout, text):
    """mdBook's list of pages."""

    def place(line):
        there = meant("site/SUMMARY.md", line[2])
        return f"[{line[1]}]({layout.places.get(there, there)})"

    listing = re.sub(r"\[([^\]]+)\]\(([^)]+)\)", place, text)
    files = "".join(f"  - [{file}]({file}.md)\n" for file in sorted(layout.files))
    return filled(listing, "SUMMARY.md") + f"- [Files that the pages name](files.md)\n{files}"


def files_page(layout):
    names = "".join(f"* [{file}]({file}.md)\n" for file in sorted(layout.files))
    about = "Files of the repository that the pages link to, as they are in the commit that this site was built from."
    return f"# Files that the pages name\n\n{about}\n\n{names}"


def configuration(layout):
    """mdBook's configuration; words are not looked for in files of the repository, which would be a third of the index."""
    found = "".join(f'"{file}.md" = {{ enable = false }}\n' for file in sorted(layout.files))
    return f"{(ROOT / 'site/book.toml').read_text()}\n[output.html.search.chapter]\n{found}"


def files(folder):
    """The files below a folder that git would not ignore."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = os.fsdecode(subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE).stdout).split("\0")
    return {name for name in names if name and (folder / name).is_file()}


def write(folder, place, text):
    (folder / place).parent.mkdir(parents=True, exist_ok=True)
    (folder / place).write_text(text)


def main():
    folder = pathlib.Path(sys.argv[1])
    tracked = files(ROOT)
    write(folder, MADE["Interface of Rust and Python"], INTERFACES)
    summary = (ROOT / "site/SUMMARY.md").read_text()
    pages = listed(summary)
    wrong = problems(pages, tracked)
    wrong += [f"the build has not made {made}" for made in MADE.values() if not (folder / made).is_file()]
    wrong += [
        f"{FRONT}: {figure} is not in docs/benchmarks.md, to which its line links"
        for figure in unproven((ROOT / FRONT).read_text(), (ROOT / "docs/benchmarks.md").read_text())
    ]
    if wrong:
        sys.exit("\n".join(wrong))
    layout = Layout(pages, tracked)
    for page in pages:
        write(folder, layout.places[page], layout.page(page))
    for file in layout.files:
        write(folder, f"{file}.md", layout.file(file))
    for picture in layout.pictures:
        (folder / picture).parent.mkdir(parents=True, exist_ok=True)
        (folder / picture).write_bytes((ROOT / picture).read_bytes())
    write(folder, "files.md", files_page(layout))
    write(folder, "SUMMARY.md", summary_of(layout, summary))
    write(folder, "../book.toml", configuration(layout))


if __name__ == "__main__":
    main()
