"""Bounds on messages."""

import grpc
import pytest
from interop_protos import empty_pb2, messages_pb2, test_pb2_grpc
from server_process import ServerProcess

SECONDS = 10
LIMIT = 100_000


@pytest.fixture(scope="module")
def small_server():
    with ServerProcess(["--message-bytes-max", LIMIT]) as process:
        yield process


@pytest.fixture
def small_stub(small_server):
    with grpc.insecure_channel(small_server.address) as channel:
        yield test_pb2_grpc.TestServiceStub(channel)


def request_of(size):
    """A request that is exactly `size` bytes long."""
    request = messages_pb2.SimpleRequest()
    request.payload.body = bytes(size - 8)
    while request.ByteSize() != size:
        request.payload.body = bytes(len(request.payload.body) + size - request.ByteSize())
    return request


def test_at_the_limit(small_stub):
    assert small_stub.UnaryCall(request_of(LIMIT), timeout=SECONDS).payload.body == b""


@pytest.mark.parametrize("size", [LIMIT + 1, 3 * LIMIT, 30 * LIMIT])
def test_above_the_limit(small_stub, size):
    with pytest.raises(grpc.RpcError) as caught:
        small_stub.UnaryCall(request_of(size), timeout=SECONDS)
    assert caught.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert small_stub.EmptyCall(empty_pb2.Empty(), timeout=SECONDS) == empty_pb2.Empty()


def test_default_limit_is_that_of_grpc(stub):
    assert stub.UnaryCall(request_of(4 << 20), timeout=SECONDS).payload.body == b""
    with pytest.raises(grpc.RpcError) as caught:
        stub.UnaryCall(request_of((4 << 20) + 1), timeout=SECONDS)
    assert caught.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED


def test_a_client_refuses_what_is_too_large_for_it(server):
    options = [("grpc.max_receive_message_length", LIMIT)]
    with grpc.insecure_channel(server.address, options=options) as channel:
        stub = test_pb2_grpc.TestServiceStub(channel)
        with pytest.raises(grpc.RpcError) as caught:
            stub.UnaryCall(messages_pb2.SimpleRequest(response_size=LIMIT + 1), timeout=SECONDS)
        assert caught.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
        assert stub.EmptyCall(empty_pb2.Empty(), timeout=SECONDS) == empty_pb2.Empty()
