"""The page of development in a real Chromium: one click signs in, each form makes its call, the tour walks the story."""

import json
import re
import subprocess

import pytest

from browser_pages import LOOKS, Window

# Header and claims are JSON objects, in base64url.
JWT = re.compile(r"eyJ[\w-]+\.eyJ")
MARIA = "Sign in as Maria (simulated Apple)"
ANA = "Sign in as Ana (simulated Google)"
# What Chromium itself says of answers that the tour expects.
REFUSED = "Failed to load resource: the server responded with a status of "


@pytest.fixture
def home(window, stack):
    """The page, opened. Afterwards no token may have been in a URL or is in a log."""
    page = window.page
    page.goto(f"http://{stack.addresses['gateway']}/")
    page.get_by_role("button", name=MARIA).wait_for()
    yield page
    state = json.loads(page.evaluate("sessionStorage.getItem('vestibule-home')") or '{"sessions": {}}')
    for session in state["sessions"].values():
        stack.confidential |= {session["access"], session.get("refresh", session["access"])}
    assert not [url for url in window.urls if JWT.search(url) or "vrt1_" in url], "a token in a URL"


def sign_in(page, name=MARIA):
    count = page.locator("#signed-in li").count()
    page.get_by_role("button", name=name).click()
    page.locator("#signed-in li").nth(count).wait_for()


def opened(page, id):
    """An entry, opened."""
    entry = page.locator(f"#{id}")
    if not entry.evaluate("entry => entry.open"):
        entry.locator("> summary").click()
    return entry


def run(page, id):
    """Opens an entry, runs its form, and returns the answer's status and JSON."""
    entry = opened(page, id)
    output = entry.locator("output")
    output.evaluate("output => output.replaceChildren()")
    entry.locator("button.strong").click()
    output.locator(".status").wait_for()
    code = output.locator("code")
    text = code.text_content() if code.count() else ""
    return output.locator(".status").inner_text(), json.loads(text) if text.startswith("{") else text


@pytest.mark.parametrize("look", LOOKS)
def test_one_click_signs_in_and_forms_run(home, window, stack):
    window.expect_accessible()
    window.picture("home")
    assert home.locator("#who").inner_text() == "Nobody is signed in."
    home.get_by_text("gateway ok, identity ok, profile ok, invites ok").wait_for()
    sign_in(home)
    assert "Signed in as\nMaria Santos" in home.locator("#who").inner_text()
    assert "POST /auth/apple" in home.locator("#people output").inner_text()
    window.expect_accessible()
    window.picture("signed-in")

    status, me = run(home, "getMe")
    assert status.startswith("200 OK") and "missing_fields" in me
    status, group = run(home, "createGroup")
    assert status.startswith("201 Created") and group["name"] == "Trip to Siargao"
    # What one answer says is in the next forms.
    assert home.locator("#addMember-group_id").input_value() == group["id"]
    opened(home, "addMember")
    home.fill("#addMember-phone_number", "0917 555 01 01")
    status, member = run(home, "addMember")
    assert status.startswith("201 Created") and member["state"] == "pending"
    assert home.locator("#removeMember-member_id").input_value() == member["id"]
    home.locator("#addMember").scroll_into_view_if_needed()
    window.expect_accessible()
    window.picture("call")

    home.fill("#search", "phone number")
    assert home.locator("#provePhone").is_visible() and not home.locator("#listSessions").is_visible()
    window.expect_accessible()
    home.fill("#search", "no such thing")
    assert home.locator("#nothing").inner_text() == "Nothing matches."
    assert window.complaints == []


@pytest.mark.parametrize("look", LOOKS)
def test_the_tour(home, window):
    steps = home.locator("#tour .step")
    assert steps.count() == 12
    # One by one at first, as somebody reads it.
    for index in range(3):
        steps.nth(index).get_by_role("button").click()
        home.locator("#tour .step.done").nth(index).wait_for()
    assert "+63917" in steps.nth(2).inner_text()
    home.get_by_role("button", name="Run all steps").click()
    home.locator("#tour .step.done").nth(11).wait_for()
    live = steps.nth(6).locator(".events").inner_text()
    assert "group.joined" in live and re.search(r"after \d+ ms", live)
    assert "PHONE_TAKEN" in steps.nth(10).text_content() and "401" in steps.nth(11).inner_text()
    window.expect_accessible()
    assert window.complaints == [f"{REFUSED}409 (Conflict)", f"{REFUSED}401 (Unauthorized)"]
    # Again on the same data, by new people.
    home.get_by_role("button", name="Run all steps").click()
    home.locator("#tour .step.done").nth(11).wait_for()
    steps.nth(3).evaluate("step => step.scrollIntoView()")
    window.picture("tour")


@pytest.mark.parametrize("look", ["1280-light"])
def test_a_line_is_what_the_form_sends(home, stack):
    sign_in(home)
    opened(home, "createGroup")
    home.fill("#createGroup-name", "Ana's \"$HOME\" `id` \\ lunch")
    for way, name in (("route", "name"), ("connect", "name")):
        line = home.locator(f"#createGroup pre[data-way={way}]").text_content()
        made = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True, timeout=30)
        answer = json.loads(made.stdout)
        assert (answer.get("group") or answer)[name] == "Ana's \"$HOME\" `id` \\ lunch", line


