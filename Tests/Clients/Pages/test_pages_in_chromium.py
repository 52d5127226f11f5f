"""Every page of the gateway in a real Chromium: how it looks, whether all people can use it, and what its script does.

Each page is walked at the widths of a phone and of a desktop, in light and in dark. axe finds nothing wrong, nothing is wider than the
window, and the browser's console stays empty. The pictures are kept under `.build/pages/`.
"""

import contextlib
import re

import pytest
from playwright.sync_api import expect

from app import Person
from browser_pages import PICTURES, launched
from person_window import WIDTHS, PersonWindow


@pytest.fixture(scope="module")
def chromium(playwright):
    with launched(playwright) as browser:
        yield browser


@pytest.fixture
def new_window(stack, chromium):
    """Opens the window of a new person."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as contexts:
        def window(width=390, scheme="light", person=None, **options):
            context = chromium.new_context(
                viewport={"width": width, "height": WIDTHS[width]}, color_scheme=scheme, reduced_motion="reduce", **options)
            contexts.callback(context.close)
            return PersonWindow(stack, context, person)

        yield window


@pytest.fixture
def group(new_window):
    """A group with a member, a pending person and a link, and its owner's window."""
    owner, friend = new_window(), new_window()
    owner.sign_in().complete().open("/my/groups")
    owner.page.get_by_label("Name of the group").fill("Trip to Siargao")
    owner.page.get_by_role("button", name="Create group").click()
    owner.page.wait_for_url(re.compile("notice=created"))
    owner.path = "/my/groups/" + re.search("/my/groups/([0-9a-f-]{36})", owner.page.url)[1]
    friend.sign_in().complete()
    for person in (friend.person, Person()):
        owner.page.get_by_label("Their name").fill("Ana Cruz")
        owner.page.get_by_label("Phone number").fill(person.phone)
        owner.page.get_by_role("button", name="Add a person").click()
        owner.page.wait_for_url(re.compile("notice=added"))
    owner.page.get_by_role("button", name="Create a link").click()
    owner.link = owner.page.get_by_label("Invitation link").input_value()
    return owner


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_every_page(new_window, group, width, scheme):
    window = new_window(width, scheme, person=group.person)
    window.open("/sign-in").check("sign-in", scheme)
    window.open("/sign-in?notice=failed").check("sign-in-failed", scheme)
    window.open("/my/join").check("join", scheme)
    window.sign_in().check("account", scheme)
    window.page.locator("summary").first.click()
    window.check("account-rename", scheme)
    for path, name in (("/my/profile", "profile"), ("/my/groups", "groups"), ("/my/account/deletion", "deletion"),
                       (group.path, "group"), ("/oauth2/logout", "sign-out")):
        window.open(path).check(name, scheme)
    window.open("/my/profile").page.get_by_label("Phone number").fill("12")
    window.page.get_by_role("button", name="Save").click()
    expect(window.page.get_by_role("alert")).to_be_visible()
    window.lines.clear()  # The browser writes a line for each answer of status 422.
    window.check("profile-faulty", scheme)
    expect(window.page.get_by_label("Phone number")).to_be_focused()
    guest = new_window(width, scheme).open("/my/join" + group.link[group.link.index("#"):])
    guest.page.get_by_role("link", name=re.compile("Apple")).click()
    guest.pass_apple("/my/invitation").check("invitation", scheme)
    window.open("/my/account").page.get_by_role("button", name="Sign out", exact=True).last.click()
    window.page.wait_for_url(re.compile("/oauth2/logout"))
    window.check("signed-out", scheme)


@pytest.mark.parametrize("language", ["ar", "de", "ja"])
def test_pages_in_other_languages(new_window, group, language):
    window = new_window(person=group.person, locale=language).sign_in()
    assert window.page.locator("html").get_attribute("dir") == ("rtl" if language == "ar" else "ltr")
    for path, name in (("/my/account", "account"), ("/my/profile", "profile"), (group.path, "group")):
        window.open(path).check(f"{name}-{language}", "light")


def test_all_of_it_without_a_mouse(new_window):
    window = new_window(1280).sign_in("/my/profile")
    window.page.keyboard.press("Tab")
    seen = []
    for _ in range(8):
        seen.append(window.page.evaluate("document.activeElement.getAttribute('href') ?? document.activeElement.name"))
        window.page.keyboard.press("Tab")
    assert seen[:6] == ["/my/account", "/my/profile", "/my/groups", "display_name", "username", "phone_number"], seen
    window.page.get_by_label("Phone number").focus()
    window.page.keyboard.type(f"0{window.person.digits}")
    typed = window.page.get_by_label("Phone number").input_value()
    assert typed == f"0{window.person.digits[:3]} {window.person.digits[3:6]} {window.person.digits[6:]}", typed
    window.page.keyboard.press("Enter")
    expect(window.page.get_by_role("status")).to_be_visible()


def test_a_phone_number_keeps_its_caret(new_window):
    window = new_window().sign_in("/my/profile")
    field = window.page.get_by_label("Phone number")
    field.fill("+639171234567")
    assert field.input_value() == "+63 917 123 4567"
    field.evaluate("field => field.setSelectionRange(5, 5)")
    window.page.keyboard.press("Backspace")
    assert field.input_value() == "+63 171 234 567" and field.evaluate("field => field.selectionStart") <= 4
    window.page.keyboard.type("9")
    assert field.input_value() == "+63 917 123 4567"


def test_a_pending_person_lands_live(new_window, group):
    """The page is never loaded again, and the button that has the focus keeps it."""
    newcomer = new_window()
    group.open(group.path)
    group.page.get_by_label("Their name").fill("Newcomer")
    group.page.get_by_label("Phone number").fill(newcomer.person.phone)
    group.page.get_by_role("button", name="Add a person").click()
    group.page.wait_for_url(re.compile("notice=added"))
    group.page.evaluate("window.isTheSame = true")
    group.page.get_by_role("region", name="Members").get_by_role("button", name=re.compile("Remove")).first.focus()
    focused = group.page.evaluate("document.activeElement.form.getAttribute('action')")
    newcomer.sign_in().complete()
    expect(group.page.get_by_role("region", name="Members")).to_contain_text(newcomer.person.name)
    assert group.page.evaluate("window.isTheSame") is True
    assert group.page.evaluate("document.activeElement.form?.getAttribute('action')") == focused
    assert group.lines == []


def test_without_scripts_all_pages_work(new_window):
    window = new_window(java_script_enabled=False)
    window.open("/my/account").page.get_by_role("link", name=re.compile("Apple")).click()
    for name, value in window.person.simulated.items():
        window.page.locator(f"[name={name}]").fill(value)
    window.page.locator("button[value=continue]").first.click()
    # The provider's own form, which a script would post.
    if "/my/account" not in window.page.url:
        window.page.locator("button").first.click()
    window.page.wait_for_url(re.compile("/my/account"))
    window.open("/my/profile").page.get_by_label("Phone number").fill(window.person.phone)
    window.page.get_by_role("button", name="Save").click()
    expect(window.page.get_by_role("status")).to_be_visible()


def test_where_passkeys_are_off_no_page_offers_them(new_window):
    window = new_window().open("/sign-in")
    expect(window.page.get_by_role("link", name=re.compile("Apple"))).to_be_visible()
    assert "passkey" not in window.page.content()
    window.sign_in()
    assert "passkey" not in window.page.content()
    window.open("/my/account/passkey")
    expect(window.page.get_by_role("alert")).to_have_text("This way to sign in isn’t available here.")
    assert window.context.request.post(f"{window.base}/sign-in/passkey/challenge", form={"ui_locales": "en"}).status == 400
