"""`GET /` of the gateway in development: every curl line that it shows works."""

import html
import json
import os
import pathlib
import re
import subprocess

import pytest

import guests
import process_table
import tokens
from app import APPLE_CLIENT, GOOGLE_CLIENT, LINK_SECONDS, Person, letters
from other_gateway import another_gateway
from passkey_phone import Phone

PHOTO = (pathlib.Path(__file__).resolve().parents[1] / "ImagesTests/Files/baseline.jpeg").read_bytes()
# What a provider tells, by the route that takes it: of which app, what, and who makes it.
NOTICES = {
    "POST /auth/apple/notifications": (APPLE_CLIENT, "consent-revoked", "/control/apple/notify"),
    "POST /auth/google/risc": (GOOGLE_CLIENT, "sessions-revoked", "/control/google/risc"),
}

STREAM = "GET /me/events"


@pytest.fixture(scope="module")
def page(stack):
    answer = stack.client().get("/")
    assert answer.status == 200 and answer.headers["Content-Type"] == "text/html; charset=utf-8"
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy
    # The gateway and the simulator, and no other origin.
    assert f"; connect-src 'self' http://{stack.addresses['simulator']};" in policy and policy.count("http") == 1
    return answer.content.decode()


def examples(page):
    """Each call with its line."""
    found = re.findall(r'<pre data-call="(.*?)"(?: data-way="\w+")?><code>(.*?)</code></pre>', page)
    assert len(found) == page.count("<pre data-call")
    return [(html.unescape(title), html.unescape(line)) for title, line in found]


def test_every_line_works(stack, page, new_app, tmp_path):
    """Each as somebody new runs it, with fresh tokens: some lines end what others need."""
    # A line fails where the gateway refuses.
    options = "fail-with-body\nsilent\nshow-error\noutput = /dev/null\n"
    (tmp_path / "photo.jpg").write_bytes(PHOTO)
    shown = examples(page)
    assert len(shown) >= 40
    failed = []
    for title, line in shown:
        variables = shell_variables(stack, new_app, title)
        if "$MEMBER" in line:
            variables["MEMBER"] = another_member(new_app, variables)
        if "$INVITATION" in line:
            variables |= invitation(new_app, variables)
        if "$PERSON" in line:
            variables |= request_to_join(new_app, variables)
        if "$LINK" in line:
            variables |= links(new_app, variables)
        if "$RECOVERY_CODE" in line:
            variables |= recovery(stack)
        elif "$PASSKEY" in line:
            variables |= passkey(stack, title)
        if "$IDENTITY_ID" in line:
            variables["IDENTITY_ID"] = linked_identity(new_app, variables)
        (tmp_path / ".curlrc").write_text(options + ("max-time = 2\n" if title == STREAM else ""))
        run = subprocess.run(
            ["bash", "-euc", line], cwd=tmp_path, env={**os.environ, **variables, "HOME": str(tmp_path), "CURL_HOME": str(tmp_path)},
            capture_output=True, text=True, timeout=60)
        # A stream goes on until curl ends it (CURLE_OPERATION_TIMEDOUT).
        if run.returncode != (28 if title == STREAM else 0):
            failed.append(f"{title}: {line}\n{run.stderr}{run.stdout}")
    assert not failed, "\n\n".join(failed)


def upload(app):
    """The id of a picture that somebody uploaded."""
    answer = app.gateway.send("PUT", "/me/avatar", token=app.access_token, body=PHOTO, headers={"Content-Type": "image/jpeg"})
    return answer.expect(200)["avatar_url"].rpartition("/")[2]


def shell_variables(stack, new_app, title):
    """What the page says must be set, of a new person."""
    app = new_app()
    nonce = letters(16)
    apple = app.ask_apple(nonce=nonce)
    google = app.ask_google(nonce=nonce)
    variables = {"TOKEN": apple["identity_token"], "NONCE": nonce, "GOOGLE_TOKEN": google["id_token"]}
    variables["APPLE_USER"] = tokens.parts(apple["identity_token"])[1]["sub"]
    variables["EMAIL"] = f"{letters(12)}@example.com"
    variables["USERNAME"] = letters(12)
    stack.confidential |= {variables["EMAIL"]}
    if title in NOTICES:
        client, kind, control = NOTICES[title]
        order = {"client_id": client, "type": kind, "sub": variables["APPLE_USER"]}
        return {"NOTICE": stack.simulator.post(control, order).expect(200)["notice"]}
    if title == "POST /wp-json/gread/v1/auth/apple/register":
        return variables
    if title == "POST /wp-json/gread/v1/auth/apple/login":
        # Who logs in is registered.
        register = {
            "appleUserID": variables["APPLE_USER"], "email": variables["EMAIL"], "username": variables["USERNAME"],
            "identityToken": app.ask_apple(nonce=nonce)["identity_token"], "nonce": nonce}
        stack.client().post("/wp-json/gread/v1/auth/apple/register", register).expect(200)
        return variables
    if "guest" in title or "Guest" in title or title == "POST /auth/v1/signup":
        variables |= {"WORK": guests.solved(stack.client()), "GUEST_REFRESH": guests.new_guest(stack)["refresh_token"]}
    single = stack.client().post("/api/auth/apple", {
        key: value for key, value in app.ask_apple().items() if key in ("identity_token", "nonce")}).expect(200)["token"]
    stack.confidential.add(single)
    app.sign_in("google")
    app.complete()
    return variables | {
        "ACCESS": app.access_token, "REFRESH": app.refresh_token, "SINGLE": single, "USER_ID": app.user_id,
        "SESSION": app.session["session_id"], "AVATAR": upload(app),
        "ASSERTION": stack.backend.assertion(app.user_id, Person().phone),
        "GROUP": app.create_group(), "SERVICE_KEY": (stack.folder / "secrets/supabase-service-key").read_text().strip()}


