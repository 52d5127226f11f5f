"""One browser for all tests of this folder, and a backend that it knows by the demo's address."""

import re

import pytest

from chromium import BACKEND, MILLISECONDS, chromium
from other_gateway import another_gateway
from phone import Phone


@pytest.fixture(scope="package")
def backend(stack):
    """The stack's gateway at `http://localhost:6969`: another site than the simulated Apple, as in life."""
    with another_gateway(stack, PUBLIC_URL=f"http://{BACKEND}") as gateway:
        yield gateway


@pytest.fixture(scope="package")
def browser(playwright, backend):
    with chromium(playwright, backend.address) as browser:
        yield browser


# Header and claims are JSON objects, in base64url.
JWT = re.compile(r"eyJ[\w-]+\.eyJ")


class Tab:
    """A browser tab without a history, and all that it could disclose."""

    def __init__(self, context):
        self.page = context.new_page()
        self.page.set_default_timeout(MILLISECONDS)
        self.context = context
        self.urls, self.complaints = [], []
        context.on("request", lambda request: self.urls.append(request.url))
        self.page.on("framenavigated", lambda frame: self.urls.append(frame.url))
        self.page.on("console", lambda message: self.complaints.append(message.text) if message.type == "error" else None)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(f"dialog: {dialog.message}"))

    def app_opened_by(self, act, app_url):
        """The URL that an app on this phone is opened with, by what the person does."""
        with self.context.expect_event(
                "request", lambda request: request.url.startswith(app_url), timeout=MILLISECONDS) as opened:
            act(self.page)
        return opened.value.url


@pytest.fixture
def tab(browser):
    context = browser.new_context()
    tab = Tab(context)
    yield tab
    context.close()
    assert not [url for url in tab.urls if JWT.search(url)], "a token in a URL"
