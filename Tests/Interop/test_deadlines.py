"""Calls that end before their handler does."""

import time

import grpc
import pytest
from interop_protos import empty_pb2, messages_pb2

SECONDS = 10


def cancelled_calls(stub):
    _, call = stub.EmptyCall.with_call(empty_pb2.Empty(), timeout=SECONDS)
    return int(dict(call.trailing_metadata())["x-test-cancelled-calls"])


def wait_for_cancelled(stub, count):
    end = time.monotonic() + SECONDS
    while cancelled_calls(stub) < count:
        assert time.monotonic() < end, "the handler was not told"
        time.sleep(0.02)


def test_deadline_passes(stub):
    before = cancelled_calls(stub)
    started = time.monotonic()
    with pytest.raises(grpc.RpcError) as caught:
        stub.UnaryCall(messages_pb2.SimpleRequest(), timeout=0.2, metadata=[("x-test-delay-ms", "20000")])
    assert caught.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED
    assert 0.15 < time.monotonic() - started < 5
    wait_for_cancelled(stub, before + 1)


def test_deadline_that_is_long_enough(stub):
    response = stub.UnaryCall(
        messages_pb2.SimpleRequest(response_size=1), timeout=SECONDS, metadata=[("x-test-delay-ms", "100")])
    assert response.payload.body == bytes(1)


def test_client_cancels(stub):
    before = cancelled_calls(stub)
    call = stub.UnaryCall.future(
        messages_pb2.SimpleRequest(), timeout=60, metadata=[("x-test-delay-ms", "20000")])
    time.sleep(0.2)
    assert call.cancel()
    assert call.code() == grpc.StatusCode.CANCELLED
    wait_for_cancelled(stub, before + 1)


def test_no_deadline(stub):
    assert stub.EmptyCall(empty_pb2.Empty()) == empty_pb2.Empty()
