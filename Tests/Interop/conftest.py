"""What the tests share: generated stubs, a running server, a channel to it."""

import os
import pathlib
import sys
import tempfile

import grpc
import pytest

import python_stubs
from certificates import Authority
from server_process import ServerProcess


def pytest_addoption(parser):
    parser.addoption(
        "--server", default=os.environ.get("INTEROP_SERVER"),
        help="path of rpc-interop-server, or 'reference' for the same in grpcio")


def pytest_configure(config):
    server = config.getoption("--server")
    if not server:
        raise pytest.UsageError("name the server: --server PATH, or INTEROP_SERVER; Tests/Interop/run.sh does both")
    os.environ["INTEROP_SERVER"] = server
    # Here and not in a fixture: test modules import the stubs.
    folder = tempfile.TemporaryDirectory(prefix="vestibule-interop-")
    config.add_cleanup(folder.cleanup)
    python_stubs.generate(pathlib.Path(folder.name))
    sys.path.insert(0, folder.name)


@pytest.fixture(scope="session")
def server():
    with ServerProcess() as process:
        yield process


@pytest.fixture(scope="session")
def is_reference():
    """Whether the server is the one made of grpcio."""
    return os.environ["INTEROP_SERVER"] == "reference"


@pytest.fixture(scope="session")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("authority"), "authority")


@pytest.fixture(scope="session")
def other_authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("other"), "other")


@pytest.fixture
def channel(server):
    with grpc.insecure_channel(server.address) as channel:
        yield channel


@pytest.fixture
def stub(channel):
    from interop_protos import test_pb2_grpc

    return test_pb2_grpc.TestServiceStub(channel)
