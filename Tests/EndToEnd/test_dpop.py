"""Sessions that are bound to a key (DPoP, RFC 9449): tokens are worth nothing without a proof by the key, and each proof is good once."""

import time

import pytest

import tokens
from bound_app import BoundApp, ProofKey, ProvingClient
from guests import solved
from other_gateway import another_gateway
from passkey_phone import Phone

ME = "/me"
OWN_METHODS = [  # Those that identity judges the token of.
    ("GET", "/auth/sessions"), ("POST", "/auth/sign-out-everywhere"), ("DELETE", "/me"), ("POST", "/auth/passkeys/challenge"),
    ("GET", "/auth/recovery-codes"), ("POST", "/auth/sign-out")]


@pytest.fixture
def bound(stack):
    app = BoundApp(stack)
    app.sign_in()
    return app


def test_tokens_are_bound_to_the_key_of_the_sign_in(bound):
    assert bound.session["token_type"] == "DPoP"
    assert tokens.parts(bound.access_token)[1]["cnf"] == {"jkt": bound.key.thumbprint}
    assert bound.gateway.retries == 1, "the sign-in's own; its answer brought the next nonce"
    assert bound.get(ME).expect(200)["user_id"] == bound.user_id
    assert bound.complete()["display_name"] == bound.person.name
    before = bound.session
    bound.refresh().expect(200)
    assert bound.session["token_type"] == "DPoP" and bound.access_token != before["access_token"]
    assert tokens.parts(bound.access_token)[1]["cnf"] == {"jkt": bound.key.thumbprint}
    assert len(bound.get("/auth/sessions").expect(200)["sessions"]) == 1
    assert bound.gateway.retries == 1
    bound.post("/auth/sign-out").expect(204)
    bound.get(ME).problem(401, "SESSION_REVOKED")


def test_a_session_without_a_proof_is_a_bearer_session(app):
    assert app.session["token_type"] == "Bearer" and "cnf" not in tokens.parts(app.access_token)[1]
    client = ProvingClient(app.gateway)
    assert client.get(ME, token=app.access_token).problem(401, "ACCESS_TOKEN_INVALID")
    for method, path in OWN_METHODS:
        assert client.send(method, path, {} if method == "POST" else None, token=app.access_token).status in (401, 204), path
    app.get(ME).expect(200)
    # A proof beside a bearer token changes nothing.
    assert app.get(ME, headers={"DPoP": "nonsense"}).status == 200
    # Nor does a proof bind a session that is there: its owner could not refresh it any more.
    refreshed = client.post("/auth/refresh", {"refresh_token": app.refresh_token}).expect(200)
    assert refreshed["token_type"] == "Bearer"


def test_a_bound_token_is_no_bearer_token(stack, bound):
    thief = bound.bearer
    thief.get(ME, token=bound.access_token).problem(401, "DPOP_PROOF_REQUIRED")
    for method, path in OWN_METHODS:
        thief.send(method, path, {} if method == "POST" else None, token=bound.access_token).problem(401, "DPOP_PROOF_REQUIRED")
    thief.post("/auth/refresh", {"refresh_token": bound.refresh_token}).problem(401, "DPOP_PROOF_REQUIRED")
    thief.send("POST", "/auth/identities/google", {"id_token": "x"}, token=bound.access_token).problem(401, "DPOP_PROOF_REQUIRED")
    for path in ("/auth/v1/user", "/wp-json/wp/v2/users/me"):
        assert thief.get(path, token=bound.access_token).status in (401, 403), path
    answer = thief.post(
        "/vestibule.app.v1.AccountService/GetMe", {}, token=bound.access_token, headers={"Connect-Protocol-Version": "1"})
    assert answer.status == 401 and "DPOP_PROOF_REQUIRED" in answer.content.decode()
    # All of that ended nothing: a refusal is no use of a token.
    bound.get(ME).expect(200)
    bound.refresh().expect(200)


def test_another_key_is_refused(stack, bound):
    thief = ProvingClient(bound.gateway)
    for _ in range(2):
        # Judged by identity; then by the gateway, by the answer that it keeps.
        thief.get(ME, token=bound.access_token).problem(401, "DPOP_PROOF_REQUIRED")
        bound.get(ME).expect(200)
    for method, path in OWN_METHODS:
        thief.send(method, path, {} if method == "POST" else None, token=bound.access_token).problem(401, "DPOP_PROOF_REQUIRED")
    thief.post("/auth/refresh", {"refresh_token": bound.refresh_token}).problem(401, "DPOP_PROOF_REQUIRED")
    bound.refresh().expect(200)
    bound.get(ME).expect(200)


