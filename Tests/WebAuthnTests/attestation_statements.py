"""Registrations with statements, by soft authenticators with made-up roots."""

import datetime
import functools
import warnings

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.x509.oid import NameOID
from fido2 import cbor, webauthn as fido

from attestation_metadata import BAD, aaguid
from made_certificates import NOW, certify, derived, elliptic, name, point
from oracle import AT, BE, Key, UP, UV, attested, authenticator_data, client_data, registration, rsa_key, sha256

# Of cryptography, about that country.
warnings.simplefilter("ignore", UserWarning)

CHALLENGE = derived("attestation challenge")
CLIENT = client_data("webauthn.create", CHALLENGE)
APPLE_NONCE, ANDROID, MODEL = "1.2.840.113635.100.8.2", "1.3.6.1.4.1.11129.2.1.17", "1.3.6.1.4.1.45724.1.1.4"
PASSKEY = Key(elliptic("attested passkey"))


def tlv(tag, *parts):
    content = b"".join(parts)
    length = bytes([len(content)]) if len(content) < 128 else b"\x82" + len(content).to_bytes(2, "big")
    return tag + length + content


@functools.cache
def roots():
    return certify("Authenticators Root", authority=True), certify("Other Authenticators", authority=True)


def between(root):
    return certify(f"CA of {root.subject.rfc4514_string()}", root, authority=True)


def subject(country="SE", organization="Example", unit="Authenticator Attestation", common="A key"):
    parts = [
        (NameOID.COMMON_NAME, common), (NameOID.COUNTRY_NAME, country), (NameOID.ORGANIZATION_NAME, organization),
        (NameOID.ORGANIZATIONAL_UNIT_NAME, unit)]
    # A country of another length is what one test is about.
    return x509.Name([x509.NameAttribute(kind, value, _validate=len(value) > 3) for kind, value in parts if value])


def packed_leaf(root, model, key=None, of=None, **options):
    extensions = options.pop("extensions", [(MODEL, b"\x04\x10" + aaguid(of or model), False)])
    return certify(
        f"packed {model}", options.pop("issuer", between(root)), key=key, subject=options.pop("subject", subject()),
        extensions=extensions, **options)


def u2f_leaf(root):
    return certify("U2F", root)


def sign(key, message):
    if isinstance(key, rsa.RSAPrivateKey):
        return key.sign(message, padding.PKCS1v15(), hashes.SHA256())
    digest = hashes.SHA384() if key.curve.key_size == 384 else hashes.SHA256()
    return key.sign(message, ec.ECDSA(digest, deterministic_signing=True))


def data(model, key=PASSKEY, identity=None):
    model = model if isinstance(model, bytes) else aaguid(model)
    return authenticator_data(UP | UV | BE, 7, attested(key, model, identity or derived("attested id", 20)))


def registrations(all_roots):
    # It needs this module.
    import attestation_tpm

    root, other = all_roots
    made = []

    def add(what, fmt, auth, statement, error=None, model=None):
        vector = registration(what, CHALLENGE, CLIENT, fido.AttestationObject.create(fmt, auth, statement), error)
        made.append({**vector, "error": error, "model": model, "format": fmt, "now": NOW})

    packed(root, other, add)
    u2f(root, add)
    apple(root, add)
    android(root, add)
    attestation_tpm.add_all(root, add)
    return made


