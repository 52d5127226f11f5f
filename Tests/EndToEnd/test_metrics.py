"""/metrics of every program: it counts what happens, is well-formed, and has no personal data."""

import signal
import socket
import subprocess

import pytest

import process_table
from app import App, Person
from app_clients import Refused, client_of
from http_client import Client
from metrics import Metrics, lint
from stack import MEASURED, free_ports
from stack import program as path_of

IDENTITY = "vestibule.identity.v1.IdentityService"
PROFILE = "vestibule.profile.v1.ProfileService"
INVITES = "vestibule.invites.v1.InvitesService"
EVERYBODYS = {
    "vestibule_build_info", "vestibule_event_loop_lag_seconds_bucket", "vestibule_event_loop_turn_age_seconds",
    "vestibule_rpc_client_connections", "vestibule_rpc_client_streams", "process_cpu_seconds_total",
    "process_resident_memory_bytes", "process_open_fds", "process_max_fds", "process_start_time_seconds"}
SERVICES = {
    "vestibule_rpc_server_calls_total", "vestibule_rpc_server_call_duration_seconds_bucket",
    "vestibule_rpc_server_connections", "vestibule_rpc_server_streams", "vestibule_rpc_server_calls_shed_total",
    "vestibule_rpc_server_handlers", "vestibule_rpc_server_held_bytes", "vestibule_postgres_connections",
    "vestibule_postgres_pipeline_depth", "vestibule_postgres_waiters"}


def scrape(stack, program):
    return Metrics(stack.metrics_addresses[program])


@pytest.mark.parametrize("program", MEASURED)
def test_every_program_serves_its_metrics(stack, app, program):
    metrics = scrape(stack, program)
    assert EVERYBODYS <= metrics.names
    assert program == "gateway" or SERVICES <= metrics.names
    assert metrics.labels("vestibule_build_info", "program") == {program}
    assert metrics.sum("vestibule_build_info") == 1
    assert 1 << 20 < metrics.sum("process_resident_memory_bytes") < 1 << 30
    assert 5 < metrics.sum("process_open_fds") < metrics.sum("process_max_fds")
    started = metrics.sum("process_start_time_seconds")
    boot = process_table.start_time_seconds(stack.process_of(program))
    assert abs(started - boot) < 2


@pytest.mark.parametrize("program", MEASURED)
def test_a_measured_program_stops_cleanly(stack, tmp_path, program):
    own, measured = free_ports(2)
    environment = {
        **process_table.environment(stack.process_of(program)),
        f"VESTIBULE_{program.upper()}_LISTEN": f"127.0.0.1:{own}",
        f"VESTIBULE_{program.upper()}_METRICS_LISTEN": f"127.0.0.1:{measured}",
        "SWIFT_BACKTRACE": "enable=no",
    }
    log = tmp_path / "log"
    with log.open("w") as file:
        process = subprocess.Popen([path_of(program), "serve"], env=environment, stdout=file, stderr=file)
    try:
        process_table.wait_until(lambda: "listening" in log.read_text() or process.poll() is not None, 20, log.read_text)
        assert Metrics(f"127.0.0.1:{measured}").sum("vestibule_build_info") == 1
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=20) == 0, log.read_text()
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("program", MEASURED)
def test_promtool_finds_no_problem(stack, member, program):
    assert lint(scrape(stack, program).text) == ""


def test_promtool_would_find_a_problem():
    assert "counter metrics should have" in lint("# HELP a_seconds A.\n# TYPE a_seconds counter\na_seconds 1\n")


@pytest.mark.parametrize("program", MEASURED)
def test_the_metrics_port_serves_nothing_else(stack, program):
    client = Client(stack.metrics_addresses[program])
    assert client.get("/").status == 404
    assert client.get("/metrics/x").status == 404
    assert client.post("/metrics").status == 405
    assert client.send_bytes(b"hello\r\n\r\n").status == 400
    assert client.send_bytes(b"GET /metrics HTTP/1.1\r\nx: " + b"a" * 9000).status == 431
    host, port = stack.metrics_addresses[program].rsplit(":", 1)
    silent = [socket.create_connection((host, int(port))) for _ in range(10)]
    try:
        assert client.get("/metrics").status == 200, "silent connections don't block others"
    finally:
        for each in silent:
            each.close()


