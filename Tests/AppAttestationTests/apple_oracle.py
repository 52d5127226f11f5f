"""What App Attest makes, by made-up authorities."""

import asyncio
import datetime
import hashlib

import cbor2
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from pyattest.assertion import Assertion
from pyattest.attestation import Attestation
from pyattest.configs.apple import AppleConfig

from made_certificates import NOW, certify, derived, elliptic, point, text

TEAM, BUNDLE = "A1B2C3D4E5", "com.example.app"
APP = f"{TEAM}.{BUNDLE}"
CLIENT_DATA = b'{"challenge":"AAAAAAAAAAAAAAAAAAAAAA"}'
RECEIPT = derived("receipt", 100)
PRODUCTION, DEVELOPMENT = b"appattest" + bytes(7), b"appattestdevelop"
NONCE = "1.2.840.113635.100.8.2"
#: What pyattest doesn't look at: an assertion's app and counter, the key in the authenticator data and what follows it, the format, the
#: tag of the nonce, what follows the object, and the time, which it takes from the clock.
UNCHECKED = {
    "another format", "another key in the authenticator data", "a byte behind the authenticator data", "expired", "of tomorrow",
    "the nonce in another tag", "another app signs", "the same counter", "a lower counter", "another environment",
    "a byte behind the authenticator data, signed", "extensions that are no map", "an integer as key of the extensions",
    "a byte behind the object"}


def sha256(data):
    return hashlib.sha256(data).digest()


def cose(key):
    numbers = key.public_key().public_numbers()
    return cbor2.dumps({1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32, "big"), -3: numbers.y.to_bytes(32, "big")})


def authenticator_data(key, app=APP, flags=0x40, counter=0, aaguid=PRODUCTION, identity=None, rest=b"", cose_key=None):
    identity = identity if identity is not None else sha256(point(key))
    return (sha256(app.encode()) + bytes([flags]) + counter.to_bytes(4, "big") + aaguid + len(identity).to_bytes(2, "big") + identity
            + cose(cose_key or key) + rest)


def nonce_extension(nonce):
    return b"\x30\x24\xa1\x22\x04\x20" + nonce


def attestation(
        key, data, root, fmt="apple-appattest", nonce=None, client_data=CLIENT_DATA, chain=None, extensions=None, leaf=None):
    between = certify("App Attestation CA", root, authority=True, path_length=0)
    nonce = nonce if nonce is not None else nonce_extension(sha256(data + sha256(client_data)))
    extensions = extensions if extensions is not None else [(NONCE, nonce, False)]
    made = certify("attested", between, key=key, extensions=extensions, **(leaf or {}))
    chain = [made.der, between.der] if chain is None else chain(made, between)
    return cbor2.dumps({"fmt": fmt, "attStmt": {"x5c": chain, "receipt": RECEIPT}, "authData": data})


def accepts(check):
    try:
        check()
        return True
    except Exception:
        return False


def judged(vector, is_accepted):
    unchecked = vector["name"] in UNCHECKED
    assert is_accepted == (vector["error"] is None or unchecked), (vector["name"], is_accepted)
    return vector


