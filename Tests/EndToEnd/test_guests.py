"""Guest accounts from outside: what they cost, what they may do, how they become full accounts, and how they end."""

import base64
import concurrent.futures
import hashlib
import html
import json
import re
import secrets
import urllib.parse

import pytest

import process_table
import tokens
from app import PROFILE_MEMBERS, SESSION_MEMBERS, App
from guests import new_guest, solution, solved
from stack import new_stack, short_folder
from visitor import Visitor
from webhook_target import Target, secret


class Guest(App):
    """An app whose user hasn't signed in."""

    def __init__(self, stack, **members):
        super().__init__(stack)
        self.session = new_guest(stack, **members)
        self.members_left_out = {"id_token"}

    def link(self, provider="google", request=None):
        answer = self.post(f"/auth/identities/{provider}", request or self.ask_google())
        return answer

    def absorb(self, guest, outcome):
        """As the account that the user has signed in to."""
        return self.post("/auth/guest/absorb", {"guest_token": guest.refresh_token, "guest": outcome})


@pytest.fixture
def guest(stack):
    return Guest(stack, device_name="Blue phone")


def test_a_guest_has_a_session_a_profile_and_groups(stack, guest):
    assert set(guest.session) == SESSION_MEMBERS - {"id_token"}
    assert guest.session["is_new_user"] and guest.session["missing_fields"] == ["display_name"]
    claims = tokens.parts(guest.access_token)[1]
    assert claims["acr"] == "urn:vestibule:acr:guest" and claims["is_anonymous"] is True and claims["sub"] == guest.user_id
    me = guest.get("/me").expect(200)
    assert set(me) == PROFILE_MEMBERS and me["is_guest"] and me["missing_fields"] == ["display_name"]
    named = guest.save(display_name=guest.person.name).expect(200)
    assert named["is_guest"] and named["missing_fields"] == []
    group = guest.create_group()
    assert guest.group_ids() == [group]
    (session,) = guest.get("/auth/sessions").expect(200)["sessions"]
    assert (session["provider"], session["device_name"]) == ("guest", "Blue phone")
    guest.refresh().expect(200)
    assert guest.get("/me").expect(200)["is_guest"]
    # A user's token says that it is none, as rules for Supabase's tokens ask.
    user = App(stack)
    user.sign_in()
    claims = tokens.parts(user.access_token)[1]
    assert claims["acr"] == "urn:vestibule:acr:provider" and claims["is_anonymous"] is False and not user.get("/me").expect(200)["is_guest"]


def test_what_a_guest_may_not_do(stack, guest, new_app):
    owner = new_app()
    owner.sign_in()
    owner.complete()
    group = guest.create_group()
    person = {"phone_number": owner.person.phone, "display_name": "Somebody"}
    refused = [
        guest.save(phone_number=guest.person.phone),
        guest.post(f"/groups/{group}/members", person), guest.post(f"/groups/{group}/members/batch", {"members": [person]}),
        guest.gateway.send(
            "PUT", "/me/avatar", body=b"\x89PNG", headers={"Content-Type": "image/png"}, token=guest.access_token),
        guest.post(f"/groups/{group}/links", {"uses_max": 1}),
        guest.post("/me/phone-proof", {"assertion": stack.backend.assertion(guest.user_id, guest.person.phone)}),
        guest.gateway.send("DELETE", "/auth/identities/google", token=guest.access_token),
        guest.absorb(Guest(stack), "drop"), guest.absorb(Guest(stack), "merge")]
    for answer in refused:
        answer.problem(403, "GUEST_NOT_ALLOWED")
    assert guest.get("/me").expect(200)["phone_number"] is None
    # Joining by somebody's link is allowed.
    link = owner.post(f"/groups/{owner.create_group()}/links", {}).expect(201)
    stack.confidential.add(link["token"])
    guest.post("/groups/links/join", {"token": link["token"]}).expect(200)
    assert len(guest.group_ids()) == 2


def test_a_proof_of_work_is_checked_and_used_once(stack):
    gateway = stack.client()
    made = gateway.post("/auth/guest/challenge").expect(200)
    bits = made["work_bits"]
    assert bits > 0
    gateway.post("/auth/guest").problem(400, "WORK_REQUIRED")
    gateway.post("/auth/guest", {"proof_of_work": None}).problem(400, "WORK_REQUIRED")
    for wrong in ("x", made["challenge"], made["challenge"] + ".", solution(made["challenge"], bits) + "x",
                  solution("B" + made["challenge"][1:], bits), "." * 200):
        gateway.post("/auth/guest", {"proof_of_work": wrong}).problem(400, "WORK_INVALID")
    proof = solution(made["challenge"], bits)
    with concurrent.futures.ThreadPoolExecutor(8) as many:
        answers = list(many.map(lambda _: stack.client().post("/auth/guest", {"proof_of_work": proof}).expect(200), range(8)))
    assert len({answer["user_id"] for answer in answers}) == 1, "one account"
    session = answers[0]
    stack.confidential |= {session["access_token"], session["refresh_token"]}
    gateway.post("/auth/refresh", {"refresh_token": session["refresh_token"]}).expect(200)
    gateway.post("/auth/guest", {"proof_of_work": proof}).problem(400, "WORK_SPENT")


