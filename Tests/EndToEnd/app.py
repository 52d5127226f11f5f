"""People with phones, and the app on them: what a client of the whole system does."""

import dataclasses
import hashlib
import random
import secrets
import string

import process_table
import tokens

APPLE_CLIENT = "com.example.app"
GOOGLE_CLIENT = "example.apps.googleusercontent.com"
SESSION_MEMBERS = {
    "access_token", "refresh_token", "token_type", "expires_in", "id_token", "user_id", "session_id", "is_new_user",
    "missing_fields", "suggested_display_name",
}
PROFILE_MEMBERS = {
    "user_id", "display_name", "username", "phone_number", "missing_fields", "updated_at", "revision", "avatar_url",
    "phone_proven", "phone_taken_at", "is_guest"}
GROUP_MEMBERS = {"id", "name", "owner_user_id", "created_at", "openness", "role"}
MEMBER_MEMBERS = {
    "id", "state", "user_id", "phone_number", "display_name", "added_at", "role", "unconfirmed", "unproven", "username", "avatar_url"}
LINK_SECONDS = 15


# How a deletion is answered.
DELETED = (200, 204)


def letters(count):
    return "".join(random.choices(string.ascii_lowercase, k=count))


def sha256_hex(text):
    return hashlib.sha256(text.encode()).hexdigest()


@dataclasses.dataclass
class Person:
    """Somebody new, with names and a number that occur nowhere else."""

    given_name: str = dataclasses.field(default_factory=lambda: letters(9).capitalize())
    family_name: str = dataclasses.field(default_factory=lambda: letters(9).capitalize())
    email: str = dataclasses.field(default_factory=lambda: f"{letters(12)}@example.com")
    # The ten digits after the Philippines' country code, of a mobile number.
    digits: str = dataclasses.field(default_factory=lambda: f"917{random.randrange(10**7):07}")

    @property
    def name(self):
        return f"{self.given_name} {self.family_name}"

    @property
    def phone(self):
        return f"+63{self.digits}"

    @property
    def simulated(self):
        return {"email": self.email, "given_name": self.given_name, "family_name": self.family_name}

    @property
    def confidential(self):
        return {self.given_name, self.family_name, self.email, self.digits}


class App:
    """The app on one person's phone."""

    def __init__(self, stack, person=None):
        self.stack = stack
        self.gateway = stack.client()
        self.person = person or Person()
        self.session = None
        # Of an answer that brings a session.
        self.members_left_out = set()
        self._keep(*self.person.confidential)

    # Signing in

    def ask_apple(self, nonce=None, claim_nonce=None, client_id=APPLE_CLIENT, **overrides):
        """Has the simulated Apple sign the person in; what `POST /auth/apple` wants, without the name."""
        nonce = nonce or secrets.token_hex(16)
        order = {
            "client_id": client_id, "nonce": claim_nonce or sha256_hex(nonce), "person": self.person.simulated,
            "overrides": overrides}
        answer = self.stack.simulator.post("/control/apple/sign-in", order).expect(200)
        self.told_user = answer.get("user")
        self._keep(nonce, answer["identity_token"], answer["authorization_code"])
        return {
            "identity_token": answer["identity_token"], "nonce": nonce,
            "authorization_code": answer["authorization_code"]}

    def ask_google(self, nonce=None, claim_nonce=None, client_id=GOOGLE_CLIENT, **overrides):
        """Has the simulated Google sign the person in; what `POST /auth/google` wants."""
        nonce = nonce or secrets.token_hex(16)
        order = {
            "client_id": client_id, "nonce": claim_nonce or sha256_hex(nonce), "person": self.person.simulated,
            "overrides": overrides}
        answer = self.stack.simulator.post("/control/google/sign-in", order).expect(200)
        self._keep(nonce, answer["id_token"])
        return {"id_token": answer["id_token"], "nonce": nonce}

    def present(self, provider, request):
        """Presents a provider's token and keeps what the session brings, if there is one."""
        answer = self.gateway.post(f"/auth/{provider}", request)
        if answer.status == 200:
            self._take(answer.json)
        return answer

    def sign_in(self, provider="apple"):
        """Signs in as a person does who has not been seen before; returns the answer."""
        if provider == "apple":
            request = self.ask_apple()
            # The app hands on what Apple told it, which is the first time only.
            if self.told_user:
                name = self.told_user["name"]
                request |= {"full_name": f"{name['firstName']} {name['lastName']}", "email": self.told_user["email"]}
        else:
            request = self.ask_google()
        return self.present(provider, request).expect(200)

    def refresh(self, refresh_token=None):
        answer = self.gateway.post("/auth/refresh", {"refresh_token": refresh_token or self.refresh_token})
        if answer.status == 200:
            self._take(answer.json)
        return answer

    def delete(self):
        """Deletes the account; the answer's status is 200 where the person has a consent to withdraw. One that was just given may be
        on its way to be kept, so that either is good."""
        answer = self.gateway.send("DELETE", "/me", token=self.access_token)
        assert answer.status in DELETED, answer
        return answer

    # With a session

    @property
    def access_token(self):
        return self.session["access_token"]

    @property
    def refresh_token(self):
        return self.session["refresh_token"]

    @property
    def user_id(self):
        return self.session["user_id"]

    def get(self, path, **how):
        return self.gateway.get(path, token=self.access_token, **how)

    def post(self, path, body=None, **how):
        return self.gateway.post(path, body, token=self.access_token, **how)

    def save(self, **fields):
        """`PATCH /me`."""
        self._keep(*(value.removeprefix("+63") for value in fields.values() if isinstance(value, str) and len(value) > 4))
        return self.gateway.patch("/me", fields, token=self.access_token)

    def complete(self):
        """Saves name and number."""
        return self.save(display_name=self.person.name, phone_number=self.person.phone).expect(200)

    def create_group(self, name=None):
        """A new group's id."""
        return self.post("/groups", {"name": name or f"Group {letters(9)}"}).expect(201)["id"]

    def invite(self, person, group, phone=None):
        """Adds a person to a group; returns the member, who may be there already."""
        self._keep(*person.confidential)
        answer = self.post(
            f"/groups/{group}/members", {"phone_number": phone or person.phone, "display_name": person.name})
        return answer.expect(200 if answer.status == 200 else 201)

    def members(self, group):
        return self.get(f"/groups/{group}/members").expect(200)["members"]

    def group_ids(self):
        return [group["id"] for group in self.get("/groups").expect(200)["groups"]]

    def wait_for_group(self, group, seconds=LINK_SECONDS):
        """Waits until the saved number has brought this person into the group; the services may be on their way back."""
        def is_linked():
            answer = self.get("/groups")
            return answer.status == 200 and group in [each["id"] for each in answer.json["groups"]]

        process_table.wait_until(is_linked, seconds, "the link of number and group")

    def _take(self, answer):
        assert set(answer) | self.members_left_out == SESSION_MEMBERS
        assert not self.members_left_out & set(answer)
        self.session = answer
        self._keep(*(answer[name] for name in ("access_token", "refresh_token", "id_token") if name in answer))
        self._keep(tokens.parts(answer["access_token"])[1]["mac"])

    def _keep(self, *values):
        self.stack.confidential.update(values)
