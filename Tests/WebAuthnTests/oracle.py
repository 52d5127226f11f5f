#!/usr/bin/env python3
"""Makes vectors.json: registrations and sign-ins that two other implementations judge as ours must.

    python3 -m venv /tmp/oracle && /tmp/oracle/bin/pip install webauthn==3.0.1 fido2==2.2.1
    /tmp/oracle/bin/python Tests/WebAuthnTests/oracle.py

The ceremonies are made with fido2 and cryptography, from bytes of one seed, so that the file comes out the same each time. Both webauthn
and fido2 must accept what has no `error`, with the same values; at least one of them must reject the rest, and `rejectedBy` says
which. WebAuthn's own examples (Level 3, section 16) are made as that section derives them, and compared with the signatures that it
prints: those cover the authenticator data and the client data. The statements of its packed attestations are left out.
"""

import base64
import hashlib
import json
import os

import webauthn
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from fido2 import cbor, cose, webauthn as fido
from fido2.server import Fido2Server
from webauthn.helpers import structs

SEED = b"vestibule passkeys 1"
FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "vectors.json")
RP_ID = "example.org"
ORIGIN = "https://example.org"
UP, UV, BE, BS, AT = 0x01, 0x04, 0x08, 0x10, 0x40
DETERMINISTIC = ec.ECDSA(hashes.SHA256(), deterministic_signing=True)

# What section 16 prints. The attestations' signatures are the authenticator's own (16.3) or those of its certificate's key.
PUBLISHED_SIGNATURES = {
    "none.ES256": "3046022100f50a4e2e4409249c4a853ba361282f09841df4dd4547a13a87780218deffcd380221008480ac0f0b93538174f575bf11a1dd"
    "5d78c6e486013f937295ea13653e331e87",
    "packed-self.ES256": "304402203310b9431903c401f1be2bdc8d23a4007682dbbddcf846994947b7f465daf84002204e94dd00047b316061b3b99772b7"
    "efd95994a83ef584b3b6b825ea3550251b66",
    "none.ES256.crossOrigin": "3046022100eb12fcf23b12764c0f122e22371fab92e283879fd798f38ee1841c951b6e40e7022100c76237ff9db77b3c56f3"
    "0837cda6a09acfa2e915544e609c0733b1184036d1cf",
    "none.ES256.topOrigin": "3045022100b5a70c81780d5fcc9a4f2ae9caae99058f8accaf58b91fb59329646c28ac6ffc022012e101c165db3c8e9957f0c5"
    "4dd6ca9b56bc3bd2f280bd2faa6c1d02c6e5c171",
    "none.ES256.long-credential-id": "304502203ecef83fb12a0cae7841055f9f87103a99fd14b424194bbf06c4623d3ee6e3fd022100d2ace346db262b13"
    "74a6b70faa51f518a42ddca13a4125ce6f5052a75bac9fb6",
    "packed.RS256": "01063d52d7c39b4d432fc7063c5d93e582bdcb16889cd71f888d67d880ea730a428498d3bc8e1ee11f2b1ecbe6c292b118c55ffaaddefa8cad"
    "0a54dd137c51f1eec673f1bb6c4d1789d6826a222b22d0f585fc901fdc933212e579d199b89d672aa44891333e6a1355536025e82b25590256c3538229b5573708"
    "3b2f6b9377e49e2472f11952f79fdd0da180b5ffd901b4049a8f081bb40711bef76c62aed943571f2d0575304cb549d68d8892f95086a30f93716aee818f8dc06e"
    "96c0d5e0ed4cfa9fd8773d90464b68cf140f7986666ff9c9e3302acd0535d60d769f465e2ab57ef8aabc89fccfef7ba32a64154a8b3d26be2298f470b8cc5377db"
    "e3dfd4b0b45f8f01e63bde6cfc76b62771f9b70aa27cf40152cad93aa5acd784fd4b90f676e2ea828d0bf2400aebbaae4153e5838f537f88b6228346782a93a899"
    "be66ec77de45b3efcf311da6321c92e6b0cd11bfe653bf3e98cee8e341f02d67dbb6f9c98d9e8178090cfb5b70fbc6d541599ac794ae2f1d4de1286ec8de8c2daf"
    "7b1d15c8438e90d924df5c19045220a4c8438c1b979bbe016cf3d0eeec23c3999d4882cc645b776de930756612cdc6dd398160ff02a6",
    "packed.EdDSA": "f5c59c7e46c34f6f8cc197101ddf9934fa2595f68eb1913a637e8419eb9ba4cfdfc48f85393bc0d40b011f0d6fecb097d6607525713223a0dc"
    "0d453993dae00b",
}
PUBLISHED_ATTESTATION_SIGNATURES = {
    "packed-self.ES256": "30440220067a20754ab925005dbf378097c92120031581c73228d1fb4f5b881bcd7da98302207fc7b147558c7c0eba3af18bd9d121"
    "fa3d3a26d17fe3f220272178f473b6006d",
    "packed.RS256": "30450221008b8c5c6ea8c142c032e0be69e1353d44461c5c9109941cdda951b976eb95b6b302204d52f406c19e254b3ff9589bd18070fb055a"
    "c8db12fdd0a6734bea9d7168e900",
    "packed.EdDSA": "3046022100d83f60bd80269537583218858aefb03ac57d45fa06e42feaae332d187f62da9f022100a02bd3cb6f7e1d283c93bad1f3f4b5a4c0"
    "494463da7fdbf256949116754d1f17",
}
SECTIONS = {
    "none.ES256": "16.2", "packed-self.ES256": "16.3", "none.ES256.crossOrigin": "16.4", "none.ES256.topOrigin": "16.5",
    "none.ES256.long-credential-id": "16.6", "packed.RS256": "16.10", "packed.EdDSA": "16.11"}


