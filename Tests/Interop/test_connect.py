"""The clients of connectrpc, which speak Connect, gRPC-Web and gRPC, against the one port that serves them all."""

import dataclasses
import time

import pytest
from connectrpc.client import ConnectClientSync, ResponseMetadata
from connectrpc.code import Code
from connectrpc.compat import google_protobuf_binary_codec, google_protobuf_json_codec
from connectrpc.compression.gzip import GzipCompression
from connectrpc.errors import ConnectError
from connectrpc.method import IdempotencyLevel, MethodInfo, StreamType
from connectrpc.protocol import ProtocolType
from google.rpc import error_details_pb2
from interop_protos import empty_pb2, messages_pb2
from pyqwest import HTTPVersion, SyncClient, SyncHTTPTransport
from server_process import ServerProcess

SECONDS = 10
MEGABYTE = 1 << 20
INITIAL = "x-grpc-test-echo-initial"
ECHOED = "x-grpc-test-echo-trailing-bin"
SERVICE = "grpc.testing.TestService"


@dataclasses.dataclass(frozen=True)
class Way:
    """A way to speak to the server."""

    protocol: ProtocolType
    json: bool
    http: HTTPVersion
    gzip: bool = False

    def __str__(self):
        return "-".join([
            self.protocol.name, "json" if self.json else "proto", "http2" if self.http == HTTPVersion.HTTP2 else "http1",
            *(["gzip"] if self.gzip else [])])


WAYS = [
    Way(protocol, json, http)
    for protocol in ProtocolType for json in (False, True) for http in (HTTPVersion.HTTP1, HTTPVersion.HTTP2)
    # gRPC proper is binary and HTTP/2 with us, as everywhere.
    if protocol != ProtocolType.GRPC or (not json and http == HTTPVersion.HTTP2)
] + [Way(protocol, False, HTTPVersion.HTTP2, gzip=True) for protocol in ProtocolType]
HTTP2_WAYS = [way for way in WAYS if way.http == HTTPVersion.HTTP2]


def method(name, kind, request, response, level=IdempotencyLevel.UNKNOWN, service=SERVICE):
    return MethodInfo(
        name=name, service_name=service, input=request, output=response, idempotency_level=level, stream_type=kind)


EMPTY = method("EmptyCall", StreamType.UNARY, empty_pb2.Empty, empty_pb2.Empty)
UNARY = method("UnaryCall", StreamType.UNARY, messages_pb2.SimpleRequest, messages_pb2.SimpleResponse)
CACHEABLE = method(
    "CacheableUnaryCall", StreamType.UNARY, messages_pb2.SimpleRequest, messages_pb2.SimpleResponse,
    IdempotencyLevel.NO_SIDE_EFFECTS)
OUTPUT = method(
    "StreamingOutputCall", StreamType.SERVER_STREAM, messages_pb2.StreamingOutputCallRequest,
    messages_pb2.StreamingOutputCallResponse)
INPUT = method(
    "StreamingInputCall", StreamType.CLIENT_STREAM, messages_pb2.StreamingInputCallRequest,
    messages_pb2.StreamingInputCallResponse)
DUPLEX = method(
    "FullDuplexCall", StreamType.BIDI_STREAM, messages_pb2.StreamingOutputCallRequest,
    messages_pb2.StreamingOutputCallResponse)


@pytest.fixture(autouse=True)
def ours(is_reference):
    if is_reference:
        pytest.skip("the reference speaks gRPC alone")


def client_of(address, way, **transport):
    gzip = GzipCompression()
    return ConnectClientSync(
        address,
        codec=google_protobuf_json_codec() if way.json else google_protobuf_binary_codec(),
        protocol=way.protocol,
        send_compression=gzip if way.gzip else None,
        accept_compression=[gzip] if way.gzip else [],
        http_client=SyncClient(SyncHTTPTransport(http_version=way.http, **transport)))


@pytest.fixture
def client(server, request):
    with client_of(f"http://{server.address}", request.param) as client:
        client.way = request.param
        yield client


every_way = pytest.mark.parametrize("client", WAYS, indirect=True, ids=str)
every_http2_way = pytest.mark.parametrize("client", HTTP2_WAYS, indirect=True, ids=str)


def unary(client, request=None, **options):
    return client.execute_unary(
        request=request or messages_pb2.SimpleRequest(), method=UNARY, timeout_ms=SECONDS * 1000, **options)


def asked(*sizes, status=None):
    return messages_pb2.StreamingOutputCallRequest(
        response_parameters=[messages_pb2.ResponseParameters(size=size) for size in sizes], response_status=status)


