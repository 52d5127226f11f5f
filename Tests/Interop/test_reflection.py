"""Server reflection, as tools without a schema use it."""

import grpc
import pytest
from google.protobuf import descriptor_pool, message_factory
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

SECONDS = 10
SERVICE = "grpc.testing.TestService"


@pytest.fixture
def database(channel):
    return ProtoReflectionDescriptorDatabase(channel)


@pytest.fixture
def pool(database):
    return descriptor_pool.DescriptorPool(database)


def test_services(database, is_reference):
    services = set(database.get_services())
    assert {SERVICE, "grpc.health.v1.Health", "grpc.reflection.v1alpha.ServerReflection"} <= services
    assert is_reference or "grpc.reflection.v1.ServerReflection" in services


def test_a_call_without_a_schema(channel, pool):
    method = pool.FindServiceByName(SERVICE).FindMethodByName("UnaryCall")
    assert not method.client_streaming and not method.server_streaming
    request = message_factory.GetMessageClass(method.input_type)
    response = message_factory.GetMessageClass(method.output_type)
    call = channel.unary_unary(
        f"/{SERVICE}/{method.name}", request_serializer=request.SerializeToString,
        response_deserializer=response.FromString)
    assert call(request(response_size=7), timeout=SECONDS).payload.body == bytes(7)


def test_every_service_describes_itself(database, pool):
    for name in database.get_services():
        service = pool.FindServiceByName(name)
        assert service.full_name == name
        for method in service.methods:
            assert method.input_type.fields is not None and method.output_type.full_name


def test_what_errors_carry_is_described(pool, is_reference):
    """No method names these messages: they come in `grpc-status-details-bin`."""
    if is_reference:
        pytest.skip("grpcio describes only what its services import")
    fields = [field.name for field in pool.FindMessageTypeByName("google.rpc.ErrorInfo").fields]
    assert fields == ["reason", "domain", "metadata"]
    assert pool.FindMessageTypeByName("google.rpc.BadRequest").fields_by_name["field_violations"]
    assert pool.FindMessageTypeByName("google.rpc.RetryInfo").fields_by_name["retry_delay"]
    assert pool.FindMessageTypeByName("google.rpc.Status").fields_by_name["details"]


def test_files_and_symbols(pool):
    message = pool.FindMessageTypeByName("grpc.testing.StreamingOutputCallRequest")
    assert [field.name for field in message.fields] == [
        "response_type", "response_parameters", "payload", "response_status"]
    assert pool.FindFileByName(message.file.name).message_types_by_name["SimpleRequest"]
    with pytest.raises(KeyError):
        pool.FindMessageTypeByName("grpc.testing.NoSuchMessage")
    with pytest.raises(KeyError):
        pool.FindFileByName("no/such.proto")


def test_errors_come_in_turn_and_the_stream_goes_on(channel):
    questions = [
        reflection_pb2.ServerReflectionRequest(file_by_filename="no/such.proto"),
        reflection_pb2.ServerReflectionRequest(file_containing_symbol="no.such.Symbol"),
        reflection_pb2.ServerReflectionRequest(all_extension_numbers_of_type="no.such.Message"),
        reflection_pb2.ServerReflectionRequest(file_containing_extension=reflection_pb2.ExtensionRequest(
            containing_type="grpc.testing.SimpleRequest", extension_number=1)),
        reflection_pb2.ServerReflectionRequest(list_services="*"),
    ]
    answers = list(reflection_pb2_grpc.ServerReflectionStub(channel).ServerReflectionInfo(
        iter(questions), timeout=SECONDS))
    not_found = grpc.StatusCode.NOT_FOUND.value[0]
    assert [answer.error_response.error_code for answer in answers] == [not_found] * 4 + [0]
    assert answers[4].list_services_response.service
    assert [answer.original_request for answer in answers] == questions


def test_version_1(channel, is_reference):
    """The same words in another package: asked by path, as this grpcio has the messages of v1alpha only."""
    if is_reference:
        pytest.skip("grpcio serves v1alpha only")
    call = channel.stream_stream(
        "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
        request_serializer=reflection_pb2.ServerReflectionRequest.SerializeToString,
        response_deserializer=reflection_pb2.ServerReflectionResponse.FromString)
    answer = next(call(iter([reflection_pb2.ServerReflectionRequest(list_services="")]), timeout=SECONDS))
    assert SERVICE in [service.name for service in answer.list_services_response.service]
