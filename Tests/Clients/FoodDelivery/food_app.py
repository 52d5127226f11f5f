"""The food delivery app: Apple's authorization code alone, access tokens of Facebook and Google, a keychain."""

from app import SESSION_MEMBERS
from http_client import Client
from phone import DEBUG, FACEBOOK, GOOGLE_IOS

STORE_APP, DEBUG_APP = "com.example.app", DEBUG


class FoodApp:
    """The app on one phone, as built for the store or for debugging: each has an App ID, and a key at Apple, of its own."""

    def __init__(self, phone, app_id=STORE_APP, address=None):
        self.phone = phone
        self.app_id = app_id
        self.session = None
        # Name and e-mail as Apple told them, until the backend has confirmed an account.
        self.keychain = {}
        self._gateway = Client(address or phone.gateway.address, phone.gateway.source)

    def apple_body(self):
        """What `login(with: .apple, token: authCode)` sends."""
        credential = self.phone.apple(self.app_id)
        if credential.full_name:
            self.keychain |= {"full_name": credential.full_name}
        if credential.email:
            self.keychain |= {"email": credential.email}
        return {"authorization_code": credential.authorization_code, "client_id": self.app_id}

    def post(self, provider, body):
        """Sends what the provider gave, with what the keychain still has."""
        answer = self._gateway.post(f"/auth/{provider}", {**body, **self.keychain})
        if answer.status == 200:
            assert set(answer.json) == SESSION_MEMBERS
            self.session = answer.json
            self.keychain = {}
            self.phone.keep_secret(
                *(self.session[name] for name in ("access_token", "refresh_token", "id_token")))
        return answer

    def check_existing(self, provider, body):
        """Whether there is an account; makes none."""
        return self.post(provider, {**body, "create": False})

    def sign_in(self):
        return self.post("apple", self.apple_body()).expect(200)

    def facebook_body(self, app_id=FACEBOOK):
        return {"access_token": self.phone.facebook(app_id)["access_token"], "client_id": FACEBOOK}

    def google_body(self, client_id=GOOGLE_IOS):
        return {"access_token": self.phone.google(client_id)["access_token"], "client_id": GOOGLE_IOS}

    @property
    def body_of(self):
        return {"apple": self.apple_body, "facebook": self.facebook_body, "google": self.google_body}
