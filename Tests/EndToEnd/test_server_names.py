"""The services' ports are for services: no web page reaches them, neither by their protocol nor through a name that it points
at this machine (DNS rebinding)."""

import socket

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

SERVICES = ("identity", "profile", "invites")
REBOUND = "rebound.example"


def check(address, authority):
    """A health check under a name; its code."""
    with grpc.insecure_channel(address, options=[("grpc.default_authority", authority)]) as channel:
        try:
            health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=10)
            return grpc.StatusCode.OK
        except grpc.RpcError as error:
            return error.code()


@pytest.mark.parametrize("name", SERVICES)
def test_names(stack, name):
    address = stack.addresses[name]
    port = address.rsplit(":", 1)[1]
    for authority in (address, f"localhost:{port}", "localhost", f"{name}:{port}", name, f"[::1]:{port}"):
        assert check(address, authority) == grpc.StatusCode.OK, authority
    for authority in (REBOUND, f"{REBOUND}:{port}", f"127.0.0.1.{REBOUND}", f"localhost.{REBOUND}:{port}"):
        assert check(address, authority) != grpc.StatusCode.OK, authority


@pytest.mark.parametrize("name", SERVICES)
def test_a_page_gets_no_answer(stack, name):
    """What `fetch` can send without being asked: HTTP/1.1, under the page's own name or the address."""
    host, port = stack.addresses[name].rsplit(":", 1)
    for authority in (f"{REBOUND}:{port}", f"127.0.0.1:{port}"):
        with socket.create_connection((host, int(port)), timeout=10) as connection:
            connection.sendall(
                f"POST /grpc.health.v1.Health/Check HTTP/1.1\r\nHost: {authority}\r\nContent-Type: application/json\r\n"
                "Origin: http://rebound.example\r\nContent-Length: 2\r\n\r\n{}".encode())
            answer = b""
            while chunk := connection.recv(4096):
                answer += chunk
        assert b"SERVING" not in answer and b"HTTP/1.1 200" not in answer
    # And it did no harm.
    assert check(stack.addresses[name], name) == grpc.StatusCode.OK


def test_the_gateway_takes_any_name(gateway):
    gateway.send("GET", "/healthz", headers={"Host": "api.example.com"}).expect(200)
