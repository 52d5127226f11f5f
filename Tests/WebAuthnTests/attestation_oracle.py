#!/usr/bin/env python3
"""Makes attestation-vectors.json: registrations with statements of all formats, and the metadata that judge them.

    python3 -m venv /tmp/oracle && /tmp/oracle/bin/pip install webauthn==3.0.1 fido2==2.2.1 cryptography==50.0.2
    /tmp/oracle/bin/python Tests/WebAuthnTests/attestation_oracle.py

Soft authenticators with made-up roots, from bytes of one seed, so that the file comes out the same each time. `fido2` judges each with
its verifier of metadata, or `webauthn` where fido2 doesn't know the format. They accept what has no `error` and reject the rest, but
for what `UNCHECKED` names.
"""

import base64
import json
import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "CertificatesTests"))

import webauthn
from cryptography.hazmat.primitives import serialization
from fido2 import mds3, webauthn as fido

import attestation_metadata as metadata
import attestation_statements as statements
from oracle import ORIGIN, RP_ID, text

FILE = os.path.join(HERE, "attestation-vectors.json")
#: What neither looks at.
UNCHECKED = {
    "packed: expired", "packed: a country of three letters",
    "packed: the status ATTESTATION_KEY_COMPROMISE", "packed: the status RETIRED", "packed: the status USER_KEY_PHYSICAL_COMPROMISE",
    "packed: the status USER_KEY_REMOTE_COMPROMISE", "packed: the status USER_VERIFICATION_BYPASS", "packed: two entries of one name",
    "u2f: two certificates", "u2f: with a model", "apple: another key",
    "tpm: an alternative name without the version", "tpm: another version", "tpm: a byte behind what was certified",
    "android: of software"}


def judge(vector, blob, roots):
    response = vector["response"]["response"]
    raw = base64.urlsafe_b64decode(response["attestationObject"] + "==")
    client = fido.CollectedClientData(base64.urlsafe_b64decode(response["clientDataJSON"] + "=="))
    try:
        found = fido.AttestationObject(raw)
        if found.fmt == "android-key":
            pem = [root.certificate.public_bytes(serialization.Encoding.PEM) for root in roots]
            webauthn.verify_registration_response(
                credential=vector["response"], expected_challenge=base64.urlsafe_b64decode(vector["challenge"] + "=="),
                expected_rp_id=RP_ID, expected_origin=ORIGIN, pem_root_certs_bytes_by_fmt={
                    webauthn.helpers.structs.AttestationFormat.ANDROID_KEY: pem})
            return True
        mds3.MdsAttestationVerifier(blob)(found, client.hash)
        return True
    except Exception:
        if os.environ.get("SHOW") == vector["name"]:
            raise
        return False


def main():
    roots = statements.roots()
    file = metadata.signed(metadata.payload(roots))
    blob = mds3.MetadataBlobPayload.from_dict(metadata.for_fido2(metadata.payload(roots)))
    vectors, disagreements = [], []
    for vector in statements.registrations(roots):
        accepted = judge(vector, blob, roots)
        expected = vector["error"] is None or vector["name"] in UNCHECKED
        if accepted != expected:
            disagreements.append((vector["name"], accepted))
        vectors.append(vector)
    assert not disagreements, disagreements
    assert UNCHECKED <= {vector["name"] for vector in vectors}, UNCHECKED - {vector["name"] for vector in vectors}
    with open(FILE, "w", encoding="utf-8") as output:
        json.dump({
            "rpID": RP_ID, "origin": ORIGIN, "metadata": file, "registrations": vectors,
            "root": text(metadata.signers()[0].der), "files": metadata.files(roots)}, output, indent=1, ensure_ascii=False)
        output.write("\n")


main()
