"""`vestibule load`: every scenario in both loops by both protocols, its report, and its behavior during failures."""

import contextlib
import os
import pty
import re
import signal
import socket
import ssl
import subprocess
import time

import pytest

import process_table
from load_command import Run
from parts import Parts, Stopwatch
from stack import free_ports, new_stack, program, run_vestibule

SCENARIOS = {
    "check-session": {"check-session"},
    "refresh": {"refresh"},
    "sign-in": {"sign-in"},
    "profile": {"get-profile", "update-profile"},
    "mixed": {"check-session", "refresh", "sign-in", "get-profile", "update-profile"},
}
UNLIMITED = {"VESTIBULE_GATEWAY_AUTH_PER_SECOND": "1000000", "VESTIBULE_GATEWAY_AUTH_BURST": "1000000"}
SHORT = ("--duration", "1s", "--warm-up", "200ms", "--workers", "8")


@pytest.fixture(scope="module")
def parts():
    """A stack that doesn't limit an address's sign-ins, and whose programs can be stopped."""
    with new_stack(**UNLIMITED) as stack:
        parts = Parts(stack)
        parts.expect_back()
        yield parts


@pytest.fixture
def loaded(parts):
    parts.expect_back()
    yield parts.stack
    parts.expect_back()


@pytest.fixture
def load(loaded, tmp_path):
    """Starts a run; it ends with the test."""
    runs = []

    def begin(*arguments, **how):
        runs.append(Run(loaded, tmp_path, *arguments, **how))
        return runs[-1]

    yield begin
    for run in runs:
        if run.process.poll() is None:
            run.process.kill()
            run.process.wait()


# Scenarios


@pytest.mark.parametrize("protocol", [(), ("--edge",)], ids=["grpc", "edge"])
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_closed_loop(load, scenario, protocol):
    report = load(scenario, *SHORT, *protocol, "--tokens", "200").report()
    assert report.status == 0, report.table
    assert not report.errors and set(report.calls) == SCENARIOS[scenario]
    assert all(count > 0 for count in report.calls.values())
    assert report.json["interrupted"] is False and report.json["arrivals"] is None
    assert report.total["succeeded_per_second"] == pytest.approx(report.total["succeeded"], rel=0.001)
    assert report.elements.count("svg") == 4


@pytest.mark.parametrize("protocol", [(), ("--edge",)], ids=["grpc", "edge"])
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_open_loop(load, scenario, protocol):
    report = load(scenario, *SHORT, *protocol, "--rate", "60").report()
    assert report.status == 0, report.table
    # Not about sixty: the rate is fixed.
    unmade = report.json["arrivals"]["waiting_at_end_count"]
    assert report.total["calls"] + unmade == 60 and unmade <= 1
    assert not report.errors and set(report.calls) == SCENARIOS[scenario]
    assert report.json["late_token_count"] == 0


def test_mix_is_exact(load):
    calls = load("mixed", *SHORT, "--rate", "100", "--warm-up", "0s").report().calls
    expected = {"check-session": 60, "get-profile": 20, "update-profile": 5, "refresh": 10, "sign-in": 5}
    assert all(0 <= expected[name] - calls[name] <= 1 for name in expected), calls


def test_threads_share_the_rate(load):
    report = load("check-session", *SHORT, "--rate", "301", "--threads", "3", "--connections", "6").report()
    assert report.status == 0
    assert report.total["calls"] + report.json["arrivals"]["waiting_at_end_count"] == 301
    assert report.json["plan"]["connections"] == 6


def test_as_many_connections_as_asked_for(load, loaded):
    port = int(loaded.addresses["identity"].rpartition(":")[2])
    run = load("check-session", "--duration", "30s", "--connections", "5", "--workers", "20")
    process_table.wait_until(
        lambda: connections_to(run.process.pid, port) == 5, 10,
        lambda: f"5 connections, not {connections_to(run.process.pid, port)}")
    run.process.send_signal(signal.SIGINT)
    assert run.report().status == 0


