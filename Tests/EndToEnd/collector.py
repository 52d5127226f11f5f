"""A collector of another make: grpcio and the published messages of OpenTelemetry (PyPI's opentelemetry-proto)."""

import concurrent.futures
import contextlib
import dataclasses
import threading

import grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc

WORKERS = 8


@dataclasses.dataclass
class Found:
    """A span with the name of the process that made it."""

    service: str
    span: object

    @property
    def trace(self):
        return self.span.trace_id.hex()

    @property
    def attributes(self):
        values = {}
        for attribute in self.span.attributes:
            assert attribute.key not in values, f"said twice: {attribute.key}"
            kind = attribute.value.WhichOneof("value")
            values[attribute.key] = getattr(attribute.value, kind)
        return values


class Collector(trace_service_pb2_grpc.TraceServiceServicer):
    """Keeps what it is sent; `hangs` makes it answer never."""

    def __init__(self, hangs=False):
        self.requests = []
        self.metadata = []
        self._end = threading.Event()
        self._hangs = hangs

    def Export(self, request, context):
        if self._hangs:
            self._end.wait()
            context.abort(grpc.StatusCode.UNAVAILABLE, "the end")
        self.requests.append(request)
        self.metadata.append(dict(context.invocation_metadata()))
        return trace_service_pb2.ExportTraceServiceResponse()

    @property
    def spans(self):
        return [
            Found(next(each.value.string_value for each in group.resource.attributes if each.key == "service.name"), span)
            for request in list(self.requests) for group in request.resource_spans
            for scope in group.scope_spans for span in scope.spans]

    def close(self):
        self._end.set()


@contextlib.contextmanager
def running_collector(hangs=False):
    """A collector and its port."""
    collector = Collector(hangs)
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(WORKERS))
    trace_service_pb2_grpc.add_TraceServiceServicer_to_server(collector, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield collector, port
    finally:
        collector.close()
        server.stop(grace=None).wait()
