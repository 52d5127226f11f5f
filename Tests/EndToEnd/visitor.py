"""A person with a browser without scripts, at the pages of a signed-in user."""

import urllib.parse

from app import Person
from browser import Browser


class Visitor(Browser):
    """Begins signed out."""

    def __init__(self, stack):
        super().__init__(stack.addresses["gateway"], stack.addresses["simulator"])
        self.base = f"http://{stack.addresses['gateway']}"
        self.person = Person()
        stack.confidential |= self.person.confidential

    def visit(self, path, status=200):
        assert self.open(f"{self.base}{path}") is None
        assert self.response.status_code == status, (self.response.status_code, self.response.text)
        return self

    @property
    def path(self):
        parts = urllib.parse.urlsplit(self.response.url)
        return parts.path + (f"?{parts.query}" if parts.query else "")

    @property
    def text(self):
        return self.response.text

    def send(self, to, **more):
        """Submits the form whose address has this in it."""
        assert self.submit(to, **more) is None
        return self

    def sign_in(self, path="/my/account"):
        """Asks for a page, signs in with the simulated Apple, and is back at that page."""
        self.visit(path)
        return self.pass_sign_in()

    def pass_sign_in(self, provider="apple"):
        assert urllib.parse.urlsplit(self.response.url).path == "/sign-in", self.text
        assert self.follow(f"/sign-in/{provider}") is None
        return self.pass_provider()

    def pass_provider(self):
        """Signs in at the provider's page, whose form a script would post."""
        assert self.submit(action="continue", **self.person.simulated) is None
        assert self.submit() is None
        return self

    def complete(self):
        self.visit("/my/profile").send("/my/profile", display_name=self.person.name, phone_number=self.person.phone)
        assert self.path == "/my/profile?notice=saved", self.text
        return self