def test_edge_has_a_connection_for_each_worker(load, loaded):
    port = int(loaded.addresses["gateway"].rpartition(":")[2])
    run = load("check-session", "--duration", "30s", "--edge", "--workers", "20")
    process_table.wait_until(
        lambda: connections_to(run.process.pid, port) == 20, 10,
        lambda: f"20 connections, not {connections_to(run.process.pid, port)}")
    run.process.send_signal(signal.SIGINT)
    assert run.report().status == 0


def test_seconds_add_up(load):
    report = load("check-session", "--duration", "2s", "--warm-up", "0s", "--workers", "4").report()
    seconds = report.json["seconds"]
    assert [second["second"] for second in seconds] == [0, 1]
    counted = sum(second["succeeded_per_second"] for second in seconds)
    assert counted + report.json["ended_after_measuring_count"] == report.total["succeeded"]
    lines = [line for line in report.progress.splitlines() if "calls/s" in line]
    assert [line.split(" s ")[0].strip() for line in lines] == ["1/2", "2/2"]


# Failures


def test_ctrl_c_writes_the_report(load):
    run = load("mixed", "--duration", "1h", "--warm-up", "0s", "--workers", "4")
    wait_for_calls(run)
    with Stopwatch() as watch:
        run.process.send_signal(signal.SIGINT)
        report = run.report()
    assert watch.seconds < 3
    assert report.status == 0 and report.json["interrupted"] is True
    assert 0.9 < report.json["measured_seconds"] < 60 and report.total["calls"] > 0
    assert "interrupted" in report.table and "interrupted" in report.page


def test_ctrl_c_before_the_first_call(load, parts):
    with parts.frozen("simulator"):
        run = load("refresh", "--timeout", "60s")
        time.sleep(0.5)  # The run is preparing or starting; it ends in both cases.
        run.process.send_signal(signal.SIGINT)
        assert run.wait(10) != 0
    assert not run.table


def test_second_ctrl_c_ends_at_once(load, parts):
    run = load("check-session", "--duration", "1h", "--warm-up", "0s", "--timeout", "60s")
    wait_for_calls(run)
    with parts.frozen("identity"):
        time.sleep(0.3)  # Until then the last answers have come, and each worker waits for one that doesn't.
        run.process.send_signal(signal.SIGINT)
        process_table.wait_until(lambda: "Ctrl-C again" in run.progress, 5, "a word about the second Ctrl-C")
        time.sleep(0.6)  # Sooner it counts as the same one.
        with Stopwatch() as watch:
            run.process.send_signal(signal.SIGINT)
            assert run.wait(10) == 130
    assert watch.seconds < 2


@pytest.mark.parametrize("loop", [(), ("--rate", "200")], ids=["closed", "open"])
def test_server_killed(load, parts, loop):
    run = load("check-session", "--duration", "4s", "--warm-up", "0s", *loop)
    wait_for_calls(run)
    parts.kill("identity")
    with Stopwatch() as watch:
        report = run.report()
    assert watch.seconds < 8
    assert report.status == 1
    assert report.total["succeeded"] > 0
    assert {code for code, _ in report.errors} == {"UNAVAILABLE"}
    # A server that is down doesn't get as many calls as the machine can make.
    assert report.total["failed"] < 20_000
    assert "UNAVAILABLE" in report.table and "UNAVAILABLE" in report.page


def test_errors_that_are_allowed(load, parts):
    run = load("check-session", "--duration", "3s", "--warm-up", "0s", "--edge", "--errors-max", "1000000")
    wait_for_calls(run)
    parts.kill("gateway")
    report = run.report()
    assert report.status == 0 and report.total["failed"] > 0
    assert {code for code, _ in report.errors} == {"CONNECTION"}


def test_lost_answers_of_refreshes(load, parts):
    """A frozen server has received the request and doesn't answer in time; then it continues."""
    run = load("refresh", "--duration", "6s", "--warm-up", "0s", "--workers", "16", "--timeout", "500ms")
    wait_for_calls(run)
    with parts.frozen("identity"):
        time.sleep(1.5)
    report = run.report()
    assert report.status == 1
    # The server also executes waiting requests that their callers have given up, some after the next token was
    # used: these tokens are old then, which is not theft.
    assert {code for code, _ in report.errors} == {"DEADLINE_EXCEEDED"}, report.errors
    assert report.json["resumed_refresh_count"] > 0
    assert report.json["repeated_sign_in_count"] == 0


