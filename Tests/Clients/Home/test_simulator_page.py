"""The simulator's own page in a real Chromium."""

import json

import pytest

from browser_pages import LOOKS


@pytest.mark.parametrize("look", LOOKS)
def test_people_and_controls(window, stack):
    page = window.page
    page.goto(f"http://{stack.addresses['simulator']}/")
    window.expect_accessible()
    page.get_by_role("button", name="Ana Cruz", exact=True).click()
    page.locator("#signIn > summary").click()
    assert page.locator("#signIn-person-email").input_value() == "ana.cruz@example.com"
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.locator("#signIn output .status", has_text="200 OK").wait_for()
    answer = json.loads(page.locator("#signIn output code").text_content())
    assert answer["identity_token"].startswith("eyJ") and answer["authorization_code"]
    assert "ana.cruz@example.com" in page.locator("#signIn pre[data-way]").inner_text()

    page.evaluate("scrollTo(0, 0)")
    window.picture("simulator")

    # An endpoint that nothing calls here, once.
    page.locator("#misbehave > summary").click()
    page.select_option("#misbehave-provider", "facebook")
    page.fill("#misbehave-endpoint", "me")
    page.fill("#misbehave-times", "1")
    page.locator("#misbehave button.strong").click()
    page.locator("#misbehave output .status", has_text="200 OK").wait_for()
    assert stack.simulator.get("/facebook/me").status == 503 and stack.simulator.get("/facebook/me").status != 503

    page.locator("#appleNotice > summary").click()
    assert page.locator("#appleNotice-sub").input_value().count(".") == 2
    page.locator("#appleNotice button.strong").click()
    page.locator("#appleNotice output .status", has_text="200 OK").wait_for()
    page.locator("#counts > summary").click()
    page.locator("#counts button.strong").click()
    page.locator("#counts output", has_text='"facebook"').wait_for()
    window.expect_accessible()
    assert window.complaints == []


def test_only_the_gateway_s_pages_may_call_it(stack):
    own = f"http://{stack.addresses['gateway']}"
    for origin, allowed in ((own, own), (own.replace("127.0.0.1", "localhost"), own.replace("127.0.0.1", "localhost")),
                            ("http://evil.example", None), ("null", None)):
        answer = stack.simulator.get("/control/people", headers={"Origin": origin}).headers
        assert answer.get("Access-Control-Allow-Origin") == allowed
