"""Passkeys of trusted authenticators alone: identity with FIDO's metadata, here signed by a root of the test's own."""

import base64
import datetime
import json

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.x509.oid import NameOID
from fido2 import webauthn
from fido2.utils import websafe_decode, websafe_encode

from passkey_phone import SETTINGS, Phone
from soft_authenticator import SoftAuthenticator
from stack import new_stack
from test_check import apple, check, folder, write  # noqa: F401
from test_doctor import doctor, own_stack  # noqa: F401

MODEL_EXTENSION = x509.ObjectIdentifier("1.3.6.1.4.1.45724.1.1.4")
KNOWN, REVOKED, UNKNOWN = bytes([0xA1] * 16), bytes([0xA2] * 16), bytes([0xA3] * 16)
FILE, ROOTS = "VESTIBULE_IDENTITY_PASSKEY_METADATA_FILE", "VESTIBULE_IDENTITY_PASSKEY_METADATA_ROOTS_FILE"


class Certified:
    """A certificate and its key, by an issuer or by itself."""

    def __init__(self, common, issuer=None, authority=False, extensions=(), names=()):
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([*names, x509.NameAttribute(NameOID.COMMON_NAME, common)])
        now = datetime.datetime.now(datetime.timezone.utc)
        builder = x509.CertificateBuilder(
            issuer_name=issuer.name if issuer else self.name, subject_name=self.name, public_key=self.key.public_key(),
            serial_number=x509.random_serial_number(), not_valid_before=now - datetime.timedelta(days=1),
            not_valid_after=now + datetime.timedelta(days=30),
        ).add_extension(x509.BasicConstraints(authority, None), critical=True)
        for extension in extensions:
            builder = builder.add_extension(extension, critical=False)
        self.certificate = builder.sign(issuer.key if issuer else self.key, hashes.SHA256())
        self.der = self.certificate.public_bytes(serialization.Encoding.DER)
        self.pem = self.certificate.public_bytes(serialization.Encoding.PEM)


@pytest.fixture(scope="module")
def makers():
    """The root of the authenticators' makers."""
    return Certified("Makers", authority=True)


def metadata(makers, root, signer_name="mds.fidoalliance.org", next_update="2099-01-31"):
    """A file as FIDO's metadata service has it (a JWS), with a model that is fine and one that was revoked."""
    signer = Certified(signer_name, root)
    entries = [
        {"aaguid": "-".join((model.hex()[:8], model.hex()[8:12], model.hex()[12:16], model.hex()[16:20], model.hex()[20:])),
         "metadataStatement": {"description": status, "attestationRootCertificates": [base64.b64encode(makers.der).decode()]},
         "statusReports": [{"status": status}], "timeOfLastStatusChange": "2026-01-01"}
        for model, status in ((KNOWN, "FIDO_CERTIFIED_L1"), (REVOKED, "REVOKED"))]
    head = {"alg": "ES256", "typ": "JWT", "x5c": [base64.b64encode(signer.der).decode()]}
    payload = {"no": 7, "nextUpdate": next_update, "entries": entries}
    message = ".".join(websafe_encode(json.dumps(part).encode()) for part in (head, payload))
    numbers = decode_dss_signature(signer.key.sign(message.encode(), ec.ECDSA(hashes.SHA256())))
    return f"{message}.{websafe_encode(b''.join(number.to_bytes(32, 'big') for number in numbers))}"


class HardwareKey(SoftAuthenticator):
    """An authenticator whose maker certifies its model."""

    def __init__(self, makers, model):
        super().__init__(flags=webauthn.AuthenticatorData.FLAG.UP | webauthn.AuthenticatorData.FLAG.UV)
        country = [
            x509.NameAttribute(NameOID.COUNTRY_NAME, "SE"), x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Example"),
            x509.NameAttribute(NameOID.ORGANIZATIONAL_UNIT_NAME, "Authenticator Attestation")]
        self.model, self.certified = model, Certified(
            "A key", makers, names=country, extensions=[x509.UnrecognizedExtension(MODEL_EXTENSION, b"\x04\x10" + model)])

    def create(self, options, **faults):
        assert json.loads(options)["attestation"] == "direct"
        credential = json.loads(super().create(options, **faults))
        response = credential["response"]
        data = webauthn.AuthenticatorData(websafe_decode(response["authenticatorData"]))
        attested = webauthn.AttestedCredentialData.create(
            self.model, data.credential_data.credential_id, data.credential_data.public_key)
        data = webauthn.AuthenticatorData.create(data.rp_id_hash, data.flags, data.counter, attested)
        hashed = hashes.Hash(hashes.SHA256())
        hashed.update(websafe_decode(response["clientDataJSON"]))
        statement = {
            "alg": -7, "sig": self.certified.key.sign(data + hashed.finalize(), ec.ECDSA(hashes.SHA256())), "x5c": [self.certified.der]}
        response["attestationObject"] = websafe_encode(webauthn.AttestationObject.create("packed", data, statement))
        response["authenticatorData"] = websafe_encode(data)
        return json.dumps(credential)


