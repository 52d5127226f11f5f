"""The bill splitter: Supabase's own client of another language against our `/auth/v1`, and what the app does around it."""

import httpx
from supabase_auth import SyncGoTrueClient, SyncMemoryStorage

import process_table
from phone import BARE
from shapes import javascript_integer, text

# What every request of the app carries; it is no secret and of no use to us.
ANON_KEY = "the-anon-key-of-another-backend"
# Longer than any answer takes, so that only what a test cuts is lost.
SECONDS = 30

# Session and User of @supabase/auth-js.
IDENTITY = {
    "id": text, "user_id": text, "identity_id": text, "provider": text, "identity_data?": dict, "created_at?": text,
    "last_sign_in_at?": text, "updated_at?": text}
USER = {
    "id": text, "aud": text, "role?": str, "email?": str, "phone?": str, "app_metadata": {"provider?": str},
    "user_metadata": dict, "identities?": [IDENTITY], "created_at": text, "updated_at?": text, "last_sign_in_at?": text,
    "is_anonymous?": bool}


def bearer(value):
    """The literal of TypeScript's type."""
    return value == "bearer"


SESSION = {
    "access_token": text, "refresh_token": text, "token_type": bearer, "expires_in": javascript_integer,
    "expires_at": javascript_integer, "user": USER}


class BillSplitter:
    """The app on one phone."""

    def __init__(self, phone, address=None, key=None):
        self.phone = phone
        self._http = httpx.Client(
            transport=httpx.HTTPTransport(local_address=phone.gateway.source), timeout=SECONDS)
        self.auth = SyncGoTrueClient(
            url=f"http://{address or phone.gateway.address}/auth/v1",
            # As Supabase's clients send their one key; an administrator's program has another one than the app.
            headers={"apikey": key or ANON_KEY, "Authorization": f"Bearer {key or ANON_KEY}"},
            # In the app a timer refreshes; here each test says when.
            auto_refresh_token=False, storage=SyncMemoryStorage(), http_client=self._http)
        # What Apple told the app, which it offers in profile set-up.
        self.offered_name = None

    def close(self):
        self._http.close()

    def credential(self, **overrides):
        """Without nonce, as the app has it."""
        credential = self.phone.apple(BARE, **overrides)
        self.offered_name = credential.full_name or self.offered_name
        return credential

    def sign_in(self, credential=None):
        credential = credential or self.credential()
        answer = self.auth.sign_in_with_id_token({"provider": "apple", "token": credential.identity_token})
        return self.keep(answer.session)

    def keep(self, session):
        self.phone.keep_secret(session.access_token, session.refresh_token)
        return session

    @property
    def session(self):
        return self.auth.get_session()

    @property
    def needs_profile(self):
        """Whether the app shows profile set-up: display name and phone must both be there."""
        user = self.auth.get_user().user
        return not (user.user_metadata.get("full_name") and user.phone)

    def save_profile(self, digits=None):
        """What profile set-up saves: the names as user data, the phone as number."""
        person = self.phone.person
        self.auth.update_user({"data": {
            "full_name": person.name, "given_name": person.given_name, "family_name": person.family_name}})
        return self.auth.update_user({"phone": f"+63{digits or person.digits}"}).user

    def wait_for_group(self, group, seconds=15):
        def is_linked():
            answer = self.phone.gateway.get("/groups", token=self.session.access_token)
            return group in [each["id"] for each in answer.expect(200)["groups"]]

        process_table.wait_until(is_linked, seconds, "the link of number and group")