def test_calls_are_counted_on_both_sides_by_method_and_code(stack, app):
    def counts():
        gateway, profile = scrape(stack, "gateway"), scrape(stack, "profile")
        method = dict(method=f"{PROFILE}/UpdateProfile")
        return {
            "http ok": gateway.sum(
                "vestibule_http_requests_total", route="/me", method="PATCH", status="200"),
            "http refused": gateway.sum(
                "vestibule_http_requests_total", route="/me", method="PATCH", status="422"),
            "http times": gateway.sum(
                "vestibule_http_request_duration_seconds_count", route="/me", method="PATCH"),
            "client ok": gateway.sum("vestibule_rpc_client_calls_total", code="OK", **method),
            "client refused": gateway.sum("vestibule_rpc_client_calls_total", code="INVALID_ARGUMENT", **method),
            "client times": gateway.sum("vestibule_rpc_client_call_duration_seconds_count", **method),
            "server ok": profile.sum("vestibule_rpc_server_calls_total", code="OK", **method),
            "server refused": profile.sum("vestibule_rpc_server_calls_total", code="INVALID_ARGUMENT", **method),
            "server times": profile.sum("vestibule_rpc_server_call_duration_seconds_count", **method),
        }

    before = counts()
    for _ in range(3):
        assert app.save(display_name=app.person.name).status == 200
    app.save(phone_number="12").problem(422, "PHONE_INVALID", [("phone_number", "PHONE_INVALID")])
    moved = {name: count - before[name] for name, count in counts().items()}
    assert moved == {
        name: 3 if name.endswith("ok") else 1 if name.endswith("refused") else 4 for name in before}


def test_calls_of_apps_are_counted_for_every_protocol(stack, app):
    def counts():
        gateway, method = scrape(stack, "gateway"), dict(method="vestibule.app.v1.AccountService/GetMe")
        return [
            gateway.sum("vestibule_rpc_server_calls_total", code="OK", **method),
            gateway.sum("vestibule_rpc_server_calls_total", code="UNAUTHENTICATED", **method),
            gateway.sum("vestibule_rpc_server_call_duration_seconds_count", **method)]

    before = counts()
    for way in ("grpc", "connect-json-http1", "grpc-web-http1"):
        with client_of(stack.addresses["gateway"], way) as client:
            client.call("AccountService/GetMe", app.access_token)
            with pytest.raises(Refused):
                client.call("AccountService/GetMe")
    assert [after - count for after, count in zip(counts(), before)] == [3, 3, 6]


def test_a_histogram_adds_up(stack, app):
    metrics = scrape(stack, "identity")
    method = f"{IDENTITY}/SignIn"
    name = "vestibule_rpc_server_call_duration_seconds"
    buckets = sorted(
        (float(dict(labels)["le"]), value) for (found, labels), value in metrics.samples.items()
        if found == f"{name}_bucket" and ("method", method) in labels)
    assert [bound for bound, _ in buckets] == [
        5e-05, 1e-04, 2.5e-04, 5e-04, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
        float("inf")]
    counts = [count for _, count in buckets]
    assert counts == sorted(counts)
    count = metrics.sum(f"{name}_count", method=method)
    assert counts[-1] == count == metrics.sum("vestibule_rpc_server_calls_total", method=method) > 0
    assert 0 < metrics.sum(f"{name}_sum", method=method) < 60 * count


def test_sign_ins_are_counted_by_provider_and_outcome(stack, new_app):
    def count(**labels):
        return scrape(stack, "identity").sum("vestibule_identity_sign_ins_total", **labels)

    wanted = [
        dict(provider="apple", outcome="new_account"), dict(provider="apple", outcome="known_account"),
        dict(provider="google", outcome="new_account"), dict(provider="apple", outcome="token_nonce_mismatch"),
        dict(provider="apple", outcome="token_unsigned")]
    before = [count(**labels) for labels in wanted]
    app = new_app()
    app.sign_in()
    app.sign_in()
    new_app().sign_in("google")
    assert app.present("apple", app.ask_apple(claim_nonce="another")).status == 401
    assert app.present("apple", app.ask_apple(algorithm="none")).status == 401
    assert [count(**labels) - old for labels, old in zip(wanted, before)] == [1, 1, 1, 1, 1]

    metrics = scrape(stack, "identity")
    assert metrics.labels("vestibule_identity_sign_ins_total", "provider") == {
        "apple", "google", "facebook", "passkey", "unknown"}
    for provider in ("apple", "google"):
        assert metrics.sum("vestibule_identity_key_fetches_total", provider=provider, outcome="ok") >= 1
        assert metrics.sum("vestibule_identity_keys", provider=provider) >= 1
        assert 0 <= metrics.sum("vestibule_identity_key_age_seconds", provider=provider) < 3600


