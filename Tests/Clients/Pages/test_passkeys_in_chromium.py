"""Passkeys on the pages of the gateway, in a real Chromium with an authenticator of its own (WebAuthn's virtual authenticators)."""

import contextlib
import json
import re
import urllib.parse

import pytest
from playwright.sync_api import expect

from browser_pages import PICTURES, launched
from person_window import WIDTHS, PersonWindow
from stack import new_stack
from visitor import Visitor

# A phone's own authenticator, with a passkey's copies at its provider.
PHONE = {
    "protocol": "ctap2", "ctap2Version": "ctap2_1", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True,
    "isUserVerified": True, "defaultBackupEligibility": True, "defaultBackupState": True, "automaticPresenceSimulation": True}
SIGN_IN = "Sign in with a passkey"
UNKNOWN = "This passkey doesn’t open an account here."
NONE_USED = "No passkey was used."


@pytest.fixture(scope="module")
def stack():
    """A stack whose passkeys are those of `localhost`, which browsers take for a secure context."""
    with new_stack(VESTIBULE_LOG_LEVEL="trace") as stack:
        origin = f"http://localhost:{stack.addresses['gateway'].split(':')[1]}"
        stack.environment |= {
            "VESTIBULE_GATEWAY_PUBLIC_URL": origin, "VESTIBULE_IDENTITY_PASSKEY_RP_ID": "localhost",
            "VESTIBULE_IDENTITY_PASSKEY_ORIGINS": origin}
        stack.start()
        yield stack
        assert stack.stop() == 0, stack.output
        stack.expect_no_confidences()


@pytest.fixture(scope="module")
def chromium(playwright):
    with launched(playwright) as browser:
        yield browser


class PasskeyWindow(PersonWindow):
    """A window of a person whose device has passkeys. `signals` are what pages reported of passkeys that open nothing."""

    def __init__(self, stack, context, person=None, authenticator=PHONE):
        super().__init__(stack, context, person)
        self.stack = stack
        self.base = stack.environment["VESTIBULE_GATEWAY_PUBLIC_URL"]
        self.signals = []
        self.page.expose_function("reportSignal", lambda signal: self.signals.append(signal))
        self.page.add_init_script("""
            const signal = window.PublicKeyCredential?.signalUnknownCredential;
            if (signal) PublicKeyCredential.signalUnknownCredential = (options) => {
              reportSignal(options);
              return signal.call(PublicKeyCredential, options);
            };""")
        self.devtools = context.new_cdp_session(self.page)
        self.devtools.send("WebAuthn.enable")
        self.authenticator = self.add(authenticator)

    def sign_in(self, path="/my/account"):
        """Signs in with Apple, and takes the cookie over: from the simulated Apple at 127.0.0.1 to `localhost` over http, Chromium sends no
        cookie with a form."""
        visitor = Visitor(self.stack)
        visitor.person, visitor.base = self.person, self.base
        visitor.hosts += (urllib.parse.urlsplit(self.base).netloc,)
        visitor.sign_in()
        (value,) = [cookie.value for cookie in visitor.session.cookies if cookie.name == "vestibule-session"]
        self.context.add_cookies([{"name": "vestibule-session", "value": value, "url": self.base, "httpOnly": True, "sameSite": "Lax"}])
        return self.open(path)

    def add(self, options):
        return self.devtools.send("WebAuthn.addVirtualAuthenticator", {"options": options})["authenticatorId"]

    def replace_authenticator(self):
        """Gives the device another authenticator, which has no passkeys."""
        self.devtools.send("WebAuthn.removeVirtualAuthenticator", {"authenticatorId": self.authenticator})
        self.authenticator = self.add(PHONE)

    def be_present(self, is_present):
        """Whether the user touches the authenticator when it asks."""
        self.devtools.send("WebAuthn.setAutomaticPresenceSimulation", {"authenticatorId": self.authenticator, "enabled": is_present})

    def verify(self, is_verified):
        """Whether the authenticator recognizes the user."""
        self.devtools.send("WebAuthn.setUserVerified", {"authenticatorId": self.authenticator, "isUserVerified": is_verified})

    @property
    def credentials(self):
        return self.devtools.send("WebAuthn.getCredentials", {"authenticatorId": self.authenticator})["credentials"]

    def add_passkey(self, name=None):
        self.open("/my/account").page.get_by_role("link", name="Add a passkey").click()
        if name:
            self.page.get_by_label("Name of the passkey").fill(name)
        self.page.get_by_role("button", name="Add a passkey").click()
        return self

    def add_first(self, name=None):
        """Signs in with Apple, and adds a passkey."""
        self.sign_in().add_passkey(name)
        self.page.wait_for_url(re.compile(r"/my/account\?notice=linked"))
        return self

    def sign_out(self):
        self.open("/my/account").page.get_by_role("button", name="Sign out", exact=True).last.click()
        self.page.wait_for_url(re.compile("/oauth2/logout"))
        return self

    def press(self):
        """Signs in by the button. The user touches the authenticator after the page took its suggestions back and asked for one passkey:
        before, the touch would choose a suggestion."""
        button = self.page.get_by_role("button", name=SIGN_IN)
        expect(button).to_be_visible()
        button.evaluate("""(button) => new Promise((hasAsked) => {
          navigator.credentials.get = async function (options) {
            if (options.mediation !== "conditional") {
              delete navigator.credentials.get;
              await new Promise((touch) => { window.touch = touch; hasAsked(); });
            }
            return CredentialsContainer.prototype.get.call(this, options);
          };
          button.click();
        })""")
        self.be_present(True)
        self.page.evaluate("() => window.touch()")
        return self

    @property
    def passkeys(self):
        return self.page.get_by_role("region", name="Passkeys")

    def cards(self):
        return self.passkeys.get_by_role("listitem")