def test_a_linked_guest_keeps_the_id_and_nothing_of_before_opens_it(stack, guest, new_app):
    group = guest.create_group()
    # The attacker who planted the session has its tokens.
    planted = dict(guest.session)
    request = guest.ask_google()
    answer = guest.link(request=request).expect(200)
    assert [identity["provider"] for identity in answer["identities"]] == ["google"]
    session = answer["session"]
    stack.confidential |= {session["access_token"], session["refresh_token"], session["id_token"]}
    assert session["user_id"] == guest.user_id and session["session_id"] != planted["session_id"]
    again = guest.link(request=request).expect(200)
    # By the access token that the link has ended.
    assert again["session"]["session_id"] == session["session_id"], "the answer that was lost"
    stack.confidential |= {again["session"]["access_token"], again["session"]["refresh_token"], again["session"]["id_token"]}
    guest.get("/me").problem(401, "SESSION_REVOKED")
    guest.gateway.post("/auth/refresh", {"refresh_token": planted["refresh_token"]}).problem(401, "SESSION_REVOKED")
    guest.link().problem(401, "SESSION_REVOKED")
    guest.session, guest.members_left_out = session, set()
    me = guest.get("/me").expect(200)
    assert not me["is_guest"] and me["user_id"] == guest.user_id and me["missing_fields"] == ["display_name", "phone_number"]
    guest.complete()
    assert guest.group_ids() == [group]
    assert guest.post(f"/groups/{group}/links", {}).status == 201
    phone = new_app(guest.person)
    assert phone.sign_in("google")["user_id"] == guest.user_id
    kinds = stack.sql(
        f"SELECT string_agg(kind, ' ' ORDER BY kind) FROM identity.security_events WHERE user_id = '{guest.user_id}'")
    assert kinds == "provider_linked session_ended signed_in signed_in signed_in"


def test_an_identity_of_another_account_is_taken(stack, guest, new_app):
    user = new_app(guest.person)
    user.sign_in("google")
    request = guest.ask_google()
    guest.link(request=request).problem(409, "IDENTITY_TAKEN")
    assert user.present("google", request).expect(200)["user_id"] == user.user_id
    assert guest.get("/me").expect(200)["is_guest"]


def test_a_guest_links_by_the_providers_page(stack, guest):
    """As `linkIdentity` and `exchangeCodeForSession` of Supabase's clients ask."""
    verifier = secrets.token_urlsafe(48)
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    query = urllib.parse.urlencode({
        "provider": "apple", "redirect_to": "vestibule-demo://callback", "code_challenge": challenge,
        "code_challenge_method": "s256", "skip_http_redirect": "true"})
    page = guest.get(f"/auth/v1/user/identities/authorize?{query}").expect(200)["url"]
    visitor = Visitor(stack)
    assert visitor.open(page) is None
    visitor.pass_provider()
    assert urllib.parse.urlsplit(visitor.response.url).path == "/auth/v1/callback"
    (link,) = set(re.findall(r"vestibule-demo://callback\?[^\"'<>\s]+", html.unescape(visitor.text)))
    code = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(link).query))["code"]
    stack.confidential |= {verifier, code}

    def redeem(verifier):
        return stack.client().post("/auth/v1/token?grant_type=pkce", {"auth_code": code, "code_verifier": verifier})

    foreign = redeem(secrets.token_urlsafe(48))
    assert (foreign.status, foreign.json["error_code"]) == (404, "flow_state_not_found")
    session = redeem(verifier).expect(200)
    again = redeem(verifier).expect(200)
    stack.confidential |= {each[name] for each in (session, again) for name in ("access_token", "refresh_token")}
    assert session["user"]["id"] == again["user"]["id"] == guest.user_id and not session["user"]["is_anonymous"]
    assert [identity["provider"] for identity in session["user"]["identities"]] == ["apple"]
    guest.get("/me").problem(401, "SESSION_REVOKED")


def merged(stack, guest):
    """An account that the guest has signed in to."""
    user = Guest(stack)
    user.person, user.members_left_out = guest.person, set()
    user.sign_in("google")
    user.complete()
    return user


