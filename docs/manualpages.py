#!/usr/bin/env python3
"""Manual pages from the comment blocks of the sources, in PETSc's format: /*@ function @*/, /*MC type M*/, /*S struct S*/, /*E enum E*/.

    manualpages.py TOP OUT          writes one Markdown page per block, and index.md, to OUT
    manualpages.py --check TOP      every name that the public headers declare has a page, every page names what it refers to; writes nothing
"""
import pathlib
import re
import sys

BLOCK = re.compile(r"^/\*(@C?|MC|S|E)\n(.*?)\n?^(@|M|S|E)\*/[ \t]*\n(.*?)(?=^/\*|\Z)", re.M | re.S)
DECLARED = re.compile(r"^PETSCTT_EXTERN\s+[\w ]+?\**\s*(\w+)\s*\(", re.M)
HEADING = re.compile(r"^ {2,3}([A-Z][A-Za-z ]*):\s*$")
ITEM = re.compile(r"^([+.\-])\s+(.+)$")
GROUPS = [("Vectors", "vec"), ("Operators", "mat"), ("Preconditioners", "pc"), ("Krylov methods", "ksp"), ("Grids", "dm"), ("Time steps", "ts"), ("Eigenvalues", "eps"), ("Library", "")]


def sources(top):
    for folder in ("include", "src"):
        for path in sorted((top / folder).rglob("*")):
            if path.suffix in (".h", ".hpp", ".cxx"):
                yield path


def group_of(path, top):
    parts = path.relative_to(top).parts
    if parts[0] == "src":
        return parts[1]
    return re.sub(r"petsctt|\.h$", "", parts[-1]).replace("lu", "mat")


class Page:
    def __init__(self, path, top, kind, text, after):
        lines = text.split("\n")
        first = next(i for i, line in enumerate(lines) if line.strip())
        head = re.match(r"\s*(\w+)(?: = \"\w+\")?\s*-\s*(.*)", lines[first])
        if not head:
            raise SystemExit(f"{path}: a manual page must begin with 'Name - what it is': {lines[first]!r}")
        self.name, self.brief = head.groups()
        self.lines = lines[first + 1 :]
        while self.lines and self.lines[0].strip():  # the line goes on
            self.brief += " " + self.lines.pop(0).strip()
        self.path, self.group = path, group_of(path, top)
        self.source = path.relative_to(top)
        self.synopsis = ""
        if kind.startswith("@"):
            self.synopsis = re.split(r"\s*[{;]", after.strip(), maxsplit=1)[0].strip()
        elif kind in "SE":
            found = re.match(r"\s*(typedef .*?\}\s*\w+;)", after, re.S)
            self.synopsis = found.group(1) if found else ""
        see = re.search(r"\.seealso:(.*)\Z", text, re.S)
        self.seealso = re.findall(r"\w+", see.group(1)) if see else []
        self.mentions = re.findall(r"\b[A-Z]\w+", text)


def collect(top):
    pages = {}
    for path in sources(top):
        for kind, text, _, after in BLOCK.findall(path.read_text()):
            page = Page(path, top, kind, text, after)
            if page.name in pages:
                raise SystemExit(f"{path}: {page.name} has a page in {pages[page.name].path} already")
            pages[page.name] = page
    return pages


def markup(text, pages):
    """Markdown of a piece of running text: code in backticks, names of pages as links, everything else literal."""
    out = []
    for i, piece in enumerate(text.split("`")):
        if i % 2:
            name = piece[:-2] if piece.endswith("()") else piece
            out.append(f"[`{piece}`]({name}.md)" if name in pages else f"`{piece}`")
        else:
            for word in re.split(r"(\b[A-Z]\w+\b(?:\(\))?)", piece):
                name = word[:-2] if word.endswith("()") else word
                out.append(f"[`{word}`]({name}.md)" if name in pages else re.sub(r"([\\*_<>\[\]#|$~^])", r"\\\1", word))
    return "".join(out)


