"""What the tests of the kits share."""

import os
import pathlib
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path += [str(TESTS / "Kits"), str(TESTS / "EndToEnd"), str(TESTS / "Clients")]

# Before they are imported, so that failed asserts show their values.
pytest.register_assert_rewrite("app", "http_client", "interpreter", "histories", "kills", "process_table", "stack", "tokens", "browser_pages")

from playwright.sync_api import sync_playwright

import driver
from browser_pages import launched
from stack import free_ports, new_stack


def pytest_addoption(parser):
    parser.addoption("--seed", type=int, default=1, help="the first seed of the random histories")
    parser.addoption("--rounds", type=int, default=300, help="how many random histories a kit lives")
    parser.addoption("--kills", type=int, default=200, help="how many times a kit's process is killed")


@pytest.fixture(scope="session", params=driver.KITS)
def kit(request):
    """Each kit that has a driver: its name and the command."""
    command = driver.command(request.param)
    if command is None:
        pytest.skip(f"the driver of {request.param} is not built")
    return request.param, command


@pytest.fixture(scope="session")
def kit_stack():
    """A running system whose access tokens are short-lived, and which pages of `page_port` may call."""
    if "VESTIBULE_BINARIES" not in os.environ:
        raise pytest.UsageError("VESTIBULE_BINARIES is not set; Tests/Kits/run.sh does")
    port, = free_ports(1)
    with new_stack(
            VESTIBULE_LOG_LEVEL="trace", VESTIBULE_GATEWAY_ORIGINS=f"http://127.0.0.1:{port}",
            VESTIBULE_IDENTITY_ACCESS_TOKEN_LIFETIME="30s", VESTIBULE_GATEWAY_AUTH_PER_SECOND="200",
            VESTIBULE_GATEWAY_AUTH_BURST="300") as stack:
        stack.page_port = port
        stack.start()
        yield stack
        assert stack.stop() == 0, stack.output
        stack.expect_no_confidences()


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright, launched(playwright) as browser:
        yield browser