def attestations():
    root, key = certify("Attestation Root", authority=True), elliptic("app key")
    root_pem = root.certificate.public_bytes(serialization.Encoding.PEM)
    identity = sha256(point(key))
    data = authenticator_data(key)
    made = []

    def add(what, made_object, error=None, environments=("production",), key_id=identity, environment="production"):
        vector = {
            "name": what, "object": text(made_object), "keyID": text(key_id), "environments": list(environments), "now": NOW,
            "error": error, "environment": environment}
        config = AppleConfig(key_id=key_id, app_id=APP, production=DEVELOPMENT not in made_object, root_ca=root_pem)
        made.append(judged(vector, accepts(
            lambda: asyncio.run(Attestation(made_object, CLIENT_DATA, config).verify()))))

    def of(what, error=None, data=data, **options):
        arguments = {name: options.pop(name) for name in ("environments", "key_id", "environment") if name in options}
        add(what, attestation(options.pop("key", key), data, options.pop("root", root), **options), error, **arguments)

    of("good")
    more = cbor2.dumps({"apple_bundle_version_01": "1", "apple_validation_category_01": b"\1\0\0\0"})
    of("with extensions that no flag announces", data=authenticator_data(key, rest=more))
    of("with its root", chain=lambda leaf, between: [leaf.der, between.der, root.der])
    developed = authenticator_data(key, aaguid=DEVELOPMENT)
    of("development", data=developed, environments=("development",), environment="development")
    of("development, where both are accepted", data=developed, environments=("production", "development"), environment="development")

    of("another environment", "wrongEnvironment", data=developed)
    of("an unknown environment", "wrongEnvironment", data=authenticator_data(key, aaguid=b"appattest" + b"\0" * 6 + b"\1"),
       environments=("production", "development"))
    of("another format", "wrongFormat", fmt="packed")
    of("another root", "untrusted", root=certify("Imitated Root", authority=True))
    of("no certificate between", "untrusted", chain=lambda leaf, _: [leaf.der])
    day = datetime.timedelta(days=1)
    now = datetime.datetime.fromtimestamp(NOW)
    of("expired", "untrusted", leaf={"end": now - day})
    of("of tomorrow", "untrusted", leaf={"start": datetime.datetime(2026, 6, 1), "end": now - day / 2})
    of("another challenge", "wrongNonce", client_data=b"other")
    of("the hash without the authenticator data", "wrongNonce", nonce=nonce_extension(sha256(CLIENT_DATA)))
    of("no nonce", "wrongNonce", extensions=[])
    right = sha256(data + sha256(CLIENT_DATA))
    of("the nonce in another tag", "wrongNonce", nonce=b"\x30\x24\xa2\x22\x04\x20" + right)
    of("a byte behind the nonce", "wrongNonce", nonce=nonce_extension(right) + b"\0")
    of("a byte behind the nonce, inside", "wrongNonce", nonce=b"\x30\x25\xa1\x22\x04\x20" + right + b"\0")
    of("a short nonce", "wrongNonce", nonce=b"\x30\x23\xa1\x21\x04\x1f" + right[:31])
    other = elliptic("another key")
    of("another key identifier", "wrongKeyID", key_id=sha256(point(other)))
    of("another credential", "wrongKeyID", data=authenticator_data(key, identity=sha256(point(other))))
    of("a credential of no bytes", "wrongKeyID", data=authenticator_data(key, identity=b""))
    of("another key in the authenticator data", "wrongKeyID", data=authenticator_data(key, cose_key=other))
    of("a key on P-384", "badKey", key=elliptic("wide app key", ec.SECP384R1()), key_id=sha256(
        point(elliptic("wide app key", ec.SECP384R1()))))
    of("another app", "wrongApp", data=authenticator_data(key, app=f"{TEAM}.com.example.other"))
    of("a used key", "counterNotZero", data=authenticator_data(key, counter=1))
    of("a byte behind the authenticator data", "malformed.authenticatorData", data=authenticator_data(key, rest=b"\0"))
    of("extensions that are no map", "malformed.authenticatorData", data=authenticator_data(key, rest=b"\x80"))
    of("an integer as key of the extensions", "malformed.authenticatorData", data=authenticator_data(key, rest=b"\xa1\x01\x02"))
    good = attestation(key, data, root)
    add("a byte behind the object", good + b"\0", "malformed.attestation")
    add("no object", b"", "malformed.attestation")
    return root, key, made


def assertions(key):
    made = []

    def add(what, error=None, counter=1, stored=0, app=APP, flags=0x40, rest=b"", client_data=CLIENT_DATA, signer=key, once=False):
        data = sha256(app.encode()) + bytes([flags]) + counter.to_bytes(4, "big") + rest
        signed = data + sha256(client_data)
        signature = signer.sign(signed if once else sha256(signed), ec.ECDSA(hashes.SHA256(), deterministic_signing=True))
        raw = cbor2.dumps({"signature": signature, "authenticatorData": data})
        vector = {
            "name": what, "assertion": text(raw), "publicKey": text(point(key)), "stored": stored, "counter": counter, "error": error}
        config = AppleConfig(key_id=sha256(point(key)), app_id=APP, production=True)
        made.append(judged(vector, accepts(
            lambda: Assertion(raw, sha256(CLIENT_DATA), key.public_key(), config).verify())))

    add("good")
    add("no flag", flags=0)
    add("with extensions", rest=cbor2.dumps({"apple_bundle_version_01": "1"}))
    add("a high counter", counter=2**32 - 1, stored=2**32 - 2)
    add("the same counter", "counterNotHigher", counter=7, stored=7)
    add("a lower counter", "counterNotHigher", counter=6, stored=7)
    add("another app signs", "wrongApp", app=f"{TEAM}.com.example.other")
    add("another challenge", "badSignature", client_data=b"other")
    add("another key", "badSignature", signer=elliptic("another key"))
    add("hashed once", "badSignature", once=True)
    add("a byte behind the authenticator data, signed", "malformed.authenticatorData", rest=b"\0")
    return made


def vectors():
    root, key, made = attestations()
    return {
        "teamID": TEAM, "bundleID": BUNDLE, "clientData": text(CLIENT_DATA), "root": text(root.der), "receipt": text(RECEIPT),
        "publicKey": text(point(key)), "attestations": made, "assertions": assertions(key)}