@pytest.mark.parametrize("look", ["1280-light"])
def test_calls_by_connect_get_fresh_tokens(home, window):
    sign_in(home)
    status, answer = run(home, "linkProvider")
    assert status.startswith("200 OK"), answer
    assert "simulated Google for Maria Santos" in home.locator("#linkProvider output").inner_text()
    assert run(home, "listProviders")[0].startswith("200 OK")
    # Again, with another token.
    assert run(home, "linkProvider")[0].startswith("200 OK")
    status, answer = run(home, "signInWithProvider")
    assert status.startswith("200 OK") and answer["tokens"]["accessToken"]
    assert run(home, "refreshSession")[0].startswith("200 OK")
    assert run(home, "getMe")[0].startswith("200 OK")
    # One that several fields and elements make.
    run(home, "createGroup")
    opened(home, "addMembers")
    home.get_by_role("button", name="Add another").click()
    home.fill("#addMembers-members-1-phone_number", "0917 555 02 02")
    home.fill("#addMembers-members-1-display_name", "Ben")
    status, answer = run(home, "addMembers")
    assert status.startswith("200 OK") and len(answer["results"]) == 2, answer
    assert window.complaints == []


@pytest.mark.parametrize("look", ["1280-light"])
def test_two_people_and_the_stream(home, window):
    sign_in(home)
    sign_in(home, ANA)
    opened(home, "watchGroups")
    home.locator("#watchGroups button.strong").click()
    home.locator("#watchGroups .events li", has_text="begin").wait_for()
    assert "Ana Cruz" in home.locator("#who").inner_text()
    # Her own group, while the stream is open.
    run(home, "createGroup")
    home.locator("#watchGroups .events li", has_text="group.joined").wait_for()
    home.get_by_role("button", name="Stop").click()
    home.locator("#watchGroups .status", has_text="Stopped").wait_for()
    home.get_by_role("button", name="Maria Santos, Apple").click()
    assert "Maria Santos" in home.locator("#who").inner_text()
    home.locator("#people details > summary").click()
    home.select_option("#else-person", label="Ben Reyes, ben.reyes@example.com")
    home.select_option("#else-provider", "facebook")
    home.get_by_role("button", name="Sign in", exact=True).click()
    home.locator("#who", has_text="Ben Reyes").wait_for()
    home.get_by_role("button", name="Maria Santos, Apple").click()
    home.reload()
    home.locator("#signed-in li").nth(2).wait_for()
    assert "Maria Santos" in home.locator("#who").inner_text()
    home.get_by_role("button", name="Sign out").click()
    home.locator("#who", has_text="Ana Cruz").wait_for()
    assert window.complaints == []


@pytest.mark.parametrize("look", ["390-light"])
def test_by_keyboard(home):
    for _ in range(20):
        home.keyboard.press("Tab")
        if home.evaluate("document.activeElement.textContent") == MARIA:
            break
    home.keyboard.press("Enter")
    home.locator("#signed-in li").wait_for()
    home.focus("#getMe > summary")
    home.keyboard.press("Enter")
    home.keyboard.press("Tab")
    home.keyboard.press("Enter")
    home.locator("#getMe output .status", has_text="200 OK").wait_for()


@pytest.mark.parametrize("look", ["1280-light"])
def test_signing_in_by_the_hosted_page(home, window):
    home.get_by_role("link", name="Sign in by the hosted page").click()
    home.get_by_role("link", name="Sign in with Apple").click()
    window.expect_accessible()
    window.picture("simulated-apple")
    home.get_by_role("button", name="Maria Santos, maria.santos@example.com").click()
    output = home.locator("#hosted output")
    output.locator(".status", has_text="200 OK").wait_for()
    assert "/oauth2/userinfo" in output.inner_text() and '"sub"' in output.inner_text()
    # Neither a reload nor the history has the code.
    assert "code=" not in home.url and home.evaluate("location.search") == ""
    # A code of somebody else's is not redeemed.
    home.goto(home.url.split("#")[0] + "?code=stolen&state=theirs")
    home.locator("#hosted output", has_text="none of this tab's requests").wait_for()
    assert window.complaints == []


@pytest.mark.parametrize("look", LOOKS)
def test_without_scripts(browser, stack, look):
    window = Window(browser, look, java_script_enabled=False)
    page = window.page
    page.goto(f"http://{stack.addresses['gateway']}/")
    assert page.get_by_text("Set these variables first").is_visible()
    opened(page, "getMe")
    line = page.locator("#getMe pre").first
    assert line.is_visible() and '/me" -H "Authorization: Bearer $ACCESS"' in line.inner_text()
    assert not page.locator("#form-getMe").is_visible() and not page.locator("#tour").is_visible()
    page.get_by_role("link", name="Sign in by the hosted page").click()
    assert page.get_by_role("link", name="Sign in with Apple").is_visible()
    window.close()


@pytest.mark.parametrize("look", ["1280-light"])
def test_nothing_that_a_stranger_says_becomes_markup(browser, stack, look):
    evil = "<img src=x onerror=alert(1)>"
    person = {"email": "evil@example.com", "given_name": evil, "family_name": "\"'&"}
    stack.simulator.post("/control/apple/sign-in", {"client_id": "com.example.app", "person": person}).expect(200)
    window = Window(browser, look)
    page = window.page
    page.goto(f"http://{stack.addresses['gateway']}/")
    page.locator("#people details > summary").click()
    page.select_option("#else-person", label=f"{evil} \"'&, evil@example.com")
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.locator("#signed-in li").wait_for()
    assert evil in page.locator("#who").inner_text() and evil in page.locator("#people output").inner_text()
    assert page.locator("img").count() == 0
    page.goto(f"http://{stack.addresses['simulator']}/")
    page.get_by_role("button", name=evil).click()
    assert page.locator("img").count() == 0
    assert window.complaints == []
    window.close()
