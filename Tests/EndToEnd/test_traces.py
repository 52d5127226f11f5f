"""Traces, as another vendor's collector gets them: their content, what must not be in them, and bad collectors."""

import re
import secrets
import subprocess
import time

import pytest

import process_table
from app import App
from collector import running_collector
from metrics import Metrics
from stack import MEASURED, clean_environment, free_ports, new_stack, program

SERVER, CLIENT, PRODUCER = 2, 3, 4
ERROR = 2
API_KEY = "a key that nobody prints"
# The allowed attributes of a span. Before adding one, check that it can't contain personal data.
ATTRIBUTES = {
    "db.query.summary", "db.query.text", "db.response.status_code", "db.system.name", "error.type", "http.request.method",
    "http.response.status_code", "http.route", "rpc.grpc.status_code", "rpc.method", "rpc.service", "rpc.system",
    "server.address", "server.port", "url.path", "url.scheme"}


@pytest.fixture(scope="module")
def traced():
    """A stack that sends its traces to a collector, with identity in each request."""
    with running_collector() as (collector, port), new_stack(
            VESTIBULE_GATEWAY_CHECK="row", VESTIBULE_LOG_LEVEL="trace", OTEL_EXPORTER_OTLP_ENDPOINT=f"http://127.0.0.1:{port}",
            OTEL_EXPORTER_OTLP_HEADERS=f"api-key={API_KEY.replace(' ', '%20')}", OTEL_BSP_SCHEDULE_DELAY="50",
            OTEL_EXPORTER_OTLP_COMPRESSION="gzip", OTEL_RESOURCE_ATTRIBUTES="deployment.environment.name=test") as stack:
        stack.confidential.add(API_KEY)
        stack.start()
        yield stack, collector
        assert stack.stop() == 0, stack.output
        stack.expect_no_confidences()


def trace_of(collector, is_complete, trace=None, route=None):
    """The spans of a trace, by its id or the name of its first request, once they are complete."""
    def spans():
        found = trace or next((each.trace for each in collector.spans if each.span.name == route), None)
        spans = [each for each in collector.spans if each.trace == found]
        return spans if is_complete(spans) else None

    return process_table.wait_until(spans, 20, lambda: f"the trace; there are {[each.span.name for each in collector.spans]}")


def new_parent(sampled="01"):
    trace, span = secrets.token_hex(16), secrets.token_hex(8)
    return trace, span, f"00-{trace}-{span}-{sampled}"


def one(spans, service, kind, name):
    found = [each for each in spans if (each.service, each.span.kind, each.span.name) == (service, kind, name)]
    assert len(found) == 1, [(each.service, each.span.kind, each.span.name) for each in spans]
    return found[0]


def test_a_sign_in_is_one_trace(traced):
    stack, collector = traced
    app = App(stack)
    app.sign_in()
    sign_in = "vestibule.identity.v1.IdentityService/SignIn"
    spans = trace_of(
        collector, route="POST /auth/apple",
        is_complete=lambda spans: {each.service for each in spans if each.span.kind == SERVER} == {
            "vestibule-gateway", "vestibule-identity", "vestibule-profile"})
    request = one(spans, "vestibule-gateway", SERVER, "POST /auth/apple")
    call = one(spans, "vestibule-gateway", CLIENT, sign_in)
    answer = one(spans, "vestibule-identity", SERVER, sign_in)
    statements = [each for each in spans if each.span.parent_span_id == answer.span.span_id]
    assert request.span.parent_span_id == b""
    assert call.span.parent_span_id == request.span.span_id
    assert answer.span.parent_span_id == call.span.span_id
    assert statements
    for statement in statements:
        assert (statement.service, statement.span.kind) == ("vestibule-identity", CLIENT)
        assert statement.attributes["db.system.name"] == "postgresql"
        assert answer.span.start_time_unix_nano <= statement.span.start_time_unix_nano
        assert statement.span.end_time_unix_nano <= answer.span.end_time_unix_nano
    assert request.attributes == {
        "http.request.method": "POST", "http.route": "/auth/apple", "url.path": "/auth/apple", "url.scheme": "http",
        "http.response.status_code": 200}
    host, port = stack.addresses["identity"].split(":")
    assert answer.attributes == {
        "rpc.system": "grpc", "rpc.service": "vestibule.identity.v1.IdentityService", "rpc.method": "SignIn",
        "rpc.grpc.status_code": 0, "server.address": host, "server.port": int(port)}
    assert call.attributes == answer.attributes
    assert [each for each in spans if each.span.status.code == ERROR] == []
    # The log of each has the trace.
    for name in ("gateway", "identity"):
        assert request.trace in stack.logs()[f"{name}.log"]
    process = next(group for sent in collector.requests for group in sent.resource_spans).resource
    said = {each.key: each.value.string_value for each in process.attributes}
    assert said["deployment.environment.name"] == "test" and said["telemetry.sdk.language"] == "swift"
    assert all(metadata["api-key"] == API_KEY for metadata in collector.metadata)


