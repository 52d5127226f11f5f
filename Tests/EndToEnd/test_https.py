"""HTTPS on the gateway itself: certificate files, both versions of HTTP, certificates that are replaced while it runs."""

import contextlib
import shutil
import signal
import socket
import ssl
import subprocess

import pytest

import curl
import process_table
from certificates import Authority
from other_gateway import another_gateway
from proxies import Way, haproxy
from stack import free_ports, program
from test_proxies import proxy_header

NAME = "gateway.example.com"


class Files:
    """The certificate and key that a gateway is given, and who signed them."""

    def __init__(self, folder):
        self._folder = folder
        self._count = 0
        self.authority = Authority(folder, "authority")
        self.certificate, self.key = folder / "gateway.pem", folder / "gateway.key"
        self.replace()

    def replace(self):
        """Another key and certificate in their places; gives the certificate as clients see it."""
        self._count += 1
        issued = self.authority.issue(f"gateway-{self._count}", [f"DNS:{NAME}", "DNS:localhost", "IP:127.0.0.1"])
        shutil.copy(issued.certificate, self.certificate)
        shutil.copy(issued.key, self.key)
        return ssl.PEM_cert_to_DER_cert(self.certificate.read_text())

    @property
    def keys(self):
        return {
            "TLS_CERTIFICATE_FILE": str(self.certificate), "TLS_KEY_FILE": str(self.key), "STRICT_TRANSPORT": "1h",
            # For its health check.
            "TLS_CA_FILE": str(self.authority.certificate), "TLS_NAME": NAME}

    @property
    def context(self):
        return ssl.create_default_context(cafile=str(self.authority.certificate))


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return Files(tmp_path_factory.mktemp("https"))


@pytest.fixture(scope="module")
def gateway(stack, files):
    with another_gateway(stack, context=files.context, **files.keys) as gateway:
        yield gateway


def ask(gateway, files, path, *options):
    port = gateway.address.rsplit(":", 1)[1]
    return curl.ask(
        f"https://{NAME}:{port}{path}", "--resolve", f"{NAME}:{port}:127.0.0.1", *options,
        authority=files.authority.certificate)


