"""The pages of a signed-in user, visited by a browser without scripts."""

import json
import secrets
import urllib.parse

import requests

def test_a_page_leads_to_sign_in_and_back(new_visitor):
    for path in ("/my/account", "/my/profile", "/my/groups", "/my/account/deletion"):
        visitor = new_visitor().sign_in(path)
        assert visitor.path == path and visitor.response.status_code == 200
        assert visitor.visit(path).path == path
        assert visitor.visit(f"/sign-in?to={path}").path == path


def test_the_account_lists_this_device_and_another(new_visitor):
    phone = new_visitor().sign_in()
    laptop = new_visitor()
    laptop.person = phone.person
    laptop.session.headers["User-Agent"] = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
    laptop.sign_in()
    assert "Firefox on Linux" in laptop.text and "Safari on iPhone" in laptop.text
    assert laptop.text.count("This device") == 1
    forms = [form["action"] for form in laptop.page.forms if form["action"].endswith("/end")]
    assert len(forms) == 1
    laptop.send("/name", name="My laptop")
    assert laptop.path == "/my/account?notice=renamed" and "My laptop" in laptop.text
    laptop.visit("/my/account").send(forms[0])
    assert laptop.path == "/my/account?notice=ended" and laptop.text.count("class=\"mark\"") == 1
    assert urllib.parse.urlsplit(phone.visit("/my/account").response.url).path == "/sign-in"


def test_signing_out_everywhere(new_visitor):
    first = new_visitor().sign_in()
    second = new_visitor()
    second.person = first.person
    second.sign_in()
    second.send("everywhere", which="others")
    assert second.path == "/my/account?notice=others"
    assert first.visit("/my/account").path.startswith("/sign-in?")
    second.send("everywhere", which="all")
    assert second.response.status_code == 200 and not second.session.cookies
    assert second.visit("/my/account").path.startswith("/sign-in?")


def test_signing_out_here(visitor):
    visitor.send("/oauth2/logout")
    assert visitor.response.status_code == 200 and not visitor.session.cookies
    assert visitor.visit("/my/account").path.startswith("/sign-in?")


def test_a_form_is_of_its_session(new_visitor):
    victim, thief = new_visitor().sign_in(), new_visitor().sign_in()
    value = thief.page.forms[0]["fields"]["form_value"]
    address = f"{victim.base}/my/account/sign-out-everywhere"
    for form in ({}, {"form_value": ""}, {"form_value": value}):
        answer = victim.session.post(address, data=form | {"which": "all"}, allow_redirects=False, timeout=15)
        assert answer.status_code == 403, form
    own = victim.page.forms[0]["fields"]["form_value"]
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": "https://evil.example"}):
        answer = victim.session.post(
            address, data={"form_value": own, "which": "all"}, headers=headers, allow_redirects=False, timeout=15)
        assert answer.status_code == 403, headers
    assert victim.visit("/my/account").path == "/my/account"


def test_no_address_leads_elsewhere(visitor):
    for goal in ("//evil.example/my/", "https://evil.example/my/", "/my/../oauth2/logout", "/my//evil.example", "\\evil.example",
                 "/my/%2e%2e/x", "/oauth2/logout", "/my/a?b", "javascript:alert(1)"):
        visitor.visit(f"/sign-in?to={urllib.parse.quote(goal, safe='')}")
        assert visitor.path == "/my/account", goal


def test_the_profile(new_visitor, stack):
    visitor = new_visitor().sign_in("/my/profile")
    fields = next(form["fields"] for form in visitor.page.forms if form["action"] == "/my/profile")
    assert fields["display_name"] == visitor.person.name, "as the provider told it"
    visitor.send("/my/profile", phone_number="12")
    assert visitor.response.status_code == 422 and "aria-invalid=\"true\"" in visitor.text and "role=\"alert\"" in visitor.text
    national = f"0{visitor.person.digits[:3]} {visitor.person.digits[3:6]} {visitor.person.digits[6:]}"
    visitor.send("/my/profile", phone_number=national)
    assert visitor.path == "/my/profile?notice=saved" and visitor.person.phone in visitor.text
    assert visitor.visit("/my/account").text.count(visitor.person.name) == 1
    other = new_visitor().sign_in("/my/profile")
    other.send("/my/profile", phone_number=visitor.person.phone)
    assert other.response.status_code == 422 and "id=\"phone_number-error\"" in other.text
    name = f"u{secrets.token_hex(6)}"
    stack.confidential.add(name)
    visitor.visit("/my/profile").send("/my/profile", username=name)
    assert visitor.path == "/my/profile?notice=saved"
    other.send("/my/profile", phone_number="", username=name)
    assert other.response.status_code == 422 and "Still free" in other.text