def test_an_event_is_in_the_trace_of_its_write(traced):
    """From the save of a number to the group that its user joins, at another service."""
    stack, collector = traced
    app = App(stack)
    app.sign_in()
    trace, _, header = new_parent()
    change = {"display_name": app.person.name, "phone_number": app.person.phone}
    app.gateway.patch("/me", change, token=app.access_token, headers={"traceparent": header}).expect(200)
    applied = "vestibule.invites.v1.InvitesService/ApplyPhoneEvents"
    spans = trace_of(
        collector, lambda spans: {("vestibule-invites", SERVER), ("vestibule-profile", PRODUCER)} <= {
            (each.service, each.span.kind) for each in spans}, trace=trace)
    save = one(spans, "vestibule-profile", SERVER, "vestibule.profile.v1.ProfileService/UpdateProfile")
    told = one(spans, "vestibule-profile", PRODUCER, "work phone_events")
    call = one(spans, "vestibule-profile", CLIENT, applied)
    assert told.span.parent_span_id == save.span.span_id and call.span.parent_span_id == told.span.span_id
    assert one(spans, "vestibule-invites", SERVER, applied).span.parent_span_id == call.span.span_id


def test_a_callers_trace_is_continued(traced):
    stack, collector = traced
    app = App(stack)
    app.sign_in()
    trace, parent, header = new_parent()
    app.get("/me", headers={"traceparent": header}).expect(200)
    # The gateway's own span ends last.
    spans = trace_of(
        collector,
        lambda spans: len({each.service for each in spans}) == 3 and any(
            (each.service, each.span.kind) == ("vestibule-gateway", SERVER) for each in spans),
        trace=trace)
    assert one(spans, "vestibule-gateway", SERVER, "GET /me").span.parent_span_id.hex() == parent
    ids = {each.span.span_id for each in spans}
    assert all(each.span.parent_span_id in ids or each.span.parent_span_id.hex() == parent for each in spans)
    # A caller's flag that the trace isn't sampled is respected: its calls are in no trace.
    quiet, _, header = new_parent(sampled="00")
    app.get("/me", headers={"traceparent": header}).expect(200)
    trace, _, header = new_parent()
    app.get("/me", headers={"traceparent": header}).expect(200)
    trace_of(collector, lambda spans: len({each.service for each in spans}) == 3, trace=trace)
    assert not [each for each in collector.spans if each.trace == quiet]
    assert quiet in stack.logs()["identity.log"], "but the log has it"