@every_way
def test_unary(client):
    assert client.execute_unary(request=empty_pb2.Empty(), method=EMPTY) == empty_pb2.Empty()
    for size in (0, 1, 100, 16384, 65536, MEGABYTE):
        body = bytes(index % 251 for index in range(size))
        request = messages_pb2.SimpleRequest(
            payload=messages_pb2.Payload(body=body), response_compressed=messages_pb2.BoolValue(value=client.way.gzip))
        assert unary(client, request, headers={"x-test-echo-payload": "1"}).payload.body == body


@every_way
@pytest.mark.parametrize("code", list(Code))
def test_every_code(client, code):
    number = list(Code).index(code) + 1
    message = "Grüße, 世界, 🙂 \"\\ 100 %\t\r\n end"
    request = messages_pb2.SimpleRequest(response_status=messages_pb2.EchoStatus(code=number, message=message))
    with pytest.raises(ConnectError) as caught:
        unary(client, request)
    assert (caught.value.code, caught.value.message) == (code, message)


@every_way
def test_rich_details(client):
    with pytest.raises(ConnectError) as caught:
        unary(client, headers={"x-test-reason": "PAYLOAD_INVALID"})
    assert caught.value.code == Code.INVALID_ARGUMENT
    details = {detail.type_name: detail.message_bytes for detail in caught.value.details}
    info = error_details_pb2.ErrorInfo.FromString(details["google.rpc.ErrorInfo"])
    assert (info.reason, info.domain) == ("PAYLOAD_INVALID", "vestibule")
    retry = error_details_pb2.RetryInfo.FromString(details["google.rpc.RetryInfo"])
    assert retry.retry_delay.ToMilliseconds() == 1500


@every_way
def test_metadata(client):
    with ResponseMetadata() as answer:
        unary(client, headers={INITIAL: "a b", ECHOED: "q6ur"})
    assert answer.headers[INITIAL] == "a b"
    assert answer.trailers[ECHOED] == "q6ur"


@every_way
def test_metadata_of_a_stream(client):
    with ResponseMetadata() as answer:
        list(client.execute_server_stream(request=asked(1), method=OUTPUT, headers={INITIAL: "a b", ECHOED: "q6ur"}))
    assert answer.headers[INITIAL] == "a b"
    assert answer.trailers[ECHOED] == "q6ur"


@every_way
def test_a_deadline_passes(client):
    began = time.monotonic()
    with pytest.raises(ConnectError) as caught:
        client.execute_unary(
            request=messages_pb2.SimpleRequest(), method=UNARY, timeout_ms=200, headers={"x-test-delay-ms": "5000"})
    assert caught.value.code == Code.DEADLINE_EXCEEDED
    assert time.monotonic() - began < 3


@every_way
def test_the_deadline_reaches_the_handler(client):
    with ResponseMetadata() as answer:
        client.execute_unary(request=empty_pb2.Empty(), method=EMPTY, timeout_ms=5000)
    assert answer.trailers["x-test-deadline"] == "some"
    with ResponseMetadata() as answer:
        client.execute_unary(request=empty_pb2.Empty(), method=EMPTY)
    assert answer.trailers["x-test-deadline"] == "none"


@every_way
def test_server_stream(client):
    sizes = [0, 1, 31415, 9, 2653, 58979, MEGABYTE]
    answers = client.execute_server_stream(request=asked(*sizes), method=OUTPUT)
    assert [len(answer.payload.body) for answer in answers] == sizes


@every_way
def test_a_slow_reader_gets_all(client):
    """More than any window and any queue: the server waits for the reader."""
    answers = client.execute_server_stream(request=asked(*[MEGABYTE] * 12), method=OUTPUT)
    count = 0
    for answer in answers:
        time.sleep(0.02)
        count += len(answer.payload.body)
    assert count == 12 * MEGABYTE


@every_way
def test_client_stream(client):
    sizes = [27182, 8, 1828, 45904, 0, MEGABYTE]
    requests = (messages_pb2.StreamingInputCallRequest(payload=messages_pb2.Payload(body=bytes(size))) for size in sizes)
    answer = client.execute_client_stream(request=requests, method=INPUT, timeout_ms=SECONDS * 1000)
    assert answer.aggregated_payload_size == sum(sizes)


@every_way
def test_a_large_client_stream(client):
    requests = (
        messages_pb2.StreamingInputCallRequest(payload=messages_pb2.Payload(body=bytes(MEGABYTE))) for _ in range(12))
    answer = client.execute_client_stream(request=requests, method=INPUT, timeout_ms=3 * SECONDS * 1000)
    assert answer.aggregated_payload_size == 12 * MEGABYTE


@every_http2_way
def test_ping_pong(client):
    """Each answer is there before the next request is made."""
    answers = []

    def requests():
        for index, size in enumerate([31415, 9, 2653, 58979]):
            deadline = time.monotonic() + SECONDS
            while len(answers) < index and time.monotonic() < deadline:
                time.sleep(0.001)
            yield asked(size)

    for answer in client.execute_bidi_stream(request=requests(), method=DUPLEX, timeout_ms=SECONDS * 1000):
        answers.append(len(answer.payload.body))
    assert answers == [31415, 9, 2653, 58979]


