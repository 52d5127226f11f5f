"""curl, as people try a method by hand: HTTP/1.1, HTTP/2 by prior knowledge, and both by TLS."""

import gzip
import json
import shutil
import subprocess

import pytest
from server_process import ServerProcess

SECONDS = 10
VERSIONS = {"http1": "--http1.1", "http2": "--http2-prior-knowledge", "tls-http1": "--http1.1", "tls-http2": "--http2"}


@pytest.fixture(autouse=True)
def ours(is_reference):
    if is_reference:
        pytest.skip("the reference speaks gRPC alone")
    if shutil.which("curl") is None:
        pytest.skip("there is no curl")


@pytest.fixture(scope="module")
def tls_server(authority):
    identity = authority.issue("curl-server", ["DNS:localhost"])
    with ServerProcess(["--certificate", identity.certificate, "--key", identity.key]) as process:
        yield process


class Curl:
    def __init__(self, base, *arguments):
        self.base, self.arguments = base, arguments

    def __call__(self, path, *arguments):
        """The status, the version of HTTP and the body."""
        result = subprocess.run(
            ["curl", "--silent", "--show-error", "--max-time", str(SECONDS), "--write-out", "\n%{http_code} %{http_version}",
             *self.arguments, *arguments, self.base + path], capture_output=True, check=True)
        body, _, line = result.stdout.rpartition(b"\n")
        status, version = line.decode().split()
        return int(status), version, body


@pytest.fixture(params=VERSIONS)
def curl(request, server, tls_server, authority):
    version = VERSIONS[request.param]
    if request.param.startswith("tls"):
        return Curl(
            f"https://localhost:{tls_server.port}/grpc.testing.TestService/", version, "--cacert", authority.certificate)
    return Curl(f"http://{server.address}/grpc.testing.TestService/", version)


JSON = ("--header", "content-type: application/json")


def test_post(curl, request):
    status, version, body = curl("UnaryCall", *JSON, "--data", '{"responseSize": 3, "fillServerId": true}')
    assert status == 200
    assert version == ("2" if "http2" in request.node.name else "1.1")
    assert json.loads(body) == {"payload": {"body": "AAAA"}, "serverId": "vestibule"}


def test_an_error(curl):
    status, _, body = curl("UnaryCall", *JSON, "--data", '{"responseStatus": {"code": 5, "message": "gone"}}')
    assert status == 404
    assert json.loads(body) == {"code": "not_found", "message": "gone"}


def test_a_reason_can_be_read(curl):
    status, _, body = curl("UnaryCall", *JSON, "--header", "x-test-reason: PAYLOAD_INVALID", "--data", "{}")
    assert status == 400
    assert json.loads(body)["details"][0]["debug"]["reason"] == "PAYLOAD_INVALID"


def test_get(curl):
    status, _, body = curl("CacheableUnaryCall", "--get", "--data", "encoding=json", "--data-urlencode",
                           'message={"responseSize": 3}')
    assert (status, json.loads(body)) == (200, {"payload": {"body": "AAAA"}})
    assert curl("UnaryCall", "--get", "--data", "encoding=json", "--data-urlencode", "message={}")[0] == 405


def test_compressed(curl, tmp_path):
    file = tmp_path / "request"
    file.write_bytes(gzip.compress(b'{"responseSize": 30000, "responseCompressed": {"value": true}}'))
    status, _, body = curl(
        "UnaryCall", *JSON, "--header", "content-encoding: gzip", "--compressed", "--data-binary", f"@{file}")
    assert status == 200
    assert len(json.loads(body)["payload"]["body"]) == 40000


def test_chunks(curl):
    """A body of unknown length: chunked in HTTP/1.1."""
    chunked = ("--header", "transfer-encoding: chunked") if "--http1.1" in curl.arguments else ()
    status, _, body = curl("UnaryCall", *JSON, *chunked, "--data", '{"responseSize": 3}')
    assert (status, json.loads(body)) == (200, {"payload": {"body": "AAAA"}})


def test_what_is_no_call(curl):
    assert curl("EmptyCall")[0] == 405
    assert curl("EmptyCall", "--request", "POST")[0] == 415
    assert curl("EmptyCall", "--data", "x=1")[0] == 415
    assert curl("NoSuchMethod", *JSON, "--data", "{}")[0] == 404
    assert curl("EmptyCall", *JSON, "--data", "")[0] == 400
    assert curl("EmptyCall", *JSON, "--head", "--request", "HEAD")[0] == 405
