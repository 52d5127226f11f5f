"""The JavaScript kit in Chromium: two tabs, the hosted page, and pictures, against a running server."""

import json
import pathlib
import re
import urllib.parse

import pytest

from app import App
from page_site import ROOT, serving

PAGE = pathlib.Path(__file__).resolve().parent / "javascript/page.html"
PICTURE = ROOT / "Tests/ImagesTests/Files/rgb.png"
# Of the access tokens of these tests' stack.
LIFETIME_SECONDS = 30
MILLISECONDS = 20_000
REFRESH = "/vestibule.app.v1.AuthService/RefreshSession"


@pytest.fixture
def origin(kit_stack):
    texts = {"/gateway.js": f"export const gateway = {json.dumps('http://' + kit_stack.addresses['gateway'])};"}
    with serving(kit_stack.page_port, PAGE, texts=texts) as origin:
        yield origin


@pytest.fixture
def tabs(browser, origin):
    """Makes tabs of one browser, in which the kit is loaded."""
    context = browser.new_context()
    complaints = []

    def new(path="/"):
        page = context.new_page()
        page.set_default_timeout(MILLISECONDS)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text))
        page.goto(origin + path)
        page.wait_for_function("window.vestibule")
        return page

    new.context, new.complaints = context, complaints
    yield new
    context.close()


def sign_in(page, stack):
    """Signs a new person in by the simulated Apple; returns the user's id."""
    app = App(stack)
    credentials = app.ask_apple()
    return page.evaluate(
        "async ([idToken, nonce, code]) => "
        "(await vestibule.signIn({ provider: 'apple', idToken, nonce, authorizationCode: code })).userId",
        [credentials["identity_token"], credentials["nonce"], credentials["authorization_code"]])


def wait_for_state(page, state):
    page.wait_for_function("state => document.querySelector('#state').textContent === state", arg=state)


def test_two_tabs_have_one_session(kit_stack, tabs):
    first, second = tabs(), tabs()
    wait_for_state(second, "signedOut")
    user = sign_in(first, kit_stack)
    wait_for_state(second, "signedIn")
    assert second.evaluate("vestibule.getMe().then((profile) => profile.userId)") == user
    # A third one, opened later, is signed in from the beginning.
    third = tabs()
    wait_for_state(third, "signedIn")
    first.evaluate("vestibule.signOut()")
    for page in (first, second, third):
        wait_for_state(page, "signedOut")
    assert second.evaluate("vestibule.getMe().catch((error) => error.code)") == "SIGNED_OUT"
    assert second.evaluate("states.map((each) => each.state)") == ["signedOut", "signedIn", "signedOut"]
    assert not tabs.complaints, tabs.complaints


def test_two_tabs_refresh_once(kit_stack, tabs):
    first, second = tabs(), tabs()
    refreshes = []
    tabs.context.on("request", lambda request: refreshes.append(request.url) if request.method == "POST" and REFRESH in request.url else None)
    sign_in(first, kit_stack)
    wait_for_state(second, "signedIn")
    for round in (1, 2, 3):
        for page in (first, second):
            # An hour later, or a clock that is wrong.
            page.evaluate("(() => { const now = Date.now; Date.now = () => now() + 3_600_000; })()")
        for page in (first, second):
            page.evaluate("window.all = Promise.all([1, 2, 3, 4].map(() => vestibule.getMe())); 0")
        for page in (first, second):
            assert page.evaluate("all.then((profiles) => profiles.length)") == 4
        assert len(refreshes) == round, refreshes
    assert not tabs.complaints, tabs.complaints


def test_a_tab_that_is_closed_frees_the_lock(kit_stack, tabs):
    first, second = tabs(), tabs()
    sign_in(first, kit_stack)
    wait_for_state(second, "signedIn")
    # The response never comes, and the tab holds the lock meanwhile.
    with first.expect_request(lambda request: REFRESH in request.url):
        first.route(f"**{REFRESH}", lambda route: None)
        first.evaluate("void vestibule.refresh().catch(() => {})")
    second.evaluate("window.refreshed = vestibule.refresh(); 0")
    second.wait_for_timeout(300)
    assert second.evaluate("Promise.race([refreshed, 'waits'])") == "waits"
    first.close()
    assert second.evaluate("refreshed") != ""
    assert second.evaluate("vestibule.state().then(({ state }) => state)") == "signedIn"


def test_a_browser_that_can_not_store_signs_nobody_in_or_out(kit_stack, tabs):
    first, second = tabs(), tabs()
    refuse = "window.put = IDBObjectStore.prototype.put; IDBObjectStore.prototype.put = () => { throw new DOMException('full', 'QuotaExceededError'); }; 0"
    first.evaluate(refuse)
    credentials = App(kit_stack).ask_apple()
    sign_in_code = (
        "([idToken, nonce]) => vestibule.signIn({ provider: 'apple', idToken, nonce }).then(({ userId }) => userId, (error) => error.code)")
    tokens = [credentials["identity_token"], credentials["nonce"]]
    assert first.evaluate(sign_in_code, tokens) == "STORE_FAILED"
    assert first.evaluate("vestibule.state()") == {"state": "signedOut"}
    first.evaluate("IDBObjectStore.prototype.put = put; 0")
    user = first.evaluate(sign_in_code, tokens)
    first.evaluate(refuse)
    assert first.evaluate("vestibule.refresh().catch((error) => error.code)") == "STORE_FAILED"
    first.evaluate("IDBObjectStore.prototype.put = put; 0")
    # The server takes the old token once more.
    assert first.evaluate("vestibule.refresh().then(() => vestibule.getMe()).then(({ userId }) => userId)") == user
    wait_for_state(second, "signedIn")