def served(gateway):
    """The certificate that a new connection meets."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    host, port = gateway.address.split(":")
    with socket.create_connection((host, int(port)), timeout=10) as plain, context.wrap_socket(plain) as secure:
        return secure.getpeercert(binary_form=True)


@pytest.mark.parametrize("option, version", [("--http1.1", "1.1"), ("--http1.0", "1.1"), ("--http2", "2")])
@pytest.mark.parametrize("tls", ["--tlsv1.3", "--tls-max=1.2"])
def test_both_versions_by_tls(gateway, files, option, version, tls):
    answer = ask(gateway, files, "/healthz", option, *tls.split("="))
    assert (answer.status, answer.version, answer.json) == (200, version, {"status": "ok"})
    assert answer.headers["strict-transport-security"] == ["max-age=3600"]


def test_without_alpn_it_is_http_1(gateway, files):
    assert ask(gateway, files, "/healthz", "--no-alpn", "--http2").version == "1.1"


def test_a_whole_sign_in(gateway, files, stack, new_app):
    app = new_app()
    app.gateway = gateway
    app.sign_in()
    headers = ["--header", f"Authorization: Bearer {app.access_token}"]
    answer = ask(gateway, files, "/me", "--http2", *headers)
    assert answer.status == 200 and answer.version == "2"
    changed = ask(gateway, files, "/me", "--http2", *headers, "--request", "PATCH", "--json", '{"display_name":"Ana"}')
    assert changed.json["display_name"] == "Ana"


def test_answers_before_the_end_of_a_request_reach_their_client(stack, files, tmp_path):
    # curl loses an answer that comes together with the end of a request whose body it has not sent.
    body = tmp_path / "body"
    body.write_text('{"refresh_token":"' + "x" * 100_000 + '"}')
    with another_gateway(stack, context=files.context, AUTH_PER_SECOND="1", AUTH_BURST="5", **files.keys) as gateway:
        def statuses(count, path, *options):
            return [ask(gateway, files, path, "--http2", *options).status for _ in range(count)]

        refused = statuses(60, "/auth/refresh", "--json", '{"refresh_token":"x"}')
        assert set(refused) == {401, 429} and refused.count(429) >= 40, refused
        assert set(statuses(30, "/auth/refresh", "--json", f"@{body}")) <= {400, 401, 413, 429}
        assert statuses(30, "/me", "--request", "PATCH", "--json", '{"display_name":"Ana"}') == [401] * 30


def test_clear_text_is_not_heard(gateway):
    host, port = gateway.address.split(":")
    for opening in (b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0"):
        with socket.create_connection((host, int(port)), timeout=15) as connection:
            connection.sendall(opening)
            answer = b""
            with contextlib.suppress(ConnectionResetError):
                while part := connection.recv(4096):
                    answer += part
        assert b"HTTP/" not in answer and b"ok" not in answer, answer


def test_tls_1_1_is_refused(gateway, files):
    with pytest.raises(OSError):
        ask(gateway, files, "/healthz", "--tls-max", "1.1", "--ciphers", "DEFAULT@SECLEVEL=0")


def test_its_health_check_speaks_tls(gateway):
    environment = process_table.environment(gateway.process.pid)
    done = subprocess.run(
        [program("gateway"), "healthcheck"], env=environment, capture_output=True, text=True, timeout=30,
        stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_new_certificate_is_read_at_sighup(stack, tmp_path):
    files = Files(tmp_path)
    with another_gateway(stack, context=files.context, **files.keys) as gateway:
        before = served(gateway)
        connection = gateway.connect()
        connection.request("GET", "/healthz")
        connection.getresponse().read()
        open_socket = connection.sock

        after = files.replace()
        assert served(gateway) == before != after
        gateway.process.send_signal(signal.SIGHUP)
        process_table.wait_until(lambda: served(gateway) == after, 10, "the new certificate")
        # Who was there stays.
        connection.request("GET", "/healthz")
        assert connection.getresponse().read() and connection.sock is open_socket
        connection.close()

        # What cannot be used is not taken, and said.
        files.certificate.write_text("nothing\n")
        told = gateway.log.read_text()
        gateway.process.send_signal(signal.SIGHUP)
        process_table.wait_until(lambda: str(files.certificate) in gateway.log.read_text()[len(told):], 10, "a line of it")
        assert served(gateway) == after
        gateway.get("/healthz").expect(200)


@pytest.mark.parametrize("fault", ["no key", "no file", "another key"])
def test_files_that_cannot_be_used_keep_it_from_starting(stack, tmp_path, fault):
    files = Files(tmp_path)
    keys = files.keys
    if fault == "no key":
        keys.pop("TLS_KEY_FILE")
    elif fault == "no file":
        files.certificate.unlink()
    else:
        shutil.copy(files.authority.issue("another", ["DNS:x"]).key, files.key)
    environment = process_table.environment(stack.process_of("gateway"))
    environment |= {"VESTIBULE_GATEWAY_LISTEN": f"127.0.0.1:{free_ports(1)[0]}"}
    environment |= {f"VESTIBULE_GATEWAY_{name}": value for name, value in keys.items()}
    result = subprocess.run(
        [program("gateway"), "serve"], env=environment, capture_output=True, text=True, timeout=30,
        stdin=subprocess.DEVNULL)
    assert result.returncode == 78, result.stderr
    (line,) = [line for line in result.stderr.splitlines() if "warning" not in line]
    assert "VESTIBULE_GATEWAY_TLS_" in line, line


def test_a_proxy_passes_tls_on_with_the_clients_address(stack, files, tmp_path):
    keys = files.keys | {"AUTH_PER_SECOND": "1", "AUTH_BURST": "5", "PROXY_PROTOCOL": "127.0.0.1/32"}
    with another_gateway(stack, source="127.7.9.8", context=files.context, **keys) as gateway:
        way = Way("pass", {"one": gateway.address}, on_server="send-proxy-v2 check-send-proxy check-ssl verify none")
        with haproxy(tmp_path, way) as ((address,), _):
            port = address.rsplit(":", 1)[1]
            statuses = {source: [
                curl.ask(f"https://localhost:{port}/auth/refresh", "--interface", source, "--json", '{"refresh_token":"x"}',
                         authority=files.authority.certificate) for _ in range(count)]
                for source, count in [("127.7.3.1", 15), ("127.7.3.2", 1)]}
        assert [answer.status for answer in statuses["127.7.3.1"]].count(429) >= 1
        assert [(answer.status, answer.version) for answer in statuses["127.7.3.2"]] == [(401, "2")]
        # A header within TLS is no header.
        host, port = gateway.address.split(":")
        with socket.create_connection((host, int(port)), timeout=10, source_address=("127.7.3.3", 0)) as plain, \
                files.context.wrap_socket(plain, server_hostname="localhost") as secure:
            secure.sendall(proxy_header("127.7.3.4", "127.0.0.1") + b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            assert not secure.recv(4096).startswith(b"HTTP/1.1 200")
