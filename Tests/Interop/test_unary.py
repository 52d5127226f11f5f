"""Calls that succeed."""

import random

import grpc
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


def test_compressed_request_is_understood_or_refused(channel):
    """gRPC, "Compression": a server that doesn't know the encoding answers UNIMPLEMENTED, never with garbage."""
    call = channel.unary_unary(
        "/grpc.testing.TestService/UnaryCall",
        request_serializer=messages_pb2.SimpleRequest.SerializeToString,
        response_deserializer=messages_pb2.SimpleResponse.FromString)
    request = messages_pb2.SimpleRequest(payload=messages_pb2.Payload(body=bytes(10_000)), response_size=5)
    try:
        response = call(request, timeout=SECONDS, compression=grpc.Compression.Gzip)
        assert response.payload.body == bytes(5)
    except grpc.RpcError as error:
        assert error.code() == grpc.StatusCode.UNIMPLEMENTED
    assert call(request, timeout=SECONDS).payload.body == bytes(5)