def passkey(stack, title):
    """Somebody's passkey, the token of their session, and what the passkey makes of the options for what a line calls."""
    phone = Phone(stack)
    phone.sign_in()
    adds = title in ("POST /auth/passkeys", "vestibule.app.v1.AuthService/AddPasskey")
    made = None if adds else phone.register()
    credential = phone.authenticator.create(phone.registration()) if adds else phone.assertion()
    # As a part of a JSON text, and without spaces: the shell would take them for ends of words.
    text = json.dumps(json.dumps(json.loads(credential), separators=(",", ":")))[1:-1]
    return {"ACCESS": phone.access_token, "PASSKEY": text, "PASSKEY_ID": made["id"] if made else ""}


def recovery(stack):
    """A recovery code of somebody, and what an authenticator makes of the options for it."""
    phone = Phone(stack)
    phone.sign_in()
    code = phone.post("/auth/recovery-codes").expect(200)["codes"][0]
    made = phone.gateway.post("/auth/recovery/challenge", {"code": code}).expect(200)
    credential = phone.authenticator.create(made["options"])
    return {"RECOVERY_CODE": code, "PASSKEY": json.dumps(json.dumps(json.loads(credential), separators=(",", ":")))[1:-1]}


def another_member(new_app, variables):
    """The membership of somebody else in the group of the variables: an admin, to whom it can be handed over."""
    friend = new_app()
    friend.sign_in()
    friend.complete()
    members = f"/groups/{variables['GROUP']}/members"
    member = friend.gateway.post(
        members, {"phone_number": friend.person.phone, "display_name": friend.person.name},
        token=variables["ACCESS"]).expect(201)["id"]
    # Invites may hear of the number only now, and a role is a member's.
    friend.wait_for_group(variables["GROUP"])
    friend.gateway.patch(f"{members}/{member}", {"role": "admin"}, token=variables["ACCESS"]).expect(200)
    return member


def linked_identity(new_app, variables):
    """The id of a second identity of the person's, as Supabase's clients read it."""
    gateway, token = (friend := new_app()).gateway, variables["ACCESS"]
    gateway.post("/auth/identities/apple", friend.ask_apple(), token=token).expect(200)
    identities = gateway.get("/auth/v1/user", token=token).expect(200)["identities"]
    return next(each["identity_id"] for each in identities if each["provider"] == "apple")


def invitation(new_app, variables):
    """What waits for the person of the variables, in a group of somebody else's."""
    friend = new_app()
    friend.sign_in()
    group = friend.post("/groups", {"name": "Lunch", "openness": "consent"}).expect(201)["id"]
    me = friend.gateway.get("/me", token=variables["ACCESS"]).expect(200)
    invited = friend.post(
        f"/groups/{group}/members", {"phone_number": me["phone_number"], "display_name": "Ana Cruz"}).expect(201)
    process_table.wait_until(
        lambda: friend.gateway.get("/invitations", token=variables["ACCESS"]).expect(200)["invitations"], LINK_SECONDS,
        "the invitation")
    return {"GROUP": group, "INVITATION": invited["id"]}


def request_to_join(new_app, variables):
    """Somebody who asks to join a group of the variables' person."""
    friend = new_app()
    friend.sign_in()
    send, token = friend.gateway.post, variables["ACCESS"]
    group = send("/groups", {"name": "Lunch", "openness": "confirm"}, token=token).expect(201)["id"]
    link = send(f"/groups/{group}/links", {}, token=token).expect(201)["token"]
    asked = friend.post("/groups/links/join", {"token": link}).expect(200)["member_id"]
    return {"GROUP": group, "REQUEST": asked, "PERSON": friend.user_id}


def links(new_app, variables):
    """A link of the person's own group, and the token of another one's."""
    friend = new_app()
    friend.sign_in()
    own = friend.gateway.post(
        f"/groups/{variables['GROUP']}/links", {}, token=variables["ACCESS"]).expect(201)["id"]
    other = friend.post(f"/groups/{friend.create_group()}/links", {}).expect(201)["token"]
    return {"LINK": own, "LINK_TOKEN": other}


def test_files_are_there(stack, page):
    """All that the page loads, and what its scripts import."""
    client = stack.client()
    loaded = re.findall(r'(?:src|href)="(/pages/[^"]+)"', page)
    assert len(loaded) >= 4
    for address in loaded:
        answer = client.get(address)
        assert answer.status == 200 and "immutable" in answer.headers["Cache-Control"], address
        for name in re.findall(r'from "\./([\w.]+)"', answer.content.decode()):
            script = client.get(f"/pages/{name}")
            assert script.status == 200 and script.headers["Content-Type"] == "text/javascript; charset=utf-8", name


def test_only_development_has_the_page(stack):
    """Without the setting, / leads to the account, or is nothing where there are no pages."""
    with another_gateway(stack, METHODS_PAGE="false") as gateway:
        answer = gateway.get("/")
        assert answer.status == 303 and answer.headers["Location"] == "/my/account"
        for name in ("home.js", "people.js", "tour.js", "console.css"):
            assert gateway.get(f"/pages/{name}").status == 404
    with another_gateway(stack, METHODS_PAGE="false", SIGN_IN_PAGES="false") as gateway:
        assert gateway.get("/").status == 404 and gateway.get("/pages/style.css").status == 404


def test_the_lines_name_the_gateway_as_it_was_called(stack, page):
    assert all(f"http://{stack.addresses['gateway']}/" in line for _, line in examples(page))
    hostile = stack.client().send("GET", "/", headers={"Host": "$(touch${IFS}/tmp/owned)"})
    assert "touch" not in hostile.content.decode()
