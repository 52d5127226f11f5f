"""Our part of OTLP's messages is what OpenTelemetry publishes: the same names, numbers, types and method."""

import importlib
import pathlib

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool
from grpc_tools import protoc

PROTOS = pathlib.Path(__file__).resolve().parents[2] / "Sources/OTLP/Protos"
FILES = sorted(str(path.relative_to(PROTOS)) for path in PROTOS.rglob("*.proto"))


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    output = tmp_path_factory.mktemp("otlp") / "set"
    assert protoc.main(["protoc", f"--proto_path={PROTOS}", f"--descriptor_set_out={output}", *FILES]) == 0
    return {file.name: file for file in descriptor_pb2.FileDescriptorSet.FromString(output.read_bytes()).file}


def published(name):
    """The file as the package of PyPI has it."""
    importlib.import_module(name.removesuffix(".proto").replace("/", ".") + "_pb2")
    file = descriptor_pb2.FileDescriptorProto()
    descriptor_pool.Default().FindFileByName(name).CopyToProto(file)
    return file


def expect_part(mine, theirs, place):
    """Every message, field and enum of ours is theirs."""
    messages = {each.name: each for each in theirs.nested_type} if hasattr(theirs, "nested_type") else {
        each.name: each for each in theirs.message_type}
    for message in mine.nested_type if hasattr(mine, "nested_type") else mine.message_type:
        other = messages[message.name]
        fields = {field.number: field for field in other.field}
        for field in message.field:
            found = fields[field.number]
            described = [(each.name, each.type, each.label, each.type_name) for each in (field, found)]
            assert described[0] == described[1], f"{place}.{message.name}"
        expect_part(message, other, f"{place}.{message.name}")
    enums = {each.name: {value.name: value.number for value in each.value} for each in theirs.enum_type}
    for enum in mine.enum_type:
        assert {value.name: value.number for value in enum.value} == enums[enum.name], f"{place}.{enum.name}"


@pytest.mark.parametrize("name", FILES)
def test_messages_are_the_published_ones(ours, name):
    mine, theirs = ours[name], published(name)
    assert mine.package == theirs.package
    expect_part(mine, theirs, mine.package)


def test_a_span_lacks_nothing_that_is_published(ours):
    """What we send of is whole: a field that is added upstream is seen here when the package is raised."""
    name = "opentelemetry/proto/trace/v1/trace.proto"
    for mine, theirs in zip(
            sorted(ours[name].message_type, key=lambda each: each.name),
            (each for each in sorted(published(name).message_type, key=lambda each: each.name)
             if each.name in {message.name for message in ours[name].message_type})):
        assert {field.name for field in mine.field} == {field.name for field in theirs.field}, mine.name


def test_the_method_is_the_published_one(ours):
    name = "opentelemetry/proto/collector/trace/v1/trace_service.proto"
    (mine,), (theirs,) = ours[name].service, published(name).service
    assert mine.name == theirs.name
    assert [(each.name, each.input_type, each.output_type, each.client_streaming, each.server_streaming)
            for each in mine.method] == [
        (each.name, each.input_type, each.output_type, each.client_streaming, each.server_streaming)
        for each in theirs.method]
