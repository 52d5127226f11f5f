"""The test server once more, made of grpcio: what it answers is what gRPC itself answers.

The tests run against it first (`pytest --server reference`), so that a test that asks for more than gRPC promises is
seen as such. It takes the arguments of rpc-interop-server, and means the same by them.
"""

import argparse
import math
import signal
import threading
import time
from concurrent import futures

import grpc
from google.protobuf import any_pb2
from google.rpc import error_details_pb2, status_pb2
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection
from grpc_status import rpc_status

from interop_protos import empty_pb2, messages_pb2, test_pb2, test_pb2_grpc

RESPONSE_BYTES_MAX = 16 << 20
# grpcio has no word for a call without a deadline; what is left is beyond this then.
YEAR_SECONDS = 365 * 86400


class TestService(test_pb2_grpc.TestServiceServicer):
    def __init__(self):
        self.cancelled_calls = 0
        self.lock = threading.Lock()

    def StreamingOutputCall(self, request, context):
        self._echo(context)
        yield from self._answers(request, context)

    def StreamingInputCall(self, requests, context):
        self._echo(context)
        return messages_pb2.StreamingInputCallResponse(
            aggregated_payload_size=sum(len(request.payload.body) for request in self._counted(requests, context)))

    def FullDuplexCall(self, requests, context):
        self._echo(context)
        for request in self._counted(requests, context):
            yield from self._answers(request, context)

    def HalfDuplexCall(self, requests, context):
        self._echo(context)
        for request in list(requests):
            yield from self._answers(request, context)

    def _answers(self, request, context):
        if request.response_status.code:
            context.abort(_code(request.response_status.code), request.response_status.message)
        for parameters in request.response_parameters:
            self._wait(parameters.interval_us / 1000, context)
            response = messages_pb2.StreamingOutputCallResponse()
            response.payload.body = bytes(parameters.size)
            yield response

    def _counted(self, requests, context):
        """The requests; counts the call if it is cancelled before they end."""
        try:
            yield from requests
        except Exception:
            with self.lock:
                self.cancelled_calls += 1
            raise

    def _echo(self, context):
        """Sends back what the tests' two headers carry."""
        metadata = dict(context.invocation_metadata())
        initial, trailing = "x-grpc-test-echo-initial", "x-grpc-test-echo-trailing-bin"
        if initial in metadata:
            context.send_initial_metadata(((initial, metadata[initial]),))
        if trailing in metadata:
            context.set_trailing_metadata(((trailing, metadata[trailing]),))

    def EmptyCall(self, request, context):
        context.set_trailing_metadata((
            ("x-test-cancelled-calls", str(self.cancelled_calls)),
            ("x-test-deadline", "some" if (context.time_remaining() or math.inf) < YEAR_SECONDS else "none")))
        return empty_pb2.Empty()

    def UnaryCall(self, request, context):
        metadata = dict(context.invocation_metadata())
        self._wait(int(metadata.get("x-test-delay-ms", 0)), context)
        if request.response_compressed.value:
            context.set_compression(grpc.Compression.Gzip)
        self._echo(context)
        if "x-test-reason" in metadata:
            self._abort_with_details(metadata["x-test-reason"], request, context)
        if request.response_status.code:
            context.abort(_code(request.response_status.code), request.response_status.message)
        if not 0 <= request.response_size <= RESPONSE_BYTES_MAX:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "response_size is out of range")
        response = messages_pb2.SimpleResponse()
        response.payload.body = bytes(request.response_size)
        if metadata.get("x-test-echo-payload") == "1":
            response.payload.body = request.payload.body
        if request.fill_server_id:
            response.server_id = "reference"
        if request.fill_username:
            names = context.auth_context().get("x509_subject_alternative_name", [])
            response.username = names[0].decode() if names else ""
        return response

    CacheableUnaryCall = UnaryCall

    def _wait(self, milliseconds, context):
        end = time.monotonic() + milliseconds / 1000
        while time.monotonic() < end:
            if not context.is_active():
                with self.lock:
                    self.cancelled_calls += 1
                return
            time.sleep(0.005)

    def _abort_with_details(self, reason, request, context):
        info, bad, retry = any_pb2.Any(), any_pb2.Any(), any_pb2.Any()
        info.Pack(error_details_pb2.ErrorInfo(reason=reason, domain="vestibule"))
        violation = error_details_pb2.BadRequest.FieldViolation(
            field="payload", description="The payload is at fault.", reason=reason)
        bad.Pack(error_details_pb2.BadRequest(field_violations=[violation]))
        retry_info = error_details_pb2.RetryInfo()
        retry_info.retry_delay.FromMilliseconds(1500)
        retry.Pack(retry_info)
        status = status_pb2.Status(
            code=grpc.StatusCode.INVALID_ARGUMENT.value[0], message=request.response_status.message,
            details=[info, bad, retry])
        context.abort_with_status(rpc_status.to_status(status))


def _code(number):
    return next(code for code in grpc.StatusCode if code.value[0] == number)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--message-bytes-max", type=int, default=4 << 20)
    parser.add_argument("--certificate")
    parser.add_argument("--key")
    parser.add_argument("--client-authority")
    arguments = parser.parse_args()

    server = grpc.server(
        futures.ThreadPoolExecutor(max_workers=64),
        options=[("grpc.max_receive_message_length", arguments.message_bytes_max)])
    test_pb2_grpc.add_TestServiceServicer_to_server(TestService(), server)
    health_service = health.HealthServicer()
    for name in ("", "grpc.testing.TestService"):
        health_service.set(name, health_pb2.HealthCheckResponse.SERVING)
    health_pb2_grpc.add_HealthServicer_to_server(health_service, server)
    names = [*(service.full_name for service in test_pb2.DESCRIPTOR.services_by_name.values()
               if service.name == "TestService"), health.SERVICE_NAME, reflection.SERVICE_NAME]
    reflection.enable_server_reflection(names, server)
    address = f"127.0.0.1:{arguments.port}"
    if arguments.certificate:
        port = server.add_secure_port(address, _credentials(arguments))
    else:
        port = server.add_insecure_port(address)
    server.start()
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    print(f"listening on 127.0.0.1:{port}", flush=True)
    stop.wait()
    server.stop(grace=5).wait()


def _credentials(arguments):
    def read(path):
        with open(path, "rb") as file:
            return file.read()

    authority = read(arguments.client_authority) if arguments.client_authority else None
    return grpc.ssl_server_credentials(
        [(read(arguments.key), read(arguments.certificate))],
        root_certificates=authority, require_client_auth=authority is not None)


if __name__ == "__main__":
    main()
