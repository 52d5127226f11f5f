"""Calls that end with an error."""

import grpc
import pytest
from google.rpc import error_details_pb2
from grpc_status import rpc_status
from interop_protos import empty_pb2, messages_pb2, test_pb2_grpc

SECONDS = 10


def fail_with(stub, code, message, metadata=()):
    request = messages_pb2.SimpleRequest(response_status=messages_pb2.EchoStatus(code=code, message=message))
    with pytest.raises(grpc.RpcError) as caught:
        stub.UnaryCall(request, timeout=SECONDS, metadata=metadata)
    return caught.value


@pytest.mark.parametrize("code", [code for code in grpc.StatusCode if code != grpc.StatusCode.OK])
def test_every_code(stub, code):
    error = fail_with(stub, code.value[0], "told by the server")
    assert (error.code(), error.details()) == (code, "told by the server")


@pytest.mark.parametrize("message", [
    "",
    "a",
    "100 % of 5 %41 %zz %",
    "Grüße, 世界, 🙂 𝄞",
    "\t\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP 😈\t\n",
    "~ tilde \x7f delete \x01 control",
    " leading and trailing ",
])
def test_messages_arrive_as_they_were(stub, message):
    """grpc-message is percent-encoded; the fifth is `special_status_message` of gRPC's interoperability tests."""
    assert fail_with(stub, grpc.StatusCode.UNKNOWN.value[0], message).details() == message


def test_rich_details(stub):
    error = fail_with(stub, 0, "Zu groß.", metadata=[("x-test-reason", "PAYLOAD_INVALID")])
    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT
    status = rpc_status.from_call(error)
    assert (status.code, status.message) == (3, "Zu groß.")

    info, bad, retry = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest(), error_details_pb2.RetryInfo()
    details = {any.TypeName(): any for any in status.details}
    assert details["google.rpc.ErrorInfo"].Unpack(info)
    assert (info.reason, info.domain) == ("PAYLOAD_INVALID", "vestibule")
    assert details["google.rpc.BadRequest"].Unpack(bad)
    assert [(v.field, v.reason) for v in bad.field_violations] == [("payload", "PAYLOAD_INVALID")]
    assert details["google.rpc.RetryInfo"].Unpack(retry)
    assert retry.retry_delay.ToMilliseconds() == 1500


def test_a_plain_error_has_no_details(stub):
    assert rpc_status.from_call(fail_with(stub, 5, "no such thing")) is None


@pytest.mark.parametrize("path", [
    "/grpc.testing.TestService/NoSuchMethod",
    "/grpc.testing.TestService/emptycall",
    "/grpc.testing.NoSuchService/EmptyCall",
    "/grpc.testing.TestService",
    "/",
    "/a/b/c",
])
def test_unknown_method(channel, path):
    with pytest.raises(grpc.RpcError) as caught:
        channel.unary_unary(path)(b"", timeout=SECONDS)
    assert caught.value.code() == grpc.StatusCode.UNIMPLEMENTED


def test_unimplemented_service(channel):
    """`unimplemented_service` of gRPC's interoperability tests."""
    with pytest.raises(grpc.RpcError) as caught:
        test_pb2_grpc.UnimplementedServiceStub(channel).UnimplementedCall(empty_pb2.Empty(), timeout=SECONDS)
    assert caught.value.code() == grpc.StatusCode.UNIMPLEMENTED


def test_unimplemented_method(stub):
    with pytest.raises(grpc.RpcError) as caught:
        stub.UnimplementedCall(empty_pb2.Empty(), timeout=SECONDS)
    assert caught.value.code() == grpc.StatusCode.UNIMPLEMENTED


def test_a_message_that_is_none_is_refused_and_the_connection_stays(channel, stub):
    call = channel.unary_unary("/grpc.testing.TestService/UnaryCall")
    with pytest.raises(grpc.RpcError) as caught:
        call(b"\xff\xff\xff", timeout=SECONDS)
    # gRPC's servers call it INTERNAL or UNKNOWN, by language.
    assert caught.value.code() in (
        grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN, grpc.StatusCode.INVALID_ARGUMENT)
    assert stub.EmptyCall(empty_pb2.Empty(), timeout=SECONDS) == empty_pb2.Empty()
