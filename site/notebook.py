"""Runs a notebook and makes a page of it, docs/notebooks/NAME.md below a folder, with pictures of what it draws.

    python site/notebook.py docs/notebooks/NAME.ipynb FOLDER

A notebook that holds outputs is refused.
"""

import pathlib
import re
import sys

import nbformat
from nbclient import NotebookClient
from nbconvert import MarkdownExporter

NOTE = """> This page is a [notebook]({name}), run as this site was built, by a build of feedline that is not optimised: its times
> say nothing of feedline's speed.
"""
#: A picture as nbconvert links to it: its path, in which the number of its cell stands.
PICTURE = re.compile(r"!\[png\]\((\S+_(\d+)_\d+\.png)\)")


def main():
    source, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]) / "docs/notebooks"
    notebook = nbformat.read(source, as_version=4)
    if any(cell.get("outputs") for cell in notebook.cells):
        sys.exit(f"{source} holds outputs: clear them, since they are made here")
    place = {"metadata": {"path": str(source.parent)}}
    NotebookClient(notebook, kernel_name="python3", timeout=300, resources=place).execute()
    names = {"output_files_dir": f"{source.stem}_files", "unique_key": source.stem}
    text, resources = MarkdownExporter().from_notebook_node(notebook, names)
    head, _, rest = text.partition("\n\n")
    text = f"{head}\n\n{NOTE.format(name=source.name)}\n{rest}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{source.stem}_files").mkdir(exist_ok=True)
    for name, picture in resources["outputs"].items():
        (folder / name).write_bytes(picture)
    above = headings(notebook.cells)
    text = PICTURE.sub(lambda link: f"![{above[int(link[2])]}: what the code above draws]({link[1]})", text)
    (folder / f"{source.stem}.md").write_text(text)
    (folder / source.name).write_bytes(source.read_bytes())


def headings(cells):
    """Of each cell the heading that it stands below."""
    found = [""]
    for cell in cells:
        own = re.findall(r"^#+ (.+)$", cell.source, re.MULTILINE) if cell.cell_type == "markdown" else []
        found.append([found[-1], *own][-1])
    return found[1:]


if __name__ == "__main__":
    main()