@pytest.fixture(scope="module")
def stack(makers, tmp_path_factory):
    files = tmp_path_factory.mktemp("metadata")
    root = Certified("Metadata", authority=True)
    (files / "mds.jwt").write_text(metadata(makers, root))
    (files / "root.pem").write_bytes(root.pem)
    with new_stack(**SETTINGS, **{FILE: str(files / "mds.jwt"), ROOTS: str(files / "root.pem")}) as stack:
        stack.start()
        yield stack
        assert stack.stop() == 0, stack.output


def test_a_trusted_model_registers_and_signs_in(stack, makers):
    phone = Phone(stack, authenticator=HardwareKey(makers, KNOWN))
    phone.sign_in()
    added = phone.register("Grey key")
    assert added["backed_up"] is False
    phone.sign_in_by_passkey()
    assert [each["name"] for each in phone.passkeys()] == ["Grey key"]


def test_no_other_authenticator_registers(stack, makers):
    phone = Phone(stack)
    phone.sign_in()
    forged = Certified("Others", authority=True)
    for authenticator in (
            HardwareKey(makers, REVOKED), HardwareKey(makers, UNKNOWN), HardwareKey(forged, KNOWN), SoftAuthenticator()):
        phone.add(authenticator.create(phone.registration())).problem(400, "PASSKEY_REJECTED")
    assert phone.passkeys() == []


def test_the_doctor_warns_of_a_file_that_is_out_of_date(own_stack, doctor, makers, tmp_path):  # noqa: F811
    root = Certified("Metadata", authority=True)
    (tmp_path / "root.pem").write_bytes(root.pem)
    settings = {"VESTIBULE_IDENTITY_PASSKEY_RP_ID": "example.com", ROOTS: str(tmp_path / "root.pem"), FILE: str(tmp_path / "mds.jwt")}
    (tmp_path / "mds.jwt").write_text(metadata(makers, root))
    assert doctor.findings(settings) == []
    (tmp_path / "mds.jwt").write_text(metadata(makers, root, next_update="2026-01-31"))
    found = doctor.only_finding(settings)
    assert (found["severity"], found["subject"]) == ("warning", FILE)
    assert found["problem"].startswith("names metadata that should have been replaced") and "days ago" in found["problem"]


def test_a_file_that_proves_nothing_starts_nothing(folder, makers):  # noqa: F811
    root, other = Certified("Metadata", authority=True), Certified("Other", authority=True)
    environment = write(folder, apple()) | {"VESTIBULE_IDENTITY_PASSKEY_RP_ID": "acme.org"}
    good = metadata(makers, root)
    (folder / "root.pem").write_bytes(root.pem)
    (folder / "other.pem").write_bytes(other.pem)
    (folder / "none.pem").write_text("nothing")
    for name, content in (("good", good), ("changed", good.replace(".", ".e30", 1)), ("foreign", metadata(makers, root, "mds.example.com")),
                          ("text", "no metadata")):
        (folder / name).write_text(content)
    file = str(folder / "good")
    fine = check(environment=environment | {FILE: file, ROOTS: str(folder / "root.pem")})
    assert fine.returncode == 0 and "  from authenticators of 2 models (metadata number 7)" in fine.stdout.splitlines(), fine.stderr
    for metadata_file, roots, key, words in (
            (file, None, ROOTS, f"is required where {FILE} is set"), (None, "root.pem", FILE, f"is required where {ROOTS} is set"),
            (file, "other.pem", FILE, "is signed by a certificate that no root"), (file, "none.pem", ROOTS, "holds no root certificates"),
            (str(folder / "foreign"), "root.pem", FILE, "is not signed by mds.fidoalliance.org"),
            (str(folder / "text"), "root.pem", FILE, "holds no metadata of FIDO's"),
            (str(folder / "changed"), "root.pem", FILE, "")):
        changes = {FILE: metadata_file, ROOTS: roots and str(folder / roots)}
        refused = check(environment=environment | {name: value for name, value in changes.items() if value})
        assert refused.returncode == 1 and f"{key} {words}" in refused.stdout + refused.stderr, (words, refused.stdout, refused.stderr)
