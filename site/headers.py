"""Makes the pages of the interfaces of C and C++, api/c.md and api/cpp.md below a folder, out of the headers' own comments.

    python site/headers.py FOLDER

It goes by how the headers are laid out, a comment above each declaration, and fails where it finds too little.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
C, CPP = ROOT / "include/feedline.h", ROOT / "include/feedline.hpp"
#: How many declarations there are at least.
LEAST = {"function": 40, "type or constant": 15, "C++": 12}


def enough(kind, found):
    if len(found) < LEAST[kind]:
        sys.exit(
            f"site/headers.py: {len(found)} declarations of the kind {kind} were found and {LEAST[kind]} expected: is the "
            "header laid out otherwise now?"
        )
    return found


def about(header):
    """What a header says of itself at its top."""
    lines = [
        line.strip().removeprefix("*").strip() for line in re.match(r"/\*(.*?)\*/", header, re.DOTALL)[1].splitlines()
    ]
    paragraphs = [part.replace("\n", " ") for part in "\n".join(lines).strip().split("\n\n")]
    text = "\n\n".join(part for part in paragraphs if not part.startswith("Made by"))
    return text.replace("docs/c.md is a tour.", "[From C and C++](../docs/c.md) is a tour.")


def first_sentence(comment):
    return re.split(r"[.:;] |[.:]$|\n\n", comment.strip().replace("\n", " "), maxsplit=1)[0]


def without_cpp(code):
    """C's half of what C++ reads otherwise."""
    code = re.sub(r"\n#ifdef __cplusplus\n.*?#endif[^\n]*", "", code, flags=re.DOTALL)
    return (
        re.sub(r"\n#ifndef __cplusplus\n(.*?)\n#endif[^\n]*", r"\n\1", code, flags=re.DOTALL)
        .replace("\n {\n", " {\n")
        .strip()
    )


def of_c(header):
    """(kind, name, comment, code) of what the C header declares, in its order."""
    found = []
    for block in re.split(r"\n{2,}", header.split("#define FEEDLINE_H\n")[1]):
        lines = block.splitlines()
        comment = "\n".join(line[2:].strip() for line in lines if re.match(r"//( |$)", line))
        code = without_cpp("\n".join(line for line in lines if not re.match(r"//( |$)", line)))
        if not comment:
            continue
        named = re.match(r"#define (\w+)|(?:typedef )?(?:enum|struct) (\w+)(?: \{|[ ;]\w+;)|[\w *]+?(\w+)\(", code)
        if not named:
            sys.exit(f"include/feedline.h: no name is found in this declaration:\n{code}")
        kind = "function" if named[3] else "type or constant"
        found.append((kind, f"#define {named[1]}" if named[1] else named[2] or named[3], comment, code))
    return found


def anchor(name):
    """What mdBook calls a heading."""
    return name.lower().replace("#", "").replace(" ", "-")


def linked(comment, names, page=""):
    """A comment as Markdown: what it names of the interface is a link, constants are code."""

    def link(found):
        return f"[`{found[0]}`]({page}#{found[1]})" if found[1] in names else f"`{found[0]}`"

    comment = re.sub(r"^What must hold:$", "*What must hold:*", comment, flags=re.MULTILINE)
    comment = re.sub(r"(?<![\w`/])(feedline_\w+)(?:\(\))?(?![\w`])", link, comment)
    return re.sub(r"(?<![\w`])(FEEDLINE_[A-Z_0-9]+(?:\.\.\.)?)(?![\w`])", r"`\1`", comment).replace("<", "&lt;")


def c_page(header):
    declared = of_c(header)
    names = {name for _, name, _, _ in declared}
    parts = [
        (title, enough(kind, [each for each in declared if each[0] == kind]))
        for title, kind in (("Functions", "function"), ("Types and constants", "type or constant"))
    ]
    page = f"# Interface of C\n\n{linked(about(header), names)}\n\n"
    for title, part in parts:
        page += f"| {title} | |\n|-|-|\n"
        page += "".join(
            f"| [`{name}`](#{anchor(name)}) | {first_sentence(linked(comment, names))} |\n"
            for _, name, comment, _ in part
        )
        page += "\n"
    for title, part in parts:
        page += f"## {title}\n\n"
        page += "".join(
            f"### {name}\n\n{linked(comment, names)}\n\n```c\n{code}\n```\n\n" for _, name, comment, code in part
        )
    return page


def blocks(header):
    """(comment, lines) of what stands in the namespace itself."""
    text = re.sub(r"namespace detail \{.*?\}  // namespace detail\n", "", header, flags=re.DOTALL)
    comment, block = [], []
    for line in text.splitlines():
        if block or (comment and re.match(r"class |struct |inline ", line)):
            block.append(line)
            if line in ("}", "};") or (len(block) == 1 and line.endswith("}")):
                yield " ".join(comment), block
                comment, block = [], []
        elif line.startswith("/// "):
            comment.append(line[4:])


def declared_only(lines):
    """Lines of C++ without the bodies of functions, up to what is private."""
    kept, inside = [], None
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if inside is not None:
            inside = None if line.strip().startswith("}") and indent == inside else inside
            continue
        if line.strip() == "private:":
            break
        opened = re.search(r"(?: :(?!:) .*?)?(?<!=) \{", line)
        if not opened or line.strip().startswith("//") or re.match(r"(class|struct) ", line):
            kept.append(line)
            continue
        kept.append(line[: opened.start()] + ";")
        inside = None if line.endswith("}") else indent
    return kept


def cpp_page(header, names):
    more = "All names are in the namespace `feedline`; the [Interface of C](c.md) says more of each call."
    page = f"# Interface of C++\n\n{about(header)}\n\n{more}\n\n"
    for comment, lines in enough("C++", list(blocks(header))):
        name = re.match(r"(?:class|struct) (\w+)|.*?(\w+)\(", lines[0])
        if lines[0].startswith("inline "):
            lines = [line[len("inline ") :] if line.startswith(("inline ", "        ")) else line for line in lines]
        code = "\n".join(declared_only(lines)).replace("\npublic:", "").rstrip()
        if name[1] and not code.endswith("};"):
            code += "\n};"
        page += f"## {name[1] or name[2]}\n\n{linked(comment, names, 'c.md')}\n\n```cpp\n{code}\n```\n\n"
    return page


def main():
    folder = pathlib.Path(sys.argv[1]) / "api"
    folder.mkdir(parents=True, exist_ok=True)
    c = C.read_text()
    (folder / "c.md").write_text(c_page(c))
    (folder / "cpp.md").write_text(cpp_page(CPP.read_text(), {name for _, name, _, _ in of_c(c)}))


if __name__ == "__main__":
    main()
