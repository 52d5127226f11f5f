"""The drivers' app: one token for everything, three tries, and a refresh whenever the end is near."""

import http.client
import pathlib
import time

import tokens
from http_client import Client

DECODER = pathlib.Path(__file__).parent / "DriversDecoder.swift"
TRIES = 3
SECONDS_BETWEEN_TRIES = 1


class DriversApp:
    """The app on one phone; what it keeps is the token."""

    def __init__(self, phone, decoder, address=None):
        self.phone = phone
        self.decoder = decoder
        self.token = None
        # What it had to try, for tests to count.
        self.tries = 0
        self._gateway = Client(address or phone.gateway.address, phone.gateway.source)

    # What it sends

    @staticmethod
    def body(credential, raw_nonce):
        return {
            "identity_token": credential.identity_token, "nonce": raw_nonce, "userIdentifier": credential.user,
            "email": credential.email, "name": credential.full_name}

    def sign_in(self, body=None):
        """Signs in; returns what the decoder understood."""
        answer = self.post_sign_in(body or self.body(*self.phone.apple_with_nonce()))
        answer.expect(200)
        understood = self.decoder.decode("sign-in", answer.content)
        self.keep(understood["token"])
        return understood

    def post_sign_in(self, body):
        return self._try(lambda: self._gateway.post("/api/auth/apple", body))

    def refresh(self):
        """Whether there is a new token now. A failed refresh keeps the old one, and signs nobody out."""
        answer = self.post_refresh()
        if answer.status != 200:
            return False
        self.keep(self.decoder.decode("refresh", answer.content)["token"])
        return True

    def post_refresh(self):
        return self._try(lambda: self._gateway.post("/api/auth/refresh", token=self.token))

    def get(self, path):
        """A request as all of the app's are: with a token that lasts, and once more after a 401."""
        if self.needs_refresh:
            self.refresh()
        answer = self._gateway.get(path, token=self.token)
        if answer.status == 401 and self.refresh():
            answer = self._gateway.get(path, token=self.token)
        return answer

    # What it knows

    @property
    def needs_refresh(self):
        return self.decoder.decode("expiry", self.token.encode())["needs_refresh"]

    @property
    def claims(self):
        return tokens.parts(self.token)[1]

    @property
    def session_id(self):
        return self.claims["sid"]

    def keep(self, token):
        self.phone.keep_secret(token)
        self.token = token

    def _try(self, request):
        """Network errors are no answers: three tries, a second apart."""
        for left in reversed(range(TRIES)):
            self.tries += 1
            try:
                return request()
            except (OSError, http.client.HTTPException):
                if not left:
                    raise
                time.sleep(SECONDS_BETWEEN_TRIES)
