#!/usr/bin/env python3
"""Makes vectors.json: DPoP proofs and URIs that other implementations judge as ours must.

    python3 -m venv /tmp/oracle
    /tmp/oracle/bin/pip install jwcrypto==1.6.1 requests-oauth2client==1.8.0 pydpop==0.2.1 hyperlink==21.0.0
    /tmp/oracle/bin/python Tests/DPoPTests/oracle.py

The proofs are signed with cryptography, from keys of one seed, so that the file comes out the same each time. What has no `error` must be
accepted by requests-oauth2client and, if it is ES256, by pydpop, and jwcrypto must verify its signature; the thumbprints are jwcrypto's.
Of the rest `rejectedBy` says which of the three reject it; where none does, `error` is a rule of ours that is stricter, or of the key and
the time that they don't look at. The spellings of the URIs are hyperlink's.
"""

import base64
import datetime
import hashlib
import hmac
import json
import os

import hyperlink
import pydpop
import requests_oauth2client.dpop as oauth
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from jwcrypto import jwk, jws

SEED = b"vestibule dpop 1"
FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "vectors.json")
ADDRESS = "https://api.example.org"
NOW = 1_795_910_400
MONOTONIC = 86_400
WINDOW = 30
TOKEN = "eyJhbGciOiJFUzI1NiJ9.e30.c2lnbmF0dXJl"
ALGORITHMS = ["ES256", "EdDSA", "Ed25519"]
ORDER = int("FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551", 16)

URIS = [
    "https://api.example.org", "https://api.example.org/", "HTTPS://API.Example.ORG/", "https://api.example.org:443/",
    "https://api.example.org:8443/", "http://api.example.org:80", "http://api.example.org:443/", "https://api.example.org/?a=b#c",
    "https://api.example.org/v1/me", "https://api.example.org/v1/me?x=/../y", "https://api.example.org/v1/me#f?g",
    "https://api.example.org/v1/me/", "https://api.example.org/v1/Me", "https://api.example.org/v1//me",
    "https://api.example.org/v1/./me", "https://api.example.org/v1/x/../me", "https://api.example.org/../v1/me",
    "https://api.example.org/v1/me/.", "https://api.example.org/v1/me/x/..", "https://api.example.org/v1/%6de",
    "https://api.example.org/v1/%6De", "https://api.example.org/%7Euser/%2f%2F", "https://api.example.org/~user/%2F%2f",
    "https://api.example.org/~user///", "https://api.example.org/a/%2e%2e/v1/%2E/me", "https://api.example.org/v1%2Fme",
    "https://api.example.org/a%3Fb", "https://api.example.org/a:@!$&'()*+,;=b", "https://api.example.org/%C3%A9",
    "https://api.example.org/%c3%a9", "https://api.example.org/...", "https://api.example.org/a/..b/c..", "https://[2001:DB8::1]/",
    "https://[2001:db8::1]:443", "https://[2001:db8::1]:8443/", "https://127.0.0.1/", "https://other.example.org/v1/me",
]


