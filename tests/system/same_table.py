"""Runs a program with several numbers of processes and compares the numbers of its tables.

    same_table.py 1,2,3 1e-6 mpiexec -n @ ex8 -samples 0 ...

@ stands for the number of processes. Tables are the lines that begin with blanks and a whole number; in those with a % sign the last column is a
time and left out. Whole numbers must be the same, others equal up to the relative tolerance.
Numbers below 1e-6 in modulus, such as residuals and differences, are not compared.
"""
import re
import subprocess
import sys


def table(text):
    rows = []
    for line in text.splitlines():
        if not re.match(r" +\d+ ", line):
            continue
        cells = line.replace("%", "").split()
        rows.append(cells[:-1] if "%" in line else cells)
    if not rows:
        sys.exit("there is no table in this output:\n" + text)
    return rows


def differ(a, b, tolerance):
    if re.fullmatch(r"\d+", a) or re.fullmatch(r"\d+", b):
        return a != b
    x, y = float(a), float(b)
    return max(abs(x), abs(y)) > 1e-6 and abs(x - y) > tolerance * max(abs(x), abs(y))


def main():
    counts, tolerance, command = sys.argv[1].split(","), float(sys.argv[2]), sys.argv[3:]
    first, good = None, True
    for count in counts:
        run = subprocess.run([count if a == "@" else a for a in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if run.returncode:
            sys.exit(f"{count} processes: exit code {run.returncode}\n{run.stdout}")
        rows = table(run.stdout)
        first = first or rows
        for a, b in zip(first, rows):
            if len(a) != len(b) or any(differ(x, y, tolerance) for x, y in zip(a, b)):
                print(f"{count} processes: {b}, {counts[0]}: {a}")
                good = False
        good = good and len(rows) == len(first)
    print(f"{len(first)} rows on {', '.join(counts)} processes: {'alike' if good else 'NOT ALIKE'}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