def test_a_proof_is_good_once_for_its_request_alone(stack, bound):
    bound.get(ME).expect(200)
    proof = bound.proof("GET", ME)
    bound.send_proof("GET", ME, proof).expect(200)
    bound.send_proof("GET", ME, proof).problem(401, "DPOP_PROOF_INVALID")
    assert "used before" in bound.send_proof("GET", ME, proof).json["detail"]
    # One that was refused for something else is good still.
    proof = bound.proof("GET", ME)
    bound.send_proof("GET", ME, proof, token=bound.access_token[:-2] + "AA").problem(401, "DPOP_PROOF_INVALID")
    bound.send_proof("GET", ME, proof).expect(200)
    for wrong in (
            {"htm": "POST"}, {"htu": f"{bound.gateway.base}/groups"}, {"htu": "https://evil.example/me"}, {"ath": None},
            {"ath": "A" * 43}, {"jti": None}, {"iat": "soon"}, {"exp": int(time.time()) - 20},
            {"header": {"typ": "JWT"}}, {"header": {"crit": ["b64"], "b64": False}}):
        answer = bound.send_proof("GET", ME, bound.proof("GET", ME, **wrong))
        answer.problem(401, "DPOP_PROOF_INVALID")
        assert 'error="invalid_dpop_proof"' in answer.headers["WWW-Authenticate"], wrong


def test_a_sign_in_uses_its_proof_too(stack):
    app = BoundApp(stack)
    app.sign_in()
    request = app.ask_apple()
    proof = app.key.proof("POST", f"{app.gateway.base}/auth/apple", app.gateway.nonce)
    app.gateway.send_proof("POST", "/auth/apple", proof, request).expect(200)
    app.gateway.send_proof("POST", "/auth/apple", proof, app.ask_apple()).problem(401, "DPOP_PROOF_INVALID")
    # A repetition gets the same session, but not with another key or without one.
    assert app.gateway.post("/auth/apple", request).expect(200)["token_type"] == "DPoP"
    for thief in (ProvingClient(stack.client()), stack.client()):
        thief.post("/auth/apple", request).problem(401, "DPOP_PROOF_REQUIRED")


def test_a_guest_is_not_opened_again_without_the_key(stack):
    client = ProvingClient(stack.client())
    work = solved(client)
    session = client.post("/auth/guest", {"proof_of_work": work}).expect(200)
    stack.confidential |= {session["access_token"], session["refresh_token"]}
    stack.client().post("/auth/guest", {"proof_of_work": work}).problem(401, "DPOP_PROOF_REQUIRED")
    signed_up = stack.client().post("/auth/v1/signup", {"data": {"stolen": True}, "gotrue_meta_security": {"captcha_token": work}})
    assert signed_up.status >= 400, signed_up
    assert client.post("/auth/guest", {"proof_of_work": work}).expect(200)["session_id"] == session["session_id"]


def test_no_single_token_comes_of_the_credentials_of_a_bound_session(stack):
    app = BoundApp(stack)
    request = app.ask_google()
    app.present("google", request).expect(200)
    # Within a minute the same credentials get the same session, by the dialect of single tokens too.
    answer = app.bearer.post("/api/auth/google", {"identity_token": request["id_token"], "nonce": request["nonce"]})
    assert answer.status == 401 and "token" not in answer.json, answer
    app.get(ME).expect(200)


def test_the_nonce_is_of_this_gateway_and_fresh(stack, bound):
    for nonce in (None, "A" * 43, "x", ""):
        proof = bound.key.proof("GET", bound.gateway.base + ME, nonce, bound.access_token)
        answer = bound.send_proof("GET", ME, proof)
        answer.problem(401, "DPOP_NONCE_REQUIRED")
        assert 'error="use_dpop_nonce"' in answer.headers["WWW-Authenticate"] and len(answer.headers["DPoP-Nonce"]) == 43
    bound.get(ME).expect(200)
    with another_gateway(stack, PUBLIC_URL=bound.gateway.base) as gateway:
        proof = bound.proof("GET", ME)
        elsewhere = gateway.get(ME, headers={"DPoP": proof, "Authorization": f"DPoP {bound.access_token}"})
        elsewhere.problem(401, "DPOP_NONCE_REQUIRED")
        nonce = elsewhere.headers["DPoP-Nonce"]
        proof = bound.key.proof("GET", bound.gateway.base + ME, nonce, bound.access_token)
        headers = {"DPoP": proof, "Authorization": f"DPoP {bound.access_token}"}
        gateway.get(ME, headers=headers).expect(200)
        gateway.get(ME, headers=headers).problem(401, "DPOP_PROOF_INVALID")
        bound.send_proof("GET", ME, proof).problem(401, "DPOP_NONCE_REQUIRED")


def test_without_nonces_a_proof_goes_by_its_time(stack, bound):
    with another_gateway(stack, PUBLIC_URL=bound.gateway.base, DPOP_NONCE="false") as gateway:
        def get(**claims):
            proof = bound.key.proof("GET", bound.gateway.base + ME, None, bound.access_token, **claims)
            return gateway.get(ME, headers={"DPoP": proof, "Authorization": f"DPoP {bound.access_token}"})

        get().expect(200)
        for wrong in (-75, 30):
            get(iat=int(time.time()) + wrong).problem(401, "DPOP_PROOF_INVALID")
        get(jti="one").expect(200)
        get(jti="one").problem(401, "DPOP_PROOF_INVALID")


