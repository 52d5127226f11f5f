"""Sessions: refresh with rotation, retry and theft; sign-out; invalid access tokens."""

import concurrent.futures
import http.client
import itertools
import json
import re
import socket
import threading
import time

import pytest

import process_table
import tokens


def test_rotation(app):
    first, before = app.session, app.refresh_token
    second = app.refresh().expect(200)
    assert second["refresh_token"] != before
    assert second["is_new_user"] is False
    for name in ("user_id", "session_id", "suggested_display_name", "missing_fields", "token_type", "expires_in"):
        assert second[name] == first[name], name
    # The older access token stays valid until it expires: requests in progress must not fail.
    for answer in (first, second):
        app.gateway.get("/me", token=answer["access_token"]).expect(200)


def test_a_retry_of_a_lost_answer_returns_the_same_refresh_token(app):
    before = app.refresh_token
    after = app.refresh(before).expect(200)["refresh_token"]
    for _ in range(3):
        assert app.refresh(before).expect(200)["refresh_token"] == after
    # The chain continues from there.
    assert app.refresh(after).expect(200)["refresh_token"] not in (before, after)


def test_concurrent_refreshes_agree(app):
    before = app.refresh_token
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = [each.expect(200) for each in pool.map(lambda _: app.refresh(before), range(16))]
    assert len({each["refresh_token"] for each in answers}) == 1
    app.refresh(answers[0]["refresh_token"]).expect(200)


def passed(app, stack, seconds=61):
    """Moves the session's history into the past by this time."""
    moved = stack.sql(f"""
        UPDATE identity.sessions SET rotated_at = rotated_at - interval '{seconds} seconds',
            acknowledged_at = acknowledged_at - interval '{seconds} seconds'
        WHERE session_id = '{app.session["session_id"]}' RETURNING 1;""")
    assert moved == "1"


def test_an_older_token_is_theft_and_ends_the_session(app, stack):
    stolen = app.refresh_token
    access = [app.access_token]
    for _ in range(2):
        app.refresh().expect(200)
        access.append(app.access_token)
    passed(app, stack)
    current = app.refresh_token
    app.gateway.post("/auth/refresh", {"refresh_token": stolen}).problem(401, "REFRESH_TOKEN_REUSED")
    # No token of that session is valid any more.
    for token in access:
        app.gateway.get("/me", token=token).problem(401, "SESSION_REVOKED")
    for token in (current, stolen):
        app.gateway.post("/auth/refresh", {"refresh_token": token}).problem(401, "SESSION_REVOKED")
    # The user signs in again to the same account.
    user_id = app.user_id
    assert app.sign_in()["user_id"] == user_id
    app.get("/me").expect(200)


def test_theft_ends_one_session_and_no_other(app, new_app, stack):
    other = new_app(app.person)
    other.sign_in()
    stolen = app.refresh_token
    app.refresh().expect(200)
    app.refresh().expect(200)
    passed(app, stack)
    app.gateway.post("/auth/refresh", {"refresh_token": stolen}).problem(401, "REFRESH_TOKEN_REUSED")
    other.get("/me").expect(200)
    other.refresh().expect(200)


def test_a_lost_answer_signs_nobody_out(app, stack):
    before = app.refresh_token
    lost = app.gateway.post("/auth/refresh", {"refresh_token": before}).expect(200)
    passed(app, stack)
    sibling = app.gateway.post("/auth/refresh", {"refresh_token": before}).expect(200)
    assert sibling["refresh_token"] != lost["refresh_token"]
    # It is used. A client with the lost one comes too late.
    app.gateway.get("/me", token=sibling["access_token"]).expect(200)
    process_table.wait_until(
        lambda: stack.sql(f"""
            SELECT base = generation FROM identity.sessions
            WHERE session_id = '{app.session["session_id"]}';""") == "t",
        10, "the use to be written down")
    passed(app, stack)
    app.gateway.post("/auth/refresh", {"refresh_token": lost["refresh_token"]}).problem(401, "REFRESH_TOKEN_REUSED")
    # The gateway hears of it by the stream of ended sessions.
    process_table.wait_until(
        lambda: app.gateway.get("/me", token=sibling["access_token"]).status == 401, 2, "the session to end at the gateway")
    app.gateway.get("/me", token=sibling["access_token"]).problem(401, "SESSION_REVOKED")