def render(page, pages):
    out = [f"# {page.name}", "", markup(page.brief, pages), ""]
    if page.synopsis:
        out += ["```c", page.synopsis, "```", ""]
    items = []
    paragraph = []
    literal = []

    def flush():
        nonlocal items, paragraph, literal
        if literal:
            out.extend(["```none", *literal, "```", ""])
        if items:
            for name, text in items:
                # a description list in HTML's sense; a table would not take options with bars
                out.append(f"* `{name}`" + (f": {markup(text, pages)}" if text else ""))
            out.append("")
        if paragraph:
            out.extend([markup(" ".join(paragraph), pages), ""])
        items, paragraph, literal = [], [], []

    for line in page.lines:
        heading, item = HEADING.match(line), ITEM.match(line)
        if line.startswith(".seealso:"):
            break
        if not line.strip():
            flush()
        elif heading:
            flush()
            out.extend([f"## {heading.group(1)}", ""])
        elif re.match(r"\s*Level:", line):
            flush()
            out.extend([f"*Level: {line.split(':', 1)[1].strip()}*", ""])
        elif item:
            name, _, text = item.group(2).partition(" - ")
            items.append([name.strip().replace("`", ""), text.strip()])
        elif items:
            items[-1][1] += " " + line.strip()
        elif line.startswith("      ") and not paragraph:
            literal.append(line[4:])
        else:
            if literal:
                flush()
            paragraph.append(line.strip())
    flush()
    if page.seealso:
        out += ["## See also", "", ", ".join(markup(f"`{name}`", pages) for name in page.seealso), ""]
    out += [f"Defined in `{page.source}`.", ""]
    return "\n".join(out)


def index(pages):
    out = ["# Manual pages", "", "Names that are not links are PETSc's or SLEPc's own: see <https://petsc.org/release/manualpages/> and <https://slepc.upv.es/documentation/>.", ""]
    known = {key for _, key in GROUPS}
    names = []
    for title, key in GROUPS:
        some = sorted(p.name for p in pages.values() if (p.group if p.group in known else "") == key)
        if not some:
            continue
        names += some
        out += [f"## {title}", ""] + [f"* [`{n}`]({n}.md): {markup(pages[n].brief, pages)}" for n in some] + [""]
    out += ["```{toctree}", ":hidden:", ""] + names + ["```", ""]
    return "\n".join(out)


def write(top, folder):
    pages = collect(top)
    folder.mkdir(parents=True, exist_ok=True)
    wanted = {f"{name}.md": render(page, pages) for name, page in pages.items()}
    wanted["index.md"] = index(pages)
    for old in folder.glob("*.md"):
        if old.name not in wanted:
            old.unlink()
    for name, text in wanted.items():
        path = folder / name
        if not path.exists() or path.read_text() != text:  # Sphinx looks at times
            path.write_text(text)
    return pages


def check(top):
    pages = collect(top)
    wrong = []
    for header in sorted((top / "include").glob("*.h")):
        for name in DECLARED.findall(header.read_text()):
            if name not in pages and not name.startswith("PetscDLLibraryRegister"):
                wrong.append(f"{header.name}: {name}() has no manual page")
    ours = re.compile(r"^(VecTT|VecCreateTT|MatTT|MatCreateTT|MatConflux|KSPTTGMRES|PCTTKron|PetscTT|DMTT|TSAdaptTT|BVTT)[A-Z]\w*$")
    events = (top / "src/sys/log.cxx").read_text()  # names of events in -log_view look alike
    for page in pages.values():
        for name in sorted(set(page.mentions)):
            if ours.match(name) and name not in pages and f'"{name}"' not in events:
                wrong.append(f"{page.source}: the page of {page.name} refers to {name}, which has none")
        if not page.seealso:
            wrong.append(f"{page.source}: the page of {page.name} has no .seealso")
    for line in wrong:
        print(line)
    print(f"{len(pages)} manual pages, {len(wrong)} complaints")
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--check":
        sys.exit(check(pathlib.Path(sys.argv[2])))
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    write(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
