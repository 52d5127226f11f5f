"""A person's window of a real Chromium at the pages of the gateway."""

import re

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from app import Person
from browser_pages import MILLISECONDS, PICTURES, TAGS

WIDTHS = {390: 844, 1280: 900}
# The narrowest window: nothing may stick out of it.
NARROWEST = 320
RULES = {"runOnly": TAGS}


class PersonWindow:
    """A person's window, whose console must stay empty."""

    def __init__(self, stack, context, person=None):
        self.base = f"http://{stack.addresses['gateway']}"
        self.person = person or Person()
        stack.confidential |= self.person.confidential
        self.context = context
        context.set_default_timeout(MILLISECONDS)
        self.page = context.new_page()
        self.lines = []
        self.page.on("console", lambda line: self.lines.append(line.text))
        self.page.on("pageerror", lambda error: self.lines.append(str(error)))

    def open(self, path):
        self.page.goto(f"{self.base}{path}")
        return self

    def sign_in(self, path="/my/account"):
        self.open(path)
        self.page.get_by_role("link", name=re.compile("Apple")).click()
        return self.pass_apple(path)

    def pass_apple(self, path):
        """Fills in the form of the simulated Apple."""
        for name, value in self.person.simulated.items():
            self.page.locator(f"[name={name}]").fill(value)
        self.page.locator("button[value=continue]").first.click()
        self.page.wait_for_url(re.compile(re.escape(path) + r"($|\?)"))
        self.lines.clear()  # of the simulator's pages
        return self

    def complete(self):
        self.open("/my/profile")
        self.page.get_by_label("Phone number").fill(self.person.phone)
        self.page.get_by_role("button", name="Save").click()
        expect(self.page.get_by_role("status")).to_be_visible()
        return self

    def check(self, name, scheme):
        """Looks at the page: by axe, by the console, by its width, and takes its picture."""
        width = self.page.viewport_size["width"]
        results = Axe().run(self.page, options=RULES)
        assert results.violations_count == 0, f"{name}: {results.generate_report()}"
        self.page.screenshot(path=PICTURES / f"{name}-{width}-{scheme}.png", full_page=True)
        self.page.set_viewport_size({"width": NARROWEST, "height": 700})
        assert self.page.evaluate("document.documentElement.scrollWidth") <= NARROWEST, f"{name} is too wide"
        self.page.set_viewport_size({"width": width, "height": WIDTHS[width]})
        assert self.lines == [], (name, self.lines)
