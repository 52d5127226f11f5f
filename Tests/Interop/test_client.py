"""Our client against a server of grpcio, and against our own."""

import os
import subprocess

import pytest
from server_process import ServerProcess

SECONDS = 60
# gRPC's own names, for every server; clear and TLS.
STANDARD = (
    "empty_unary", "large_unary", "client_streaming", "server_streaming", "ping_pong", "empty_stream",
    "cancel_after_begin", "cancel_after_first_response", "status_code_and_message", "special_status_message",
    "unimplemented_method", "unimplemented_service", "custom_metadata", "timeout_on_sleeping_server",
    "server_compressed_unary",
)
# A server of grpcio can't tell whether a request came compressed.
NOT_FOR_GRPCIO = ("client_compressed_unary",)
CASES = STANDARD + (
    "many_megabytes", "concurrent_calls", "half_duplex", "long_streams", "stream_status", "rich_details",
    "error_metadata", "deadline", "no_deadline", "cancellation", "answer_too_large",
)


@pytest.fixture(scope="module")
def program():
    path = os.environ.get("INTEROP_CLIENT")
    if not path:
        pytest.fail("INTEROP_CLIENT doesn't name rpc-interop-client; Tests/Interop/run.sh does")
    return path


@pytest.fixture(scope="module")
def reference():
    with ServerProcess(command="reference") as process:
        yield process


def run(program, port, case, *arguments):
    done = subprocess.run(
        [program, "--port", str(port), "--test-case", case, *map(str, arguments)],
        capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stderr or done.stdout


@pytest.mark.parametrize("case", CASES)
def test_against_grpcio(program, reference, case):
    run(program, reference.port, case)


@pytest.mark.parametrize("case", CASES + NOT_FOR_GRPCIO)
def test_against_ours(program, server, is_reference, case):
    if is_reference and case in NOT_FOR_GRPCIO:
        pytest.skip("grpcio can't serve this case")
    run(program, server.port, case)


def test_nothing_listens(program, reference):
    with ServerProcess(command="reference") as gone:
        port = gone.port
    run(program, port, "unavailable")


@pytest.fixture(scope="module")
def secure(authority):
    identity = authority.issue("reference", ["DNS:interop.test"])
    with ServerProcess(
        ["--certificate", identity.certificate, "--key", identity.key, "--client-authority", authority.certificate],
        command="reference",
    ) as process:
        yield process


class TestTLS:
    def run(self, program, secure, case, trusted, client, name="interop.test"):
        proof = ["--certificate", client.certificate, "--key", client.key] if client else []
        run(program, secure.port, case, "--authority", trusted.certificate, "--server-name", name, *proof)

    @pytest.mark.parametrize("case", CASES)
    def test_mutual(self, program, secure, authority, case):
        self.run(program, secure, case, authority, authority.issue("us", ["DNS:us.test"]))

    def test_without_our_certificate(self, program, secure, authority):
        self.run(program, secure, "unavailable", authority, None)

    def test_another_name(self, program, secure, authority):
        self.run(program, secure, "unavailable", authority, authority.issue("us", ["DNS:us.test"]), "other.test")

    def test_another_authority(self, program, secure, authority, other_authority):
        self.run(program, secure, "unavailable", other_authority, authority.issue("us", ["DNS:us.test"]))


@pytest.fixture(scope="module")
def secure_ours(is_reference):
    if is_reference:
        pytest.skip("the reference has no --tls")
    with ServerProcess(["--tls"], command=os.environ["INTEROP_SERVER"]) as process:
        yield process


@pytest.mark.parametrize("case", CASES + NOT_FOR_GRPCIO)
def test_tls_against_ours(program, secure_ours, case):
    """Both with `--tls` and nothing else: the certificates are those that our server makes."""
    run(program, secure_ours.port, case, "--tls")


def test_clear_text_against_tls(program, secure_ours):
    run(program, secure_ours.port, "unavailable")


def test_an_unknown_case_is_refused(program):
    done = subprocess.run([program, "--port", "1", "--test-case", "none"], capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode != 0
    assert "none" in done.stderr
