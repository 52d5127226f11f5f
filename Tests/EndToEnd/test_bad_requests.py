"""Requests that our apps would never send: each gets a clear error and does no harm."""

import http.client
import json
import socket

import pytest

import curl
import http_client
from other_gateway import another_gateway

GOOD = {"identity_token": "x.y.z", "nonce": "n"}
BODY_BYTES_MAX = 65_536


def post(gateway, body, content_type="application/json", path="/auth/refresh"):
    return gateway.send("POST", path, body=body, headers={"Content-Type": content_type})


@pytest.mark.parametrize("body", [
    b"", b" ", b"{", b"{}x", b"[]", b'"text"', b"null", b"7", b"{'a': 1}", b'{"a": 1,}', b'{"a" 1}', b'{"a": 01}',
    b'{"a": NaN}', b'{"a": .5}', b'{"a": tru}', b'{"a": "\x01"}', b'{"a": "\\x"}', b'{"a": "\\ud800"}',
    b'{"a": "\xff"}', b"\xef\xbb\xbf{}", b'{"a": 1} {"b": 2}', b"a=1&b=2", b"\0", b"[" * 5000, b'{"a":' * 5000,
    b'{"refresh_token": "x", "refresh_token": "x"}', b'{"a": {"b": 1, "b": 2}}', b'{"\\u0061": 1, "a": 2}',
    b'{"a": [' + b"1," * 5000 + b"1]}"], ids=lambda body: repr(body[:24]))
def test_malformed_json(gateway, body):
    post(gateway, body).problem(400, "JSON_MALFORMED")


@pytest.mark.parametrize("path, body, fields", [
    ("/auth/apple", {}, [("identity_token", "REQUIRED")]),
    ("/auth/apple", {"identity_token": "", "nonce": None}, [("identity_token", "REQUIRED")]),
    ("/auth/apple", {"identity_token": 1, "nonce": ["n"]}, [("identity_token", "WRONG_TYPE"), ("nonce", "WRONG_TYPE")]),
    ("/auth/apple", GOOD | {"full_name": 5, "email": {}, "authorization_code": True}, [
        ("authorization_code", "WRONG_TYPE"), ("full_name", "WRONG_TYPE"), ("email", "WRONG_TYPE")]),
    ("/auth/google", {"nonce": "alone"}, [("id_token", "REQUIRED")]),
    ("/auth/google", {"id_token": 1.5, "nonce": 2}, [("id_token", "WRONG_TYPE"), ("nonce", "WRONG_TYPE")]),
    ("/auth/refresh", {"token": "x"}, [("token", "UNKNOWN_FIELD"), ("refresh_token", "REQUIRED")]),
    ("/auth/refresh", {"refresh_token": {"a": 1}}, [("refresh_token", "WRONG_TYPE")]),
    ("/auth/sign-out", {"refresh_token": 5}, [("refresh_token", "WRONG_TYPE")]),
])
def test_wrong_types(gateway, path, body, fields):
    gateway.post(path, body).problem(400, "REQUEST_INVALID", fields)


def test_wrong_types_of_a_user(member):
    member.post("/auth/sign-out-everywhere", {"except_current": 1}).problem(
        400, "REQUEST_INVALID", [("except_current", "WRONG_TYPE")])


def test_a_misspelt_field_is_named_and_nothing_is_changed(member):
    problem = member.save(displayName="Somebody Else").problem(
        400, "REQUEST_INVALID", [("displayName", "UNKNOWN_FIELD")])
    assert problem["fields"][0]["detail"] == "There is no such field here. Did you mean display_name?"
    assert member.get("/me").expect(200)["display_name"] == member.person.name


def test_the_largest_body_and_one_more_byte(gateway):
    def sized(size):
        return json.dumps({"refresh_token": "x"}).encode().ljust(size)

    post(gateway, sized(BODY_BYTES_MAX)).problem(401, "REFRESH_TOKEN_INVALID")
    answer = post(gateway, sized(BODY_BYTES_MAX + 1))
    answer.problem(413, "BODY_TOO_LARGE")
    assert answer.headers["Connection"] == "close"


@pytest.mark.parametrize("length", ["1000000000000", "99999999999999999999999999"])
def test_an_oversize_body_that_is_only_announced(gateway, length):
    answer = gateway.send_bytes(
        b"POST /auth/refresh HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "
        + length.encode() + b"\r\n\r\n{")
    assert answer.status in (400, 413)


