"""Certificates of made-up authorities, the same each time, for the oracles of several tests."""

import base64
import datetime
import hashlib

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

START, END = datetime.datetime(2026, 1, 1), datetime.datetime(2046, 1, 1)
#: The time at which the tests verify, in seconds since 1970.
NOW = int(datetime.datetime(2027, 1, 1, tzinfo=datetime.timezone.utc).timestamp())


def text(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def derived(label, length=32):
    """Bytes that depend on the label only."""
    return hashlib.shake_256(b"vestibule certificates 1/" + label.encode()).digest(length)


def elliptic(label, curve=None):
    curve = curve or ec.SECP256R1()
    return ec.derive_private_key(int.from_bytes(derived(label, curve.key_size // 8 - 1), "big"), curve)


def name(common, *more):
    parts = [(NameOID.COMMON_NAME, common), *more]
    return x509.Name([x509.NameAttribute(kind, value) for kind, value in parts])


def point(key):
    """The public point, uncompressed."""
    return key.public_key().public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)


def der(certificate):
    return certificate.public_bytes(serialization.Encoding.DER)


class Certified:
    """A certificate and its private key."""

    def __init__(self, certificate, key, subject):
        self.certificate, self.key, self.subject = certificate, key, subject

    @property
    def der(self):
        return der(self.certificate)


def certify(
        label, issuer=None, authority=False, path_length=None, key=None, subject=None, start=START, end=END, extensions=(),
        basic="right", signs=None, digest=None, identifiers=True):
    """A certificate by `issuer`, or by itself.

    `basic` is "right", "missing" or "not critical"; `signs` overrides whether the key usage has keyCertSign; `extensions` are (object
    identifier, value, critical).
    """
    key, subject = key or elliptic(label), subject if subject is not None else name(label)
    issuer_key, issuer_name = (issuer.key, issuer.subject) if issuer else (key, subject)
    builder = (
        x509.CertificateBuilder().subject_name(subject).issuer_name(issuer_name).public_key(key.public_key())
        .serial_number(int.from_bytes(derived(f"{label} serial", 16), "big")).not_valid_before(start).not_valid_after(end))
    if basic != "missing":
        builder = builder.add_extension(x509.BasicConstraints(authority, path_length), critical=basic == "right")
    usage = dict.fromkeys((
        "content_commitment", "key_encipherment", "data_encipherment", "key_agreement", "crl_sign", "encipher_only",
        "decipher_only"), False)
    signs = authority if signs is None else signs
    builder = builder.add_extension(
        x509.KeyUsage(digital_signature=not signs, key_cert_sign=signs, **usage), critical=True)
    if authority and identifiers:
        builder = builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    for identifier, value, critical in extensions:
        builder = builder.add_extension(
            x509.UnrecognizedExtension(x509.ObjectIdentifier(identifier), value), critical=critical)
    algorithm = digest or hashes.SHA256()
    made = builder.sign(issuer_key, algorithm, **({"ecdsa_deterministic": True} if isinstance(
        issuer_key, ec.EllipticCurvePrivateKey) else {}))
    return Certified(made, key, subject)
