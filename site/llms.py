"""Writes what language models read (llmstxt.org) into the built site: llms.txt, which names every page with what it begins
with; llms-full.txt, which has the reference as well; and each page as Markdown beside its HTML.

    python site/llms.py LAID_OUT SITE
"""

import pathlib
import re
import shutil
import sys

#: The part of the list whose pages llms-full.txt holds.
FULL = "Reference"
FILES = "Files that the pages name"


def parts(summary):
    """(part, [(title, page)]) in the order of mdBook's list, without the files of the repository that are shown as pages."""
    found = [("Start here", [])]
    for line in summary.splitlines()[1:]:
        part = re.match(r"# (.+)", line)
        page = re.match(r" *(?:- )?\[([^\]]+)\]\(([^)]+)\)", line)
        if page and page[1] == FILES:
            break
        if part:
            found.append((part[1], []))
        elif page:
            found[-1][1].append((page[1], page[2]))
    return found


def begins(page):
    """The first sentence of a page, as plain text."""
    text = re.sub(r"<!--.*?-->|^```.*?^```", "", page, flags=re.DOTALL | re.MULTILINE)
    for paragraph in re.split(r"\n{2,}", text):
        paragraph = " ".join(paragraph.split())
        if paragraph and not re.match(r"[#>|!<*-]", paragraph):
            plain = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", paragraph)
            return re.split(r"(?<=[.!?:])\s", plain, maxsplit=1)[0].rstrip(":")
    return ""


def main():
    laid, site = map(pathlib.Path, sys.argv[1:])
    listed = parts((laid / "SUMMARY.md").read_text())
    short = f"# feedline\n\n> {begins((laid / 'index.md').read_text())}\n"
    for part, pages in listed:
        short += f"\n## {part}\n\n"
        short += "".join(f"- [{title}]({page}): {begins((laid / page).read_text())}\n" for title, page in pages)
    reference = [(laid / page).read_text().strip() for part, pages in listed if part == FULL for _, page in pages]
    if not reference:
        sys.exit(f"site/llms.py: the list has no part `{FULL}`")
    (site / "llms.txt").write_text(short)
    (site / "llms-full.txt").write_text("\n\n".join([short.strip(), *reference]) + "\n")
    for page in laid.rglob("*.md"):
        if page.name != "SUMMARY.md":
            shutil.copy(page, site / page.relative_to(laid))


if __name__ == "__main__":
    main()