def text(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def derived(label, length=32):
    """Bytes of the seed."""
    return hashlib.shake_256(SEED + b"/" + label.encode()).digest(length)


def dumped(value):
    return json.dumps(value, separators=(",", ":")).encode()


class P256:
    alg = "ES256"

    def __init__(self, label):
        self.key = ec.derive_private_key(int.from_bytes(derived(label), "big") % (ORDER - 1) + 1, ec.SECP256R1())
        numbers = self.key.private_numbers()
        x, y = (text(number.to_bytes(32, "big")) for number in (numbers.public_numbers.x, numbers.public_numbers.y))
        self.public = {"kty": "EC", "x": x, "y": y, "crv": "P-256"}
        self.d = text(numbers.private_value.to_bytes(32, "big"))

    def sign(self, message):
        numbers = decode_dss_signature(self.key.sign(message, ec.ECDSA(hashes.SHA256(), deterministic_signing=True)))
        return b"".join(number.to_bytes(32, "big") for number in numbers)


class Ed25519:
    alg = "EdDSA"

    def __init__(self, label):
        self.key = ed25519.Ed25519PrivateKey.from_private_bytes(derived(label))
        self.public = {"kty": "OKP", "crv": "Ed25519", "x": text(self.key.public_key().public_bytes_raw())}
        self.d = text(self.key.private_bytes_raw())

    def sign(self, message):
        return self.key.sign(message)


KEY, OTHER, EDWARDS = P256("key"), P256("other"), Ed25519("edwards")
INSTANCE, NONCE_KEY, OFFSET = derived("instance", 8), derived("nonces"), 1_000_000


def nonce(monotonic, instance=INSTANCE, key=NONCE_KEY):
    content = (monotonic // WINDOW + OFFSET).to_bytes(8, "big", signed=True) + instance
    return text(content + hmac.new(key, content, "sha256").digest()[:16])


def proof(key, header=None, claims=None, drop=(), signer=None, signature=None):
    """A proof with these members in place of the usual ones."""
    head = {"typ": "dpop+jwt", "alg": key.alg, "jwk": key.public} | (header or {})
    body = {"jti": "-BwC3ESc6acc2lTc", "htm": "POST", "htu": ADDRESS + "/v1/me", "iat": NOW} | (claims or {})
    for name in drop:
        head.pop(name, None)
        body.pop(name, None)
    message = text(dumped(head)) + "." + text(dumped(body))
    return message + "." + text((signer or key).sign(message.encode()) if signature is None else signature)


def thumbprint(public):
    return jwk.JWK(**public).thumbprint()


class FixedTime(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp(NOW, tz)


oauth.datetime = FixedTime


def judgements(vector):
    """The implementations that reject a proof."""
    ath = text(hashlib.sha256(vector["accessToken"].encode()).digest()) if "accessToken" in vector else None
    request_nonce = nonce(MONOTONIC) if vector.get("requiresNonce") else None

    def header():
        return json.loads(base64.urlsafe_b64decode(vector["proof"].split(".")[0] + "=="))

    def by_oauth():
        # It tries the algorithms that it is given, and fails for one that doesn't suit the key.
        alg = "EdDSA" if header()["jwk"]["kty"] == "OKP" else "ES256"
        oauth.validate_dpop_proof(
            vector["proof"], htm="POST", htu=ADDRESS + "/v1/me", ath=ath, nonce=request_nonce, algs=[alg])

    def by_pydpop():
        pydpop.verify_proof(
            proof=vector["proof"], htm="POST", htu=ADDRESS + "/v1/me", access_token=vector.get("accessToken"),
            expected_nonce=request_nonce, now=NOW)

    def by_jwcrypto():
        token = jws.JWS()
        token.allowed_algs = ALGORITHMS
        token.deserialize(vector["proof"])
        token.verify(jwk.JWK(**header()["jwk"]))

    checks = {"requests-oauth2client": by_oauth, "pydpop": by_pydpop, "jwcrypto": by_jwcrypto}
    rejected = []
    for name, check in checks.items():
        try:
            check()
        except Exception:
            rejected.append(name)
    return rejected


def vectors():
    ath = text(hashlib.sha256(TOKEN.encode()).digest())
    bound = {"accessToken": TOKEN, "claims": {"ath": ath}}
    yield "ES256", KEY, None, {}
    yield "ES256, with an access token and its key", KEY, None, bound | {"thumbprint": thumbprint(KEY.public)}
    yield "ES256, with a nonce", KEY, None, {"claims": {"nonce": nonce(MONOTONIC)}, "requiresNonce": True}
    yield "ES256, with all at once", KEY, None, bound | {
        "claims": {"ath": ath, "nonce": nonce(MONOTONIC)}, "requiresNonce": True, "thumbprint": thumbprint(KEY.public)}
    yield "ES256, as a browser exports the key", KEY, None, {
        "header": {"jwk": KEY.public | {"ext": True, "key_ops": ["verify"], "alg": "ES256", "use": "sig"}}}
    yield "ES256, with other claims", KEY, None, {"claims": {"iss": "app", "exp": NOW + 60, "nbf": NOW - 1, "x": [1, {"y": None}]}}
    yield "EdDSA", EDWARDS, None, bound | {"thumbprint": thumbprint(EDWARDS.public)}
    yield "Ed25519 by its own name", EDWARDS, None, {"header": {"alg": "Ed25519"}}
    yield "iat 59 seconds ago", KEY, None, {"claims": {"iat": NOW - 59}}

    yield "another type", KEY, "wrongType", {"header": {"typ": "JWT"}}
    yield "no type", KEY, "wrongType", {"drop": ["typ"]}
    yield "no signature, alg none", KEY, "unsupportedAlgorithm", {"header": {"alg": "none"}, "signature": b""}
    yield "a symmetric key", KEY, "unsupportedAlgorithm", {"header": {"alg": "HS256", "jwk": {"kty": "oct", "k": "AAAA"}}}
    yield "the private key", KEY, "privateKey", {"header": {"jwk": KEY.public | {"d": KEY.d}}}
    yield "the private key of Ed25519", EDWARDS, "privateKey", {"header": {"jwk": EDWARDS.public | {"d": EDWARDS.d}}}
    yield "no key", KEY, "badKey", {"drop": ["jwk"]}
    yield "a point that is not on the curve", KEY, "badKey", {"header": {"jwk": KEY.public | {"y": KEY.public["x"]}}}
    yield "a key of another type", KEY, "badKey", {"header": {"jwk": EDWARDS.public}}
    yield "another key's signature", KEY, "badSignature", {"signer": OTHER}
    yield "another key's signature, Ed25519", EDWARDS, "badSignature", {"signer": Ed25519("second")}
    yield "a signature of zeros", KEY, "badSignature", {"signature": bytes(64)}
    yield "a critical extension", KEY, "criticalExtension", {"header": {"crit": ["x"], "x": 1}}
    yield "another method", KEY, "wrongMethod", {"claims": {"htm": "GET"}}
    yield "another path", KEY, "wrongTarget", {"claims": {"htu": ADDRESS + "/v1/you"}}
    yield "another host", KEY, "wrongTarget", {"claims": {"htu": "https://api.example.com/v1/me"}}
    yield "another scheme", KEY, "wrongTarget", {"claims": {"htu": "http://api.example.org/v1/me"}}
    yield "too old", KEY, "tooOld", {"claims": {"iat": NOW - 61}}
    yield "in the future", KEY, "fromFuture", {"claims": {"iat": NOW + 61}}
    yield "no jti", KEY, "malformed", {"drop": ["jti"]}
    yield "no htm", KEY, "malformed", {"drop": ["htm"]}
    yield "no htu", KEY, "malformed", {"drop": ["htu"]}
    yield "no iat", KEY, "malformed", {"drop": ["iat"]}
    yield "no ath", KEY, "wrongAccessToken", {"accessToken": TOKEN}
    yield "the ath of another token", KEY, "wrongAccessToken", {"accessToken": TOKEN + "x", "claims": {"ath": ath}}
    yield "no nonce", KEY, "missingNonce", {"requiresNonce": True}
    yield "another process's nonce", KEY, "badNonce", {
        "claims": {"nonce": nonce(MONOTONIC, instance=bytes(8), key=bytes(32))}, "requiresNonce": True}
    yield "an old nonce", KEY, "badNonce", {"claims": {"nonce": nonce(MONOTONIC - 3 * WINDOW)}, "requiresNonce": True}
    yield "bound to another key", KEY, "wrongKey", bound | {"thumbprint": thumbprint(OTHER.public)}


def proofs():
    for name, key, error, options in vectors():
        vector = {"name": name}
        vector |= {member: options[member] for member in ("accessToken", "thumbprint", "requiresNonce") if member in options}
        parts = {member: options[member] for member in ("header", "claims", "drop", "signer", "signature") if member in options}
        vector["proof"] = proof(key, **parts)
        rejected = judgements(vector)
        if error:
            vector |= {"error": error, "rejectedBy": rejected}
        else:
            assert rejected == ([] if key.alg == "ES256" else ["pydpop"]), (name, rejected)
            jkt = thumbprint(key.public)
            digest = hashlib.sha256(base64.urlsafe_b64decode(jkt + "=") + b"-BwC3ESc6acc2lTc").digest()
            vector |= {"jkt": jkt, "fingerprint": text(digest[:16])}
        yield vector


def uris():
    for uri in URIS:
        # Twice: the first time it looks for dot segments before it decodes escaped dots.
        normal = hyperlink.URL.from_text(uri).normalize().normalize().replace(query=(), fragment="")
        yield {"uri": uri, "normal": normal.to_text()}


def main():
    found = list(proofs())
    unseen = [vector["name"] for vector in found if "error" in vector and not vector["rejectedBy"]]
    print("only ours rejects:", unseen)
    content = {
        "address": ADDRESS, "nowSeconds": NOW, "monotonicSeconds": MONOTONIC, "instance": text(INSTANCE),
        "nonceKey": text(NONCE_KEY), "windowOffset": OFFSET, "proofs": found,
        "nonces": [{"monotonicSeconds": time, "nonce": nonce(time)} for time in (0, 29, 30, MONOTONIC, 2**62, -1, -30, -31)],
        "uris": list(uris()),
    }
    with open(FILE, "w", encoding="utf-8") as file:
        file.write(json.dumps(content, indent=1) + "\n")


main()
