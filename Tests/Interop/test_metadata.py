"""Metadata there and back."""

import grpc
import pytest
from interop_protos import empty_pb2, messages_pb2

SECONDS = 10
INITIAL = "x-grpc-test-echo-initial"
ECHOED = "x-grpc-test-echo-trailing-bin"


def echoed(stub, *entries):
    _, call = stub.UnaryCall.with_call(messages_pb2.SimpleRequest(), timeout=SECONDS, metadata=entries)
    return [value for name, value in call.trailing_metadata() if name == ECHOED]


@pytest.mark.parametrize("value", [
    b"", b"\x00", b"\xab\xab\xab", b"ab", b"abc", b"abcd", bytes(range(256)), b"\xff" * 1000,
])
def test_binary_metadata_comes_back(stub, value):
    """Base64 with and without padding; the third is that of gRPC's interoperability tests."""
    assert echoed(stub, (ECHOED, value)) == [value]


def test_it_comes_with_an_error_too(stub):
    request = messages_pb2.SimpleRequest(response_status=messages_pb2.EchoStatus(code=2, message="no"))
    with pytest.raises(grpc.RpcError) as caught:
        stub.UnaryCall(request, timeout=SECONDS, metadata=[(ECHOED, b"\x01\x02")])
    assert (ECHOED, b"\x01\x02") in caught.value.trailing_metadata()


def test_custom_metadata(stub):
    """`custom_metadata` of gRPC's interoperability tests, unary."""
    request = messages_pb2.SimpleRequest(response_size=314159, payload=messages_pb2.Payload(body=bytes(271828)))
    _, call = stub.UnaryCall.with_call(
        request, timeout=SECONDS, metadata=[(INITIAL, "test_initial_metadata_value"), (ECHOED, b"\xab\xab\xab")])
    assert (INITIAL, "test_initial_metadata_value") in call.initial_metadata()
    assert (ECHOED, b"\xab\xab\xab") in call.trailing_metadata()


def test_an_error_has_a_head_too(stub):
    request = messages_pb2.SimpleRequest(response_status=messages_pb2.EchoStatus(code=2, message="no"))
    with pytest.raises(grpc.RpcError) as caught:
        stub.UnaryCall(request, timeout=SECONDS, metadata=[(INITIAL, "a b")])
    assert (INITIAL, "a b") in caught.value.initial_metadata()


def test_foreign_metadata_is_no_hindrance(stub):
    entries = [(f"x-name-{index}", "v" * index) for index in range(50)]
    assert echoed(stub, *entries, (ECHOED, b"\x07"), ("x-twice", "a"), ("x-twice", "b")) == [b"\x07"]


def test_too_much_metadata_ends_that_call_only(stub):
    running = stub.UnaryCall.future(
        messages_pb2.SimpleRequest(response_size=4), timeout=SECONDS, metadata=[("x-test-delay-ms", "500")])
    with pytest.raises(grpc.RpcError) as caught:
        echoed(stub, *[(f"x-large-{index}", "v" * 4000) for index in range(6)])
    assert caught.value.code() in (grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.INTERNAL)
    assert running.result().payload.body == bytes(4)


def test_absurd_metadata_ends_the_connection_at_most(channel, stub):
    """A header block without end is a flood (CONTINUATION): the server may hang up, and is there for the next one.

    Which error the client reports is its own affair: grpcio may notice only at its deadline that it was hung up on.
    """
    call = channel.unary_unary("/grpc.testing.TestService/EmptyCall")
    with pytest.raises(grpc.RpcError):
        call(b"", timeout=2, metadata=[(f"x-large-{index}", "v" * 4000) for index in range(100)])
    assert stub.EmptyCall(empty_pb2.Empty(), timeout=SECONDS, wait_for_ready=True) == empty_pb2.Empty()