def test_unknown_methods_paths_and_providers_make_no_new_series(stack, app):
    def series():
        return {
            program: {key for key in scrape(stack, program).samples} for program in MEASURED}

    def ask():
        for word in ("some", "thing", "else"):
            assert app.get(f"/{word}").status == 404
            assert app.gateway.send("PROPFIND", f"/me/{word}").status in (404, 405)
            host, port = stack.addresses["identity"].rsplit(":", 1)
            with socket.create_connection((host, int(port))) as connection:
                connection.sendall(f"GET /{word} HTTP/1.1\r\n\r\n".encode())

    ask()
    before = series()
    ask()
    gone_up = scrape(stack, "gateway").sum("vestibule_http_requests_total", route="none")
    assert gone_up >= 6
    after = series()
    for program in MEASURED:
        added = {
            (name, labels) for name, labels in after[program] - before[program]
            if name.startswith(("vestibule_http", "vestibule_rpc"))}
        assert not {each for each in added if any(word in str(each) for word in ("some", "thing", "else"))}, added


def test_connections_loops_and_database(stack, app):
    identity = scrape(stack, "identity")
    assert identity.sum("vestibule_rpc_server_connections") >= 1, "the gateway's"
    assert identity.sum("vestibule_rpc_received_bytes_total") > 1000
    assert identity.sum("vestibule_rpc_sent_bytes_total") > 1000
    assert identity.labels("vestibule_event_loop_lag_seconds_count", "loop") == {"0", "1"}
    assert identity.sum("vestibule_event_loop_lag_seconds_count") > 10
    assert identity.sum("vestibule_event_loop_turn_age_seconds") < 1
    assert identity.sum("vestibule_postgres_connections", state="ready") >= 1
    assert identity.labels("vestibule_postgres_connections", "state") == {"ready", "leased", "pending"}
    assert identity.sum("vestibule_rpc_server_calls_shed_total") == 0
    before = identity.sum("vestibule_postgres_statements_total")
    app.refresh().expect(200)
    assert scrape(stack, "identity").sum("vestibule_postgres_statements_total") > before


def test_work_that_is_done_and_waits_is_counted(stack, new_app):
    before = scrape(stack, "profile").sum("vestibule_work_done_total", queue="phone_events")
    app = new_app()
    app.sign_in()
    app.complete()
    process_table.wait_until(
        lambda: scrape(stack, "profile").sum("vestibule_work_done_total", queue="phone_events") > before, 10, "the delivery")
    assert scrape(stack, "profile").sum("vestibule_work_parked_total") == 0
    process_table.wait_until(
        lambda: {"vestibule_work_waiting", "vestibule_work_oldest_age_seconds"} <= scrape(stack, "profile").names,
        10, "what waits to be counted")


def test_a_call_can_be_followed_through_the_logs_by_its_trace(stack, app):
    trace = "0af7651916cd43dd8448eb211c80319c"
    app.get("/me", headers={"traceparent": f"00-{trace}-b7ad6b7169203331-01"}).expect(200)

    def lines():
        logs = stack.logs()
        return all(trace in logs[f"{name}.log"] for name in ("gateway", "identity", "profile"))

    process_table.wait_until(lines, 10, "the trace in the logs of all who had a part in it")


def test_metrics_contain_no_personal_data(stack, new_app):
    app, guest = new_app(), Person()
    app.sign_in()
    app.complete()
    App(stack, guest)  # whose names and number are confidential from here on
    group = app.create_group(f"Party of {guest.family_name}")
    app.invite(guest, group)
    app.gateway.send("GET", f"/{guest.email}", headers={"User-Agent": guest.email, "X-Request-Id": guest.email})
    app.gateway.send("POST", f"/groups/{guest.digits}/members?email={guest.email}", token=app.access_token)
    app.gateway.get("/me", token=f"{guest.digits}.{guest.family_name}.x")
    app.gateway.post("/auth/apple", {"identity_token": guest.email, "nonce": guest.digits})
    for program in MEASURED:
        text = scrape(stack, program).text
        leaks = [secret for secret in stack.confidential | {app.user_id, group} if secret in text]
        assert not leaks, f"{program}: {leaks[:5]}"
        assert "@" not in text
