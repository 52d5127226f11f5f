"""TLS and mutual TLS."""

import grpc
import pytest
from interop_protos import empty_pb2, messages_pb2, test_pb2_grpc
from python_stubs import PROJECT
from server_process import ServerProcess

SECONDS = 5


@pytest.fixture(scope="module")
def identity(authority):
    return authority.issue("server", ["DNS:localhost"])


@pytest.fixture(scope="module")
def tls_server(identity):
    with ServerProcess(["--certificate", identity.certificate, "--key", identity.key]) as process:
        yield process


@pytest.fixture(scope="module")
def mutual_server(identity, authority):
    with ServerProcess([
        "--certificate", identity.certificate, "--key", identity.key, "--client-authority", authority.certificate,
    ]) as process:
        yield process


def secure_stub(server, authority, client=None, host="localhost"):
    credentials = grpc.ssl_channel_credentials(
        root_certificates=authority.certificate.read_bytes(),
        private_key=client.key.read_bytes() if client else None,
        certificate_chain=client.certificate.read_bytes() if client else None)
    return test_pb2_grpc.TestServiceStub(grpc.secure_channel(f"{host}:{server.port}", credentials))


def assert_unavailable(stub):
    with pytest.raises(grpc.RpcError) as caught:
        stub.EmptyCall(empty_pb2.Empty(), timeout=SECONDS)
    assert caught.value.code() == grpc.StatusCode.UNAVAILABLE


def test_call(tls_server, authority):
    response = secure_stub(tls_server, authority).UnaryCall(
        messages_pb2.SimpleRequest(response_size=1 << 20), timeout=SECONDS)
    assert len(response.payload.body) == 1 << 20


def test_many_calls(tls_server, authority):
    stub = secure_stub(tls_server, authority)
    calls = [
        stub.UnaryCall.future(messages_pb2.SimpleRequest(response_size=size), timeout=SECONDS) for size in range(500)
    ]
    assert [len(call.result().payload.body) for call in calls] == list(range(500))


def test_the_certificates_of_the_flag(is_reference):
    """`rpc-interop-server --tls` makes certificates and leaves the authority where the README says."""
    if is_reference:
        pytest.skip("the reference has no --tls")
    with ServerProcess(["--tls"]) as process:
        path = PROJECT / ".build/interop-certificates/authority.pem"
        credentials = grpc.ssl_channel_credentials(root_certificates=path.read_bytes())
        for host in ("localhost", "127.0.0.1"):
            with grpc.secure_channel(f"{host}:{process.port}", credentials) as channel:
                stub = test_pb2_grpc.TestServiceStub(channel)
                assert stub.EmptyCall(empty_pb2.Empty(), timeout=SECONDS) == empty_pb2.Empty()


def test_clear_text_is_refused(tls_server):
    with grpc.insecure_channel(tls_server.address) as channel:
        assert_unavailable(test_pb2_grpc.TestServiceStub(channel))


def test_a_client_that_trusts_another_authority_refuses(tls_server, other_authority):
    assert_unavailable(secure_stub(tls_server, other_authority))


def test_a_client_that_wants_another_name_refuses(tls_server, authority):
    assert_unavailable(secure_stub(tls_server, authority, host="127.0.0.1"))


def test_mutual(mutual_server, authority):
    client = authority.issue("client", ["DNS:client.test"])
    response = secure_stub(mutual_server, authority, client).UnaryCall(
        messages_pb2.SimpleRequest(fill_username=True), timeout=SECONDS)
    assert response.username == "client.test"


def test_mutual_without_a_certificate(mutual_server, authority):
    assert_unavailable(secure_stub(mutual_server, authority))


def test_mutual_with_a_foreign_certificate(mutual_server, authority, other_authority):
    client = other_authority.issue("stranger", ["DNS:client.test"])
    assert_unavailable(secure_stub(mutual_server, authority, client))
