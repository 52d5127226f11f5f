"""Streams, as gRPC's interoperability tests describe them."""

import queue
import time

import grpc
import pytest
from interop_protos import empty_pb2, messages_pb2
from test_deadlines import cancelled_calls, wait_for_cancelled
from test_metadata import ECHOED, INITIAL

SECONDS = 10
REQUEST_SIZES = (27182, 8, 1828, 45904)
RESPONSE_SIZES = (31415, 9, 2653, 58979)


class Requests:
    """Requests that are sent as the test goes on."""

    def __init__(self):
        self._queue = queue.Queue()

    def send(self, payload=0, sizes=(), **fields):
        self._queue.put(request(payload, sizes, **fields))

    def end(self):
        self._queue.put(None)

    def __iter__(self):
        return iter(self._queue.get, None)


def request(payload=0, sizes=(), **fields):
    return messages_pb2.StreamingOutputCallRequest(
        payload=messages_pb2.Payload(body=bytes(payload)),
        response_parameters=[messages_pb2.ResponseParameters(size=size) for size in sizes], **fields)


def sizes_of(responses):
    return [len(response.payload.body) for response in responses]


def inputs(sizes):
    return (messages_pb2.StreamingInputCallRequest(payload=messages_pb2.Payload(body=bytes(size))) for size in sizes)


@pytest.mark.parametrize("sizes", [REQUEST_SIZES, (), (0,) * 1000, (100_000,) * 50])
def test_client_streaming(stub, sizes):
    assert stub.StreamingInputCall(inputs(sizes), timeout=SECONDS).aggregated_payload_size == sum(sizes)


@pytest.mark.parametrize("sizes", [RESPONSE_SIZES, (), (0,) * 1000, (100_000,) * 50])
def test_server_streaming(stub, sizes):
    assert sizes_of(stub.StreamingOutputCall(request(sizes=sizes), timeout=SECONDS)) == list(sizes)


def test_ping_pong(stub):
    requests = Requests()
    responses = stub.FullDuplexCall(iter(requests), timeout=SECONDS)
    for sent, asked in zip(REQUEST_SIZES, RESPONSE_SIZES):
        requests.send(sent, [asked])
        assert sizes_of([next(responses)]) == [asked]
    requests.end()
    assert list(responses) == []
    assert responses.code() == grpc.StatusCode.OK


def test_empty_stream(stub):
    assert list(stub.FullDuplexCall(iter(()), timeout=SECONDS)) == []


def test_half_duplex(stub):
    requests = [request(sent, [asked]) for sent, asked in zip(REQUEST_SIZES, RESPONSE_SIZES)]
    assert sizes_of(stub.HalfDuplexCall(iter(requests), timeout=SECONDS)) == list(RESPONSE_SIZES)


def test_much_both_ways_at_once(stub):
    """More than any window in each direction."""
    requests = (request(20_000, [20_000]) for _ in range(1000))
    assert sum(sizes_of(stub.FullDuplexCall(requests, timeout=3 * SECONDS))) == 20_000_000


def test_a_slow_reader_gets_everything(stub):
    responses = stub.StreamingOutputCall(request(sizes=[50_000] * 60), timeout=SECONDS)
    next(responses)
    time.sleep(0.5)
    assert sizes_of(responses) == [50_000] * 59


def test_status_after_messages(stub):
    requests = [
        request(sizes=[5, 6]),
        request(response_status=messages_pb2.EchoStatus(code=15, message="Verloren: ß")),
    ]
    responses = stub.FullDuplexCall(iter(requests), timeout=SECONDS)
    assert sizes_of([next(responses), next(responses)]) == [5, 6]
    with pytest.raises(grpc.RpcError) as caught:
        next(responses)
    assert (caught.value.code(), caught.value.details()) == (grpc.StatusCode.DATA_LOSS, "Verloren: ß")


def test_custom_metadata(stub):
    requests = Requests()
    call = stub.FullDuplexCall(
        iter(requests), timeout=SECONDS, metadata=[(INITIAL, "test_initial_metadata_value"), (ECHOED, b"\xab\xab\xab")])
    # The head comes before anything was asked.
    assert (INITIAL, "test_initial_metadata_value") in call.initial_metadata()
    requests.send(271828, [314159])
    requests.end()
    assert sizes_of(call) == [314159]
    assert (ECHOED, b"\xab\xab\xab") in call.trailing_metadata()


def test_cancel_after_begin(stub):
    before = cancelled_calls(stub)
    requests = Requests()
    call = stub.StreamingInputCall.future(iter(requests), timeout=SECONDS)
    time.sleep(0.1)
    assert call.cancel()
    assert call.code() == grpc.StatusCode.CANCELLED
    wait_for_cancelled(stub, before + 1)
    requests.end()


def test_cancel_after_first_response(stub):
    before = cancelled_calls(stub)
    requests = Requests()
    call = stub.FullDuplexCall(iter(requests), timeout=SECONDS)
    requests.send(27182, [31415])
    assert sizes_of([next(call)]) == [31415]
    call.cancel()
    assert call.code() == grpc.StatusCode.CANCELLED
    wait_for_cancelled(stub, before + 1)
    requests.end()


def test_timeout_on_sleeping_server(stub):
    requests = Requests()
    requests.send(27182)
    with pytest.raises(grpc.RpcError) as caught:
        list(stub.FullDuplexCall(iter(requests), timeout=0.001))
    assert caught.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED
    requests.end()
    assert stub.EmptyCall(empty_pb2.Empty(), timeout=SECONDS) == empty_pb2.Empty()


def test_many_streams_at_once(stub):
    calls = [stub.StreamingOutputCall(request(sizes=[100] * 50), timeout=3 * SECONDS) for _ in range(100)]
    assert [len(sizes_of(call)) for call in calls] == [50] * 100
