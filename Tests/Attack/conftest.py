"""What the tests share: servers with low limits, a bystander, and a watch over memory."""

import contextlib
import os
import pathlib
import sys

import pytest

INTEROP = pathlib.Path(__file__).resolve().parent.parent / "Interop"
sys.path.insert(0, str(INTEROP))

from bystander import Bystander  # noqa: E402
from certificates import Authority  # noqa: E402
from server_process import ServerProcess  # noqa: E402

MEMORY_GROWTH_MAX = 32 << 20
# Of the server's limits of time.
LIMIT_SECONDS = 2.0
KEEP_ALIVE_SECONDS = 4.0
# One loop, so that attackers and bystander share it, and limits that are soon reached.
ARGUMENTS = [
    "--loops", "1", "--handshake-timeout-ms", "2000", "--write-stall-timeout-ms", "2000",
    "--answer-stall-timeout-ms", "2000", "--message-timeout-ms", "2000"]
# The same, and those of HTTP/1.1 and of requests that are no gRPC calls.
HTTP_ARGUMENTS = [
    *ARGUMENTS, "--head-timeout-ms", "2000", "--body-timeout-ms", "2000", "--keep-alive-timeout-ms", "4000"]


def pytest_configure(config):
    if not os.environ.get("INTEROP_SERVER"):
        raise pytest.UsageError("name the server: INTEROP_SERVER; Tests/Attack/run.sh does")


class Memory:
    """The resident memory of a process, in bytes."""

    def __init__(self, pid):
        self._folder = pathlib.Path(f"/proc/{pid}")

    def _read(self, name):
        for line in (self._folder / "status").read_text().splitlines():
            if line.startswith(name + ":"):
                return int(line.split()[1]) << 10
        raise KeyError(name)

    def begin(self):
        (self._folder / "clear_refs").write_text("5")  # the peak begins anew (proc(5))
        self._before = self._read("VmRSS")

    def growth(self):
        """By how much the peak since `begin` is over what there was then."""
        return self._read("VmHWM") - self._before


@pytest.fixture(scope="session")
def start_server():
    """Starts a server with these limits and more arguments."""
    return lambda *arguments: ServerProcess([*ARGUMENTS, *arguments])


@pytest.fixture(scope="session")
def start_http_server():
    """The same for a server that speaks all protocols."""
    def start(*arguments):
        process = ServerProcess([*HTTP_ARGUMENTS, *arguments])
        process.keep_alive_seconds = KEEP_ALIVE_SECONDS
        return process

    return start


@pytest.fixture(scope="session")
def bystander_of():
    """A bystander of a server of all protocols that speaks TLS, with the authority of its certificate."""
    @contextlib.contextmanager
    def make(process, authority):
        bystander = Bystander(process, has_http=True, authority=authority)
        yield bystander
        bystander.close()

    return make


@pytest.fixture(scope="session")
def _server(start_server):
    with start_server() as process:
        bystander = Bystander(process)
        yield process, bystander
        bystander.close()


@pytest.fixture(scope="session")
def _http_server(start_http_server):
    with start_http_server() as process:
        bystander = Bystander(process, has_http=True)
        yield process, bystander
        bystander.close()


def _under_attack(process, bystander):
    """Afterwards it must be there, a bystander's calls must have gone on in time and without an error, and memory must not
    have grown much."""
    memory = Memory(process.pid)
    bystander.report()
    memory.begin()
    yield process
    growth = memory.growth()
    bystander.check()
    print(f"memory grew by {growth >> 20} MB")
    assert growth < MEMORY_GROWTH_MAX, f"memory grew by {growth >> 20} MB"


@pytest.fixture
def server(_server):
    """A gRPC server under attack."""
    yield from _under_attack(*_server)


@pytest.fixture
def http_server(_http_server):
    """A server of all protocols under attack."""
    yield from _under_attack(*_http_server)


@pytest.fixture(scope="session")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("authority"), "authority")


@pytest.fixture(scope="session")
def certificate(authority):
    return authority.issue("server", ["DNS:localhost"])