def test_downloading_the_data(visitor):
    visitor.complete().visit("/my/account/data")
    assert visitor.response.headers["Content-Disposition"].startswith("attachment")
    data = json.loads(visitor.text)
    assert data["profile"]["phone_number"] == visitor.person.phone
    assert [provider["provider"] for provider in data["identities"]] == ["apple"]
    assert data["identities"][0]["email"] == visitor.person.email
    assert len(data["sessions"]) == 1 and data["groups"] == [] and data["invitations"] == []


def test_deleting_the_account(visitor):
    visitor.complete().visit("/my/account/deletion")
    assert visitor.person.name in visitor.text
    visitor.send("/my/account/deletion")
    assert visitor.path == "/my/account/deletion", "without the check nothing happens"
    visitor.send("/my/account/deletion", confirmed="yes")
    assert visitor.response.status_code == 200 and not visitor.session.cookies
    assert visitor.visit("/my/account").path.startswith("/sign-in?")
    visitor.pass_sign_in()
    assert visitor.person.phone not in visitor.visit("/my/profile").text, "a new account"


def test_linking_a_provider(visitor):
    visitor.complete().visit("/my/account")
    visitor.send("/providers/google/link").pass_provider()
    assert visitor.path == "/my/account/link", visitor.text
    assert visitor.person.email in visitor.text, "the user sees which account it is"
    visitor.send("/my/account/link")
    assert visitor.path == "/my/account?notice=linked", visitor.text
    assert "Google" in visitor.text and "was added" in visitor.text
    visitor.send("/providers/google/unlink")
    assert visitor.path == "/my/account?notice=unlinked", visitor.text


def test_linking_needs_the_session_that_began_it(new_visitor):
    one, other = new_visitor().sign_in(), new_visitor().sign_in()
    assert one.send("/providers/google/link").pass_provider().path == "/my/account/link"
    cookie = next(cookie for cookie in one.session.cookies if cookie.name.endswith("vestibule-link"))
    other.session.cookies.set_cookie(cookie)
    other.visit("/my/account/link", status=400)
    form = other.visit("/my/account").page.forms[0]["fields"]["form_value"]
    answer = other.session.post(f"{other.base}/my/account/link", data={"form_value": form}, allow_redirects=False, timeout=15)
    assert answer.status_code == 400
    begun = requests.get(f"{one.base}/sign-in/google?request=link_{form}", allow_redirects=False, timeout=15)
    assert begun.status_code == 400, "no link begins it"


def test_what_no_page_sends_is_a_page_about_it(visitor):
    value = visitor.page.forms[0]["fields"]["form_value"]
    for name in ("x", "%0d%0aSet-Cookie:a=b", "..%2f..%2foauth2", "0" * 500, "%00", "00000000-0000-0000-0000-000000000000"):
        for path in (f"/my/groups/{name}", f"/my/groups/{name}/people", f"/my/groups?page={name}"):
            answer = visitor.session.get(f"{visitor.base}{path}", timeout=15)
            assert 400 <= answer.status_code < 500 and answer.text.startswith("<!doctype html>"), (path, answer.status_code)
        for path in (f"/my/account/sessions/{name}/name", f"/my/groups/{name}/leave", f"/my/groups/{name}/links",
                     f"/my/groups/{name}/members/{name}/confirm", f"/my/account/providers/{name}/unlink"):
            answer = visitor.session.post(
                f"{visitor.base}{path}", data={"form_value": value, "name": "x" * 5000, "user_id": name}, allow_redirects=False, timeout=15)
            assert answer.status_code < 500 and "a=b" not in answer.headers.get("Set-Cookie", ""), (path, answer.status_code)
            assert answer.headers.get("Location", "/my/").startswith(("/my/", "/sign-in?")), (path, answer.headers)
    many = "&".join(f"f{number}=1" for number in range(100))
    for body in (many, "a=%zz", f"form_value={value}&name=" + "x" * 100_000):
        answer = visitor.session.post(
            f"{visitor.base}/my/profile", data=body, headers={"Content-Type": "application/x-www-form-urlencoded"}, timeout=15)
        assert answer.status_code in (400, 403, 413, 422) and answer.text.startswith("<!doctype html>"), answer.status_code
