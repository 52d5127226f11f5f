"""A phone's client and authenticator for passkeys, in memory: answers the options of a registration and of a sign-in with credentials.

The types are fido2's and the keys cryptography's, so that nothing is shared with the code under test. Options and credentials are JSON texts,
as `PublicKeyCredential.parseCreationOptionsFromJSON`, `parseRequestOptionsFromJSON` and `toJSON` of browsers have them."""

import dataclasses
import hashlib
import json
import secrets

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from fido2 import cose, webauthn
from fido2.utils import websafe_encode

ORIGIN = "https://app.example.com"
FLAG = webauthn.AuthenticatorData.FLAG
# What a phone's authenticator sets for a passkey that is copied to the person's other devices.
SYNCED = FLAG.UP | FLAG.UV | FLAG.BE | FLAG.BS
# The user handle of the passkey itself: None leaves it out.
OWN = object()


class Excluded(Exception):
    """The authenticator has a passkey that the options exclude."""


class Key:
    """A key of one algorithm."""

    def __init__(self, algorithm):
        make, kind, self._how = ALGORITHMS[algorithm]
        self._private = make()
        self.cose = kind.from_cryptography_key(self._private.public_key())

    def sign(self, message):
        return self._private.sign(message, *self._how)

    @property
    def public_der(self):
        """The public key as browsers show it to scripts."""
        return self._private.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)


ALGORITHMS = {
    "ES256": (lambda: ec.generate_private_key(ec.SECP256R1()), cose.ES256, (ec.ECDSA(hashes.SHA256()),)),
    "Ed25519": (ed25519.Ed25519PrivateKey.generate, cose.EdDSA, ()),
    "RS256": (lambda: rsa.generate_private_key(65537, 2048), cose.RS256, (padding.PKCS1v15(), hashes.SHA256())),
}


@dataclasses.dataclass
class Passkey:
    credential_id: bytes
    key: Key
    rp_id: str
    user_handle: bytes
    # How many signatures it made; synced ones count nothing.
    counter: int = 0


def sha256(content):
    return hashlib.sha256(content).digest()


class SoftAuthenticator:
    """The authenticator of one phone. What `create` and `get` take besides the options are faults, all of them signed but for a foreign key."""

    def __init__(self, algorithm="ES256", origin=ORIGIN, flags=SYNCED):
        self.algorithm, self.origin, self.flags = algorithm, origin, flags
        self.passkeys = []

    def create(self, options, *, kind="webauthn.create", challenge=None, origin=None, rp_id=None, flags=None, credential_id=None, key=None):
        """Makes a passkey; the text of a `RegistrationResponseJSON`."""
        asked = webauthn.PublicKeyCredentialCreationOptions.from_dict(json.loads(options))
        excluded = {each.id for each in asked.exclude_credentials or ()}
        if excluded & {passkey.credential_id for passkey in self.passkeys}:
            raise Excluded
        passkey = Passkey(
            credential_id or secrets.token_bytes(20), key or Key(self.algorithm), rp_id or asked.rp.id, asked.user.id)
        assert passkey.key.cose[3] in [each.alg for each in asked.pub_key_cred_params], "not offered"
        self.passkeys.append(passkey)
        client_data = webauthn.CollectedClientData.create(kind, challenge or asked.challenge, origin or self.origin)
        attested = webauthn.AttestedCredentialData.create(bytes(16), passkey.credential_id, passkey.key.cose)
        data = webauthn.AuthenticatorData.create(
            sha256(passkey.rp_id.encode()), (self.flags if flags is None else flags) | FLAG.AT, passkey.counter, attested)
        return text(passkey.credential_id, {
            "clientDataJSON": client_data.b64, "attestationObject": websafe_encode(webauthn.AttestationObject.create("none", data, {})),
            "transports": ["internal", "hybrid"], "authenticatorData": websafe_encode(data),
            "publicKey": websafe_encode(passkey.key.public_der), "publicKeyAlgorithm": passkey.key.cose[3]},
            {"credProps": {"rk": True}})

    def get(self, options, passkey=None, *, kind="webauthn.get", challenge=None, origin=None, rp_id=None, flags=None, counter=None, key=None,
            user_handle=OWN):
        """Signs in with a passkey, by default the last that it made; the text of an `AuthenticationResponseJSON`."""
        asked = webauthn.PublicKeyCredentialRequestOptions.from_dict(json.loads(options))
        passkey = passkey or self.passkeys[-1]
        allowed = [each.id for each in asked.allow_credentials or ()]
        assert passkey.credential_id in allowed or not allowed, "not allowed"
        client_data = webauthn.CollectedClientData.create(kind, challenge or asked.challenge, origin or self.origin)
        data = webauthn.AuthenticatorData.create(
            sha256((rp_id or asked.rp_id).encode()), self.flags if flags is None else flags,
            passkey.counter if counter is None else counter)
        response = {
            "clientDataJSON": client_data.b64, "authenticatorData": websafe_encode(data),
            "signature": websafe_encode((key or passkey.key).sign(data + client_data.hash))}
        handle = passkey.user_handle if user_handle is OWN else user_handle
        if handle is not None:
            response["userHandle"] = websafe_encode(handle)
        return text(passkey.credential_id, response, {})


def text(credential_id, response, extensions):
    return json.dumps({
        "id": websafe_encode(credential_id), "rawId": websafe_encode(credential_id), "type": "public-key", "response": response,
        "authenticatorAttachment": "platform", "clientExtensionResults": extensions})
