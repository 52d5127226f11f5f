"""The book readers' app: WordPress paths, login always first, one token that is never refreshed."""

import pathlib

from app import letters
from http_client import Client
from phone import BARE
from shapes import javascript_integer, text

DECODER = pathlib.Path(__file__).parent / "BookReadersDecoder.swift"
BASE = "/wp-json/gread/v1"
# All that the app's own backend answered on success, and on failure.
SUCCESS_MEMBERS = {"success", "message", "user_id", "username", "email", "token", "display_name"}
SUCCESS = {
    "success": bool, "message": text, "user_id": javascript_integer, "username": text, "email": text, "token": text,
    "display_name": str}
FAILURE_MEMBERS = {"code", "message", "data"}


class BookReader:
    """The app on one phone."""

    def __init__(self, phone, decoder, username=None, address=None):
        self.phone = phone
        self.decoder = decoder
        self.username = username or f"{letters(8)}_{len(letters(1))}"
        self.token = None
        self.user_id = None
        self._gateway = Client(address or phone.gateway.address, phone.gateway.source)
        phone.keep_secret(self.username)
        # Apple's name for the person, which the app keeps; and the token of the last time Apple was asked.
        self.apple_id = None
        self.identity_token = None

    def ask_apple(self, **overrides):
        credential = self.phone.apple(BARE, **overrides)
        self.apple_id, self.identity_token = credential.user, credential.identity_token

    # What it sends; `identityToken` is what was added to it, and is missing in the app as it stood.

    def login_body(self):
        return self._proven({"appleUserID": self.apple_id})

    def register_body(self, **changes):
        person = self.phone.person
        return self._proven({
            "appleUserID": self.apple_id, "email": person.email, "username": self.username, "fullName": person.name,
            **changes})

    def post(self, action, body):
        """`login` or `register`; keeps what a success brings."""
        answer = self._gateway.post(f"{BASE}/auth/apple/{action}", body)
        if answer.status == 200:
            understood = self.decoder.decode("success", answer.content)
            assert understood["success"] is True
            self.token, self.user_id = understood["token"], understood["userID"]
            self.phone.keep_secret(self.token)
        return answer

    def login(self):
        return self.post("login", self.login_body())

    def register(self, **changes):
        return self.post("register", self.register_body(**changes))

    def enter(self):
        """As the app does: `login` first, and `register` if nobody is known."""
        answer = self.login()
        return answer if answer.status == 200 else self.register()

    def get(self, path):
        """The token goes along twice; WordPress wants its nonce, and we ignore it."""
        return self._gateway.get(path, token=self.token, headers={"X-WP-Nonce": self.token})

    def expect_failure(self, answer, status, code, message):
        """Exactly the error that the app knows, as its own casts understand it."""
        assert answer.status == status, answer.content
        assert set(answer.json) == FAILURE_MEMBERS
        understood = self.decoder.decode("failure", answer.content)
        assert understood == {"code": code, "message": message, "status": status}

    def _proven(self, body):
        return body if self.identity_token is None else body | {"identityToken": self.identity_token}