def test_a_session_that_is_ended_elsewhere_ends_in_all_tabs(kit_stack, tabs):
    first, second = tabs(), tabs()
    sign_in(first, kit_stack)
    wait_for_state(second, "signedIn")
    # By the session's own token, but not by the kit.
    first.evaluate("""async () => {
      const token = await vestibule.accessToken();
      await fetch(`${vestibule.url}/auth/sign-out`, { method: "POST", headers: { authorization: `Bearer ${token}` } });
    }""")
    assert first.evaluate("vestibule.getMe().catch((error) => error.code)") == "SESSION_REVOKED"
    for page in (first, second):
        wait_for_state(page, "signedOut")
        page.wait_for_function("states.at(-1).code === 'SESSION_REVOKED'")


def test_groups_events_and_pictures(kit_stack, tabs):
    first, second = tabs(), tabs()
    sign_in(first, kit_stack)
    wait_for_state(second, "signedIn")
    second.evaluate("""() => {
      window.messages = [];
      (async () => { for await (const message of vestibule.events()) messages.push(message); })();
    }""")
    second.wait_for_function("messages.length > 0")
    group = first.evaluate("vestibule.createGroup({ name: 'Trip' })")
    assert group["role"] == "GROUP_ROLE_OWNER"
    second.wait_for_function("id => messages.some(({ changes }) => changes.some((each) => each.groupId === id))", arg=group["groupId"])
    # The stream goes on when its token has expired.
    second.wait_for_timeout(LIFETIME_SECONDS * 1000 + 1000)
    another = first.evaluate("vestibule.createGroup({ name: 'Another' })")
    second.wait_for_function("id => messages.some(({ changes }) => changes.some((each) => each.groupId === id))", arg=another["groupId"])
    address = first.evaluate(
        "async (bytes) => vestibule.setAvatar(new Blob([new Uint8Array(bytes)], { type: 'image/png' }))", list(PICTURE.read_bytes()))
    assert first.evaluate("(address) => fetch(address).then(({ status }) => status).catch(() => 200)", address) == 200
    first.evaluate("vestibule.removeAvatar()")
    assert first.evaluate("vestibule.getMe().then(({ avatarUrl }) => avatarUrl ?? null)") is None
    first.evaluate("vestibule.deleteAccount()")
    for page in (first, second):
        wait_for_state(page, "signedOut")


def walk_through(page, person):
    """Signs in at the hosted page and the simulated Apple behind it."""
    page.get_by_role("link", name=re.compile("Apple")).click()
    for name, value in person.simulated.items():
        page.locator(f"[name={name}]").fill(value)
    page.locator("button[value=continue]").first.click()


def test_the_hosted_page_by_redirect(kit_stack, tabs):
    first, second = tabs(), tabs()
    person = App(kit_stack).person
    first.evaluate("void vestibule.signInWithRedirect({ redirectUri: location.origin + '/callback' })")
    walk_through(first, person)
    first.wait_for_url("**/callback")
    user = first.evaluate("finished.then(({ userId }) => userId)")
    wait_for_state(second, "signedIn")
    assert second.evaluate("vestibule.getMe().then(({ userId }) => userId)") == user
    assert "code=" not in first.url
    # A reload is no second callback, and the session is refreshed as its client's.
    first.reload()
    wait_for_state(first, "signedIn")
    assert first.evaluate("finished.then((found) => found ?? null)") is None
    assert first.evaluate("vestibule.refresh()") != ""
    first.evaluate("vestibule.signOut()")
    wait_for_state(second, "signedOut")


def test_the_hosted_page_in_a_window(kit_stack, tabs):
    page = tabs()
    person = App(kit_stack).person
    with page.expect_popup() as opened:
        page.evaluate("window.signedIn = vestibule.signInWithPopup({ redirectUri: location.origin + '/callback' }); 0")
    walk_through(opened.value, person)
    user = page.evaluate("signedIn.then(({ userId }) => userId)")
    assert page.evaluate("vestibule.getMe().then(({ userId }) => userId)") == user
    if not opened.value.is_closed():
        opened.value.wait_for_event("close")
    # The same user once more, as before a deletion: the state doesn't change, and the sign-in is a success all the same.
    with page.expect_popup() as opened:
        page.evaluate("""window.signedIn = vestibule.signInWithPopup({
          redirectUri: location.origin + '/callback', parameters: { prompt: 'login' },
        }); 0""")
    walk_through(opened.value, person)
    assert page.evaluate("signedIn.then(({ userId }) => userId)") == user
    assert page.evaluate("states.map((each) => each.state)") == ["signedOut", "signedIn"]


def test_an_error_in_the_window_comes_to_the_page(kit_stack, tabs):
    page = tabs()
    with page.expect_popup() as opened:
        page.evaluate("window.signedIn = vestibule.signInWithPopup({ redirectUri: location.origin + '/callback' }).catch((error) => error.code); 0")
    opened.value.wait_for_url("**/oauth2/authorize**")
    query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(opened.value.url).query))
    back = urllib.parse.urlencode({"error": "access_denied", "state": query["state"], "iss": page.evaluate("vestibule.issuer")})
    opened.value.goto(f"{query['redirect_uri']}?{back}")
    assert page.evaluate("signedIn") == "CANCELLED"
    assert page.evaluate("vestibule.state()") == {"state": "signedOut"}


def test_a_window_that_the_user_closes_is_a_cancellation(kit_stack, tabs):
    page = tabs()
    with page.expect_popup() as opened:
        page.evaluate("window.signedIn = vestibule.signInWithPopup({ redirectUri: location.origin + '/callback' }).catch((error) => error.code); 0")
    opened.value.wait_for_url("**/oauth2/authorize**")
    opened.value.close()
    assert page.evaluate("signedIn") == "CANCELLED"
    assert page.evaluate("vestibule.state()") == {"state": "signedOut"}
