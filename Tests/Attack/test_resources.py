"""Connections, calls and file descriptors that run out."""

import pathlib
import os
import resource
import time

import grpc
import pytest

from attacker import Attacker, frame, simple_request
from bystander import Bystander
from hyperframe.frame import DataFrame

EMPTY_CALL = "/grpc.testing.TestService/EmptyCall"
UNARY_CALL = "/grpc.testing.TestService/UnaryCall"


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def call(address, timeout=5):
    with grpc.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1)]) as channel:
        return channel.unary_unary(EMPTY_CALL)(b"", timeout=timeout)


def test_file_descriptors_run_out(start_server):
    with start_server() as server:
        with grpc.insecure_channel(server.address) as channel:
            honest = channel.unary_unary(EMPTY_CALL)
            honest(b"", timeout=5)
            open_now = len(os.listdir(f"/proc/{server.pid}/fd"))
            limits = resource.prlimit(server.pid, resource.RLIMIT_NOFILE)
            resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (open_now + 20, limits[1]))
            attackers = [Attacker(server.port) for _ in range(60)]
            time.sleep(0.2)
            assert len(os.listdir(f"/proc/{server.pid}/fd")) == open_now + 20
            before, start = cpu_seconds(server.pid), time.monotonic()
            while time.monotonic() - start < 1:
                honest(b"", timeout=1)
                time.sleep(0.02)
            assert cpu_seconds(server.pid) - before < 0.4, "it spins"
            # Those that idle make room, for those that wait before it and then for an honest newcomer.
            call(server.address, timeout=15)
            for attacker in attackers:
                attacker.read()
            assert sum(not attacker.ended for attacker in attackers) <= 20
            for attacker in attackers:
                attacker.socket.close()
            call(server.address)


def test_connections_past_the_maximum_wait(start_server):
    with start_server("--connections-max", 8) as server:
        attackers = [Attacker(server.port) for _ in range(8)]
        for attacker in attackers:
            assert attacker.wait(lambda: attacker.frames)
        with pytest.raises(grpc.RpcError) as error:
            call(server.address, timeout=0.5)
        assert error.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED
        attackers[0].socket.close()
        call(server.address)
        for attacker in attackers:
            attacker.socket.close()


def test_handshakes_past_the_maximum_make_room(server):
    begun = [Attacker(server.port, preface=False) for _ in range(700)]
    # Far below the time limit of those that were begun, honest ones are let in.
    call(server.address, timeout=1.8)
    for attacker in begun:
        attacker.read()
    ended = [attacker.ended for attacker in begun]
    assert all(ended[:700 - 512]) and not any(ended[700 - 500:])
    for attacker in begun:
        attacker.socket.close()


def test_calls_past_the_maximum_are_shed(start_server):
    with start_server("--calls-max", 4) as server, Attacker(server.port) as attacker:
        delay = [("x-test-delay-ms", "5000")]
        attacker.send(b"".join(
            attacker.request(stream, body=simple_request(), extra=delay) for stream in (1, 3, 5, 7)))
        time.sleep(0.2)
        start = time.monotonic()
        with pytest.raises(grpc.RpcError) as error:
            call(server.address)
        assert error.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
        assert time.monotonic() - start < 4
        assert attacker.wait(lambda: all(attacker.header(s, "grpc-status") == "0" for s in (1, 3, 5, 7)))
        call(server.address)


def test_streams_past_the_maximum_are_refused(server):
    with Attacker(server.port) as attacker:
        # The server's limit is 256; who has seen it and goes past it breaks the protocol.
        assert attacker.wait(lambda: attacker.frames)
        attacker.send(b"".join(attacker.request(2 * i + 1) for i in range(256)))
        attacker.wait(lambda: False, 0.3)
        assert not attacker.ended
        attacker.send(b"".join(attacker.request(2 * i + 1) for i in range(256, 300)))
        assert attacker.wait(lambda: attacker.ended or attacker.has_ended(2 * 299 + 1))


def test_small_messages_that_nobody_reads(start_server):
    slow = b"\x12\x07\x08\x01\x10\x80\xad\xe2\x04"  # a response of a byte after ten seconds (StreamingOutputCallRequest)
    small = b"\0\0\0\0\0" * 1500
    with start_server("--held-bytes-max", 4 << 20) as server:
        bystander = Bystander(server)
        attackers = [Attacker(server.port) for _ in range(3)]
        for attacker in attackers:
            assert attacker.wait(lambda: attacker.frames)
            for stream in range(1, 80, 2):
                attacker.send(attacker.request(stream, "FullDuplexCall", body=slow, ends=False))
                attacker.send(frame(DataFrame.type, 0, stream, small))
        refused = 0
        for attacker in attackers:
            assert attacker.wait(lambda: attacker.has_ended(79))
            refused += sum(attacker.header(stream, "grpc-status") == "8" for stream in range(1, 80, 2))
        assert refused > 60, "more is held than the server may hold"
        assert not any(attacker.ended for attacker in attackers)
        seen = bystander.report()
        assert seen["errors"] == [] and seen["calls"] > 0
        bystander.close()
        for attacker in attackers:
            attacker.socket.close()
        call(server.address)


def test_a_client_that_cancels_a_fifth_of_its_calls(server):
    with grpc.insecure_channel(server.address, options=[("grpc.use_local_subchannel_pool", 1)]) as channel:
        unary = channel.unary_unary(UNARY_CALL)
        for _ in range(40):
            calls = [
                unary.future(
                    simple_request(100), timeout=10,
                    metadata=[("x-test-delay-ms", "40")] if number % 5 == 0 else []) for number in range(100)]
            time.sleep(0.002)
            for number, one in enumerate(calls):
                if number % 5 == 0:
                    one.cancel()
                else:
                    one.result()


def test_what_is_not_grpc_gets_an_http_answer(server):
    with Attacker(server.port) as client:
        requests = [
            ("GET", "/index.html", [], "404", True), ("GET", UNARY_CALL, [], "405", False),
            ("HEAD", UNARY_CALL, [], "405", False),
            ("POST", UNARY_CALL, [("content-type", "text/plain")], "415", False), ("HEAD", "/", [], "404", False)]
        for number, (method, path, headers, status, has_body) in enumerate(requests):
            stream = 2 * number + 1
            client.send(client.http(stream, method, path, headers))
            assert client.wait(lambda: client.has_ended(stream))
            assert client.header(stream, ":status") == status
            assert client.reset_code(stream) is None
            assert (client.data_bytes(stream) > 0) == has_body
            assert client.header(stream, "allow") == ("POST" if status == "405" else None)
        client.send(frame(0xFA))
        assert not client.ended
