"""A gateway behind Caddy, as compose's profile `https` has it, and behind HAProxy by PROXY protocol v2: whose address limits
count, and what clients see."""

import socket

import grpc
import pytest

import curl
from http_client import Client
from other_gateway import another_gateway
from proxies import Way, caddy, haproxy

# As few as leave room for the questions before: an address is at its end after some, and gets one a second.
STRICT = {"AUTH_PER_SECOND": "1", "AUTH_BURST": "5"}
NAME = "api.example.com"
# Messages of grpc.health.v1.
SERVING, NO_SUCH_SERVICE = b"\x08\x01", b"\x0a\x01x"


def refuse_until_limited(ask, tries=30):
    """Asks until an address is refused; all before were let in."""
    for _ in range(tries):
        status = ask()
        assert status in (401, 429)
        if status == 429:
            return
    raise AssertionError(f"{tries} requests of an address were let in")


@pytest.fixture(scope="module")
def behind_caddy(stack, tmp_path_factory):
    with another_gateway(stack, **STRICT, TRUSTED_PROXIES="127.0.0.1/32", STRICT_TRANSPORT="0s") as gateway:
        folder = tmp_path_factory.mktemp("caddy")
        with caddy(folder, gateway.address, f"localhost, {NAME}") as (https, http, authority):
            def ask(path, *options, name="localhost", scheme="https"):
                port = (https if scheme == "https" else http).rsplit(":", 1)[1]
                return curl.ask(
                    f"{scheme}://{name}:{port}{path}", "--resolve", f"{name}:{port}:127.0.0.1", *options,
                    authority=authority)
            ask.address, ask.authority = f"localhost:{https.rsplit(':', 1)[1]}", authority.read_bytes()
            yield ask


class TestCaddy:
    @pytest.mark.parametrize("name", ["localhost", NAME])
    @pytest.mark.parametrize("option, version", [("--http1.1", "1.1"), ("--http2", "2")])
    def test_both_versions_by_tls(self, behind_caddy, name, option, version):
        answer = behind_caddy("/healthz", option, name=name)
        assert (answer.status, answer.version) == (200, version)
        assert answer.headers["strict-transport-security"] == ["max-age=31536000"]
        assert "server" not in answer.headers and "alt-svc" not in answer.headers

    def test_http_is_sent_on(self, behind_caddy):
        answer = behind_caddy("/me?x=1", name=NAME, scheme="http")
        assert (answer.status, answer.headers["location"]) == (308, [f"https://{NAME}/me?x=1"])
        assert "strict-transport-security" not in answer.headers

    def test_the_gateways_own_rule_of_https_is_the_only_one(self, stack, tmp_path):
        with another_gateway(stack, STRICT_TRANSPORT="1h") as gateway, \
                caddy(tmp_path, gateway.address) as (https, _, authority):
            port = https.rsplit(":", 1)[1]
            answer = curl.ask(f"https://localhost:{port}/healthz", authority=authority)
            (rule,) = answer.headers["strict-transport-security"]
            assert rule.startswith("max-age=3600")

    def test_each_client_has_limits_of_its_own(self, behind_caddy):
        def sign_in(source, forwarded=None):
            made_up = ["--header", f"X-Forwarded-For: {forwarded}"] if forwarded else []
            return behind_caddy(
                "/auth/refresh", "--interface", source, "--json", '{"refresh_token":"x"}', *made_up).status

        refuse_until_limited(lambda: sign_in("127.6.0.1"))
        assert sign_in("127.6.0.2") == 401
        # What a client says itself is nobody's word.
        made_up = iter(range(1, 200))
        refuse_until_limited(lambda: sign_in("127.6.0.3", f"198.51.100.{next(made_up)}"))
        assert sign_in("127.6.0.4", "127.6.0.3") == 401

    def test_grpc_by_tls(self, behind_caddy):
        with grpc.secure_channel(behind_caddy.address, grpc.ssl_channel_credentials(behind_caddy.authority)) as channel:
            check = channel.unary_unary("/grpc.health.v1.Health/Check")
            assert check(b"", timeout=10) == SERVING
            with pytest.raises(grpc.RpcError) as refused:
                check(NO_SUCH_SERVICE, timeout=10)
            assert refused.value.code() == grpc.StatusCode.NOT_FOUND

    def test_bodies_and_answers_pass_whole(self, behind_caddy, app):
        body = '{"display_name": "%s"}' % ("é" * 40)
        answer = behind_caddy(
            "/me", "--http2", "--request", "PATCH", "--json", body, "--header", f"Authorization: Bearer {app.access_token}")
        assert answer.status == 200 and answer.json["display_name"] == "é" * 40