def packed(root, other, add):
    def of(what, error=None, model="good", auth=None, alg=-7, leaf=None, chain=None, shown="A key", change=None, fmt="packed"):
        auth = auth if auth is not None else data(model)
        leaf = leaf or packed_leaf(root, model)
        chain = chain if chain is not None else [leaf.der, between(root).der]
        statement = {"alg": alg, "sig": sign(leaf.key, auth + CLIENT.hash), "x5c": chain}
        if change:
            change(statement)
        add(f"packed: {what}", fmt, auth, statement, error, shown if error is None else None)

    of("good")
    wide = elliptic("wide authenticator", ec.SECP384R1())
    of("P-384", alg=-35, leaf=packed_leaf(root, "good", key=wide))
    of("RSA", alg=-257, leaf=packed_leaf(root, "good", key=rsa_key(2**1279 - 1, 2**2203 - 1)))
    of("no model in the certificate", leaf=packed_leaf(root, "good", extensions=[]))
    of("by an intermediate", model="by an intermediate", chain=[packed_leaf(root, "by an intermediate").der], shown="By an intermediate")
    of("in lines", model="in lines", shown="In lines")

    of("no such model", "unknownModel", auth=data(bytes(15) + b"\1"), leaf=packed_leaf(root, "good", extensions=[]))
    of("no model", "unknownModel", auth=data(bytes(16)), leaf=packed_leaf(root, "good", extensions=[]))
    of("without roots", "unknownModel", model="without roots")
    of("with unusable roots", "unknownModel", model="with unusable roots")
    for status in BAD:
        of(f"the status {status}", "modelNotTrusted", model=status)
    of("two entries of one name", "modelNotTrusted", model="twice")
    of("another root", "untrusted", leaf=packed_leaf(certify("Imitation", authority=True), "good"), chain=[
        packed_leaf(certify("Imitation", authority=True), "good").der, between(certify("Imitation", authority=True)).der])
    of("expired", "untrusted", leaf=packed_leaf(root, "good", end=datetime.datetime(2026, 12, 1)))
    of("no certificate between", "untrusted", chain=[packed_leaf(root, "good").der])
    of("nine certificates", "untrusted", chain=[packed_leaf(root, "good").der] + [between(root).der] * 7 + [between(root).der])
    for what, options in {
            "a country of three letters": {"country": "SWE"}, "no country": {"country": None}, "no organization": {"organization": None},
            "another unit": {"unit": "Authenticators"}, "no unit": {"unit": None}, "no common name": {"common": None}}.items():
        of(what, "wrongCertificate", leaf=packed_leaf(root, "good", subject=subject(**options)))
    of("no basic constraints", "wrongCertificate", leaf=packed_leaf(root, "good", basic="missing"))
    of("an authority", "wrongCertificate", leaf=packed_leaf(root, "good", authority=True))
    of("signs certificates", "wrongCertificate", leaf=packed_leaf(root, "good", authority=True, signs=False))
    of("another model in the certificate", "wrongCertificate", leaf=packed_leaf(root, "good", of="in lines"))
    of("another model in a critical extension", "wrongCertificate", leaf=packed_leaf(
        root, "good", extensions=[(MODEL, b"\x04\x10" + aaguid("good"), True)]))
    of("another signature", "badSignature", change=lambda it: it.update(sig=sign(PASSKEY.private, b"")))
    of("without the client data", "badSignature", change=lambda it: it.update(
        sig=sign(packed_leaf(root, "good").key, bytes(data("good")))))
    of("the algorithm of RSA", "unsupportedAlgorithm", alg=-257)
    of("another curve's algorithm", "unsupportedAlgorithm", alg=-35)
    of("an unknown algorithm", "unsupportedAlgorithm", alg=-65535)
    of("no signature", "malformed", change=lambda it: it.pop("sig"))
    of("no algorithm", "malformed", change=lambda it: it.pop("alg"))
    of("a certificate that is none", "malformed", change=lambda it: it.update(x5c=[b"\x30\0"]))
    of("no certificates in the list", "malformed", change=lambda it: it.update(x5c=[]))
    of("ecdaa", "malformed", change=lambda it: it.update(ecdaaKeyId=b"\1"))
    made = data("good")
    own = PASSKEY.sign(made + CLIENT.hash)
    add("packed: self attestation", "packed", made, {"alg": -7, "sig": own}, "selfAttested")
    add("packed: self attestation with another signature", "packed", made, {"alg": -7, "sig": PASSKEY.sign(b"")}, "badSignature")
    add("packed: self attestation with another algorithm", "packed", made, {"alg": -257, "sig": own}, "unsupportedAlgorithm")
    add("none", "none", made, {}, "unsupportedFormat")
    of("an unknown format", "unsupportedFormat", fmt="unknown")


def u2f(root, add):
    leaf, identity = u2f_leaf(root), derived("attested id", 20)

    def of(what, error=None, key=PASSKEY, model=bytes(16), leaf=leaf, chain=None, signed_point=None, signature=None):
        auth = data(model, key)
        signed_point = signed_point if signed_point is not None else point(PASSKEY.private)
        message = b"\0" + auth.rp_id_hash + CLIENT.hash + identity + signed_point
        statement = {"sig": signature or sign(leaf.key, message), "x5c": chain or [leaf.der]}
        add(f"u2f: {what}", "fido-u2f", auth, statement, error, "A key of U2F" if error is None else None)

    of("good")
    of("an unknown key", "unknownModel", leaf=certify("another U2F", root))
    of("with a model", "wrongCertificate", model="good")
    of("two certificates", "malformed", chain=[leaf.der, root.der])
    of("another signature", "badSignature", signature=sign(PASSKEY.private, b""))
    of("of another key", "badSignature", signed_point=point(elliptic("another passkey")))
    of("a passkey of RSA", "keysDiffer", key=Key(rsa_key(2**1279 - 1, 2**2203 - 1)))
    imitated = certify("imitated U2F", certify("Imitation", authority=True), key=leaf.key)
    of("another root", "untrusted", leaf=imitated)


