#!/usr/bin/env python3
"""generate_api.py INCLUDE OUTPUT: writes petsctt/_api.py, what Python has to know of the C interface: enums, structs and functions, from the
public headers. Everything that they declare with PETSCTT_EXTERN can be called from Python, without being named here."""
import pathlib
import re
import sys


def declarations(text):
    """The text of a header without comments, preprocessor lines and the braces of extern "C"."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*$", "", text, flags=re.M)


def split_arguments(text):
    """At the commas outside parentheses."""
    parts, depth, part = [], 0, ""
    for c in text:
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += c
    return [p.strip() for p in parts + [part] if p.strip() not in ("", "void")]


def argument_type(text):
    """'PetscReal', 'PetscInt *' ...: without const, the name, and with one * for each level of pointer or array."""
    if "(" in text:
        return "function *"
    stars = text.count("*") + text.count("[")
    words = [w for w in re.sub(r"\[[^\]]*\]|\*", " ", text).split() if w not in ("const", "struct", "enum")]
    return words[0] + " *" * bool(stars) + "*" * max(0, stars - 1)


def struct_fields(body):
    """[(type, name, length)], length 0 for a single one, 'void *' for pointers; None when a field is of another kind: then Python does without the struct."""
    fields = []
    for statement in body.split(";"):
        words = [w for w in statement.split() if w != "const"]
        if not words:
            continue
        kind, names = words[0], " ".join(words[1:])
        for name in names.split(","):
            match = re.fullmatch(r"\s*(\**)\s*(\w+)\s*(?:\[(\d+)\])?\s*", name)
            if not match:
                return None
            fields.append(("void *" if match.group(1) else kind, match.group(2), int(match.group(3) or 0)))
    return fields


def enum_values(body):
    """[(name, value)], as far as the values are numbers or names of earlier ones."""
    value, values = -1, {}
    for item in body.split(","):
        label, _, number = (part.strip() for part in item.partition("="))
        if not label:
            continue
        if number and number not in values and not re.fullmatch(r"-?(0x[0-9a-fA-F]+|\d+)", number):
            break
        value = values[number] if number in values else int(number, 0) if number else value + 1
        values[label] = value
    return list(values.items())


def parse(include):
    enums, structs, functions = {}, {}, {}
    for header in sorted(pathlib.Path(include).glob("*.h")):
        text = declarations(header.read_text(encoding="utf-8"))
        for body, name in re.findall(r"typedef\s+enum\s*\w*\s*\{([^}]*)\}\s*(\w+)\s*;", text):
            enums[name] = enum_values(body)
        for body, name in re.findall(r"typedef\s+struct\s*\w*\s*\{([^}]*)\}\s*(\w+)\s*;", text):
            fields = struct_fields(body)
            if fields:
                structs[name] = fields
        for name, arguments in re.findall(r"PETSCTT_EXTERN\s+PetscErrorCode\s+(\w+)\s*\((.*?)\)\s*;", text, flags=re.S):
            functions[name] = [argument_type(a) for a in split_arguments(" ".join(arguments.split()))]
    return enums, structs, functions


def main():
    include, output = sys.argv[1:]
    lines = ['"""Written by generate_api.py from the public headers."""']
    for title, table in zip(("ENUMS", "STRUCTS", "FUNCTIONS"), parse(include)):
        lines += ["", title + " = {"] + ["    %r: %r," % item for item in sorted(table.items())] + ["}"]
    pathlib.Path(output).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
