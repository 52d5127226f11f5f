"""People's phones: what the providers' SDKs give an app there, as each of them does it."""

import dataclasses
import hashlib
import secrets

import tokens
from app import Person

# The client ids of the development configuration.
APP, BARE, SERVICES, DEBUG = "com.example.app", "com.example.bare", "com.example.services", "com.example.debug"
GOOGLE_WEB, GOOGLE_IOS = "example.apps.googleusercontent.com", "ios.example.apps.googleusercontent.com"
FACEBOOK = "1234567890"


@dataclasses.dataclass
class AppleCredential:
    """What `ASAuthorizationAppleIDCredential` holds."""

    identity_token: str
    authorization_code: str
    # Apple's name for the person, the same for all apps of a developer.
    user: str
    # The first time only.
    full_name: str | None
    email: str | None


class Phone:
    """One person's phone."""

    def __init__(self, stack, person=None):
        self.stack = stack
        self.person = person or Person()
        # An address of its own, which each of the person's apps has too.
        self.gateway = stack.client()
        self.keep_secret(*self.person.confidential)

    def keep_secret(self, *values):
        """From now on these may stand in no log."""
        self.stack.confidential.update(value for value in values if value)

    def apple(self, client_id, nonce=None, **overrides):
        """Sign in with Apple. The nonce goes into the token as it is given, and none without it."""
        answer = self._control("apple", {"client_id": client_id, "nonce": nonce, "overrides": overrides})
        user = answer.get("user") or {}
        name = user.get("name") or {}
        return AppleCredential(
            answer["identity_token"], answer["authorization_code"],
            tokens.parts(answer["identity_token"])[1].get("sub", ""),
            " ".join(filter(None, (name.get("firstName"), name.get("lastName")))) or None, user.get("email"))

    def apple_with_nonce(self, client_id=APP, **overrides):
        """As an app does that knows what it does: (credential, raw nonce), the hash is in the token."""
        raw = secrets.token_hex(16)
        self.keep_secret(raw)
        return self.apple(client_id, hashlib.sha256(raw.encode()).hexdigest(), **overrides), raw

    def google(self, client_id=GOOGLE_WEB, **order):
        """Google's SDK: `id_token`, `access_token` and `authorization_code`; without nonce unless one is ordered."""
        return self._control("google", {"client_id": client_id, "nonce": None, **order})

    def facebook(self, client_id=FACEBOOK, nonce=None):
        """Facebook's SDK: `access_token`, and the `id_token` of Limited Login with the nonce as it is given."""
        return self._control("facebook", {"client_id": client_id, "nonce": nonce})

    def _control(self, provider, order):
        answer = self.stack.simulator.post(
            f"/control/{provider}/sign-in", {**order, "person": self.person.simulated}).expect(200)
        self.keep_secret(*(value for value in answer.values() if isinstance(value, str)))
        return answer
