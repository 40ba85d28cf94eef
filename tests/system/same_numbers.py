"""Runs ex3 with several numbers of processes and compares what it prints.

    same_numbers.py 1,2,3,4,7 1e-10 mpiexec -n @ ex3 -samples 5 ...

@ stands for the number of processes. Iterations, convergence reason and the residual (4 digits) must be alike, the values of Q equal up
to the relative tolerance. Exit code 1 and the lines concerned if not.
"""
import re
import subprocess
import sys


def numbers(text):
    """({name: [plain, corrected]}, [solver line, residual]) of a run of ex3."""
    values = {}
    for line in text.splitlines():
        found = re.match(r"  (mean|variance|min|max|Q\(\S*\)) +(\S+) +(\S+)", line)
        if found:
            values[found.group(1)] = (float(found.group(2)), float(found.group(3)))
    solver = [line for line in text.splitlines() if line.startswith("solver")]
    residual = re.search(r"^recomputed residual +(\S+),", text, re.M)
    if len(values) < 5 or not solver or not residual:
        sys.exit("this is not the output of ex3:\n" + text)
    return values, [solver[0], residual.group(1)]


def main():
    counts, tolerance, command = sys.argv[1].split(","), float(sys.argv[2]), sys.argv[3:]
    first, worst, good = None, 0.0, True
    for count in counts:
        run = subprocess.run([count if a == "@" else a for a in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if run.returncode:
            sys.exit(f"{count} processes: exit code {run.returncode}\n{run.stdout}")
        result = numbers(run.stdout)
        first = first or result
        if result[1] != first[1]:
            print(f"{count} processes: {result[1]}, {counts[0]}: {first[1]}")
            good = False
        for name, pair in result[0].items():
            difference = abs(pair[1] - first[0][name][1]) / abs(first[0][name][1])
            worst = max(worst, difference)
            if not difference <= tolerance:
                print(f"{count} processes: {name} = {pair[1]}, {counts[0]}: {first[0][name][1]}, relative difference {difference:.1e}")
                good = False
    print(f"{first[1][0]}, residual {first[1][1]}; largest relative difference on {', '.join(counts)} processes: {worst:.1e}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
