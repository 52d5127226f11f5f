"""Files of the FIDO Metadata Service, signed by a made-up authority."""

import base64
import copy
import datetime
import json

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.x509 import SubjectKeyIdentifier
from fido2 import mds3

from made_certificates import NOW, certify, elliptic, name
from oracle import rsa_key, text

SIGNER = "mds.fidoalliance.org"
BAD = [
    "USER_VERIFICATION_BYPASS", "ATTESTATION_KEY_COMPROMISE", "USER_KEY_REMOTE_COMPROMISE", "USER_KEY_PHYSICAL_COMPROMISE", "REVOKED",
    "RETIRED"]
#: The models, by what is said of them.
MODELS = {
    "good": 1, "by an intermediate": 2, "by its own certificate": 3, "without roots": 4, "with unusable roots": 5, "twice": 6,
    "apple": 7, "android": 8, "tpm": 9, "without reports": 10, "mended": 11, "in lines": 12,
    **{status: 100 + index for index, status in enumerate(BAD)}}


def aaguid(model):
    return bytes([0xA0] * 15 + [MODELS[model]])


def uuid(data):
    digits = data.hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def entry(description, roots, statuses=("FIDO_CERTIFIED_L1",), model=None, keys=None):
    names = {"aaguid": uuid(model)} if model else {"attestationCertificateKeyIdentifiers": keys}
    return names | {
        "metadataStatement": names | {
            "legalHeader": "", "description": description, "authenticatorVersion": 1, "protocolFamily": "fido2", "schema": 3,
            "upv": [{"major": 1, "minor": 0}], "attestationTypes": ["basic_full"], "authenticationAlgorithms": [],
            "publicKeyAlgAndEncodings": ["cose"], "userVerificationDetails": [[{"userVerificationMethod": "none"}]],
            "keyProtection": ["hardware"], "matcherProtection": ["on_chip"], "attachmentHint": ["external"], "tcDisplay": [],
            "attestationRootCertificates": roots},
        "statusReports": [{"status": status, "effectiveDate": "2026-01-01"} for status in statuses],
        "timeOfLastStatusChange": "2026-01-01"}


def standard(certified):
    return base64.b64encode(certified.der).decode()


def payload(roots):
    import attestation_statements as statements

    root = standard(roots[0])
    between, leaf = statements.between(roots[0]), statements.packed_leaf(roots[0], "good")
    u2f = SubjectKeyIdentifier.from_public_key(statements.u2f_leaf(roots[0]).key.public_key()).digest.hex()
    entries = [
        entry("A key", [standard(roots[1]), root], ("NOT_FIDO_CERTIFIED", "FIDO_CERTIFIED_L1"), aaguid("good")),
        entry("By an intermediate", [standard(between)], model=aaguid("by an intermediate")),
        entry("By its own certificate", [standard(statements.packed_leaf(roots[0], "by its own certificate"))],
              model=aaguid("by its own certificate")),
        entry("Without roots", [], model=aaguid("without roots")),
        entry("With unusable roots", ["AAAA", "no base64"], model=aaguid("with unusable roots")),
        entry("Once", [root], model=aaguid("twice")), entry("Twice", [root], model=aaguid("twice")),
        entry("Without reports", [root], (), model=aaguid("without reports")),
        entry("Mended", [root], ("USER_KEY_REMOTE_COMPROMISE", "UPDATE_AVAILABLE", "FIDO_CERTIFIED"), aaguid("mended")),
        entry("In lines", [root[:64] + "\n " + root[64:]], model=aaguid("in lines")),
        entry("A key of U2F", [root], keys=[u2f]),
        entry("A phone", [root], model=aaguid("apple")), entry("Another phone", [root], model=aaguid("android")),
        entry("A computer", [root], model=aaguid("tpm")),
        *[entry(status, [root], ("FIDO_CERTIFIED", status), aaguid(status)) for status in BAD],
        {"aaid": "4e4e#4005", "statusReports": [], "timeOfLastStatusChange": "2026-01-01"}]
    return {"legalHeader": "", "no": 15, "nextUpdate": "2027-01-31", "entries": entries}


def for_fido2(whole):
    """The payload as fido2 can read it, which rejects a file with one certificate that is none."""
    whole = copy.deepcopy(whole)
    for one in whole["entries"]:
        statement = one.get("metadataStatement")
        if statement and "AAAA" in statement["attestationRootCertificates"]:
            statement["attestationRootCertificates"] = []
    return whole


