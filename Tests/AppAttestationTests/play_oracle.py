"""What Google Play makes: integrity tokens under made-up keys."""

import asyncio
import base64
import hashlib
import json

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.keywrap import aes_key_wrap
from jwcrypto import jwe, jwk, jws
from pyattest.attestation import Attestation
from pyattest.configs.google_play_integrity_api import GooglePlayIntegrityApiConfig

from made_certificates import NOW, derived, elliptic, text

PACKAGE = "com.example.app"
DIGEST = hashlib.sha256(b"a certificate").digest()
NONCE = derived("nonce", 32)
HASH = text(hashlib.sha256(b"a request").digest())
WRAPPING, SIGNING = derived("wrapping key"), elliptic("Google's key")
LEFT_OUT = object()
#: What pyattest doesn't look at: times, versions, licenses, tests, a second kind of request, and critical extensions.
UNCHECKED = {
    "too old", "of the future", "no version", "a test", "another form of the license", "another form of the test",
    "both kinds of requests", "a critical extension"}


def signed(payload, key=SIGNING, header=None):
    header = text(json.dumps(header or {"alg": "ES256"}, separators=(",", ":")).encode())
    body = f"{header}.{text(payload)}"
    signature = decode_dss_signature(key.sign(body.encode(), ec.ECDSA(hashes.SHA256(), deterministic_signing=True)))
    return f"{body}.{text(b''.join(number.to_bytes(32, 'big') for number in signature))}"


def sealed(content, label, key=WRAPPING, header=None):
    header = text(json.dumps(header or {"alg": "A256KW", "enc": "A256GCM"}, separators=(",", ":")).encode())
    content_key, nonce = derived(f"{label} content key"), derived(f"{label} nonce", 12)
    made = AESGCM(content_key).encrypt(nonce, content, header.encode())
    return ".".join([header, text(aes_key_wrap(key, content_key)), text(nonce), text(made[:-16]), text(made[-16:])])


def payload(request=None, app=None, device=None, account=None, **more):
    def merged(base, changes):
        return {name: value for name, value in (base | (changes or {})).items() if value is not LEFT_OUT}

    whole = {
        "requestDetails": merged({
            "requestPackageName": PACKAGE, "nonce": base64.urlsafe_b64encode(NONCE).decode(),
            "timestampMillis": str(NOW * 1000 - 5000)}, request),
        "appIntegrity": merged({
            "appRecognitionVerdict": "PLAY_RECOGNIZED", "packageName": PACKAGE, "certificateSha256Digest": [text(DIGEST)],
            "versionCode": "42"}, app),
        "deviceIntegrity": merged({"deviceRecognitionVerdict": ["MEETS_BASIC_INTEGRITY", "MEETS_DEVICE_INTEGRITY"]}, device),
        "accountDetails": merged({"appLicensingVerdict": "LICENSED"}, account)}
    return {name: value for name, value in (whole | more).items() if value is not LEFT_OUT}


def accepts(token):
    spki = SIGNING.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    config = GooglePlayIntegrityApiConfig(
        decryption_key=base64.b64encode(WRAPPING).decode(), verification_key=base64.b64encode(spki).decode(),
        apk_package_name=PACKAGE, production=True)
    # It compares the digests with a list of all of them; ours may have more.
    config.verify_code_signature = [text(DIGEST)]
    try:
        asyncio.run(Attestation(token, NONCE, config).verify())
        return True
    except Exception:
        return False


def opens(token):
    """What jwcrypto, another implementation, finds inside; an exception if it finds nothing."""
    outer = jwe.JWE()
    outer.deserialize(token, key=jwk.JWK(kty="oct", k=text(WRAPPING)))
    inner = jws.JWS()
    inner.deserialize(outer.payload.decode())
    inner.verify(jwk.JWK.from_pem(SIGNING.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)))
    return inner.payload


