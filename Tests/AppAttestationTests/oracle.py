#!/usr/bin/env python3
"""Makes vectors.json: attestations, assertions and integrity tokens of apps, most with one fault.

    python3 -m venv /tmp/oracle && /tmp/oracle/bin/pip install pyattest==1.0.5 cryptography==50.0.2 jwcrypto==1.6.1 cbor2==6.3.0
    /tmp/oracle/bin/python Tests/AppAttestationTests/oracle.py

`cryptography`, `cbor2` and `jwcrypto` make them, from bytes of one seed, so that the file comes out the same each time. `pyattest` must
accept what has no `error`, and reject the rest, but for what it doesn't check: its name is then in `UNCHECKED`.
"""

import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "CertificatesTests"))

import apple_oracle
import play_oracle

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "vectors.json")


def main():
    with open(FILE, "w", encoding="utf-8") as file:
        json.dump(apple_oracle.vectors() | play_oracle.vectors(), file, indent=1, ensure_ascii=False)
        file.write("\n")


main()