def signers():
    root = certify("Metadata Root", authority=True)
    between = certify("Metadata CA", root, authority=True)
    return root, between, certify("signer", between, subject=name(SIGNER), key=rsa_key(2**1279 - 1, 2**2203 - 1))


def signed(whole, algorithm="RS256", header=None, chain=None, key=None):
    _, between, signer = signers()
    chain = chain if chain is not None else [signer, between]
    header = header if header is not None else {
        "alg": algorithm, "typ": "JWT", "x5c": [standard(one) for one in chain]}
    whole = whole if isinstance(whole, bytes) else json.dumps(whole).encode()
    message = f"{text(json.dumps(header).encode())}.{text(whole)}"
    key = key or signer.key
    if isinstance(key, rsa.RSAPrivateKey):
        return f"{message}.{text(key.sign(message.encode(), padding.PKCS1v15(), hashes.SHA256()))}"
    size = key.curve.key_size // 8
    digest = hashes.SHA384() if size == 48 else hashes.SHA256()
    numbers = decode_dss_signature(key.sign(message.encode(), ec.ECDSA(digest, deterministic_signing=True)))
    return f"{message}.{text(b''.join(number.to_bytes(size, 'big') for number in numbers))}"


def files(roots):
    """Small files with one fault each, or none."""
    root, between, signer = signers()
    small = payload(roots) | {"entries": payload(roots)["entries"][:1]}
    made = []

    def add(what, file, error=None, is_checked=True):
        made.append({"name": what, "file": file, "now": NOW, "error": error})
        try:
            mds3.parse_blob(file.strip().encode(), root.der)
            accepted = True
        except Exception:
            accepted = False
        assert not is_checked or accepted == (error is None), (what, accepted)

    add("good", signed(small))
    add("with a line end", signed(small) + "\n")
    # fido2 reads signatures on curves in another form than JWS has.
    short = elliptic("short signer")
    add("ES256", signed(small, "ES256", key=short, chain=[
        certify("short", between, subject=name(SIGNER), key=short), between]), is_checked=False)
    wide = elliptic("wide signer", ec.SECP384R1())
    add("ES384", signed(small, "ES384", key=wide, chain=[
        certify("wide", between, subject=name(SIGNER), key=wide), between]), is_checked=False)
    add("another signer", signed(small, chain=[certify("other", between, key=signer.key), between]), "wrongSigner", False)
    other = certify("Other Root", authority=True)
    add("another root", signed(small, chain=[certify("stranger", other, subject=name(SIGNER), key=signer.key)]), "untrusted")
    old = certify("old signer", between, subject=name(SIGNER), key=signer.key, end=datetime.datetime(2026, 12, 1))
    add("an expired signer", signed(small, chain=[old, between]), "untrusted", False)
    add("no certificate", signed(small, chain=[]), "untrusted")
    add("nine certificates", signed(small, chain=[signer] + [between] * 8), "untrusted", False)
    good = signed(small)
    head, body, signature = good.split(".")
    add("another signature", f"{head}.{body}.{'AAAA' + signature[4:]}", "badSignature")
    add("another payload", f"{head}.{text(json.dumps(small | {'no': 16}).encode())}.{signature}", "badSignature")
    add("signed by another key", signed(small, key=elliptic("other")), "badSignature")
    add("another algorithm than the key's", signed(small, "ES256"), "unsupportedAlgorithm")
    add("not signed", signed(small, "none"), "unsupportedAlgorithm")
    add("by a symmetric key", signed(small, "HS256"), "unsupportedAlgorithm")
    add("no header of certificates", signed(small, header={"alg": "RS256"}), "malformed")
    add("a certificate that is none", signed(small, header={"alg": "RS256", "x5c": ["AAAA"]}), "malformed")
    add("a critical extension", signed(small, header={
        "alg": "RS256", "x5c": [standard(signer), standard(between)], "crit": ["b64"], "b64": True}), "malformed", False)
    add("two parts", f"{head}.{body}", "malformed")
    add("no file", "", "malformed")
    for what, change in {
            "no number": {"no": None}, "the number 0": {"no": 0}, "no entries": {"entries": None}, "another form of the day": {
                "nextUpdate": "2027-1-31"}, "a day that is none": {"nextUpdate": "2027-02-29"}}.items():
        add(what, signed(small | change), "malformed", False)
    add("no object", signed(b"[]"), "malformed")
    add("a member twice", signed(b'{"no":1,"no":1,"nextUpdate":"2027-01-31","entries":[]}'), "malformed", False)
    add("too many entries", signed(small | {"entries": [{}] * 10_001}), "tooLarge", False)
    return made