def tokens():
    made = []

    def add(what, error=None, body=None, token=None, policy=None, request="nonce"):
        body = body if body is not None else payload()
        written = body if isinstance(body, bytes) else json.dumps(body).encode()
        token = token or sealed(signed(written).encode(), what)
        made.append({"name": what, "token": token, "request": request, "policy": policy or {}, "error": error})
        if error is None or not error.startswith(("encryption", "signature")):
            assert opens(token) == written, what
        if request == "nonce" and not policy:
            expected = error is None or what in UNCHECKED
            assert accepts(token) == expected, (what, accepts(token))

    hashed = {"nonce": LEFT_OUT, "requestHash": HASH}
    add("good")
    add("a standard request", body=payload(request=hashed), request="hash")
    add("a nonce without padding", body=payload(request={"nonce": text(NONCE)}), policy={"acceptsUnpaddedNonce": True})
    add("numbers", body=payload(request={"timestampMillis": NOW * 1000}, app={"versionCode": 42}))
    add("members that are not known", body=payload(environmentDetails={"playProtectVerdict": "NO_ISSUES"}))
    add("as old as may be", body=payload(request={"timestampMillis": str(NOW * 1000 - 300_000)}))
    add("ahead as far as may be", body=payload(request={"timestampMillis": str(NOW * 1000 + 60_000)}))
    add("one of two certificates", policy={"digests": [text(DIGEST), text(derived("certificate"))]})
    add("the least version", policy={"versionCodeMin": 42})
    add("a strong device", body=payload(device={"deviceRecognitionVerdict": [
        "MEETS_BASIC_INTEGRITY", "MEETS_DEVICE_INTEGRITY", "MEETS_STRONG_INTEGRITY"]}), policy={"label": "MEETS_STRONG_INTEGRITY"})
    add("no label, where none is required", body=payload(device={"deviceRecognitionVerdict": LEFT_OUT}), policy={"label": None})
    add("licensed", policy={"requiresLicense": True})
    add("a test, where tests are accepted", body=payload(testingDetails={"isTestingResponse": True}), policy={"acceptsTests": True})
    add("no test", body=payload(testingDetails={"isTestingResponse": False}))

    add("another package asks", "wrongRequestPackage", payload(request={"requestPackageName": "com.example.other"}))
    add("another nonce", "wrongRequest", payload(request={"nonce": base64.urlsafe_b64encode(derived("other")).decode()}))
    add("no nonce", "wrongRequest", payload(request={"nonce": LEFT_OUT}))
    add("a nonce that is no base64url", "wrongRequest", payload(request={"nonce": "\u212a" * 16}))
    add("another hash", "wrongRequest", payload(request={"nonce": LEFT_OUT, "requestHash": text(derived("other"))}), request="hash")
    add("a nonce in place of a hash", "wrongRequest", request="hash")
    add("a hash in place of a nonce", "wrongRequest", payload(request=hashed))
    add("both kinds of requests", "wrongRequest", payload(request={"requestHash": HASH}))
    add("both kinds of requests, by the hash", "wrongRequest", payload(request={"requestHash": HASH}), request="hash")
    add("too old", "expired", payload(request={"timestampMillis": str(NOW * 1000 - 300_001)}))
    add("of the future", "notYetValid", payload(request={"timestampMillis": str(NOW * 1000 + 60_001)}))
    add("a test", "testResponse", payload(testingDetails={"isTestingResponse": True}))
    for verdict in ("UNRECOGNIZED_VERSION", "UNEVALUATED", "", "PLAY_RECOGNIZED "):
        add(f"the verdict '{verdict}'", "appNotRecognized", payload(app={"appRecognitionVerdict": verdict}))
    add("another package", "wrongPackage", payload(app={"packageName": "com.example.other"}))
    add("no package", "wrongPackage", payload(app={"packageName": LEFT_OUT}))
    add("another certificate", "wrongCertificate", payload(app={"certificateSha256Digest": [text(derived("certificate"))]}))
    add("a second certificate", "wrongCertificate", payload(
        app={"certificateSha256Digest": [text(DIGEST), text(derived("certificate"))]}))
    add("no certificate", "wrongCertificate", payload(app={"certificateSha256Digest": LEFT_OUT}))
    add("no certificate in the list", "wrongCertificate", payload(app={"certificateSha256Digest": []}))
    add("an old version", "versionTooOld", policy={"versionCodeMin": 43})
    add("no version", "malformed.appIntegrity", payload(app={"versionCode": LEFT_OUT}))
    add("a weaker device", "deviceNotTrusted", payload(device={"deviceRecognitionVerdict": ["MEETS_BASIC_INTEGRITY"]}))
    add("no labels", "deviceNotTrusted", payload(device={"deviceRecognitionVerdict": []}))
    add("no device", "deviceNotTrusted", payload(deviceIntegrity=LEFT_OUT))
    add("a device that is not strong", "deviceNotTrusted", policy={"label": "MEETS_STRONG_INTEGRITY"})
    add("not licensed", "notLicensed", payload(account={"appLicensingVerdict": "UNLICENSED"}), policy={"requiresLicense": True})
    add("a license that says nothing", "notLicensed", payload(account={"appLicensingVerdict": "UNEVALUATED"}), policy={
        "requiresLicense": True})
    add("no account details, where a license is required", "notLicensed", payload(accountDetails=LEFT_OUT), policy={
        "requiresLicense": True})

    add("no request details", "malformed.requestDetails", payload(requestDetails=LEFT_OUT))
    add("no time", "malformed.requestDetails", payload(request={"timestampMillis": LEFT_OUT}), policy={"label": None})
    for what, number in {
            "a large number": str(2**53 + 1), "a number with a sign": "+5", "a negative number": -1, "a request at 2^63": str(2**63),
            "a version with a zero in front": "042"}.items():
        add(what, "malformed.appIntegrity", payload(app={"versionCode": number}), policy={"label": "MEETS_DEVICE_INTEGRITY"})
    add("digests that are no list", "malformed.appIntegrity", payload(app={"certificateSha256Digest": text(DIGEST)}))
    add("a digest that is no base64url", "malformed.appIntegrity", payload(app={"certificateSha256Digest": ["+"]}))
    add("too many certificates", "malformed.appIntegrity", payload(app={"certificateSha256Digest": [text(DIGEST)] * 33}))
    add("labels that are no list", "malformed.deviceIntegrity", payload(device={"deviceRecognitionVerdict": 5}))
    add("another form of the license", "malformed.accountDetails", payload(account={"appLicensingVerdict": True}))
    add("another form of the test", "malformed.testingDetails", payload(testingDetails={"isTestingResponse": "no"}))
    add("a member twice", "malformed.payload", b'{"requestDetails":{},"requestDetails":{}}')
    add("no object", "malformed.payload", b"[]")

    good = signed(json.dumps(payload()).encode()).encode()
    other = elliptic("another key")
    add("signed by another key", "signature.badSignature", token=sealed(signed(json.dumps(payload()).encode(), other).encode(), "1"))
    add("a changed signature", "signature.badSignature", token=sealed(good[:-2] + (b"AA" if good[-2:] != b"AA" else b"BA"), "2"))
    add("not signed", "signature.unsigned", token=sealed(signed(
        json.dumps(payload()).encode(), header={"alg": "none"}).encode(), "3"))
    add("by a symmetric key", "signature.unsupportedAlgorithm", token=sealed(signed(
        json.dumps(payload()).encode(), header={"alg": "HS256"}).encode(), "4"))
    add("by another algorithm", "signature.unsupportedAlgorithm", token=sealed(signed(
        json.dumps(payload()).encode(), header={"alg": "ES384"}).encode(), "4a"))
    add("not signed, only encrypted", "signature.malformed", token=sealed(json.dumps(payload()).encode(), "5"))
    add("bytes that are no text", "signature.malformed", token=sealed(b"\xff\xfe", "6"))
    add("encrypted by another key", "encryption.notDecrypted", token=sealed(good, "7", key=derived("other")))
    token = sealed(good, "8")
    parts = token.split(".")
    for index, what in enumerate(("the wrapped key", "the nonce", "the content", "the tag"), 1):
        part = parts[index]
        changed = parts[:index] + [("A" if part[0] != "A" else "B") + part[1:]] + parts[index + 1:]
        add(f"a change of {what}", "encryption.notDecrypted", token=".".join(changed))
        short = parts[:index] + [part[:-4]] + parts[index + 1:]
        add(f"a short form of {what}", "encryption.notDecrypted" if what == "the content" else "encryption.malformed", token=".".join(short))
    add("another header", "encryption.notDecrypted", token=".".join(
        [text(b'{"alg":"A256KW","enc":"A256GCM" }')] + parts[1:]))
    for what, header in {
            "the content's key is the shared one": {"alg": "dir", "enc": "A256GCM"}, "a shorter key": {"alg": "A128KW", "enc": "A256GCM"},
            "another encryption": {"alg": "A256KW", "enc": "A128GCM"}, "compressed": {"alg": "A256KW", "enc": "A256GCM", "zip": "DEF"},
            "another letter that looks like K": {"alg": "A256\u212aW", "enc": "A256GCM"}}.items():
        add(what, "encryption.unsupportedAlgorithm", token=sealed(good, what, header=header))
    add("a critical extension", "encryption.criticalExtension", token=sealed(
        good, "crit", header={"alg": "A256KW", "enc": "A256GCM", "crit": ["x"], "x": 1}))
    add("no encryption", "encryption.malformed", token=good.decode())
    add("no algorithm", "encryption.malformed", token=sealed(good, "no", header={"enc": "A256GCM"}))
    add("a part more", "encryption.malformed", token=token + ".")
    add("a text that is too long", "encryption.tooLarge", token="A" * (16 * 1024 + 1))
    return made


def vectors():
    spki = SIGNING.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return {
        "package": PACKAGE, "digest": text(DIGEST), "nonce": text(NONCE), "requestHash": HASH, "nowMilliseconds": NOW * 1000,
        "decryptionKey": base64.b64encode(WRAPPING).decode(), "verificationKey": base64.b64encode(spki).decode(), "tokens": tokens()}
