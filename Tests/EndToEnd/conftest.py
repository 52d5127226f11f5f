"""What the tests share: one running stack, and apps on new people's phones."""

import os
import pathlib
import subprocess
import sys
import tempfile

import pytest

# Before they are imported, so that failed asserts show their values.
pytest.register_assert_rewrite("app", "http_client", "operators_console", "phone_backend", "process_table", "stack", "test_services", "tokens")

import passkey_phone
from app import App
from phone_backend import PhoneBackend
from stack import binaries, new_stack, short_folder
from visitor import Visitor

# Tests/Interop has the tests of the services by a foreign client, beside those of the call layer.
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "Interop"))


def pytest_configure(config):
    if "VESTIBULE_BINARIES" not in os.environ:
        raise pytest.UsageError("name the folder of the programs: VESTIBULE_BINARIES; Tests/EndToEnd/run.sh does")
    binaries()
    # Here and not in a fixture: test modules import the stubs.
    import python_stubs

    folder = tempfile.TemporaryDirectory(prefix="vestibule-e2e-stubs-")
    config.add_cleanup(folder.cleanup)
    python_stubs.generate(pathlib.Path(folder.name))
    sys.path.insert(0, folder.name)


# The files that take longest: workers that run beside each other then end at about the same time.
LONGEST_FIRST = ["test_backup", "test_provider_tokens", "test_webhooks", "test_key_rotation", "test_linking", "test_description", "test_run",
                 "test_watching", "test_deletion", "test_traces", "test_load", "test_import", "test_phone_proof", "test_crashes", "test_home_page"]


def pytest_collection_modifyitems(items):
    places = {name: place for place, name in enumerate(LONGEST_FIRST)}
    items.sort(key=lambda item: places.get(item.path.stem, len(places)))


@pytest.fixture(scope="session")
def stack():
    """The stack that most tests share, so no test may change what other tests rely on."""
    # The more is logged, the more secrets a log could contain.
    with short_folder() as folder, new_stack(
            VESTIBULE_LOG_LEVEL="trace", VESTIBULE_GATEWAY_AUTH_PER_SECOND="200", VESTIBULE_GATEWAY_AUTH_BURST="300",
            VESTIBULE_IDENTITY_PHONE_ASSERTIONS_FILE=str(folder / "backend.json"), **passkey_phone.SETTINGS) as stack:
        stack.backend = PhoneBackend(folder / "backend.json")
        stack.start()
        for name in ("identity", "profile", "invites", "simulator"):
            os.environ[f"VESTIBULE_INTEROP_{name.upper()}"] = stack.addresses[name]
        yield stack
        assert stack.stop() == 0, stack.output
        stack.expect_no_confidences()


@pytest.fixture(scope="session")
def killer(tmp_path_factory):
    """A library that ends a program, as kill -9 does, after its n-th change of a file: see killer.c."""
    library = tmp_path_factory.mktemp("killer") / "killer.so"
    source = pathlib.Path(__file__).with_name("killer.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-o", library, source, "-ldl"], check=True)
    return library


@pytest.fixture
def gateway(stack):
    """A client without a session."""
    return stack.client()


@pytest.fixture
def new_app(stack):
    """Makes the app on a new person's phone."""
    return lambda person=None: App(stack, person)


@pytest.fixture
def app(new_app):
    """An app whose person has signed in and has an empty profile."""
    app = new_app()
    app.sign_in()
    return app


@pytest.fixture
def new_visitor(stack):
    """Makes a new person with a browser."""
    return lambda: Visitor(stack)


@pytest.fixture
def visitor(new_visitor):
    """A person who has signed in to the pages."""
    return new_visitor().sign_in()


@pytest.fixture
def member(app):
    """An app whose person has a complete profile."""
    app.complete()
    return app