@pytest.mark.parametrize("size", [200_000, 4 << 20, 7 << 20])
def test_a_client_that_sends_all_before_it_reads_gets_the_refusal(gateway, size):
    """Python's http.client works like this: it reads no answer before it has sent the whole request."""
    answer = gateway.send(
        "POST", "/auth/refresh", body=b" " * size, headers={"Content-Type": "application/json"})
    answer.problem(413, "BODY_TOO_LARGE")


@pytest.mark.parametrize("version", ["--http1.1", "--http2-prior-knowledge"])
def test_curl_gets_the_refusal(gateway, tmp_path, version):
    file = tmp_path / "body"
    file.write_bytes(b" " * (4 << 20))
    answer = curl.ask(
        f"http://{gateway.address}/auth/refresh", version, "--data-binary", f"@{file}", "--header", "Expect:",
        "--header", "Content-Type: application/json")
    assert answer.status == 413 and answer.json["code"] == "BODY_TOO_LARGE"


def test_an_oversize_body_in_chunks(gateway):
    """Its size is known only as it arrives."""
    chunk = b"1000\r\n" + b" " * 4096 + b"\r\n"
    answer = gateway.send_bytes(
        b"POST /auth/refresh HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        + chunk * 18)
    answer.problem(413, "BODY_TOO_LARGE")


def test_a_good_body_in_chunks(gateway):
    body = b'{"refresh_token": "x"}'
    answer = gateway.send_bytes(
        b"POST /auth/refresh HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        + b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n")
    answer.problem(401, "REFRESH_TOKEN_INVALID")


@pytest.mark.parametrize("content_type", [
    "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/jsonx", "json", ""])
def test_wrong_content_type(gateway, content_type):
    answer = post(gateway, b'{"refresh_token": "x"}', content_type)
    answer.problem(415, "CONTENT_TYPE_UNSUPPORTED")
    assert answer.headers["Accept"] == "application/json"


@pytest.mark.parametrize("content_type", ["application/json; charset=utf-8", "Application/JSON", "application/json ;x=y"])
def test_content_types_that_are_json(gateway, content_type):
    post(gateway, b'{"refresh_token": "x"}', content_type).problem(401, "REFRESH_TOKEN_INVALID")


@pytest.mark.parametrize("method, path", [
    ("GET", "/nothing"), ("POST", "/auth"), ("POST", "/auth/facebook/more"), ("GET", "/me/more"),
    ("DELETE", "/groups/x/y"), ("GET", "/healthz/x"), ("GET", "/../etc/passwd"), ("GET", "/%00"), ("GET", "//healthz"),
    ("GET", "/healthz/"), ("GET", "/./healthz"), ("GET", "/me/../healthz"), ("GET", "/%2e/healthz"),
    ("GET", "/groups/%2e%2e/members"), ("POST", "//auth/refresh"), ("POST", "/auth//refresh"),
    ("POST", "/auth%2Frefresh"), ("OPTIONS", "*")])
def test_unknown_routes(gateway, method, path):
    gateway.send(method, path).problem(404, "ROUTE_NOT_FOUND")


@pytest.mark.parametrize("method, path, allowed", [
    ("GET", "/auth/apple", "POST"), ("GET", "/auth/google", "POST"), ("PUT", "/auth/refresh", "POST"),
    ("DELETE", "/auth/sign-out", "POST"), ("POST", "/me", "DELETE, GET, HEAD, PATCH"), ("PUT", "/me", "DELETE, GET, HEAD, PATCH"),
    ("PUT", "/groups", "GET, HEAD, POST"), ("PATCH", "/groups/x/members", "GET, HEAD, POST"),
    ("POST", "/healthz", "GET, HEAD"), ("POST", "/readyz", "GET, HEAD"),
    ("POST", "/.well-known/jwks.json", "GET, HEAD"), ("OPTIONS", "/me", "DELETE, GET, HEAD, PATCH"),
    ("OPTIONS", "/auth/apple", "POST"), ("HEAD", "/auth/apple", "POST"), ("TRACE", "/healthz", "GET, HEAD"),
    ("PROPFIND", "/groups", "GET, HEAD, POST")])
def test_wrong_methods(gateway, method, path, allowed):
    answer = gateway.send(method, path)
    if method == "HEAD":
        assert (answer.status, answer.content) == (405, b"")
    else:
        answer.problem(405, "METHOD_NOT_ALLOWED")
    assert answer.headers["Allow"] == allowed


@pytest.mark.parametrize("path", ["/me", "/nothing", "/vestibule.profile.v1.ProfileService/GetMe"])
def test_unknown_methods(gateway, path):
    """A problem is returned; the connection stays open."""
    connection = gateway.connect()
    for _ in range(2):
        connection.request("BREW", path, body=b"{}")
        response = connection.getresponse()
        answer = http_client.Answer(response.status, response.headers, response.read())
        answer.problem(501, "METHOD_UNKNOWN")
        assert "close" not in (answer.headers["Connection"] or "")
    connection.close()


@pytest.mark.parametrize("authority", ["a@localhost", "evil@", "::::", "localhost:1:2"])
def test_malformed_authorities(gateway, authority):
    answer = gateway.send_bytes(b"GET /healthz HTTP/1.1\r\nHost: " + authority.encode() + b"\r\n\r\n")
    answer.problem(400, "HOST_MALFORMED")


def test_an_extra_line_behind_a_body(gateway):
    """It is ignored, and the next request is answered too."""
    body = b'{"refresh_token": "x"}'
    with socket.create_connection(gateway.address.rsplit(":", 1), timeout=http_client.SECONDS) as connection:
        for _ in range(2):
            connection.sendall(
                b"POST /auth/refresh HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "
                + str(len(body)).encode() + b"\r\n\r\n" + body + b"\r\n")
            response = http.client.HTTPResponse(connection)
            response.begin()
            assert response.status == 401 and response.read()


@pytest.mark.parametrize("request_bytes", [
    b"nonsense\r\n\r\n", b"GET /healthz HTTP/9.9\r\n\r\n", b"GET /healthz HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: minus one\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + b"X-Long: " + b"x" * 40_000 + b"\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + b"".join(b"X-%d: y\r\n" % n for n in range(500)) + b"\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 50 + b"\r\n\r\n",
    b"BREW /me HTTP/1.1\r\nHost: x\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"], ids=range(9))
def test_bytes_that_are_not_http(gateway, request_bytes):
    """They are refused or the connection is closed; the next connection is served."""
    try:
        assert 400 <= gateway.send_bytes(request_bytes).status < 600
    except (OSError, http.client.HTTPException):
        pass
    gateway.get("/healthz").expect(200)


def test_the_request_id(gateway):
    answer = gateway.get("/healthz", headers={"X-Request-Id": "abc-123.DEF_4"})
    assert answer.headers["X-Request-Id"] == "abc-123.DEF_4"
    made = [gateway.get("/nothing", headers={"X-Request-Id": "no good id"}).headers["X-Request-Id"] for _ in range(2)]
    assert made[0] != made[1] and "no good id" not in made and all(made)


def test_headers_of_every_answer(gateway, app):
    for answer in (gateway.get("/healthz"), gateway.get("/nothing"), app.get("/me"), gateway.post("/auth/refresh", {})):
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]


