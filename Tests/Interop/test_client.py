"""Our client against a server of grpcio, and against our own."""

import os
import subprocess

import pytest
from server_process import ServerProcess

SECONDS = 60
CASES = (
    "empty_unary", "large_unary", "many_megabytes", "concurrent_calls", "status_code_and_message",
    "special_status_message", "rich_details", "error_metadata", "unimplemented_method", "unimplemented_service",
    "deadline", "cancellation", "answer_too_large",
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


def run(program, target, case, *arguments):
    done = subprocess.run(
        [program, "--target", target, case, *map(str, arguments)], capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stderr or done.stdout


@pytest.mark.parametrize("case", CASES)
def test_against_grpcio(program, reference, case):
    run(program, reference.address, case)


@pytest.mark.parametrize("case", CASES)
def test_against_ours(program, server, case):
    run(program, server.address, case)


def test_nothing_listens(program, reference):
    with ServerProcess(command="reference") as gone:
        address = gone.address
    run(program, address, "unavailable")


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
        run(program, secure.address, case, "--authority", trusted.certificate, "--server-name", name, *proof)

    @pytest.mark.parametrize("case", ["empty_unary", "large_unary", "concurrent_calls"])
    def test_mutual(self, program, secure, authority, case):
        self.run(program, secure, case, authority, authority.issue("us", ["DNS:us.test"]))

    def test_without_our_certificate(self, program, secure, authority):
        self.run(program, secure, "unavailable", authority, None)

    def test_another_name(self, program, secure, authority):
        self.run(program, secure, "unavailable", authority, authority.issue("us", ["DNS:us.test"]), "other.test")

    def test_another_authority(self, program, secure, authority, other_authority):
        self.run(program, secure, "unavailable", other_authority, authority.issue("us", ["DNS:us.test"]))
