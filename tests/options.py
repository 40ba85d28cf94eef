#!/usr/bin/env python3
"""options.py ROOT: every option of ours that README.md names is read somewhere in src/, and every one that src/ reads through PetscOptions
stands in README.md."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
ours = r"-(?:vec_tt|mat_tt|dm_tt|mat_conflux|pc_ttkron|ksp_ttgmres|bv_tt|eps_tt|tt)_[a-z_]+[a-z]"
named = set(re.findall(ours + r"(?=[`,\s ])", (root / "README.md").read_text(encoding="utf-8")))
named = {name for name in named if "_mode_" not in name}  # prefixes of the solvers of the modes
source = "\n".join(path.read_text(encoding="utf-8") for path in sorted((root / "src").rglob("*.cxx")))
read = set(re.findall(r'PetscOptions\w+\([^;"]*"(' + ours + r')"', source))
for name in sorted(named - read):
    print("in README.md, but never read:", name)
for name in sorted(read - named):
    print("read, but not in README.md:", name)
print("%d options named, %d read" % (len(named), len(read)))
sys.exit(1 if named != read or not read else 0)
