"""Calls that succeed."""

import random

import grpc
import pytest
from interop_protos import empty_pb2, messages_pb2

SECONDS = 10
MEGABYTE = 1 << 20


def test_empty_call(stub):
    assert stub.EmptyCall(empty_pb2.Empty(), timeout=SECONDS) == empty_pb2.Empty()


def test_sizes_of_the_standard(stub):
    """`large_unary` of gRPC's interoperability tests."""
    request = messages_pb2.SimpleRequest(
        response_size=314159, payload=messages_pb2.Payload(body=bytes(271828)))
    response = stub.UnaryCall(request, timeout=SECONDS)
    assert response.payload.body == bytes(314159)


def test_every_small_size(stub):
    """Lengths around what varints, frames and buffers count in."""
    for size in [*range(0, 300, 7), 127, 128, 16379, 16380, 16383, 16384, 16385, 65535, 65536, 65537]:
        assert len(stub.UnaryCall(messages_pb2.SimpleRequest(response_size=size), timeout=SECONDS).payload.body) == size


def test_a_megabyte_there_and_back_is_the_same_megabyte(stub):
    body = random.Random(1).randbytes(MEGABYTE)
    request = messages_pb2.SimpleRequest(payload=messages_pb2.Payload(body=body))
    response = stub.UnaryCall(request, timeout=SECONDS, metadata=[("x-test-echo-payload", "1")])
    assert response.payload.body == body


def test_many_megabytes_on_one_connection(stub):
    """More than any flow-control window: credit must be given back both ways."""
    body = bytes(MEGABYTE)
    request = messages_pb2.SimpleRequest(payload=messages_pb2.Payload(body=body), response_size=MEGABYTE)
    for _ in range(40):
        assert len(stub.UnaryCall(request, timeout=SECONDS).payload.body) == MEGABYTE


def test_idempotent_method(stub):
    response = stub.CacheableUnaryCall(messages_pb2.SimpleRequest(response_size=3), timeout=SECONDS)
    assert response.payload.body == bytes(3)


@pytest.mark.parametrize("compression", [grpc.Compression.Gzip, grpc.Compression.NoCompression])
def test_compressed_requests(stub, compression):
    """`client_compressed_unary` of gRPC's interoperability tests, without its probe; then the same on a stream."""
    body = random.Random(2).randbytes(1000) * 100
    request = messages_pb2.SimpleRequest(
        payload=messages_pb2.Payload(body=body), response_size=5,
        expect_compressed=messages_pb2.BoolValue(value=compression == grpc.Compression.Gzip))
    response = stub.UnaryCall(
        request, timeout=SECONDS, compression=compression, metadata=[("x-test-echo-payload", "1")])
    assert response.payload.body == body
    requests = (messages_pb2.StreamingInputCallRequest(payload=request.payload) for _ in range(50))
    response = stub.StreamingInputCall(requests, timeout=SECONDS, compression=compression)
    assert response.aggregated_payload_size == 50 * len(body)


def test_a_request_that_should_be_compressed(stub, is_reference):
    if is_reference:
        pytest.skip("grpcio can't tell")
    request = messages_pb2.SimpleRequest(expect_compressed=messages_pb2.BoolValue(value=True))
    with pytest.raises(grpc.RpcError) as caught:
        stub.UnaryCall(request, timeout=SECONDS)
    assert caught.value.code() == grpc.StatusCode.INVALID_ARGUMENT


def test_compressed_answers(stub):
    """`server_compressed_unary` of gRPC's interoperability tests."""
    for compressed in (True, False):
        request = messages_pb2.SimpleRequest(
            response_size=314159, response_compressed=messages_pb2.BoolValue(value=compressed))
        assert stub.UnaryCall(request, timeout=SECONDS).payload.body == bytes(314159)


def test_what_inflates_past_the_limit_is_refused(stub):
    request = messages_pb2.SimpleRequest(payload=messages_pb2.Payload(body=bytes((4 << 20) + 1)))
    with pytest.raises(grpc.RpcError) as caught:
        stub.UnaryCall(request, timeout=SECONDS, compression=grpc.Compression.Gzip)
    assert caught.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert len(stub.UnaryCall(messages_pb2.SimpleRequest(response_size=3), timeout=SECONDS).payload.body) == 3
