"""What the Swift kit has for Apple's platforms alone, compiled against declarations of the few things that it uses of them; and its store of the
Keychain, on a Keychain and a system that the test makes."""

import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
APPLE = ROOT / "Tests/Kits/apple"


def swiftc(*arguments):
    done = subprocess.run(["swiftc", "-swift-version", "6", *map(str, arguments)], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def test_the_store_of_the_keychain(tmp_path):
    for module in ("Security", "AuthenticationServices"):
        swiftc("-parse-as-library", "-emit-library", "-static", "-emit-module", "-module-name", module, APPLE / f"{module}.swift",
               "-emit-module-path", tmp_path / f"{module}.swiftmodule", "-o", tmp_path / f"lib{module}.a")
    kit = (ROOT / "Sources/Kits/Swift").rglob("*.swift")
    program = tmp_path / "keychain"
    swiftc("-package-name", "kit", "-module-name", "VestibuleClient", "-I", tmp_path, "-L", tmp_path, "-lSecurity", "-lAuthenticationServices",
           *kit, APPLE / "main.swift", "-o", program)
    container = tmp_path / "container"
    container.mkdir()
    done = subprocess.run([program], capture_output=True, text=True, timeout=60, env={**os.environ, "CONTAINER": str(container)})
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stdout + done.stderr