def test_open_loop_counts_waiting(load, parts):
    """No coordinated omission: calls that were due while the server was frozen count as waiting, though none was made."""
    run = load("check-session", "--duration", "4s", "--warm-up", "0s", "--rate", "500", "--workers", "2")
    wait_for_calls(run)
    with parts.frozen("identity"):
        time.sleep(1)
    report = run.report()
    assert report.status == 0, report.table
    # A quarter of the calls were due while it was frozen, at any moment of that second.
    assert report.total["latency_ns"]["p90"] > 300_000_000
    assert report.json["arrivals"]["late_count"] > 300
    assert report.json["arrivals"]["delay_ns_max"] > 800_000_000


def test_full_queue_is_an_error(load, parts):
    run = load(
        "check-session", "--duration", "3s", "--warm-up", "0s", "--rate", "1000", "--workers", "2", "--queue", "100")
    wait_for_calls(run)
    with parts.frozen("identity"):
        time.sleep(0.5)
    report = run.report()
    dropped = report.json["arrivals"]["dropped_count"]
    # Of 3,000; how long identity is frozen depends on the machine.
    assert report.status == 1 and dropped > 200 and report.total["succeeded"] > 0
    assert report.json["error_count"] == dropped and report.total["failed"] == 0
    assert "queue was full" in report.table


def test_rate_limit_is_named(stack, tmp_path):
    report = Run(stack, tmp_path, "refresh", *SHORT, "--edge").report()
    assert report.status == 1 and ("429", "RATE_LIMITED") in report.errors
    assert "VESTIBULE_GATEWAY_AUTH_PER_SECOND" in report.table


def test_nothing_to_prepare_with(load, parts):
    parts.kill("simulator")
    run = load("check-session")
    assert run.wait() == 1
    assert "cannot prepare" in run.progress


# Refused arguments


@pytest.mark.parametrize(
    "arguments",
    [
        ("--identity", "192.0.2.1:7001"), ("--identity", "127.0.0.1:7001,example.com:7001"),
        ("--profile", "example.com:7002"), ("--gateway", "http://192.0.2.1:8080"),
        ("--gateway", "http://127.0.0.1@example.com"), ("--simulator", "http://example.com"),
        ("--simulator", "ftp://127.0.0.1"),
    ], ids=" ".join)
def test_other_hosts_need_allow(arguments):
    result = run_vestibule("load", "check-session", *arguments)
    assert result.returncode == 64
    assert result.stderr.startswith("vestibule load: only this machine") and not result.stdout


def test_allow(load, loaded):
    """This address of the machine is not recognized as local: the user must allow it by name."""
    port = loaded.addresses["identity"].rpartition(":")[2]
    arguments = ("check-session", *SHORT, "--identity", f"2130706433:{port}")
    refused = load(*arguments)
    assert refused.wait() == 64 and "--allow 2130706433" in refused.progress
    assert load(*arguments, "--allow", "2130706433").report().status == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ("dance",), (), ("mixed", "--workers", "0"), ("mixed", "--rate", "0"), ("mixed", "--duration", "0s"),
        ("mixed", "--duration", "ten"), ("mixed", "--accounts", "3"), ("mixed", "--workers", "2", "--threads", "3"),
        ("mixed", "--errors-max", "-1"), ("mixed", "--key", "k.pem"), ("mixed", "--output", "/nowhere/at/all"),
    ], ids=" ".join)
def test_mistakes_in_arguments(arguments):
    result = run_vestibule("load", *arguments)
    assert result.returncode == 64 and result.stderr and not result.stdout


def test_help_is_complete():
    text = run_vestibule("load", "--help").stdout
    options = (
        "--duration --warm-up --workers --rate --connections --threads --accounts --tokens --queue --timeout --edge "
        "--gateway --identity --profile --simulator --client-id --allow --ca --certificate --key --server-name --output "
        "--errors-max --config")
    assert not [option for option in options.split() if f"{option} " not in text and f"{option}\n" not in text]
    assert all(scenario in text for scenario in SCENARIOS)


# Terminal and TLS