def test_spans_contain_no_personal_data(traced):
    """Whatever is done and refused: no span contains ids, tokens, names, numbers or e-mails."""
    stack, collector = traced
    app, other = App(stack), App(stack)
    app.sign_in()
    other.sign_in("google")
    app.complete()
    other.save(phone_number=app.person.phone).problem(409, "PHONE_TAKEN", [("phone_number", "PHONE_TAKEN")])
    group = app.create_group()
    app.invite(other.person, group)
    app.members(group)
    app.refresh().expect(200)
    app.get(f"/groups/{group}/members?page_size=5").expect(200)
    app.gateway.get("/me", token="a.b.c").problem(401, "ACCESS_TOKEN_INVALID")
    app.get(f"/{app.person.email}")
    app.gateway.send("BREW", "/me")
    app.gateway.get("/readyz").expect(200)
    trace, _, header = new_parent()
    app.get(f"/groups/{group}/members", headers={"traceparent": header}).expect(200)
    # The gateway's own span ends last.
    spans = trace_of(
        collector,
        lambda spans: len({each.service for each in spans}) == 4 and any(
            (each.service, each.span.kind) == ("vestibule-gateway", SERVER) for each in spans),
        trace=trace)
    assert one(spans, "vestibule-gateway", SERVER, "GET /groups/{group_id}/members").attributes["url.path"] == "/groups/{group_id}/members"
    time.sleep(0.5)
    everything = collector.spans
    assert {each.service for each in everything} == {f"vestibule-{name}" for name in MEASURED}
    told = "\n".join(str(each.span) for each in everything)
    for secret in stack.confidential | {app.user_id, group, app.person.email, app.access_token, app.refresh_token}:
        assert secret not in told
    for each in everything:
        assert set(each.attributes) <= ATTRIBUTES, each
        assert not re.search(r"[0-9a-f]{8}-[0-9a-f]{4}-", str(each.attributes)), each
    assert {each.attributes["http.request.method"] for each in everything if each.span.name == "HTTP"} <= {"_OTHER"}
    # Polling, health checks and the exporter's own calls are in no trace.
    assert not [each for each in everything if re.search("Health|TraceService|healthz|readyz", each.span.name)]
    assert not [each for each in everything if each.attributes.get("db.system.name") and not each.span.parent_span_id]
    spans_told = Metrics(stack.metrics_addresses["identity"])
    assert spans_told.sum("vestibule_trace_spans_total", outcome="exported") > 10
    assert spans_told.sum("vestibule_trace_spans_total", outcome="dropped") == 0


@pytest.mark.parametrize("name", MEASURED)
def test_an_unsupported_protocol_is_refused(name):
    environment = {**clean_environment(), "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
                   "OTEL_EXPORTER_OTLP_HEADERS": f"no pair of {API_KEY}", "VESTIBULE_LOG_LEVEL": "loud"}
    ended = subprocess.run([program(name), "serve"], env=environment, capture_output=True, text=True, timeout=30)
    assert ended.returncode == 78
    lines = ended.stderr.splitlines()
    assert (f"{name}: OTEL_EXPORTER_OTLP_PROTOCOL must be grpc: traces are sent by OTLP over gRPC alone, usually to a "
            "collector's port 4317") in lines
    assert {line.split(" ")[1] for line in lines} >= {"OTEL_EXPORTER_OTLP_HEADERS", "VESTIBULE_LOG_LEVEL"}
    assert API_KEY not in ended.stderr


@pytest.mark.parametrize("hangs", [False, True], ids=["down", "hangs"])
def test_a_bad_collector_loses_spans_and_delays_no_calls(hangs):
    with running_collector(hangs=True) as (_, slow):
        port = slow if hangs else free_ports(1)[0]
        with new_stack(
                VESTIBULE_GATEWAY_CHECK="row", OTEL_EXPORTER_OTLP_ENDPOINT=f"http://127.0.0.1:{port}", OTEL_BSP_MAX_QUEUE_SIZE="20",
                OTEL_BSP_MAX_EXPORT_BATCH_SIZE="10", OTEL_BSP_SCHEDULE_DELAY="50") as stack:
            stack.start()
            app = App(stack)
            app.sign_in()
            for _ in range(40):
                begin = time.monotonic()
                app.get("/me").expect(200)
                assert time.monotonic() - begin < 8
            for name in ("gateway", "identity"):
                metrics = Metrics(stack.metrics_addresses[name])
                assert metrics.sum("vestibule_trace_spans_total", outcome="dropped") > 0
                assert metrics.sum("vestibule_trace_spans_total", outcome="exported") == 0
                assert metrics.sum("vestibule_trace_spans_waiting") <= 30
            assert stack.stop() == 0, stack.output
            assert re.search("spans (could not be|were not) exported", stack.logs()["identity.log"])
