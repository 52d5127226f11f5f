"""grpc.health.v1, as load balancers and grpc_health_probe use it."""

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from server_process import ServerProcess

SECONDS = 10
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
SERVICE_UNKNOWN = health_pb2.HealthCheckResponse.SERVICE_UNKNOWN


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


def watch(channel, service):
    return health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest(service=service), timeout=SECONDS)


@pytest.mark.parametrize("service, status", [
    ("", SERVING), ("grpc.testing.TestService", SERVING), ("no.such.Service", SERVICE_UNKNOWN),
])
def test_watch(channel, service, status):
    call = watch(channel, service)
    assert next(call).status == status
    assert call.is_active()
    call.cancel()


def test_a_drain_is_told_and_ends_the_watch(is_reference):
    if is_reference:
        pytest.skip("grpcio's server tells watchers of its end only if it is made to")
    with ServerProcess() as process, grpc.insecure_channel(process.address) as channel:
        call = watch(channel, "grpc.testing.TestService")
        assert next(call).status == SERVING
        process.terminate()
        assert next(call).status == NOT_SERVING
        with pytest.raises(grpc.RpcError) as caught:
            next(call)
        assert caught.value.code() == grpc.StatusCode.UNAVAILABLE
        assert process.wait() == 0