def test_terminal(loaded, tmp_path):
    """On a terminal one line is overwritten; only the last line remains."""
    ours, theirs = pty.openpty()
    run = Run(loaded, tmp_path, "check-session", "--duration", "2s", "--warm-up", "0s", stderr=theirs)
    os.close(theirs)
    told = b""
    with contextlib.suppress(OSError):  # How Linux tells the end.
        while chunk := os.read(ours, 4096):
            told += chunk
    os.close(ours)
    assert run.report().status == 0
    text = told.decode()
    assert len(re.findall(r"\r\x1b\[K[^\r\n]*accounts \[", text)) > 2
    assert len(re.findall(r"\r\x1b\[K[12]/2 s[^\r\n]*calls/s", text)) == 2
    assert text.count("\n") == 2


def test_mutual_tls(load, loaded, tmp_path):
    files = certificates(tmp_path)
    address = f"127.0.0.1:{free_ports(1)[0]}"
    environment = {
        **process_table.environment(loaded.process_of("identity")),
        "VESTIBULE_IDENTITY_LISTEN": address,
        "VESTIBULE_IDENTITY_METRICS_LISTEN": f"127.0.0.1:{free_ports(1)[0]}",
        "VESTIBULE_IDENTITY_TLS_CERTIFICATE_FILE": files["server.pem"],
        "VESTIBULE_IDENTITY_TLS_KEY_FILE": files["server.key"],
        "VESTIBULE_IDENTITY_TLS_CLIENT_CA_FILE": files["ca.pem"],
    }
    with (tmp_path / "identity.log").open("w") as log:
        identity = subprocess.Popen([program("identity"), "serve"], env=environment, stdout=log, stderr=log)
    try:
        process_table.wait_until(lambda: listens(address), 20, "identity")
        to_it = ("check-session", *SHORT, "--identity", address, "--server-name", "localhost", "--ca", files["ca.pem"])
        shown = ("--certificate", files["client.pem"], "--key", files["client.key"])
        report = load(*to_it, *shown).report()
        assert report.status == 0, report.table
        assert "mutual TLS" in report.table and report.total["calls"] > 0
        by_configuration = load("refresh", *SHORT, "--identity", address, "--server-name", "localhost", environment={
            "VESTIBULE_SERVICES_CA_FILE": files["ca.pem"],
            "VESTIBULE_LOAD_TLS_CLIENT_CERTIFICATE_FILE": files["client.pem"],
            "VESTIBULE_LOAD_TLS_CLIENT_KEY_FILE": files["client.key"],
        }).report()
        assert by_configuration.status == 0, by_configuration.table
        without = load(*to_it)
        assert without.wait() == 1 and "UNAVAILABLE" in without.progress
    finally:
        identity.kill()
        identity.wait()


def wait_for_calls(run):
    process_table.wait_until(
        lambda: "calls/s" in run.progress or run.process.poll() is not None, 30, lambda: f"calls; it said {run.progress}")
    assert run.process.poll() is None, run.progress


def listens(address):
    host, _, port = address.rpartition(":")
    with socket.socket() as probe:
        return probe.connect_ex((host, int(port))) == 0


def connections_to(process, port):
    """A process's established TCP connections to a port of this machine."""
    links = []
    for name in os.listdir(f"/proc/{process}/fd"):
        with contextlib.suppress(OSError):
            links.append(os.readlink(f"/proc/{process}/fd/{name}"))
    established = "01"
    rows = [line.split() for line in open(f"/proc/{process}/net/tcp")][1:]
    return sum(
        row[3] == established and int(row[2].rpartition(":")[2], 16) == port and f"socket:[{row[9]}]" in links
        for row in rows)


def certificates(folder):
    """An authority, and a server's and a client's certificate of it."""
    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], check=True, capture_output=True, cwd=folder)

    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2")
    openssl("req", "-x509", *curve, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=load test authority")
    for name, subject in (("server", "localhost"), ("client", "load")):
        openssl("req", "-new", *curve[:-2], "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={subject}")
        (folder / f"{name}.cnf").write_text(f"subjectAltName=DNS:{subject}\n")
        openssl(
            "x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
            "-out", f"{name}.pem", "-extfile", f"{name}.cnf")
    return {name: str(folder / name) for name in ("ca.pem", "server.pem", "server.key", "client.pem", "client.key")}
