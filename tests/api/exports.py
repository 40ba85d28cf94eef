#!/usr/bin/env python3
"""exports.py NM LIBRARY HEADER...: every name declared with PETSCTT_EXTERN in the headers is exported by the library, and nothing else but its entry point
and what src/register.cxx calls (constructors of types and factors, XxxRegisterYyy)."""
import os
import re
import subprocess
import sys

nm, library, *headers = sys.argv[1:]
declared = set()
for header in headers:
    with open(header, encoding="utf-8") as handle:
        text = re.sub(r"/\*.*?\*/", "", handle.read(), flags=re.S)
    for statement in re.findall(r"^PETSCTT_EXTERN\b([^;]*);", text, flags=re.M):
        declared.add(re.search(r"(\w+)\s*(?:\(|\[)", statement).group(1))

symbols = subprocess.run([nm, "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
exported = {line.split()[-1].split("@")[0] for line in symbols.splitlines() if line.strip()}
entry = "PetscDLLibraryRegister_" + os.path.basename(library)[len("lib"):].split(".")[0]
missing = sorted(declared - exported) + ([] if entry in exported else [entry])
extra = sorted(name for name in exported - declared - {entry} if not re.fullmatch(r"[A-Z]\w*(Create_|GetFactor_|Register)\w+", name))
for name in missing:
    print("declared in a public header, but not exported:", name)
for name in extra:
    print("exported, but in no public header:", name)
print("%d names declared, %d exported, %d missing, %d too many" % (len(declared), len(exported), len(missing), len(extra)))
sys.exit(1 if missing or extra or not declared else 0)
