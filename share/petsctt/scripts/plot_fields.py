#!/usr/bin/env python3
"""Draws the fields of a .vtu file of triangles, as tutorials/ex3 writes them, into a PNG file.

usage: plot_fields.py FILE.vtu [PICTURE.png] [FIELD ...]

Without field names: the mean, the standard deviation and up to two parameter points. Needs python3-matplotlib; no display.
"""
import math
import sys
import xml.etree.ElementTree as ElementTree

try:
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as pyplot
    import numpy
except ImportError as missing:
    sys.exit(f"plot_fields.py: {missing}; install the Debian package python3-matplotlib and run it with /usr/bin/python3")


def numbers(element, dtype=float):
    return numpy.array((element.text or "").split(), dtype=dtype)


def read_vtu(name):
    """Points, triangles and {field name: values} of all pieces of the file."""
    points, triangles, fields, first = [], [], {}, 0
    try:
        root = ElementTree.parse(name).getroot()
    except (OSError, ElementTree.ParseError) as trouble:
        sys.exit(f"plot_fields.py: {name}: {trouble}")
    for piece in root.iter("Piece"):
        npoints, ncells = int(piece.get("NumberOfPoints")), int(piece.get("NumberOfCells"))
        xyz = numbers(piece.find("Points/DataArray")).reshape(-1, 3)
        cells = {a.get("Name"): numbers(a, int) for a in piece.iter("DataArray") if a.get("type") in ("Int64", "UInt8")}
        if len(xyz) != npoints or len(cells["connectivity"]) != 3 * ncells or any(cells["types"] != 5):
            sys.exit(f"plot_fields.py: {name} has a piece that is not made of {ncells} triangles on {npoints} points")
        points.append(xyz[:, :2])
        triangles.append(cells["connectivity"].reshape(-1, 3) + first)
        first += npoints
        for array in piece.findall("PointData/DataArray"):
            values = numbers(array)
            if len(values) != npoints:
                sys.exit(f"plot_fields.py: field {array.get('Name')} in {name} has {len(values)} values on {npoints} points")
            fields.setdefault(array.get("Name"), []).append(values)
    if not points:
        sys.exit(f"plot_fields.py: {name} has no pieces")
    return numpy.concatenate(points), numpy.concatenate(triangles), {k: numpy.concatenate(v) for k, v in fields.items()}


def title(name):
    if name.startswith("u_"):
        return "u at α = (" + ", ".join(name[2:].split("_")) + ")"
    return {"mean": "mean of u over α", "standard_deviation": "standard deviation of u over α"}.get(name, name)


def draw(points, triangles, fields, names, picture):
    columns = 1 if len(names) == 1 else 2
    rows = math.ceil(len(names) / columns)
    figure, axes = pyplot.subplots(rows, columns, figsize=(5.6 * columns, 4.8 * rows), squeeze=False, constrained_layout=True)
    for axis in axes.flat[len(names):]:
        axis.set_visible(False)
    for axis, name in zip(axes.flat, names):
        image = axis.tripcolor(points[:, 0], points[:, 1], triangles, fields[name], shading="gouraud", cmap="viridis")
        axis.set_aspect("equal")
        axis.margins(0)
        axis.set_title(title(name))
        figure.colorbar(image, ax=axis)
    figure.savefig(picture, dpi=110)


def main(arguments):
    if not arguments or arguments[0].startswith("-"):
        sys.exit(__doc__)
    source = arguments[0]
    picture = arguments[1] if len(arguments) > 1 else source.rsplit(".", 1)[0] + ".png"
    points, triangles, fields = read_vtu(source)
    names = arguments[2:] or list(fields)[:4]
    unknown = [n for n in names if n not in fields]
    if unknown:
        sys.exit(f"plot_fields.py: no field {unknown[0]} in {source}; there are {', '.join(fields)}")
    draw(points, triangles, fields, names, picture)
    print(f"picture: {picture}")


if __name__ == "__main__":
    main(sys.argv[1:])
