"""Pages of ours in a real Chromium: sizes, colour schemes, accessibility, console lines, pictures."""

import contextlib
import os
import pathlib

from axe_playwright_python.sync_playwright import Axe

#: A phone and a desktop.
WIDTHS = (390, 1280)
SCHEMES = ("light", "dark")
#: Every combination, for `pytest.mark.parametrize("look", LOOKS, ids=str)`.
LOOKS = [f"{width}-{scheme}" for width in WIDTHS for scheme in SCHEMES]
PICTURES = pathlib.Path(__file__).resolve().parents[2] / ".build/pages"
# For a wait of the browser; nothing takes that long.
MILLISECONDS = 30_000
HEIGHT = 900
#: What axe checks: WCAG 2.2 AA and its own best practices.
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


@contextlib.contextmanager
def launched(playwright, *arguments):
    """A Chromium."""
    # A sandbox of its own Chromium makes as a user only.
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    browser = playwright.chromium.launch(executable_path=os.environ["CHROMIUM"], args=[*sandbox, *arguments])
    try:
        yield browser
    finally:
        browser.close()


class Window:
    """A window of a look such as `390-dark`, and all that its console said."""

    def __init__(self, browser, look, **options):
        width, scheme = look.split("-")
        self.look = look
        self.context = browser.new_context(
            viewport={"width": int(width), "height": HEIGHT}, color_scheme=scheme, reduced_motion="reduce", **options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(MILLISECONDS)
        self.complaints, self.urls = [], []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(f"dialog: {dialog.message}"))
        self.context.on("request", lambda request: self.urls.append(request.url))

    def expect_accessible(self):
        """No fault that axe finds, and nothing wider than the window."""
        found = Axe().run(self.page, options={"runOnly": TAGS}).response["violations"]
        faults = [f"{each['id']}: {node['html'][:200]} {node['failureSummary']}" for each in found for node in each["nodes"]]
        assert not faults, "\n".join(faults)
        overflow = self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert overflow <= 0, f"{overflow} px wider than the window"

    def picture(self, name, full_page=False):
        """Keeps a picture below .build/pages/."""
        PICTURES.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=PICTURES / f"{name}-{self.look}.png", full_page=full_page)

    def close(self):
        self.context.close()