def test_a_merged_guest_leaves_the_groups_to_the_account(stack, guest, new_app):
    friend = new_app()
    friend.sign_in()
    friend.complete()
    theirs = friend.create_group()
    link = friend.post(f"/groups/{theirs}/links", {}).expect(201)
    stack.confidential.add(link["token"])
    guest.save(display_name="Guest Name", username="g" + guest.person.digits).expect(200)
    own = guest.create_group()
    guest.post("/groups/links/join", {"token": link["token"]}).expect(200)
    user = merged(stack, guest)
    before = user.get("/me").expect(200)
    old = dict(guest.session)
    assert user.absorb(guest, "merge").status == 204
    process_table.wait_until(lambda: set(user.group_ids()) == {own, theirs}, 15, "the guest's groups")
    assert user.get(f"/groups/{own}").expect(200)["role"] == "owner"
    assert [member["user_id"] for member in friend.members(theirs)].count(user.user_id) == 1
    # Number, username and profile are the account's.
    assert user.get("/me").expect(200) == before
    guest.gateway.post("/auth/refresh", {"refresh_token": old["refresh_token"]}).problem(401, "SESSION_INVALID")
    # The answer may have been lost.
    assert user.absorb(guest, "merge").status == 204
    # The username is free.
    assert user.get("/usernames/g" + guest.person.digits).expect(200)["is_free"]
    assert stack.sql(f"SELECT details->>'absorbed' FROM identity.security_events WHERE kind = 'guest_merged' AND user_id = '{user.user_id}'") == \
        guest.user_id
    assert stack.sql(f"SELECT why || ' ' || successor FROM identity.account_closings WHERE user_id = '{guest.user_id}'") == \
        f"absorbed {user.user_id}"


def test_a_dropped_guest_is_deleted(stack, guest):
    group = guest.create_group()
    user = merged(stack, guest)
    assert user.absorb(guest, "drop").status == 204
    guest.get("/me").problem(401, "SESSION_INVALID")
    process_table.wait_until(
        lambda: stack.sql(f"SELECT count(*) FROM invites.groups WHERE group_id = '{group}'") == "0", 15, "the group's end")
    assert user.group_ids() == []
    assert user.absorb(guest, "drop").status == 204


def test_a_merge_needs_both_sides(stack, guest, new_app):
    user = merged(stack, guest)
    other = new_app()
    other.sign_in()
    # An access token has been shown to other servers.
    for token in ("x", other.refresh_token, other.access_token, user.refresh_token, guest.refresh_token + "x", guest.access_token):
        user.post("/auth/guest/absorb", {"guest_token": token, "guest": "merge"}).problem(400, "GUEST_TOKEN_INVALID")
    for body in ({"guest": "merge"}, {"guest_token": guest.refresh_token}, {"guest_token": guest.refresh_token, "guest": "keep"}):
        assert user.post("/auth/guest/absorb", body).status in (400, 422)
    stack.sql(f"UPDATE identity.sessions SET created_at = created_at - interval '11 minutes' WHERE user_id = '{user.user_id}'")
    user.absorb(guest, "merge").problem(403, "RECENT_SIGN_IN_REQUIRED")
    assert guest.get("/me").expect(200)["is_guest"]


def test_a_blocked_account_absorbs_nobody(stack, guest):
    user = merged(stack, guest)
    # The session lives still, as in the moment of a block.
    stack.sql(f"UPDATE identity.accounts SET blocked_at = now(), block_reason = 'spam' WHERE user_id = '{user.user_id}'")
    user.absorb(guest, "merge").problem(403, "ACCOUNT_BLOCKED")
    assert guest.get("/me").expect(200)["is_guest"]


def test_a_guest_deletes_the_account_at_once(stack, guest):
    stack.sql(f"UPDATE identity.sessions SET created_at = created_at - interval '9 days' WHERE user_id = '{guest.user_id}'")
    assert guest.gateway.send("DELETE", "/me", token=guest.access_token).status == 204
    assert guest.gateway.send("DELETE", "/me", token=guest.access_token).status == 204
    guest.get("/me").problem(401, "SESSION_INVALID")


