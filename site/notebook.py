"""Runs a notebook and makes a page of it, docs/notebooks/NAME.md below a folder, with pictures of what it draws.

    python site/notebook.py docs/notebooks/NAME.ipynb FOLDER
"""

import pathlib
import sys

import nbformat
from nbclient import NotebookClient
from nbconvert import MarkdownExporter

NOTE = """> This page is a [notebook]({name}), run as this site was built, by a build of feedline that is not optimised: its times
> say nothing of feedline's speed.
"""


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
    (folder / f"{source.stem}.md").write_text(text.replace("![png](", "![What the code above draws]("))
    (folder / source.name).write_bytes(source.read_bytes())


if __name__ == "__main__":
    main()
