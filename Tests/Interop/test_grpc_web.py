"""gRPC-Web by pyease-grpc, and its text form, which old browsers need, by hand."""

import base64
import struct

import pytest
import requests
from interop_protos import messages_pb2
from pyease_grpc import RpcSession
from pyease_grpc.rpc_trailer import RpcTrailer
from python_stubs import PROJECT

SERVICE = "grpc.testing.TestService"
SECONDS = 10


@pytest.fixture(autouse=True)
def ours(is_reference):
    if is_reference:
        pytest.skip("the reference speaks gRPC alone")


@pytest.fixture(scope="module")
def session():
    with RpcSession.from_file(
            str(PROJECT / "Tests/Interop/proto/grpc/testing/test.proto"),
            include_paths=[str(PROJECT / "Tests/Interop/proto"), str(PROJECT / "proto")]) as session:
        yield session


def call(session, server, name, data, **options):
    uri = f"http://{server.address}/grpc.testing.TestService/{name}"
    return session.request(uri, data, **options)


def test_unary(session, server):
    body = bytes(range(256)) * 40
    answer = call(
        session, server, "UnaryCall", {"payload": {"body": base64.b64encode(body).decode()}},
        headers={"x-test-echo-payload": "1"})
    assert base64.b64decode(answer.single["payload"]["body"]) == body


def test_server_stream(session, server):
    sizes = [1, 31415, 9, 2653]
    answer = call(
        session, server, "StreamingOutputCall", {"responseParameters": [{"size": size} for size in sizes]})
    assert [len(base64.b64decode(payload["payload"]["body"])) for payload in answer.payloads] == sizes


@pytest.mark.parametrize("code", range(1, 17))
def test_every_code(session, server, code):
    with pytest.raises(RpcTrailer) as caught:
        call(session, server, "UnaryCall", {"responseStatus": {"code": code, "message": "told by the server"}})
    assert (caught.value.code().value[0], caught.value.details()) == (code, "told by the server")


def test_a_deadline_passes(server):
    answer = requests.post(
        f"http://{server.address}/{SERVICE}/UnaryCall", timeout=SECONDS, data=envelope(b""),
        headers={"content-type": "application/grpc-web", "grpc-timeout": "50m", "x-test-delay-ms": "5000"})
    assert (answer.status_code, answer.headers["grpc-status"], answer.content) == (200, "4", b"")


def envelope(message, flags=0):
    return struct.pack(">BI", flags, len(message)) + message


def envelopes(body):
    while body:
        flags, length = struct.unpack_from(">BI", body)
        yield flags, body[5:5 + length]
        body = body[5 + length:]


def decoded(text):
    """Pieces of base64, each perhaps with padding."""
    return b"".join(base64.b64decode(text[index:index + 4]) for index in range(0, len(text), 4))


def test_text(server):
    request = messages_pb2.StreamingOutputCallRequest(
        response_parameters=[messages_pb2.ResponseParameters(size=size) for size in (1, 10, 100)])
    answer = requests.post(
        f"http://{server.address}/{SERVICE}/StreamingOutputCall", timeout=SECONDS,
        headers={"content-type": "application/grpc-web-text", "accept": "application/grpc-web-text"},
        data=base64.b64encode(envelope(request.SerializeToString())))
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("application/grpc-web-text")
    found = list(envelopes(decoded(answer.content)))
    messages = [messages_pb2.StreamingOutputCallResponse.FromString(message) for flags, message in found if flags == 0]
    assert [len(message.payload.body) for message in messages] == [1, 10, 100]
    assert found[-1] == (0x80, b"grpc-status: 0\r\n")