@every_way
def test_a_stream_that_fails(client):
    status = messages_pb2.EchoStatus(code=9, message="not so")
    with pytest.raises(ConnectError) as caught:
        list(client.execute_server_stream(request=asked(1, status=status), method=OUTPUT))
    assert (caught.value.code, caught.value.message) == (Code.FAILED_PRECONDITION, "not so")


@every_way
def test_unknown_methods(client):
    for service, name in ((SERVICE, "NoSuchMethod"), ("grpc.testing.NoSuchService", "EmptyCall")):
        for kind, execute in ((StreamType.UNARY, client.execute_unary), (StreamType.SERVER_STREAM, None)):
            unknown = method(name, kind, empty_pb2.Empty, empty_pb2.Empty, service=service)
            with pytest.raises(ConnectError) as caught:
                if execute:
                    execute(request=empty_pb2.Empty(), method=unknown)
                else:
                    list(client.execute_server_stream(request=empty_pb2.Empty(), method=unknown))
            assert caught.value.code == Code.UNIMPLEMENTED


@every_way
def test_a_message_over_the_limit(client):
    request = messages_pb2.SimpleRequest(payload=messages_pb2.Payload(body=bytes(5 * MEGABYTE)))
    with pytest.raises(ConnectError) as caught:
        unary(client, request)
    # Connect's is refused by its length: a client of HTTP/1.1 that writes all before it reads may find the connection closed.
    codes = [Code.RESOURCE_EXHAUSTED] + ([Code.UNAVAILABLE] if client.way.http == HTTPVersion.HTTP1 else [])
    assert caught.value.code in codes
    assert len(unary(client, messages_pb2.SimpleRequest(response_size=3)).payload.body) == 3


@pytest.mark.parametrize("client", [way for way in WAYS if way.protocol == ProtocolType.CONNECT], indirect=True, ids=str)
def test_get(client):
    request = messages_pb2.SimpleRequest(response_size=3, payload=messages_pb2.Payload(body=b"\xff\xfe>?"))
    answer = client.execute_unary(
        request=request, method=CACHEABLE, use_get=True, headers={"x-test-echo-payload": "1"}, timeout_ms=SECONDS * 1000)
    assert answer.payload.body == b"\xff\xfe>?"
    failing = messages_pb2.SimpleRequest(response_status=messages_pb2.EchoStatus(code=5, message="gone"))
    with pytest.raises(ConnectError) as caught:
        client.execute_unary(request=failing, method=CACHEABLE, use_get=True)
    assert (caught.value.code, caught.value.message) == (Code.NOT_FOUND, "gone")
    with pytest.raises(ConnectError) as caught, ResponseMetadata() as answer:
        client.execute_unary(request=request, method=UNARY, use_get=True)
    assert answer.http_status == 405


def test_a_client_that_leaves_cancels_its_call(server):
    """On either version of HTTP, in a unary call and in a stream."""
    def cancelled():
        with client_of(f"http://{server.address}", WAYS[0]) as client, ResponseMetadata() as answer:
            client.execute_unary(request=empty_pb2.Empty(), method=EMPTY)
        return int(answer.trailers["x-test-cancelled-calls"])

    before = cancelled()
    for http in (HTTPVersion.HTTP1, HTTPVersion.HTTP2):
        way = Way(ProtocolType.CONNECT, False, http)
        with client_of(f"http://{server.address}", way) as client:
            slow = messages_pb2.StreamingOutputCallRequest(response_parameters=[
                messages_pb2.ResponseParameters(size=1), messages_pb2.ResponseParameters(size=1, interval_us=30_000_000)])
            answers = client.execute_server_stream(request=slow, method=OUTPUT)
            next(answers)
            answers.close()
    # HTTP/1.1 lets a client close its half of the connection and read on: the server waits for 10 seconds.
    deadline = time.monotonic() + 3 * SECONDS
    while cancelled() < before + 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert cancelled() == before + 2


@pytest.fixture(scope="module")
def tls_server(authority):
    identity = authority.issue("connect-server", ["DNS:localhost"])
    with ServerProcess(["--certificate", identity.certificate, "--key", identity.key]) as process:
        yield process


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_tls(tls_server, authority, way):
    certificate = authority.certificate.read_bytes()
    with client_of(f"https://localhost:{tls_server.port}", way, tls_ca_cert=certificate) as client:
        assert len(unary(client, messages_pb2.SimpleRequest(response_size=MEGABYTE)).payload.body) == MEGABYTE
        answers = client.execute_server_stream(request=asked(1, 100_000), method=OUTPUT)
        assert [len(answer.payload.body) for answer in answers] == [1, 100_000]