def text(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def sha256(data):
    return hashlib.sha256(data).digest()


def derived(label, length=32):
    """Bytes of the seed."""
    return hashlib.shake_256(SEED + b"/" + label.encode()).digest(length)


def seeded_prime(label, bits):
    """The first prime from a seeded number of so many bits, for RSA with 65537."""
    number = int.from_bytes(derived(label, bits // 8), "big") | (0b11 << (bits - 2)) | 1
    while not all(pow(base, number - 1, number) == 1 for base in (2, 3, 5, 7, 11, 13)) or number % 65537 == 1:
        number += 2
    return number


def rsa_key(p, q):
    d = pow(65537, -1, (p - 1) * (q - 1))
    return rsa.RSAPrivateNumbers(
        p=p, q=q, d=d, dmp1=d % (p - 1), dmq1=d % (q - 1), iqmp=pow(q, -1, p),
        public_numbers=rsa.RSAPublicNumbers(e=65537, n=p * q)).private_key()


class Key:
    """A credential's key."""

    def __init__(self, private):
        self.private = private
        kinds = {
            ec.EllipticCurvePrivateKey: (cose.ES256, [DETERMINISTIC]), ed25519.Ed25519PrivateKey: (cose.EdDSA, []),
            rsa.RSAPrivateKey: (cose.RS256, [padding.PKCS1v15(), hashes.SHA256()])}
        kind, self.arguments = next(value for base, value in kinds.items() if isinstance(private, base))
        self.cose = kind.from_cryptography_key(private.public_key())

    def sign(self, message):
        return self.private.sign(message, *self.arguments)


def elliptic(data):
    return Key(ec.derive_private_key(int.from_bytes(data, "big"), ec.SECP256R1()))


def client_data(kind, challenge, origin=ORIGIN, cross_origin=False, **more):
    return fido.CollectedClientData.create(type=kind, challenge=challenge, origin=origin, cross_origin=cross_origin, **more)


def registration(name, challenge, client, attestation, error=None, required=False, transports=None):
    attested = attestation.auth_data.credential_data
    body = {"clientDataJSON": text(client), "attestationObject": text(attestation)}
    if transports is not None:
        body["transports"] = transports
    vector = {
        "name": name, "challenge": text(challenge), "isUserVerificationRequired": required,
        "response": {
            "id": text(attested.credential_id), "rawId": text(attested.credential_id), "type": "public-key", "response": body,
            "clientExtensionResults": {}}}
    if error:
        return vector | {"error": error}
    flags = attestation.auth_data.flags
    return vector | {"passkey": {
        "credentialID": text(attested.credential_id), "publicKey": text(encoded(attested.public_key)),
        "algorithm": attested.public_key[3], "signCount": attestation.auth_data.counter, "aaguid": text(attested.aaguid),
        "isBackupEligible": bool(flags & BE), "isBackedUp": bool(flags & BS), "isUserVerified": bool(flags & UV)}}


def encoded(key):
    """The COSE_Key."""
    return cbor.encode(dict(key))


def assertion(name, challenge, client, data, signature, key, eligible, stored_count=0, error=None, required=False, handle=None):
    body = {"clientDataJSON": text(client), "authenticatorData": text(data), "signature": text(signature)}
    if handle:
        body["userHandle"] = text(handle)
    credential = text(sha256(encoded(key.cose)))
    vector = {
        "name": name, "challenge": text(challenge), "isUserVerificationRequired": required,
        "passkey": {"publicKey": text(encoded(key.cose)), "signCount": stored_count, "isBackupEligible": eligible},
        "response": {
            "id": credential, "rawId": credential, "type": "public-key", "response": body, "clientExtensionResults": {},
            "authenticatorAttachment": "platform"}}
    if error:
        return vector | {"error": error}
    parsed = fido.AuthenticatorData(data)
    return vector | {"assertion": {
        "signCount": parsed.counter, "isBackedUp": bool(parsed.flags & BS), "isUserVerified": bool(parsed.flags & UV)}}


def attested(key, aaguid, credential_id):
    return fido.AttestedCredentialData.create(aaguid, credential_id, key.cose)


def authenticator_data(flags, counter, credential=b"", extensions=None, rp_id=RP_ID):
    flags |= (AT if credential else 0) | (0x80 if extensions else 0)
    return fido.AuthenticatorData.create(sha256(rp_id.encode()), flags, counter, credential, extensions)


def keys():
    return {
        "ES256": elliptic(derived("ES256")), "EdDSA": Key(ed25519.Ed25519PrivateKey.from_private_bytes(derived("EdDSA"))),
        "RS256": Key(rsa_key(seeded_prime("p", 1024), seeded_prime("q", 1024)))}


def seeded_registrations():
    made = []
    for name, key in keys().items():
        challenge = derived(f"{name} challenge")
        client = client_data("webauthn.create", challenge)
        data = attested(key, derived("aaguid", 16), derived(f"{name} id", 20))
        good = authenticator_data(UP | UV | BE | BS, 7, data)

        def add(what, auth, client=client, error=None, required=False, fmt="none", statement=None):
            made.append(registration(
                f"{name}, {what}", challenge, client, fido.AttestationObject.create(fmt, auth, statement or {}), error, required,
                transports=["internal", "hybrid"]))

        add("synced", good, required=True)
        add("bound to a device", authenticator_data(UP, 0, data))
        add("with extensions", authenticator_data(UP | UV, 1, data, {"credProtect": 2, "hmac-secret": True}))
        add("self attestation", good, fmt="packed", statement={"alg": key.cose[3], "sig": key.sign(good + client.hash)})
        add("another challenge", good, client_data("webauthn.create", derived("other")), "wrongChallenge")
        add("another origin", good, client_data("webauthn.create", challenge, "https://example.net"), "wrongOrigin")
        add("the type of a sign-in", good, client_data("webauthn.get", challenge), "wrongType")
        add("another RP ID", authenticator_data(UP, 0, data, rp_id="example.net"), error="wrongRelyingParty")
        add("no gesture", authenticator_data(UV, 0, data), error="userNotPresent")
        add("not verified", authenticator_data(UP, 0, data), error="userNotVerified", required=True)
        add("backed up, yet not eligible", authenticator_data(UP | BS, 0, data), error="backupStateImpossible")
    return made


def seeded_assertions():
    made = []
    for name, key in keys().items():
        challenge = derived(f"{name} sign-in")
        client = client_data("webauthn.get", challenge)
        data = authenticator_data(UP | UV | BE | BS, 8)

        def add(what, data=data, client=client, signature=None, error=None, required=False, stored=7):
            made.append(assertion(
                f"{name}, {what}", challenge, client, data, signature or key.sign(data + client.hash), key, True, stored, error,
                required, handle=derived("user", 16)))

        add("synced", required=True)
        add("not verified", authenticator_data(UP | BE, 0), stored=0)
        add("with extensions", authenticator_data(UP | UV | BE, 9, extensions={"largeBlob": False}))
        add("another challenge", client=client_data("webauthn.get", derived("other")), error="wrongChallenge")
        add("another origin", client=client_data("webauthn.get", challenge, "https://example.net"), error="wrongOrigin")
        add("the type of a registration", client=client_data("webauthn.create", challenge), error="wrongType")
        add("another RP ID", authenticator_data(UP | BE, 8, rp_id="example.net"), error="wrongRelyingParty")
        add("no gesture", authenticator_data(UV | BE, 8), error="userNotPresent")
        add("verification required", authenticator_data(UP | BE, 8), error="userNotVerified", required=True)
        good = key.sign(data + client.hash)
        add("one bit of the signature", signature=good[:-1] + bytes([good[-1] ^ 1]), error="badSignature")
        add("a byte behind the signature", signature=good + b"\0", error="badSignature")
        add("signed without the client data", signature=key.sign(bytes(data)), error="badSignature")
        if name == "ES256":
            add("a long form of the length", signature=b"\x30\x81" + good[1:], error="badSignature")
            length = good[3]
            padded = bytes([0x30, good[1] + 1, 2, length + 1, 0]) + good[4:]
            add("a needless zero", signature=padded, error="badSignature")
    return made


class Derivation:
    """The random values of an example of section 16, in order."""

    def __init__(self, info):
        self.info, self.index = info.encode(), 0

    def next(self, length=32):
        salt, self.index = bytes([self.index]), self.index + 1
        return HKDF(hashes.SHA256(), length, salt, self.info).derive(b"WebAuthn test vectors")

    def client_data(self, kind, challenge):
        more = {"topOrigin": "https://example.com"} if b"topOrigin" in self.info else {}
        if self.next(1)[0] & 1:
            note = "clientDataJSON may be extended with additional fields in the future, such as this: "
            more["extraData"] = note + text(self.next(16))
        return client_data(kind, challenge, cross_origin=b"Origin" in self.info, **more)


def specified(info):
    """The registration and the sign-in of an example of section 16."""
    values = Derivation(info)
    challenge = values.next()
    if info == "packed.RS256":
        key = Key(rsa_key(2**1279 - 1, 2**2203 - 1))
    elif info == "packed.EdDSA":
        key = Key(ed25519.Ed25519PrivateKey.from_private_bytes(values.next()))
    else:
        key = elliptic(values.next())
    client = values.client_data("webauthn.create", challenge)
    aaguid, credential_id = values.next(16), values.next(1023 if "long" in info else 32)
    bits = values.next(1)[0] & (UV | BE | BS)
    bits &= UV | BE | BS if bits & BE else UV
    data = authenticator_data(UP | bits, 0, attested(key, aaguid, credential_id))
    fmt, statement = "none", {}
    if info in PUBLISHED_ATTESTATION_SIGNATURES:
        signer = key if info == "packed-self.ES256" else elliptic(values.next())
        if signer is not key:
            values.next(16)
        signature = signer.sign(data + client.hash)
        assert signature.hex() == PUBLISHED_ATTESTATION_SIGNATURES[info], info
        if signer is key:
            fmt, statement = "packed", {"alg": -7, "sig": signature}
    error = "crossOrigin" if "Origin" in info else None
    name = f"section {SECTIONS[info]}"
    made = registration(name, challenge, client, fido.AttestationObject.create(fmt, data, statement), error)

    challenge = values.next()
    client = values.client_data("webauthn.get", challenge)
    more = values.next(1)[0] & (UV | BS)
    data = authenticator_data(UP | (bits & BE) | (more if bits & BE else more & UV), 0)
    signature = key.sign(data + client.hash)
    assert signature.hex() == PUBLISHED_SIGNATURES[info], info
    return made, assertion(name, challenge, client, data, signature, key, bool(bits & BE), error=error)


def judged(vector):
    """The vector, after both implementations judged it."""
    rejected = []
    response, required = vector["response"], vector["isUserVerificationRequired"]
    challenge = base64.urlsafe_b64decode(vector["challenge"] + "==")
    expected = dict(expected_challenge=challenge, expected_rp_id=RP_ID, expected_origin=ORIGIN, require_user_verification=required)
    server = Fido2Server(fido.PublicKeyCredentialRpEntity(name="Example", id=RP_ID), verify_origin=lambda origin: origin == ORIGIN)
    state = {"challenge": vector["challenge"], "user_verification": "required" if required else "preferred"}
    is_registration = "attestationObject" in response["response"]
    stored = vector.get("passkey")
    try:
        if is_registration:
            result = webauthn.verify_registration_response(credential=response, **expected)
            known = stored or {}
            values = (text(result.credential_id), result.sign_count, result.user_verified, result.credential_backed_up)
            assert not stored or values == tuple(
                known[name] for name in ("credentialID", "signCount", "isUserVerified", "isBackedUp")), vector["name"]
            assert not stored or text(result.credential_public_key) == known["publicKey"], vector["name"]
        else:
            key = base64.urlsafe_b64decode(stored["publicKey"] + "==")
            result = webauthn.verify_authentication_response(
                credential=response, credential_public_key=key, credential_current_sign_count=stored["signCount"], **expected)
            values = {
                "signCount": result.new_sign_count, "isBackedUp": result.credential_backed_up, "isUserVerified": result.user_verified}
            assert vector.get("assertion", values) == values, vector["name"]
    except webauthn.helpers.exceptions.WebAuthnException:
        rejected.append("webauthn")
    try:
        if is_registration:
            server.register_complete(state, response)
        else:
            key = cose.CoseKey.parse(cbor.decode(base64.urlsafe_b64decode(stored["publicKey"] + "==")))
            identity = base64.urlsafe_b64decode(response["id"] + "==")
            server.authenticate_complete(state, [fido.AttestedCredentialData.create(bytes(16), identity, key)], response)
    except ValueError:
        rejected.append("fido2")
    if vector.get("error") == "crossOrigin":
        # Neither looks at the member; the specification leaves it to the relying party.
        return vector
    assert bool(rejected) == ("error" in vector), (vector["name"], rejected)
    return vector | {"rejectedBy": rejected} if rejected else vector


def options():
    """The options that webauthn makes of what the tests give ours."""
    descriptor = structs.PublicKeyCredentialDescriptor(
        id=derived("excluded", 20), transports=[structs.AuthenticatorTransport.INTERNAL, structs.AuthenticatorTransport.HYBRID])
    creation = webauthn.generate_registration_options(
        rp_id=RP_ID, rp_name='Exämple "1"', user_id=derived("user", 16), user_name="a@example.org", user_display_name="A Person",
        challenge=derived("options"), timeout=300_000, exclude_credentials=[descriptor],
        authenticator_selection=structs.AuthenticatorSelectionCriteria(
            resident_key=structs.ResidentKeyRequirement.REQUIRED,
            user_verification=structs.UserVerificationRequirement.REQUIRED),
        supported_pub_key_algs=[-7, -8, -257])
    request = webauthn.generate_authentication_options(
        rp_id=RP_ID, challenge=derived("options"), timeout=60_000, allow_credentials=[descriptor],
        user_verification=structs.UserVerificationRequirement.REQUIRED)
    return {"creation": json.loads(webauthn.options_to_json(creation)), "request": json.loads(webauthn.options_to_json(request))}


def main():
    examples = [specified(info) for info in PUBLISHED_SIGNATURES]
    vectors = {
        "rpID": RP_ID, "origin": ORIGIN, "userHandle": text(derived("user", 16)),
        "registrations": [judged(vector) for vector in [first for first, _ in examples] + seeded_registrations()],
        "assertions": [judged(vector) for vector in [second for _, second in examples] + seeded_assertions()],
        "options": options()}
    with open(FILE, "w", encoding="utf-8") as file:
        json.dump(vectors, file, indent=1, ensure_ascii=False)
        file.write("\n")


if __name__ == "__main__":
    main()
