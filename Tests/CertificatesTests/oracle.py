#!/usr/bin/env python3
"""Makes vectors.json: chains of certificates, most with one fault.

    python3 -m venv /tmp/oracle && /tmp/oracle/bin/pip install cryptography==50.0.2
    /tmp/oracle/bin/python Tests/CertificatesTests/oracle.py

`cryptography` makes them, from bytes of one seed, so that the file comes out the same each time; but for `explicitCurve`, which the
program `openssl` makes, and which stays as it is in the file.
"""

import datetime
import json
import os
import subprocess
import tempfile

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from made_certificates import NOW, certify, elliptic, name, point, text

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "vectors.json")
UNKNOWN = "1.3.6.1.4.1.99999.1"
SUBJECT = name(
    "A key", (NameOID.COUNTRY_NAME, "SE"), (NameOID.ORGANIZATION_NAME, "Example \u00c4B"),
    (NameOID.ORGANIZATIONAL_UNIT_NAME, "Authenticator Attestation"))


def damaged(data):
    """A bit of the signature's last number is another."""
    return data[:-1] + bytes([data[-1] ^ 1])


def chains():
    root = certify("root", authority=True)
    between = certify("between", root, authority=True)
    leaf = certify("leaf", between, subject=SUBJECT, extensions=[(UNKNOWN, b"\x04\x02hi", False)])
    made = []

    def add(what, chain, anchors=(root,), error=None, kind="roots", now=NOW):
        made.append({
            "name": what, "chain": [text(getattr(one, "der", one)) for one in chain], "anchors": [text(one.der) for one in anchors],
            "kind": kind, "now": now, "error": error})

    add("good", [leaf, between])
    add("with its root", [leaf, between, root])
    add("by the root itself", [certify("direct", root)])
    add("no identifiers of keys", [
        certify("bare leaf", certify("bare", root, authority=True, identifiers=False)),
        certify("bare", root, authority=True, identifiers=False)])
    add("P-384", [certify("wide", between, key=elliptic("wide", ec.SECP384R1())), between])
    add("several anchors", [leaf, between], (certify("other root", authority=True), root))

    quiet = certify("quiet root", authority=True, basic="missing")
    add("a root without basic constraints", [certify("under the quiet root", quiet)], (quiet,))

    local = "unable to get local issuer certificate"
    add("another root", [leaf, between], (certify("other root", authority=True),), local)
    add("another root of the same name", [leaf, between], (
        certify("root", authority=True, key=elliptic("imitation")),), "certificate signature failure")
    add("no certificate between", [leaf], error=local)
    add("ends at a root that is not trusted", [
        certify("alone", certify("strange", authority=True)), certify("strange", authority=True)],
        error="self-signed certificate in certificate chain")
    add("self-signed", [certify("self")], error="self-signed certificate")
    day = datetime.timedelta(days=1)
    past, future = datetime.datetime.fromtimestamp(NOW) - day, datetime.datetime.fromtimestamp(NOW) + day
    add("expired", [certify("old", between, end=past), between], error="certificate has expired")
    add("of tomorrow", [certify("new", between, start=future), between], error="certificate is not yet valid")
    old = certify("old between", root, authority=True, end=past)
    add("expired between", [certify("under old", old), old], error="certificate has expired")
    old_root = certify("old root", authority=True, end=past)
    add("expired root", [certify("under old root", old_root)], (old_root,), error="certificate has expired")
    invalid = "invalid CA certificate"
    add("by a certificate of no authority", [certify("under leaf", leaf), leaf, between], error=invalid)
    for what, options in {
            "no basic constraints": {"basic": "missing"}, "no signing of certificates": {"signs": False},
            "basic constraints of no authority": {"authority": False, "signs": True, "identifiers": False}}.items():
        wrong = certify(what, root, **({"authority": True} | options))
        add(what, [certify(f"under {what}", wrong), wrong], error=invalid)
    short = certify("short root", authority=True, path_length=0)
    long = certify("too long", short, authority=True)
    add("longer than the path length", [certify("under too long", long), long], (short,), "path length constraint exceeded")
    add("damaged", [damaged(leaf.der), between], error="certificate signature failure")
    add("damaged between", [leaf, damaged(between.der)], error="certificate signature failure")
    add("unknown critical extension", [certify("critical", between, extensions=[(UNKNOWN, b"\x05\x00", True)]), between],
        error="unhandled critical extension")
    add("weak curve", [certify("weak", between, key=elliptic("weak", ec.SECP192R1())), between], error="EE certificate key too weak")

    add("an anchor that is no root", [leaf, between], (between,), "unable to get issuer certificate")
    add("an anchor that is no root, allowed", [leaf, between], (between,), kind="anyCertificate")
    add("the anchor itself", [leaf], (leaf,), kind="anyCertificate")
    add("a root, where any may be one", [leaf, between], kind="anyCertificate")
    add("another anchor, where any may be one", [leaf, between], (certify("direct", root),), local, kind="anyCertificate")
    return leaf, made


def explicit_curve():
    """A self-signed certificate that spells its curve out: the one of the file, or a new one."""
    if os.path.exists(FILE):
        with open(FILE, encoding="utf-8") as file:
            return json.load(file)["explicitCurve"]
    with tempfile.TemporaryDirectory() as folder:
        key = os.path.join(folder, "key.pem")
        subprocess.run(["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-param_enc", "explicit", "-out", key], check=True)
        made = subprocess.run(
            ["openssl", "req", "-x509", "-new", "-key", key, "-subj", "/CN=explicit", "-outform", "DER"], check=True, capture_output=True)
        spki = subprocess.run(["openssl", "pkey", "-in", key, "-pubout", "-outform", "DER"], check=True, capture_output=True)
    return {"certificate": text(made.stdout), "publicKeyInfo": text(spki.stdout)}


def main():
    leaf, made = chains()
    explicit = explicit_curve()
    key = leaf.key.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    identifier = x509.SubjectKeyIdentifier.from_public_key(leaf.key.public_key())
    with open(FILE, "w", encoding="utf-8") as file:
        json.dump({
            "publicKeyInfo": text(key), "point": text(point(leaf.key)), "keyIdentifier": text(identifier.digest),
            "explicitCurve": explicit, "chains": made}, file, indent=1, ensure_ascii=False)
        file.write("\n")


main()