def test_a_guest_who_stays_away_is_deleted_everywhere_and_webhooks_hear_of_it():
    """Moved in the database: nobody waits for thirty days."""
    target = Target()
    with short_folder() as folder:
        (folder / "webhooks.json").write_text(json.dumps({"targets": [
            {"name": "all", "url": target.url, "secrets": [secret()], "private_addresses": True,
             "types": ["account.created", "account.deleted", "provider.linked"]}]}))
        with new_stack(VESTIBULE_IDENTITY_WEBHOOKS_FILE=str(folder / "webhooks.json")) as stack:
            stack.start()
            lost, used, linked = Guest(stack), Guest(stack), Guest(stack)
            for guest in (lost, used):
                guest.save(display_name="Maria Santos").expect(200)
                guest.create_group()
                ((_, created),) = target.wait_for("account.created", guest.user_id)
                assert created["data"]["provider"] == "guest"
            linked.link().expect(200)
            ((_, told),) = target.wait_for("provider.linked", linked.user_id)
            assert told["data"]["was_guest"] is True and told["data"]["provider"] == "google"
            stack.sql(
                "UPDATE identity.accounts SET guest_until = now() - interval '1 minute' WHERE guest_until IS NOT NULL;"
                f"UPDATE identity.sessions SET last_used_at = last_used_at - interval '31 days' WHERE user_id = '{lost.user_id}'")
            process_table.wait_until(
                lambda: stack.sql(f"SELECT count(*) FROM identity.accounts WHERE user_id = '{lost.user_id}'") == "0", 90, "the end")
            lost.gateway.post("/auth/refresh", {"refresh_token": lost.refresh_token}).problem(401, "SESSION_INVALID")
            assert used.get("/me").expect(200)["is_guest"]
            until = f"SELECT guest_until > now() + interval '29 days' FROM identity.accounts WHERE user_id = '{used.user_id}'"
            assert stack.sql(until) == "t"
            for table, column in (("profile.profiles", "user_id"), ("invites.members", "user_id"), ("invites.groups", "owner_user_id")):
                process_table.wait_until(
                    lambda: stack.sql(f"SELECT count(*) FROM {table} WHERE {column} = '{lost.user_id}'") == "0", 15, table)
            ((_, gone),) = target.wait_for("account.deleted", lost.user_id)
            assert gone["data"] == {"user_id": lost.user_id, "reason": "guest_expired"}
    target.shutdown()


def test_guests_are_limited_and_off_by_default():
    with new_stack(VESTIBULE_IDENTITY_GUESTS="false") as stack:
        stack.start()
        gateway = stack.client()
        gateway.post("/auth/guest/challenge").problem(400, "GUESTS_NOT_ENABLED")
        gateway.post("/auth/guest", {"proof_of_work": "x"}).problem(400, "GUESTS_NOT_ENABLED")
        assert stack.sql("SELECT count(*) FROM identity.accounts") == "0"


def test_floods_end_at_the_limits():
    with new_stack(
            VESTIBULE_IDENTITY_GUESTS="true", VESTIBULE_IDENTITY_GUESTS_PER_ADDRESS="3", VESTIBULE_IDENTITY_GUESTS_PER_HOUR="5",
            VESTIBULE_GATEWAY_TRUSTED_PROXIES="127.0.0.0/8", VESTIBULE_GATEWAY_AUTH_PER_SECOND="1000",
            VESTIBULE_GATEWAY_AUTH_BURST="1000") as stack:
        stack.start()

        def ask(address):
            gateway = stack.client()
            return gateway.post(
                "/auth/guest", {"proof_of_work": solved(gateway)}, headers={"X-Forwarded-For": address}).status

        with concurrent.futures.ThreadPoolExecutor(6) as many:
            one = list(many.map(ask, ["203.0.113.9"] * 12))
            assert sorted(one) == [200] * 3 + [429] * 9
            others = list(many.map(ask, [f"203.0.113.{index}" for index in range(20, 40)]))
            assert sorted(others) == [200] * 2 + [429] * 18
        assert stack.sql("SELECT count(*) FROM identity.accounts") == "5"
        assert stack.sql("SELECT count(*) FROM identity.sign_ins") == "5"
        gateway = stack.client()
        answer = gateway.post("/auth/guest", {"proof_of_work": solved(gateway)}, headers={"X-Forwarded-For": "203.0.113.9"})
        answer.problem(429, "TOO_MANY_GUESTS")
        assert 0 < int(answer.headers["Retry-After"]) <= 3600


def test_a_link_is_repeated_by_rpc_as_by_route(stack, guest):
    """A client that lost the response has the old access token alone, which the link has ended."""
    request = guest.ask_google()
    body = {"credentials": {"provider": "google"} | request}

    def link():
        return guest.gateway.post("/vestibule.app.v1.AuthService/LinkProvider", body, token=guest.access_token).expect(200)["session"]

    first, again = link(), link()
    stack.confidential |= {each["tokens"][name] for each in (first, again) for name in ("accessToken", "refreshToken", "idToken")}
    assert first["tokens"]["sessionId"] == again["tokens"]["sessionId"] != guest.session["session_id"]
    guest.gateway.post("/vestibule.app.v1.AuthService/LinkProvider", {
        "credentials": {"provider": "google"} | guest.ask_google()}, token=guest.access_token).expect(401)
    stack.sql(
        "UPDATE identity.sign_ins SET created_at = created_at - interval '61 seconds' "
        f"WHERE session_id = '{first['tokens']['sessionId']}'")
    guest.link(request=request).problem(401, "SESSION_REVOKED")
