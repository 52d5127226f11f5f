"""grpc.health.v1, as load balancers and grpc_health_probe use it."""

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

SECONDS = 10


@pytest.mark.parametrize("service", ["", "grpc.testing.TestService"])
def test_serving(channel, service):
    stub = health_pb2_grpc.HealthStub(channel)
    response = stub.Check(health_pb2.HealthCheckRequest(service=service), timeout=SECONDS)
    assert response.status == health_pb2.HealthCheckResponse.SERVING


def test_unknown_service(channel):
    with pytest.raises(grpc.RpcError) as caught:
        health_pb2_grpc.HealthStub(channel).Check(
            health_pb2.HealthCheckRequest(service="no.such.Service"), timeout=SECONDS)
    assert caught.value.code() == grpc.StatusCode.NOT_FOUND
