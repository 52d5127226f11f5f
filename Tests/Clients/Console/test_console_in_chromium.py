"""Every page of the operators' console in a real Chromium: whether all people can use it, in light and dark, on a phone and a desktop, what its
script does, and that it works without."""

import re

import pytest
from playwright.sync_api import expect

from app import App, Person
from browser_pages import LOOKS, Window
from operators_console import Console


@pytest.fixture(scope="module")
def console(stack, tmp_path_factory):
    with Console(stack, tmp_path_factory.mktemp("console")).running() as console:
        yield console


@pytest.fixture(scope="module")
def account(stack):
    app = App(stack, Person())
    app.sign_in()
    app.complete()
    app.create_group()
    return app


class OperatorWindow(Window):
    def __init__(self, browser, look, console, **options):
        super().__init__(browser, look, **options)
        self.base = f"http://{console.address}"

    def open(self, path):
        self.page.goto(f"{self.base}{path}")
        return self

    def sign_in(self, person="Maria", path="/accounts"):
        self.open(path)
        self.page.get_by_role("link", name="Sign in with").click()
        self.page.get_by_role("button", name=re.compile(person)).first.click()
        self.page.wait_for_url(f"{self.base}{path}")
        self.complaints.clear()  # of the simulator's page
        return self

    def check(self, name):
        self.expect_accessible()
        self.picture(f"console-{name}", full_page=True)
        assert self.complaints == [], (name, self.complaints)


@pytest.fixture
def operator(browser, look, console):
    window = OperatorWindow(browser, look, console)
    yield window
    window.close()


@pytest.mark.parametrize("look", LOOKS, ids=str)
def test_every_page(operator, account):
    operator.open("/sign-in?notice=unknown").check("sign-in")
    page = operator.sign_in().page
    operator.check("accounts")
    page.get_by_label("Find by").select_option("email")
    page.get_by_label("Term").fill(account.person.email)
    page.get_by_role("button", name="Find").click()
    operator.check("found")
    assert account.person.email not in page.url
    page.get_by_role("link", name=account.user_id).click()
    expect(page.get_by_text("•••••").first).to_be_visible()
    for each in page.locator("summary").all():
        each.click()
    operator.check("account")
    page.get_by_label("Reason, for the audit log").fill("support_ticket")
    page.get_by_role("button", name="Show numbers, addresses and subjects").click()
    expect(page.get_by_text(account.person.phone)).to_be_visible()
    operator.check("opened")
    for path, name in (("/disputes", "disputes"), ("/work", "work"), ("/charts", "charts"), (f"/accounts/{account.user_id}/events", "events")):
        operator.open(path).check(name)
    operator.open("/accounts/00000000-0000-4000-8000-000000000000")
    expect(page.get_by_role("heading", name="No account")).to_be_visible()


@pytest.mark.parametrize("look", ["1280-light"], ids=str)
def test_charts_refresh_themselves_until_they_are_paused(operator):
    page = operator.sign_in(path="/charts").page
    with page.expect_response(lambda answer: answer.url.endswith("/charts?live=1")):
        pass
    pause = page.get_by_role("button", name="Pause")
    pause.click()
    expect(pause).to_have_attribute("aria-pressed", "true")
    before = len(operator.urls)
    page.wait_for_timeout(6000)
    assert len(operator.urls) == before
    assert all(url.startswith(operator.base) for url in operator.urls[-3:]) and operator.complaints == []


@pytest.mark.parametrize("look", ["390-dark"], ids=str)
def test_it_works_by_keyboard_and_without_scripts(browser, look, console, account):
    window = OperatorWindow(browser, look, console, java_script_enabled=False)
    try:
        page = window.sign_in("Ana", f"/accounts/{account.user_id}").page
        page.keyboard.press("Tab")
        expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
        summary = page.locator("summary", has_text="End all sessions")
        summary.focus()
        page.keyboard.press("Enter")
        page.get_by_label("Yes, do it").first.check()
        page.get_by_role("button", name="End all sessions").click()
        expect(page.get_by_role("status")).to_have_text("All sessions ended.")
        window.open("/charts")
        assert page.locator("svg.chart").count() == 3 and not page.get_by_role("button", name="Pause").is_visible()
    finally:
        window.close()
