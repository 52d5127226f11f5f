"""What one dialect signs in, the others and our own routes know as the same account."""

import hashlib
import secrets

import pytest

import tokens
from phone import APP, BARE, DEBUG, SERVICES
from process_table import wait_until


class Ways:
    """All the ways by which one person comes in with Apple: each returns a bearer token."""

    def __init__(self, phone):
        self.phone = phone
        # What each way's own answer says of the account.
        self.answers = {}

    def _post(self, path, body, way):
        answer = self.answers[way] = self.phone.gateway.post(path, body).expect(200)
        token = answer.get("access_token") or answer["token"]
        self.phone.keep_secret(token, answer.get("refresh_token"), answer.get("id_token"))
        return token

    def own_route(self):
        raw = secrets.token_hex(16)
        self.phone.keep_secret(raw)
        credential = self.phone.apple(APP, hashlib.sha256(raw.encode()).hexdigest())
        return self._post("/auth/apple", {"identity_token": credential.identity_token, "nonce": raw}, "own_route")

    def code_alone(self):
        credential = self.phone.apple(DEBUG)
        return self._post(
            "/auth/apple", {"authorization_code": credential.authorization_code, "client_id": DEBUG}, "code_alone")

    def any_provider(self):
        return self._post("/auth/apple", {"id_token": self.phone.apple(SERVICES).identity_token}, "any_provider")

    def single_token(self):
        credential, raw = self.phone.apple_with_nonce()
        return self._post("/api/auth/apple", {
            "identity_token": credential.identity_token, "nonce": raw, "userIdentifier": credential.user, "email": None,
            "name": None}, "single_token")

    def wordpress(self):
        credential = self.phone.apple(BARE)
        body = {"appleUserID": credential.user, "identityToken": credential.identity_token}
        path = "/wp-json/gread/v1/auth/apple/"
        if self.phone.gateway.post(f"{path}login", body).status == 404:
            body |= {
                "email": self.phone.person.email, "username": self.username, "fullName": self.phone.person.name}
            return self._post(f"{path}register", body, "wordpress")
        return self._post(f"{path}login", body, "wordpress")

    def supabase(self):
        body = {"provider": "apple", "id_token": self.phone.apple(BARE).identity_token}
        return self._post("/auth/v1/token?grant_type=id_token", body, "supabase")

    @property
    def username(self):
        return self.phone.person.email.partition("@")[0]

    @property
    def all(self):
        return [self.own_route, self.code_alone, self.any_provider, self.single_token, self.wordpress, self.supabase]


def user_id(token):
    return tokens.parts(token)[1]["sub"]


@pytest.fixture
def ways(phone):
    return Ways(phone)


@pytest.mark.parametrize("first", range(6), ids=["own", "code", "any", "single-token", "wordpress", "supabase"])
def test_whichever_comes_first(ways, first):
    """Six ways in, one account, whichever made it."""
    order = ways.all[first:] + ways.all[:first]
    ids = [user_id(way()) for way in order]
    assert len(set(ids)) == 1
    assert ways.answers["own_route"]["user_id"] == ways.answers["supabase"]["user"]["id"] == ids[0]
    assert ways.answers["single_token"]["user"]["id"] == ids[0]
    # One number too.
    assert ways.answers["single_token"]["user"]["number"] == ways.answers["wordpress"]["user_id"]


def test_every_token_is_good_at_our_own_routes_and_at_the_dialects(ways):
    gateway = ways.phone.gateway
    for way in ways.all:
        token = way()
        assert gateway.get("/me", token=token).expect(200)["user_id"] == user_id(token)
        assert gateway.get("/auth/v1/user", token=token).expect(200)["id"] == user_id(token)
        gateway.get("/groups", token=token).expect(200)


def test_one_profile(ways, new_phone):
    """Saved by one, read by all."""
    gateway, person = ways.phone.gateway, ways.phone.person
    wordpress, supabase, single = ways.wordpress(), ways.supabase(), ways.single_token()
    gateway.send("PUT", "/auth/v1/user", {"phone": person.phone}, token=supabase).expect(200)
    gateway.patch("/me", {"display_name": person.name[::-1]}, token=single).expect(200)
    for token in (wordpress, supabase, single, ways.own_route()):
        profile = gateway.get("/me", token=token).expect(200)
        assert profile["username"] == ways.username and profile["phone_number"] == person.phone
        assert profile["display_name"] == person.name[::-1]
    ways.wordpress()
    assert ways.answers["wordpress"]["display_name"] == person.name[::-1]
    # Nobody else can have number or username, by whichever door they come.
    other = Ways(new_phone())
    assert gateway.send(
        "PUT", "/auth/v1/user", {"phone": person.phone}, token=other.supabase()).json["error_code"] == "phone_exists"
    gateway.patch("/me", {"username": ways.username}, token=other.own_route()).problem(
        409, "USERNAME_TAKEN", [("username", "USERNAME_TAKEN")], more={"suggestions"})


def test_signed_out_everywhere(ways):
    """One dialect's global sign-out ends what the others began."""
    gateway = ways.phone.gateway
    held = [way() for way in ways.all]
    assert gateway.post("/auth/v1/logout?scope=global", token=held[-1]).status == 204

    def are_ended():
        return all(gateway.get("/me", token=token).status == 401 for token in held)

    wait_until(are_ended, 15, "the end of all sessions")
    assert gateway.post("/api/auth/refresh", token=held[3]).status == 401


def test_nothing_of_a_dialect_reaches_around_our_rules(ways):
    """A token that one door refuses is refused at every other."""
    gateway = ways.phone.gateway
    credential = ways.phone.apple(BARE, signing_key="foreign")
    token, subject = credential.identity_token, credential.user
    assert gateway.post("/auth/apple", {"identity_token": token}).status == 401
    assert gateway.post("/api/auth/apple", {"identity_token": token, "nonce": None, "userIdentifier": subject}).status == 401
    assert gateway.post(
        "/wp-json/gread/v1/auth/apple/login", {"appleUserID": subject, "identityToken": token}).status == 401
    assert gateway.post(
        "/auth/v1/token?grant_type=id_token", {"provider": "apple", "id_token": token}).status in (400, 401, 403)


def test_the_paths_of_the_apps_are_described(gateway):
    """The authors of clients find each of them in our own API description."""
    paths = gateway.get("/openapi.json").expect(200)["paths"]
    for path in (
            "/api/auth/apple", "/api/auth/refresh", "/wp-json/gread/v1/auth/apple/login",
            "/wp-json/gread/v1/auth/apple/register", "/auth/v1/token", "/auth/v1/user", "/auth/v1/logout", "/auth/apple",
            "/auth/google", "/auth/{provider}", "/auth/apple/start", "/auth/apple/callback"):
        assert path in paths, sorted(paths)
