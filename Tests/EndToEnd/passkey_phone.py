"""The app on a phone whose authenticator has passkeys."""

import json

from app import SESSION_MEMBERS, App
from soft_authenticator import SoftAuthenticator

RP_ID = "example.com"
RELATED_ORIGIN = "https://www.example.net"
ANDROID_ORIGIN = "android:apk-key-hash:" + "A" * 43
SETTINGS = {
    "VESTIBULE_IDENTITY_PASSKEY_RP_ID": RP_ID, "VESTIBULE_IDENTITY_PASSKEY_RP_NAME": "Example",
    "VESTIBULE_IDENTITY_PASSKEY_ORIGINS": f"https://app.example.com,{RELATED_ORIGIN},{ANDROID_ORIGIN}"}


class Phone(App):
    """An app whose person registers passkeys and signs in with them."""

    def __init__(self, stack, person=None, authenticator=None):
        super().__init__(stack, person)
        self.authenticator = authenticator or SoftAuthenticator()

    def other(self):
        """Another phone of the person, to which the passkeys were copied."""
        return Phone(self.stack, self.person, self.authenticator)

    # Registering

    def registration(self):
        """Options for a new passkey."""
        return self._options(self.post("/auth/passkeys/challenge"))

    def add(self, credential, name="Blue phone"):
        return self.post("/auth/passkeys", {"credential": credential} | ({"name": name} if name else {}))

    def register(self, name="Blue phone", on=None):
        """A new passkey as the server returns it, on the phone or on another authenticator: none makes two for one account."""
        return self.add((on or self.authenticator).create(self.registration()), name).expect(200)

    def passkeys(self):
        answer = self.get("/auth/passkeys").expect(200)
        assert set(answer) == {"passkeys"}
        return answer["passkeys"]

    def rename(self, passkey_id, name):
        return self.gateway.patch(f"/auth/passkeys/{passkey_id}", {"name": name}, token=self.access_token)

    def remove(self, passkey_id):
        return self.gateway.send("DELETE", f"/auth/passkeys/{passkey_id}", token=self.access_token)

    # Signing in

    def challenge(self):
        """Options for a sign-in."""
        return self._options(self.gateway.post("/auth/passkey/challenge"))

    def assertion(self, passkey=None, **faults):
        """A credential for a sign-in, by default with the last passkey."""
        credential = self.authenticator.get(self.challenge(), passkey, **faults)
        # A secret until it was used.
        self._keep(json.loads(credential)["response"]["signature"])
        return credential

    def enter(self, credential, device_name=None):
        """Presents a credential, and keeps the session if there is one."""
        answer = self.gateway.post("/auth/passkey", {"credential": credential} | ({"device_name": device_name} if device_name else {}))
        if answer.status == 200:
            # An app may be configured to get no ID token.
            assert set(answer.json) | {"id_token"} == SESSION_MEMBERS
            self.members_left_out = SESSION_MEMBERS - set(answer.json)
            self._take(answer.json)
        return answer

    def sign_in_by_passkey(self, passkey=None, device_name=None):
        return self.enter(self.assertion(passkey), device_name).expect(200)

    def _options(self, answer):
        made = answer.expect(200)
        assert set(made) == {"options", "expires_in"} and made["expires_in"] == 300
        return made["options"]