def test_too_many_requests_of_one_address(stack):
    """A client that tries many tokens is slowed down, and other clients aren't."""
    # A rate that is exceeded however slow this machine is.
    with another_gateway(stack, AUTH_PER_SECOND="1", AUTH_BURST="100") as strict:
        many, other = (http_client.Client(strict.address, source=f"127.8.0.{number}") for number in (1, 2))
        answers = [many.post("/auth/refresh", {"refresh_token": "x"}) for _ in range(150)]
        assert {answer.status for answer in answers[:100]} == {401}, "the burst is larger"
        next(answer for answer in answers[100:] if answer.status != 401).problem(429, "RATE_LIMITED")
        many.get("/healthz").expect(200)
        other.post("/auth/refresh", {"refresh_token": "x"}).problem(401, "REFRESH_TOKEN_INVALID")
        for path in ("//auth/refresh", "/auth//refresh", "/auth/refresh/", "/./auth/refresh"):
            assert many.post(path, {"refresh_token": "x"}).status in (404, 429), "another spelling doesn't avoid the limit"


def test_the_simulators_errors(stack):
    path = "/control/apple/sign-in"
    stack.simulator.post(path, {}).problem(
        400, "REQUEST_INVALID", [("client_id", "REQUIRED"), ("person", "REQUIRED"), ("person.sub", "REQUIRED")])
    stack.simulator.post(path, {"client_id": "a", "person": {"sub": "s"}, "overrides": {"algorithm": "RS1"}}).problem(
        400, "REQUEST_INVALID", [("overrides.algorithm", "INVALID")])
    stack.simulator.post("/control/keys/rotate", {"provider": "nobody"}).problem(
        400, "REQUEST_INVALID", [("provider", "INVALID")])
