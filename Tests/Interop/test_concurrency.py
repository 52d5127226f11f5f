"""Many calls, and servers that come and go."""

import time

import grpc
import pytest
from interop_protos import empty_pb2, messages_pb2, test_pb2_grpc
from server_process import ServerProcess

SECONDS = 30


def test_many_calls_at_once_on_one_channel(stub):
    calls = [
        stub.UnaryCall.future(messages_pb2.SimpleRequest(response_size=index), timeout=SECONDS)
        for index in range(2000)
    ]
    assert [len(call.result().payload.body) for call in calls] == list(range(2000))


def test_slow_calls_do_not_hold_up_quick_ones(stub):
    slow = [
        stub.UnaryCall.future(messages_pb2.SimpleRequest(), timeout=SECONDS, metadata=[("x-test-delay-ms", "4000")])
        for _ in range(20)
    ]
    for _ in range(50):
        stub.EmptyCall(empty_pb2.Empty(), timeout=SECONDS)
    assert not any(call.done() for call in slow)
    for call in slow:
        call.result()


def test_large_and_small_calls_share_a_connection(stub):
    large = [
        stub.UnaryCall.future(messages_pb2.SimpleRequest(response_size=1 << 20), timeout=SECONDS) for _ in range(16)
    ]
    small = [stub.UnaryCall.future(messages_pb2.SimpleRequest(response_size=9), timeout=SECONDS) for _ in range(200)]
    assert all(len(call.result().payload.body) == 9 for call in small)
    assert all(len(call.result().payload.body) == 1 << 20 for call in large)


def test_many_connections(server):
    """Each its own subchannel, as channels with equal options share one otherwise."""
    channels = [
        grpc.insecure_channel(server.address, options=[("grpc.use_local_subchannel_pool", 1)]) for _ in range(30)
    ]
    stubs = [test_pb2_grpc.TestServiceStub(channel) for channel in channels]
    calls = [stub.EmptyCall.future(empty_pb2.Empty(), timeout=SECONDS) for stub in stubs for _ in range(10)]
    assert all(call.result() == empty_pb2.Empty() for call in calls)
    for channel in channels:
        channel.close()


def test_a_stopping_server_finishes_its_calls():
    with ServerProcess() as process, grpc.insecure_channel(process.address) as channel:
        stub = test_pb2_grpc.TestServiceStub(channel)
        stub.EmptyCall(empty_pb2.Empty(), timeout=SECONDS)
        running = stub.UnaryCall.future(
            messages_pb2.SimpleRequest(response_size=7), timeout=SECONDS, metadata=[("x-test-delay-ms", "1000")])
        time.sleep(0.3)
        process.terminate()
        assert running.result().payload.body == bytes(7)
        assert process.wait() == 0
        with pytest.raises(grpc.RpcError) as caught:
            stub.EmptyCall(empty_pb2.Empty(), timeout=SECONDS)
        assert caught.value.code() == grpc.StatusCode.UNAVAILABLE


def test_a_channel_finds_the_server_again():
    options = [("grpc.initial_reconnect_backoff_ms", 100), ("grpc.max_reconnect_backoff_ms", 200)]
    first = ServerProcess()
    with grpc.insecure_channel(first.address, options=options) as channel:
        stub = test_pb2_grpc.TestServiceStub(channel)
        stub.EmptyCall(empty_pb2.Empty(), timeout=SECONDS)
        first.kill()
        with pytest.raises(grpc.RpcError) as caught:
            stub.EmptyCall(empty_pb2.Empty(), timeout=SECONDS)
        assert caught.value.code() == grpc.StatusCode.UNAVAILABLE
        with ServerProcess(["--port", first.port]):
            stub.EmptyCall(empty_pb2.Empty(), timeout=SECONDS, wait_for_ready=True)
