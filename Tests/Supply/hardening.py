#!/usr/bin/env python3
"""Says what built programs lack that keeps a fault in C from being used; ends with 1 if one lacks anything.

Asks readelf (Debian: binutils).
"""

import argparse
import os
import re
import subprocess
import sys


def readelf(program, *what):
    return subprocess.run(["readelf", "--wide", *what, str(program)], capture_output=True, text=True, check=True).stdout


def faults(program):
    """What the program lacks, in words."""
    header, segments = readelf(program, "--file-header"), readelf(program, "--segments")
    dynamic, symbols = readelf(program, "--dynamic"), readelf(program, "--dyn-syms")
    found = []
    if not re.search(r"Type:\s+DYN ", header) or not re.search(r"\(FLAGS_1\).*\bPIE\b", dynamic):
        found.append("is not position-independent (-pie)")
    if "GNU_RELRO" not in segments:
        found.append("has no tables that become read-only (-z relro)")
    if not re.search(r"\(BIND_NOW\)|\(FLAGS(_1)?\).*\b(BIND_)?NOW\b", dynamic):
        found.append("looks functions up as they are first called, and so keeps their table writable (-z now)")
    stack = re.search(r"GNU_STACK\s+(?:0x\w+\s+){5}([RWE ]+?)\s+0x", segments)
    if stack is None or "E" in stack[1]:
        found.append("has a stack that can be executed (-z noexecstack)")
    path = re.search(r"\((RPATH|RUNPATH)\).*\[(.*)\]", dynamic)
    if path:
        found.append(f"looks for libraries in {path[2]} first ({path[1]})")
    if "__stack_chk_fail" not in symbols:
        found.append("has no stack canaries (-fstack-protector-strong)")
    if not re.search(r"\b__\w+_chk\b", symbols.replace("__stack_chk_fail", "")):
        found.append("gives no bounds to the C library (-D_FORTIFY_SOURCE=3)")
    return found


def main(programs):
    lines = [f"{program} {fault}" for program in programs for fault in faults(program)]
    print("\n".join(lines) if lines else f"{len(programs)} programs are hardened")
    return 1 if lines or not programs else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", nargs="+", help="paths of built programs")
    options = parser.parse_args()
    for program in options.programs:
        if not os.path.isfile(program):
            parser.error(f"there is no {program}; `make build` makes the programs in .build/release")
    sys.exit(main(options.programs))
