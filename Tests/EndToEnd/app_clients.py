"""Clients of `vestibule.app.v1` by each protocol, of other people's making: what comes back is the proto's message, or `Refused`."""

import contextlib
import dataclasses

import grpc
from connectrpc.client import ConnectClientSync
from connectrpc.compat import google_protobuf_binary_codec, google_protobuf_json_codec
from connectrpc.errors import ConnectError
from connectrpc.method import IdempotencyLevel, MethodInfo, StreamType
from connectrpc.protocol import ProtocolType
from google.protobuf import json_format
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status
from pyease_grpc import RpcSession
from pyease_grpc.rpc_trailer import RpcTrailer
from pyqwest import HTTPVersion, SyncClient, SyncHTTPTransport
from python_stubs import PROJECT
from vestibule.app.v1 import account_pb2, auth_pb2, group_pb2, key_pb2

SECONDS = 15
PACKAGE = "vestibule.app.v1"
FILES = {"AuthService": auth_pb2, "AccountService": account_pb2, "GroupService": group_pb2, "KeyService": key_pb2}


@dataclasses.dataclass
class Refused(Exception):
    """A call that was refused, as every protocol tells it."""

    code: str
    message: str
    details: dict

    def __init__(self, code, message, details):
        super().__init__(code, message, details)
        self.code, self.message = code, message
        self.details = {name.rsplit("/", 1)[-1]: value for name, value in details}

    @property
    def reason(self):
        info = error_details_pb2.ErrorInfo.FromString(self.details["google.rpc.ErrorInfo"])
        assert info.domain == "vestibule"
        return info.reason

    @property
    def fields(self):
        bad = error_details_pb2.BadRequest.FromString(self.details.get("google.rpc.BadRequest", b""))
        return [(each.field, each.reason) for each in bad.field_violations]

    @property
    def retry_seconds(self):
        return error_details_pb2.RetryInfo.FromString(self.details["google.rpc.RetryInfo"]).retry_delay.ToTimedelta().total_seconds()


def types(name):
    """(full name of the service, method, request, response) of `AccountService/GetMe`."""
    service, method = name.split("/")
    file = FILES[service]
    return f"{PACKAGE}.{service}", method, getattr(file, f"{method}Request"), getattr(file, f"{method}Response")


class Client:
    """What the clients share: `call("AccountService/GetMe", token, field=value…)`."""

    def call(self, name, token=None, /, **fields):
        request = types(name)[2](**fields)
        headers = {"authorization": f"Bearer {token}"} if token else {}
        return self._call(name, request, headers)


class GRPC(Client):
    """grpcio: gRPC proper, by HTTP/2 with prior knowledge."""

    def __init__(self, address):
        self._channel = grpc.insecure_channel(address)

    def close(self):
        self._channel.close()

    def _call(self, name, request, headers):
        service, method, _, response = types(name)
        call = self._channel.unary_unary(
            f"/{service}/{method}", request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=response.FromString)
        try:
            return call(request, metadata=list(headers.items()), timeout=SECONDS)
        except grpc.RpcError as error:
            status = rpc_status.from_call(error) or status_pb2.Status()
            raise Refused(
                error.code().name, error.details(), [(each.type_url, each.value) for each in status.details]) from None


class ConnectRPC(Client):
    """connectrpc: Connect and gRPC-Web, in JSON or binary, by HTTP/1.1 or HTTP/2."""

    def __init__(self, address, protocol=ProtocolType.CONNECT, json=False, http=HTTPVersion.HTTP1):
        self._client = ConnectClientSync(
            f"http://{address}", codec=google_protobuf_json_codec() if json else google_protobuf_binary_codec(),
            protocol=protocol, send_compression=None, accept_compression=[],
            http_client=SyncClient(SyncHTTPTransport(http_version=http)))

    def close(self):
        self._client.close()

    def _call(self, name, request, headers, **options):
        service, method, _, response = types(name)
        level = IdempotencyLevel.NO_SIDE_EFFECTS if options else IdempotencyLevel.UNKNOWN
        info = MethodInfo(
            name=method, service_name=service, input=type(request), output=response, idempotency_level=level,
            stream_type=StreamType.UNARY)
        try:
            return self._client.execute_unary(
                request=request, method=info, headers=headers, timeout_ms=SECONDS * 1000, **options)
        except ConnectError as error:
            raise Refused(
                error.code.name, error.message,
                [(detail.type_name, detail.message_bytes) for detail in error.details]) from None


class GRPCWeb(Client):
    """pyease-grpc: gRPC-Web by HTTP/1.1. It tells no details of errors."""

    def __init__(self, address):
        self._address = address
        self._stack = contextlib.ExitStack()
        self._sessions = {
            service: self._stack.enter_context(RpcSession.from_file(
                str(PROJECT / f"proto/{file.DESCRIPTOR.name}"), include_paths=[str(PROJECT / "proto")]))
            for service, file in FILES.items()}

    def close(self):
        self._stack.close()

    def _call(self, name, request, headers):
        service, method, _, response = types(name)
        data = json_format.MessageToDict(request)
        try:
            answer = self._sessions[name.split("/")[0]].request(
                f"http://{self._address}/{service}/{method}", data, headers=headers)
        except RpcTrailer as error:
            raise Refused(error.code().name, error.details(), []) from None
        return json_format.ParseDict(answer.single, response())


WAYS = {
    "grpc": GRPC,
    "connect-json-http1": lambda address: ConnectRPC(address, json=True),
    "connect-json-http2": lambda address: ConnectRPC(address, json=True, http=HTTPVersion.HTTP2),
    "connect-binary-http1": ConnectRPC,
    "connect-binary-http2": lambda address: ConnectRPC(address, http=HTTPVersion.HTTP2),
    "grpc-web-http1": lambda address: ConnectRPC(address, protocol=ProtocolType.GRPC_WEB),
    "grpc-web-http2": lambda address: ConnectRPC(address, protocol=ProtocolType.GRPC_WEB, http=HTTPVersion.HTTP2),
    "grpc-web-pyease": GRPCWeb,
}


@contextlib.contextmanager
def client_of(address, way):
    client = WAYS[way](address)
    try:
        yield client
    finally:
        client.close()
