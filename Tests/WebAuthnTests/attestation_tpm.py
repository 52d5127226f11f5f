"""Statements of TPMs."""

import hashlib

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from attestation_statements import CLIENT, PASSKEY, data, sign, tlv
from made_certificates import certify, derived, elliptic
from oracle import Key, rsa_key, sha256

PURPOSES, NAMES = "2.5.29.37", "2.5.29.17"
AIK, OTHER_PURPOSE = bytes.fromhex("6781050803"), bytes.fromhex("6781050801")
#: The authenticator's key, and one of RSA for passkeys; of primes that everyone knows.
RSA = Key(rsa_key(2**1279 - 1, 2**2203 - 1))


def sized(content):
    return len(content).to_bytes(2, "big") + content


def public_area(key, name_algorithm=0x000B, scheme=b"\x00\x10", exponent=0):
    head = name_algorithm.to_bytes(2, "big") + (0x00060472).to_bytes(4, "big") + sized(derived("policy"))
    numbers = key.public_key().public_numbers()
    if isinstance(key, rsa.RSAPrivateKey):
        modulus = numbers.n.to_bytes((numbers.n.bit_length() + 7) // 8, "big")
        return (b"\x00\x01" + head + b"\x00\x10" + scheme + numbers.n.bit_length().to_bytes(2, "big") + exponent.to_bytes(4, "big")
                + sized(modulus))
    return (b"\x00\x23" + head + b"\x00\x10" + scheme + b"\x00\x03\x00\x10" + sized(numbers.x.to_bytes(32, "big"))
            + sized(numbers.y.to_bytes(32, "big")))


def names(*kinds):
    values = {1: b"id:FFFFF1D0", 2: b"Example", 3: b"id:13"}
    parts = [tlv(b"\x31", tlv(b"\x30", tlv(b"\x06", bytes.fromhex("67810502") + bytes([kind])), tlv(b"\x0c", values[kind])))
             for kind in kinds]
    return tlv(b"\x30", tlv(b"\xa4", tlv(b"\x30", *parts)))


def purposes(*values):
    return tlv(b"\x30", *[tlv(b"\x06", value) for value in values])


def made(key, alg, message, sha1):
    if alg == -65535 and sha1 and isinstance(key, rsa.RSAPrivateKey):
        return key.sign(message, padding.PKCS1v15(), hashes.SHA1())
    return sign(key, message)


def add_all(root, add):
    def of(what, error=None, passkey=RSA, area=None, magic=b"\xff\x54\x43\x47", kind=b"\x80\x17", nonce=None, certified_name=None,
           behind=b"", alg=-7, version="2.0", subject=None, extensions=None, signature=None, issuer=root, key=None, sha1=True, **options):
        auth = data("tpm", passkey)
        area = area if area is not None else public_area(passkey.private)
        nonce = nonce if nonce is not None else sha256(auth + CLIENT.hash)
        certified_name = certified_name if certified_name is not None else b"\x00\x0b" + hashlib.sha256(area).digest()
        info = (magic + kind + sized(derived("signer's name", 34)) + sized(nonce) + derived("clock", 16) + b"\1" + bytes(8)
                + sized(certified_name) + sized(derived("qualified name", 34)) + behind)
        extensions = extensions if extensions is not None else [
            (NAMES, names(1, 2, 3), True), (PURPOSES, purposes(AIK), False)]
        leaf = certify(
            "aik", issuer, key=key or elliptic("aik"), subject=subject if subject is not None else x509.Name([]),
            extensions=extensions, **options)
        statement = {
            "ver": version, "alg": alg, "x5c": [leaf.der], "sig": signature or made(leaf.key, alg, info, sha1), "certInfo": info, "pubArea": area}
        add(f"tpm: {what}", "tpm", auth, statement, error, "A computer" if error is None else None)

    of("good")
    of("a passkey on P-256", passkey=PASSKEY)
    of("a certificate of RSA", alg=-257, key=RSA.private)
    of("another magic number", "malformed", magic=b"\xff\x54\x43\x46")
    of("another kind of certification", "malformed", kind=b"\x80\x18")
    of("a byte behind what was certified", "malformed", behind=b"\0")
    of("a key with a byte behind it", "malformed", area=public_area(RSA.private) + b"\0")
    of("another nonce", "wrongNonce", nonce=derived("nonce"))
    of("another name", "keysDiffer", certified_name=b"\x00\x0b" + derived("name"))
    of("another name's algorithm", "keysDiffer", certified_name=b"\x00\x0c" + hashlib.sha256(public_area(RSA.private)).digest())
    of("another key", "keysDiffer", area=public_area(PASSKEY.private))
    of("another exponent", "keysDiffer", area=public_area(RSA.private, exponent=65539))
    of("a name by SHA-1", "unsupportedAlgorithm", area=public_area(RSA.private, 0x0004))
    of("another signature", "badSignature", signature=sign(elliptic("another passkey"), b""))
    of("another algorithm", "unsupportedAlgorithm", alg=-257)
    # By SHA-1, as most TPMs of Windows sign.
    digest = hashlib.sha1(data("tpm", RSA) + CLIENT.hash).digest()
    of("SHA-1", alg=-65535, key=RSA.private, nonce=digest)
    of("SHA-1 and another nonce", "wrongNonce", alg=-65535, key=RSA.private)
    of("SHA-1 on a curve", "badSignature", alg=-65535, nonce=digest)
    of("SHA-1 and another signature", "badSignature", alg=-65535, key=RSA.private, nonce=digest, signature=sign(RSA.private, b""))
    of("SHA-256 in place of SHA-1", "badSignature", alg=-65535, key=RSA.private, nonce=digest, sha1=False)
    of("an algorithm of no TPM", "unsupportedAlgorithm", alg=-258, key=RSA.private)
    of("another version", "malformed", version="1.2")
    of("a subject", "wrongCertificate", subject=x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "A TPM")]))
    of("no alternative name", "wrongCertificate", extensions=[(PURPOSES, purposes(AIK), False)])
    of("an alternative name without the version", "wrongCertificate", extensions=[
        (NAMES, names(1, 2), True), (PURPOSES, purposes(AIK), False)])
    of("no purpose", "wrongCertificate", extensions=[(NAMES, names(1, 2, 3), True)])
    of("another purpose", "wrongCertificate", extensions=[(NAMES, names(1, 2, 3), True), (PURPOSES, purposes(OTHER_PURPOSE), False)])
    of("several purposes", extensions=[(NAMES, names(1, 2, 3), True), (PURPOSES, purposes(OTHER_PURPOSE, AIK), False)])
    of("an authority", "wrongCertificate", authority=True)
    of("another root", "untrusted", issuer=certify("Imitation", authority=True))