def apple(root, add):
    def of(what, error=None, key=PASSKEY.private, nonce=None, extensions=None, issuer=None):
        auth = data("apple")
        nonce = nonce or tlv(b"\x30", tlv(b"\xa1", tlv(b"\x04", sha256(auth + CLIENT.hash))))
        extensions = extensions if extensions is not None else [(APPLE_NONCE, nonce, False)]
        issuer = issuer or root
        leaf = certify("apple", issuer, key=key, extensions=extensions)
        add(f"apple: {what}", "apple", auth, {"x5c": [leaf.der]}, error, "A phone" if error is None else None)

    of("good")
    right = sha256(data("apple") + CLIENT.hash)
    of("another nonce", "wrongNonce", nonce=tlv(b"\x30", tlv(b"\xa1", tlv(b"\x04", derived("nonce")))))
    of("a byte behind the nonce", "wrongNonce", nonce=tlv(b"\x30", tlv(b"\xa1", tlv(b"\x04", right + b"\0"))))
    of("no nonce", "wrongNonce", extensions=[])
    of("another key", "keysDiffer", key=elliptic("another passkey"))
    of("another root", "untrusted", issuer=certify("Imitation", authority=True))


def android(root, add):
    number = lambda value: tlv(b"\x02", bytes([value]))
    level = lambda value: tlv(b"\x0a", bytes([value]))
    purposes = lambda *values: tlv(b"\xa1", tlv(b"\x31", *map(number, values)))
    origin = lambda value: tlv(b"\xbf\x85\x3e", number(value))
    all_applications = tlv(b"\xbf\x84\x58", b"\x05\x00")
    made_at = tlv(b"\xbf\x85\x3d", tlv(b"\x02", b"\x01\x9b\x00\x00\x00\x00"))
    hardware_list = purposes(2) + origin(0)

    def of(what, error=None, challenge=CLIENT.hash, software=made_at, hardware=hardware_list, levels=(1, 1), key=PASSKEY.private,
           value=None, extensions=None, signature=None, issuer=root, behind=b""):
        auth = data("android")
        value = value or tlv(
            b"\x30", tlv(b"\x02", b"\x01\x2c"), level(levels[0]), tlv(b"\x02", b"\x01\x2c"), level(levels[1]), tlv(b"\x04", challenge),
            tlv(b"\x04"), tlv(b"\x30", software), tlv(b"\x30", hardware)) + behind
        extensions = extensions if extensions is not None else [(ANDROID, value, False)]
        leaf = certify("android", issuer, key=key, extensions=extensions)
        statement = {
            "alg": -7, "sig": signature or sign(key, auth + CLIENT.hash), "x5c": [leaf.der, issuer.der]}
        add(f"android: {what}", "android-key", auth, statement, error, "Another phone" if error is None else None)

    of("good")
    of("of a chip of its own", levels=(2, 2))
    of("another challenge", "wrongNonce", challenge=derived("nonce"))
    of("of software", "keyNotProtected", levels=(0, 0))
    of("for all apps, in software", "keyNotProtected", software=made_at + all_applications)
    of("for all apps, in hardware", "keyNotProtected", hardware=purposes(2) + all_applications + origin(0))
    of("imported", "keyNotProtected", hardware=purposes(2) + origin(2))
    of("of an unknown origin", "keyNotProtected", hardware=purposes(2))
    of("the origin in software only", "keyNotProtected", hardware=purposes(2), software=made_at + origin(0))
    of("for more purposes", "keyNotProtected", hardware=purposes(2, 3) + origin(0))
    of("for another purpose", "keyNotProtected", hardware=purposes(0) + origin(0))
    of("for no purpose", "keyNotProtected", hardware=origin(0))
    of("another signature", "badSignature", signature=sign(elliptic("another passkey"), b""))
    of("another key", "keysDiffer", key=elliptic("another passkey"))
    of("no description", "wrongCertificate", extensions=[])
    of("a description that is none", "wrongCertificate", value=b"\x30\x00")
    of("a byte behind the description", "wrongCertificate", behind=b"\0")
    of("another root", "untrusted", issuer=certify("Imitation", authority=True))