@pytest.fixture
def new_window(stack, chromium):
    """Opens the window of a new person."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as contexts:
        def window(width=390, scheme="light", person=None, authenticator=PHONE, **options):
            context = chromium.new_context(
                viewport={"width": width, "height": WIDTHS[width]}, color_scheme=scheme, reduced_motion="reduce", **options)
            contexts.callback(context.close)
            return PasskeyWindow(stack, context, person, authenticator)

        yield window


def test_a_passkey_signs_in_by_the_button(new_window):
    window = new_window().add_first("My phone")
    card = window.cards()
    expect(card).to_have_count(1)
    expect(card).to_contain_text("My phone")
    expect(card).to_contain_text("Never used")
    expect(card).to_contain_text("Backed up")
    expect(window.page.get_by_text("Passkey was added")).to_be_visible()
    window.be_present(False)
    window.sign_out().open("/my/profile")
    assert "/sign-in" in window.page.url
    window.press().page.wait_for_url(re.compile("/my/profile"))
    window.open("/my/account")
    expect(window.cards()).to_contain_text("Last used")
    expect(window.page.get_by_text("Signed in with Passkey")).to_be_visible()
    assert window.lines == [] and window.signals == []


def test_a_passkey_signs_in_by_the_field(new_window):
    """The authenticator stands for the user, who chooses the passkey that the browser suggests."""
    window = new_window().add_first()
    window.sign_out().open("/my/account")
    window.page.wait_for_url(re.compile("/my/account"))
    expect(window.cards()).to_have_count(1)
    assert window.lines == []


def test_enter_in_the_field_is_the_button(new_window):
    window = new_window().add_first()
    window.be_present(False)
    window.sign_out().open("/my/account")
    field = window.page.get_by_label("Choose one of your passkeys")
    expect(field).to_have_attribute("autocomplete", "username webauthn")
    field.fill("maria")
    window.be_present(True)
    field.press("Enter")
    window.page.wait_for_url(re.compile("/my/account"))


def test_a_client_gets_its_code(new_window):
    window = new_window().add_first()
    window.be_present(False)
    window.sign_out()
    window.open(
        "/oauth2/authorize?client_id=demo&response_type=code&scope=openid&state=s1&code_challenge_method=S256"
        "&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&redirect_uri=http%3A%2F%2F127.0.0.1%3A5000%2Fcallback")
    # Nobody listens there.
    with window.page.expect_request(re.compile(r"^http://127\.0\.0\.1:5000/callback")) as answer:
        window.press()
    assert "code=" in answer.value.url and "state=s1" in answer.value.url, answer.value.url


def test_a_removed_passkey_is_refused_and_reported(new_window):
    window = new_window().add_first()
    (credential,) = window.credentials
    window.cards().get_by_role("button", name="Remove").click()
    window.page.wait_for_url(re.compile("notice=unlinked"))
    expect(window.cards()).to_have_count(0)
    window.be_present(False)
    window.sign_out().open("/sign-in").press()
    expect(window.page.get_by_role("alert")).to_contain_text(UNKNOWN)
    assert "/sign-in" in window.page.url
    (signal,) = window.signals
    assert signal["rpId"] == "localhost"
    standard = signal["credentialId"].replace("-", "+").replace("_", "/")
    assert standard.rstrip("=") == credential["credentialId"].rstrip("=")


def test_a_removed_passkey_is_refused_in_the_field_too(new_window):
    window = new_window().add_first()
    window.cards().get_by_role("button", name="Remove").click()
    window.page.wait_for_url(re.compile("notice=unlinked"))
    window.sign_out().open("/sign-in")
    expect(window.page.get_by_role("alert")).to_contain_text(UNKNOWN)
    assert len(window.signals) == 1


def test_two_passkeys_are_listed_renamed_and_removed(new_window):
    window = new_window().add_first("My phone")
    window.replace_authenticator()
    window.add_passkey("My key")
    window.page.wait_for_url(re.compile("notice=linked"))
    expect(window.cards()).to_have_count(2)
    second = window.cards().nth(1)
    second.get_by_text("Rename").click()
    second.get_by_label("Name of the passkey").fill("Red key")
    second.get_by_role("button", name="Save").click()
    window.page.wait_for_url(re.compile("notice=saved"))
    expect(window.cards().nth(0)).to_contain_text("My phone")
    expect(window.cards().nth(1)).to_contain_text("Red key")
    window.cards().nth(0).get_by_role("button", name="Remove").click()
    window.page.wait_for_url(re.compile("notice=unlinked"))
    expect(window.cards()).to_have_count(1)
    expect(window.cards()).to_contain_text("Red key")
    window.be_present(False)
    window.sign_out().open("/my/account").press().page.wait_for_url(re.compile("/my/account"))


def test_no_challenge_is_answered_that_has_expired(new_window):
    """A challenge is valid for five minutes; the pages go on a minute earlier."""
    window = new_window().add_first()
    window.be_present(False)
    window.page.clock.install()
    window.open("/my/account/passkey").page.clock.fast_forward(241_000)
    with window.page.expect_navigation():
        window.page.get_by_role("button", name="Add a passkey").click()
    assert window.page.url.endswith("/my/account/passkey")
    window.context.clear_cookies()
    with window.page.expect_request(re.compile("/sign-in/passkey/challenge")):
        window.open("/my/account")
    with window.page.expect_request(re.compile("/sign-in/passkey/challenge")):
        window.page.clock.fast_forward(241_000)
    window.press().page.wait_for_url(re.compile("/my/account"))
    assert window.lines == []


def test_an_authenticator_makes_one_passkey_for_an_account(new_window):
    window = new_window().add_first().add_passkey()
    expect(window.page.get_by_role("alert")).to_contain_text("This device already has a passkey")
    window.open("/my/account")
    expect(window.cards()).to_have_count(1)


def test_a_user_who_is_not_verified(new_window):
    window = new_window().add_first()
    window.be_present(False)
    window.sign_out().open("/my/account")
    window.verify(False)
    window.press()
    expect(window.page.get_by_role("alert")).to_contain_text(NONE_USED)
    # The page suggests passkeys anew.
    window.be_present(False)
    window.verify(True)
    window.press().page.wait_for_url(re.compile("/my/account"))
    window.replace_authenticator()
    window.verify(False)
    window.add_passkey()
    expect(window.page.get_by_role("alert")).to_contain_text("No passkey was added.")
    window.open("/my/account")
    expect(window.cards()).to_have_count(1)


def test_a_passkey_as_the_only_way_in(new_window):
    window = new_window().add_first()
    window.page.get_by_role("region", name="Ways to sign in").get_by_role("button", name=re.compile("Remove")).click()
    window.page.wait_for_url(re.compile("/my/account|/sign-in"))
    window.be_present(False)
    window.open("/oauth2/logout")
    window.context.clear_cookies()
    window.open("/my/account").press().page.wait_for_url(re.compile("/my/account"))
    expect(window.cards()).to_have_count(1)
    expect(window.cards().get_by_role("button", name="Remove")).to_have_count(0)
    expect(window.page.get_by_role("button", name="Add Apple")).to_be_visible()
    window.check("account-passkey-only", "light")


def test_an_old_sign_in_adds_nothing_until_the_user_signs_in_anew(new_window, stack):
    window = new_window().add_first()
    data = json.loads(window.context.request.get(f"{window.base}/my/account/data").text())
    assert [set(each) >= {"id", "name", "created_at"} for each in data["passkeys"]] == [True]
    stack.sql(f"UPDATE identity.sessions SET created_at = created_at - interval '1 hour' WHERE user_id = '{data['profile']['user_id']}'")
    window.open("/my/account").page.get_by_role("link", name="Add a passkey").click()
    expect(window.page.get_by_role("alert")).to_contain_text("sign in again")
    window.be_present(False)
    window.page.get_by_role("link", name="Sign in again").click()
    window.press().page.wait_for_url(re.compile("/my/account/passkey$"))
    expect(window.page.get_by_role("button", name="Add a passkey")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_how_pages_with_passkeys_look(new_window, width, scheme):
    window = new_window(width, scheme)
    window.open("/sign-in")
    expect(window.page.get_by_label("Choose one of your passkeys")).to_be_visible()
    window.check("sign-in-passkey", scheme)
    window.sign_in().open("/my/account/passkey").check("passkey", scheme)
    window.add_passkey("My phone").page.wait_for_url(re.compile("notice=linked"))
    window.check("account-passkeys", scheme)


@pytest.mark.parametrize("language", ["ar", "de", "es", "fil", "ja"])
def test_passkeys_in_other_languages(new_window, language):
    window = new_window(locale=language)
    window.open("/sign-in").check(f"sign-in-passkey-{language}", "light")
    window.sign_in().open("/my/account/passkey").check(f"passkey-{language}", "light")
    window.page.locator("form.new-passkey button").click()
    window.page.wait_for_url(re.compile("notice=linked"))
    window.check(f"account-passkeys-{language}", "light")
    assert SIGN_IN not in window.page.content() and "Never used" not in window.page.content()


def test_without_scripts_no_passkey_is_offered(new_window):
    window = new_window(java_script_enabled=False)
    window.open("/my/account")
    expect(window.page.get_by_role("link", name=re.compile("Apple"))).to_be_visible()
    expect(window.page.get_by_text(SIGN_IN)).to_be_hidden()
    window.sign_in()
    expect(window.passkeys).to_be_visible()
    expect(window.page.get_by_text("Add a passkey")).to_be_hidden()
    window.open("/my/account/passkey")
    expect(window.page.get_by_text("This browser can’t add passkeys.")).to_be_visible()
    expect(window.page.get_by_role("button", name="Add a passkey")).to_be_hidden()


def test_a_browser_without_passkeys(new_window):
    window = new_window()
    window.page.add_init_script("delete window.PublicKeyCredential")
    window.open("/sign-in")
    expect(window.page.get_by_role("link", name=re.compile("Apple"))).to_be_visible()
    expect(window.page.get_by_role("button", name=SIGN_IN)).to_be_hidden()