def test_the_host_that_a_client_names_decides_nothing(bound):
    bound.get(ME).expect(200)
    for named, status in ((bound.gateway.base, 200), ("http://evil.example", 401)):
        proof = bound.key.proof("GET", named + ME, bound.gateway.nonce, bound.access_token)
        answer = bound.gateway.send_proof("GET", ME, proof, token=bound.access_token, headers={"Host": "evil.example"})
        assert answer.status == status


def test_a_request_has_one_proof(bound):
    bound.get(ME).expect(200)
    request = "".join((
        f"GET /me HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: DPoP {bound.access_token}\r\n",
        *(f"DPoP: {bound.proof('GET', ME)}\r\n" for _ in range(2)), "\r\n"))
    bound.gateway.send_bytes(request.encode()).problem(401, "DPOP_PROOF_INVALID")
    without = bound.gateway.send_proof("GET", ME, None, token=bound.access_token)
    without.problem(401, "DPOP_PROOF_REQUIRED")


def test_the_rpcs_take_proofs_as_the_routes_do(bound):
    path = "/vestibule.app.v1.AccountService/GetMe"
    answer = bound.post(path, {}, headers={"Connect-Protocol-Version": "1"})
    assert answer.expect(200)["profile"]["userId"] == bound.user_id and len(answer.headers["DPoP-Nonce"]) == 43
    proof = bound.key.proof("POST", bound.gateway.base + path, None, bound.access_token)
    refused = bound.gateway.send_proof("POST", path, proof, {}, bound.access_token, {"Connect-Protocol-Version": "1"})
    assert refused.status == 401 and "DPOP_NONCE_REQUIRED" in refused.content.decode() and refused.headers["DPoP-Nonce"]


def test_a_guest_and_a_passkey_open_bound_sessions(stack):
    app = BoundApp(stack)
    guest = app.gateway.post("/auth/guest", {"proof_of_work": solved(app.gateway)}).expect(200)
    stack.confidential |= {guest["access_token"], guest["refresh_token"]}
    assert guest["token_type"] == "DPoP"
    app.bearer.get(ME, token=guest["access_token"]).problem(401, "DPOP_PROOF_REQUIRED")
    request = app.ask_apple()
    # Nobody makes the guest's account theirs by the token alone.
    app.bearer.send("POST", "/auth/identities/apple", request, token=guest["access_token"]).problem(401, "DPOP_PROOF_REQUIRED")
    linked = app.gateway.post("/auth/identities/apple", request, token=guest["access_token"]).expect(200)["session"]
    stack.confidential |= {linked["access_token"], linked["refresh_token"], linked.get("id_token", "-")}
    assert linked["token_type"] == "DPoP" and linked["user_id"] == guest["user_id"]
    assert app.gateway.get(ME, token=linked["access_token"]).status == 200


def test_a_guest_is_merged_by_the_key_alone(stack, bound):
    guest = ProvingClient(stack.client(), bound.key)
    session = guest.post("/auth/guest", {"proof_of_work": solved(guest)}).expect(200)
    stack.confidential |= {session["access_token"], session["refresh_token"]}
    thief = BoundApp(stack)
    thief.sign_in()
    body = {"guest_token": session["refresh_token"], "guest": "merge"}
    thief.post("/auth/guest/absorb", body).problem(401, "DPOP_PROOF_REQUIRED")
    assert bound.post("/auth/guest/absorb", body).status in (200, 204)


def test_a_passkey_opens_a_bound_session(stack):
    phone = Phone(stack)
    phone.sign_in()
    phone.register()
    phone.gateway = ProvingClient(phone.gateway)
    session = phone.sign_in_by_passkey()
    assert session["token_type"] == "DPoP"
    phone.get(ME).expect(200)


def test_pages_of_other_origins_may_send_proofs_and_read_nonces(stack):
    with another_gateway(stack, ORIGINS="https://app.example.com") as gateway:
        allowed = gateway.send("OPTIONS", ME, headers={
            "Origin": "https://app.example.com", "Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "dpop"})
        assert "dpop" in allowed.headers["Access-Control-Allow-Headers"].split(", ")
        answer = gateway.get(ME, headers={"Origin": "https://app.example.com", "DPoP": "x", "Authorization": "DPoP x"})
        exposed = answer.headers["Access-Control-Expose-Headers"].split(", ")
        assert {"dpop-nonce", "www-authenticate"} <= set(exposed) and answer.headers["DPoP-Nonce"]


def test_a_key_of_another_kind_is_no_key(bound):
    bound.get(ME).expect(200)
    key = ProofKey()
    private = key._key.as_dict(private=True)
    answer = bound.send_proof("GET", ME, bound.proof("GET", ME, header={"jwk": private}))
    answer.problem(401, "DPOP_PROOF_INVALID")
