"""The sample of a Swift service that verifies tokens, against `vestibule run`."""

import pathlib
import subprocess

import grpc
import pytest

import process_table
from app import App
from stack import free_ports, new_stack

SERVER = pathlib.Path(__file__).resolve().parents[2] / ".build/debug/sample-server"
SERVING = b"\x08\x01"
SECONDS = 15


@pytest.fixture(scope="module")
def stack():
    with new_stack(VESTIBULE_LOG_LEVEL="trace") as stack:
        stack.start()
        yield stack
        assert stack.stop() == 0, stack.output
        stack.expect_no_confidences()


@pytest.fixture(scope="module")
def service(stack, tmp_path_factory):
    """Calls the sample: its answer, or the status and the message of its refusal."""
    assert SERVER.is_file(), "swift build --product sample-server"
    [port] = free_ports(1)
    output = tmp_path_factory.mktemp("server") / "output"
    issuer = f"http://{stack.addresses['gateway']}"
    with output.open("w") as file:
        process = subprocess.Popen([str(SERVER), str(port), stack.addresses["identity"], issuer], stdout=file, stderr=file)
    channel = grpc.insecure_channel(f"127.0.0.1:{port}")
    check = channel.unary_unary("/grpc.health.v1.Health/Check")

    def call(token):
        metadata = [("authorization", f"Bearer {token}")] if token else []
        try:
            return check(b"", metadata=metadata, timeout=SECONDS, wait_for_ready=True)
        except grpc.RpcError as error:
            return error.code().name, error.details()

    call.output = output
    yield call
    channel.close()
    process.terminate()
    assert process.wait(SECONDS) == 0, output.read_text()


def test_a_user_is_served_until_the_session_ends(stack, service):
    app = App(stack)
    app.sign_in()
    assert service(app.access_token) == SERVING
    assert f"user={app.user_id}" in service.output.read_text()
    app.post("/auth/sign-out").expect(204)
    process_table.wait_until(lambda: service(app.access_token) == ("UNAUTHENTICATED", "the session has ended"), SECONDS, "the end")


def test_what_is_no_access_token_is_refused(stack, service):
    app = App(stack)
    app.sign_in()
    refused = ("UNAUTHENTICATED", "the access token is not valid")
    head, claims, signature = app.access_token.split(".")
    tampered = f"{head}.{claims}.{signature[:-4]}{'AAAA' if signature[-4:] != 'AAAA' else 'BBBB'}"
    for token in (tampered, app.session["id_token"], app.refresh_token, "x", f"{head}.{claims}."):
        assert service(token) == refused, token
    assert service(None) == ("UNAUTHENTICATED", "an access token is needed")
    assert service(app.access_token) == SERVING
