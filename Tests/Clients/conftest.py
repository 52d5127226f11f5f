"""What the five apps share: running stacks, people's phones, networks that lose answers, compiled decoders."""

import contextlib
import os
import pathlib
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
# The stack and its clients are those of the tests of the whole system.
sys.path.append(str(TESTS / "EndToEnd"))
# Before they are imported, so that their asserts tell what they found.
pytest.register_assert_rewrite("app", "http_client", "operators_console", "process_table", "stack", "tokens", "phone", "shapes", "browser_pages", "person_window", "swift_program")

from playwright.sync_api import sync_playwright

import process_table
from browser_pages import Window, launched
from cutting_proxy import CuttingProxy
from parts import Parts
from phone import Phone
from simulated import Simulated
from stack import binaries, new_stack
from swift_program import SwiftProgram


def pytest_configure(config):
    for name in ("VESTIBULE_BINARIES", "CHROMIUM"):
        if name not in os.environ:
            raise pytest.UsageError(f"{name} is not set; Tests/Clients/run.sh does")
    binaries()


@pytest.fixture(scope="session")
def playwright():
    """There can be one alone at a time."""
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def browser(playwright):
    with launched(playwright) as browser:
        yield browser


@pytest.fixture
def window(browser, look):
    """A window of a look: see `browser_pages.LOOKS`."""
    window = Window(browser, look)
    yield window
    window.close()


@pytest.fixture(scope="session")
def stack():
    """An unchanged `make run`, which nearly all tests share, so no test may change it for others."""
    # The most verbose level: it is the most likely to log a secret.
    with new_stack(VESTIBULE_LOG_LEVEL="trace") as stack:
        stack.start()
        yield stack
        assert stack.stop() == 0, stack.output
        stack.expect_no_confidences()


@pytest.fixture(scope="session")
def parts():
    """A stack whose parts can be restarted, and whose operator lets book readers in unproven."""
    with new_stack(VESTIBULE_LOG_LEVEL="trace", VESTIBULE_IDENTITY_UNPROVEN_LOGINS="wordpress") as stack:
        parts = Parts(stack)
        parts.expect_back()
        yield parts
        stack.expect_no_confidences()


@pytest.fixture
def without_keys(parts):
    """Makes the stack with parts one that has no keys of a provider and can't get any; what it returns ends that."""
    with contextlib.ExitStack() as misbehaviour:
        def lose(name):
            misbehaviour.enter_context(Simulated(parts.stack, name).misbehaving("keys", "error", status=503))
            # What it had was in memory.
            parts.restart("identity")
            process_table.wait_until(parts.is_ready, 60, "readiness")
            return misbehaviour.close

        yield lose


@pytest.fixture
def gateway(stack):
    """A client without a session."""
    return stack.client()


@pytest.fixture
def new_phone(stack):
    """Makes a new person's phone, or another one of the same person."""
    return lambda person=None: Phone(stack, person)


@pytest.fixture
def phone(new_phone):
    return new_phone()


@pytest.fixture
def apple(stack):
    return Simulated(stack, "apple")


@pytest.fixture
def google(stack):
    return Simulated(stack, "google")


@pytest.fixture
def facebook(stack):
    return Simulated(stack, "facebook")


@pytest.fixture
def bad_network(stack):
    """Makes networks between a phone and the gateway."""
    proxies = []

    def make(phone):
        proxies.append(CuttingProxy(stack.addresses["gateway"], phone.gateway.source))
        return proxies[-1]

    yield make
    for proxy in proxies:
        proxy.close()


@pytest.fixture(scope="session")
def compiled(tmp_path_factory):
    """Compiles a Swift file of an app's folder once."""
    programs = {}

    def program(source):
        if source not in programs:
            programs[source] = SwiftProgram(source, tmp_path_factory.mktemp("swift"))
        return programs[source]

    return program