class CuttingProxy:
    """Passes bytes on to the gateway, and cuts connections: `after` "request", once it was passed on completely, or "answer",
    once half of it was."""

    def __init__(self, address):
        self.target = tuple(address.rsplit(":", 1))
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.after = None
        self.cuts = 0
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def close(self):
        """Stops it."""
        self.listener.close()

    def _serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            with client, socket.create_connection((self.target[0], int(self.target[1])), timeout=20) as server:
                self._pass_on(client, server)

    def _pass_on(self, client, server):
        request = self._message(client)
        server.sendall(request)
        if self.after == "request":
            self.cuts += 1
            # The gateway processes the request; nobody gets its answer.
            self._message(server)
            return
        answer = self._message(server)
        if self.after == "answer":
            self.cuts += 1
            answer = answer[:len(answer) // 2]
        client.sendall(answer)

    @staticmethod
    def _message(connection):
        """One request or answer, by its Content-Length."""
        connection.settimeout(20)
        data = b""
        while b"\r\n\r\n" not in data:
            data += connection.recv(65536)
        head, _, body = data.partition(b"\r\n\r\n")
        length = int(re.search(rb"(?i)content-length: *(\d+)", head)[1])
        while len(body) < length:
            body += connection.recv(65536)
        return head + b"\r\n\r\n" + body


def test_a_proxy_that_cuts_signs_nobody_out(app, stack):
    """After the request and after half of the answer, in each pattern; between tries the grace period passes or doesn't."""
    proxy = CuttingProxy(stack.addresses["gateway"])
    try:
        for cuts in itertools.product(["request", "answer"], [0, 61], repeat=2):
            token = app.refresh_token
            for after, seconds in zip(cuts[::2], cuts[1::2]):
                proxy.after = after
                with pytest.raises((http.client.HTTPException, OSError)):
                    refresh_by(proxy.port, token)
                if seconds:
                    passed(app, stack, seconds)
            proxy.after = None
            app.session = refresh_by(proxy.port, token)
            app.get("/me").expect(200)
        assert proxy.cuts == 32
    finally:
        proxy.close()


def refresh_by(port, token):
    """A refresh at a port, on a separate connection; raises an error if the answer is incomplete."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        connection.request(
            "POST", "/auth/refresh", json.dumps({"refresh_token": token}),
            {"content-type": "application/json", "connection": "close"})
        answer = connection.getresponse()
        body = answer.read()
        assert answer.status == 200, body
        return json.loads(body)
    finally:
        connection.close()


def test_a_session_over_its_limit(app, stack):
    moved = stack.sql(f"""
        UPDATE identity.sessions SET expires_at = now() - interval '1 second'
        WHERE session_id = '{app.session["session_id"]}' RETURNING 1;""")
    assert moved == "1"
    app.get("/me").problem(401, "SESSION_EXPIRED")
    app.gateway.post("/auth/refresh", {"refresh_token": app.refresh_token}).problem(401, "SESSION_EXPIRED")


@pytest.mark.parametrize("kind", ["nonsense", "access_token", "id_token", "changed", "cut", "other prefix"])
def test_invalid_refresh_tokens(app, kind):
    good = app.refresh_token
    changed = good[:-1] + ("A" if good[-1] != "A" else "B")
    token = {
        "nonsense": "x", "changed": changed, "cut": good[:-4], "other prefix": good.replace("vrt1_", "vrt2_"),
    }.get(kind) or app.session[kind]
    app.gateway.post("/auth/refresh", {"refresh_token": token}).problem(401, "REFRESH_TOKEN_INVALID")
    # A forged token is not theft: the session stays valid.
    app.refresh().expect(200)


def test_sign_out_by_access_token(app):
    answer = app.post("/auth/sign-out")
    assert answer.status == 204 and answer.content == b""
    app.get("/me").problem(401, "SESSION_REVOKED")
    app.gateway.post("/auth/refresh", {"refresh_token": app.refresh_token}).problem(401, "SESSION_REVOKED")
    # Repeating it succeeds.
    app.post("/auth/sign-out").expect(204)


def test_sign_out_by_refresh_token(app):
    app.gateway.post("/auth/sign-out", {"refresh_token": app.refresh_token}).expect(204)
    app.get("/me").problem(401, "SESSION_REVOKED")


def test_sign_out_of_one_session_leaves_the_others(app, new_app):
    other = new_app(app.person)
    other.sign_in()
    app.post("/auth/sign-out").expect(204)
    other.get("/me").expect(200)


def test_sign_out_with_an_unknown_token(gateway):
    gateway.post("/auth/sign-out").problem(401, "AUTHENTICATION_REQUIRED")
    # RFC 7009 section 2.2: an unknown token is invalid already.
    gateway.post("/auth/sign-out", {"refresh_token": "unknown"}).expect(204)


def test_routes_that_need_a_session(gateway):
    group = "/groups/018f0000-0000-7000-8000-000000000000/members"
    for method, path in [
            ("GET", "/me"), ("PATCH", "/me"), ("GET", "/groups"), ("POST", "/groups"), ("GET", group), ("POST", group)]:
        gateway.send(method, path).problem(401, "AUTHENTICATION_REQUIRED")
        gateway.send(method, path, headers={"Authorization": "Basic dXNlcjpwYXNz"}).problem(
            401, "AUTHENTICATION_REQUIRED")


@pytest.mark.parametrize("token", ["", "x", "a.b.c", "é", "a b", "x" * 9000])
def test_invalid_access_tokens(gateway, token):
    answer = gateway.send("GET", "/me", headers={"Authorization": b"Bearer " + token.encode()})
    answer.problem(401, "ACCESS_TOKEN_INVALID")
    assert 'error="invalid_token"' in answer.headers["WWW-Authenticate"]


@pytest.mark.parametrize("kind", ["id_token", "refresh_token"])
def test_our_other_tokens_are_not_access_tokens(app, kind):
    app.gateway.get("/me", token=app.session[kind]).problem(401, "ACCESS_TOKEN_INVALID")


def test_a_providers_token_is_not_an_access_token(app):
    app.gateway.get("/me", token=app.ask_apple()["identity_token"]).problem(401, "ACCESS_TOKEN_INVALID")


def forge(app, stack, header=None, **claims):
    """The app's access token with other members, signed with the stack's own key."""
    old_header, old_claims = tokens.parts(app.access_token)
    changed = {name: value for name, value in {**old_claims, **claims}.items() if value is not None}
    token = tokens.sign({**old_header, **(header or {})}, changed, tokens.own_key(stack, "signing"))
    stack.confidential.add(token)
    return token


def test_expired_access_token(app, stack):
    now = int(time.time())
    app.gateway.get("/me", token=forge(app, stack, exp=now + 60)).expect(200)
    expired = forge(app, stack, iat=now - 700, exp=now - 100)
    answer = app.gateway.get("/me", token=expired)
    answer.problem(401, "ACCESS_TOKEN_EXPIRED")
    assert 'error="invalid_token"' in answer.headers["WWW-Authenticate"]
    # It still identifies the session to end.
    app.gateway.post("/auth/sign-out", token=expired).expect(204)
    app.get("/me").problem(401, "SESSION_REVOKED")


@pytest.mark.parametrize("change", [
    dict(iss="http://127.0.0.1:1"), dict(aud="another"), dict(sub=None), dict(exp=None), dict(sid="x"),
    dict(header={"typ": "JWT"}), dict(header={"kid": "unknown"}), dict(header={"alg": "none"}),
    dict(header={"alg": "ES384"})], ids=str)
def test_malformed_access_tokens(app, stack, change):
    app.gateway.get("/me", token=forge(app, stack, **change)).problem(401, "ACCESS_TOKEN_INVALID")


def test_access_token_of_a_missing_session(app, stack):
    token = forge(app, stack, sid="018f0000-0000-7000-8000-000000000000")
    app.gateway.get("/me", token=token).problem(401, "SESSION_INVALID")