@pytest.fixture(scope="module")
def behind_haproxy(stack, tmp_path_factory):
    """A gateway that takes PROXY headers from HAProxy's address alone, directly and by HAProxy."""
    with another_gateway_of_proxies(stack) as gateway:
        way = Way("pass", {"one": gateway.address}, on_server="send-proxy-v2 check-send-proxy")
        with haproxy(tmp_path_factory.mktemp("haproxy"), way) as ((address,), _):
            yield address, gateway


def another_gateway_of_proxies(stack, **keys):
    """Asked from elsewhere than HAProxy's address, which must say who its clients are."""
    return another_gateway(stack, source="127.7.9.9", **STRICT, PROXY_PROTOCOL="127.0.0.1/32", **keys)


class TestHAProxy:
    def test_each_client_has_limits_of_its_own(self, behind_haproxy):
        address, gateway = behind_haproxy

        def sign_in(source, **headers):
            return Client(address, source=source).post(
                "/auth/refresh", {"refresh_token": "x"}, headers=headers).status

        refuse_until_limited(lambda: sign_in("127.7.0.1"))
        assert sign_in("127.7.0.2") == 401
        made_up = iter(range(1, 200))
        refuse_until_limited(lambda: sign_in("127.7.0.3", **{"X-Forwarded-For": f"198.51.100.{next(made_up)}"}))
        log = gateway.log.read_text()
        assert "127.7.0" not in log, "addresses are people's"

    def test_both_versions_of_http(self, behind_haproxy):
        address, _ = behind_haproxy
        for option, version in [("--http1.1", "1.1"), ("--http2-prior-knowledge", "2")]:
            answer = curl.ask(f"http://{address}/healthz", option)
            assert (answer.status, answer.version) == (200, version)

    def test_who_comes_by_himself_needs_no_header(self, behind_haproxy):
        _, gateway = behind_haproxy
        Client(gateway.address, source="127.7.1.1").get("/healthz").expect(200)

    def test_a_proxy_that_says_nothing_is_not_heard(self, behind_haproxy):
        _, gateway = behind_haproxy
        # From HAProxy's address, as it would be without send-proxy-v2.
        with pytest.raises(OSError):
            Client(gateway.address, source="127.0.0.1").get("/healthz")

    def test_a_stranger_cannot_make_up_an_address(self, behind_haproxy):
        _, gateway = behind_haproxy
        host, port = gateway.address.split(":")
        header = proxy_header("127.7.2.2", "127.0.0.1")
        with socket.create_connection((host, int(port)), timeout=10, source_address=("127.7.2.1", 0)) as connection:
            connection.sendall(header + b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            answer = b""
            while part := connection.recv(4096):
                answer += part
        assert not answer.startswith(b"HTTP/1.1 200"), answer


def proxy_header(source, destination):
    """A header of PROXY protocol v2 for TCP over IPv4."""
    addresses = socket.inet_aton(source) + socket.inet_aton(destination) + (4711).to_bytes(2) + (80).to_bytes(2)
    return b"\r\n\r\n\0\r\nQUIT\n" + b"\x21\x11" + len(addresses).to_bytes(2) + addresses
