"""`vestibule.app.v1` by `fetch` from another origin in a real Chromium, as a web app without a library calls it."""

import pytest
from playwright.sync_api import Error

import tokens
from chromium import BACKEND, FOREIGN_ORIGIN, WEB_APP_ORIGIN
from phone import GOOGLE_WEB

CALL = """
async ([name, message, token]) => {
  const headers = { "Content-Type": "application/json", "Connect-Protocol-Version": "1" };
  if (token) headers["Authorization"] = `Bearer ${token}`;
  const answer = await fetch(`http://%s/vestibule.app.v1.${name}`, {
    method: "POST", headers, body: JSON.stringify(message) });
  return { status: answer.status, body: await answer.json(), id: answer.headers.get("trailer-x-request-id") };
}
""" % BACKEND

WEB = """
async ([name, token]) => {
  const answer = await fetch(`http://%s/vestibule.app.v1.${name}`, {
    method: "POST", body: new Uint8Array(5),
    headers: { "Content-Type": "application/grpc-web+proto", "X-Grpc-Web": "1", "Authorization": `Bearer ${token}` } });
  const body = new Uint8Array(await answer.arrayBuffer());
  const length = new DataView(body.buffer).getUint32(1);
  return { status: answer.status, trailers: new TextDecoder().decode(body.slice(5 + length + 5)) };
}
""" % BACKEND

KEYS = """
async () => {
  const url = "http://%s/vestibule.app.v1.KeyService/GetKeySet?encoding=json&message=%%7B%%7D";
  return (await (await fetch(url)).json()).jwksJson;
}
""" % BACKEND


def call(tab, name, message, token=None):
    return tab.page.evaluate(CALL, [name, message, token])


def sign_in(tab, phone):
    """A session by RPC; its access token."""
    answer = call(tab, "AuthService/SignInWithProvider", {"provider": "google", "idToken": phone.google(GOOGLE_WEB)["id_token"]})
    assert answer["status"] == 200, answer
    session = answer["body"]["tokens"]
    phone.keep_secret(session["accessToken"], session["refreshToken"], session["idToken"])
    return session["accessToken"]


def test_a_page_of_an_allowed_origin(tab, phone):
    tab.page.goto(f"{WEB_APP_ORIGIN}/")
    asked = []
    tab.context.on("request", lambda request: asked.append(request.method))
    token = sign_in(tab, phone)
    me = call(tab, "AccountService/GetMe", {}, token)
    assert me["status"] == 200 and me["body"]["profile"]["userId"] == tokens.parts(token)[1]["sub"]
    # What a page may read of the head, beside the body.
    assert me["id"]
    named = call(tab, "AccountService/UpdateMe", {"displayName": phone.person.name}, token)
    assert named["body"]["profile"]["displayName"] == phone.person.name
    group = call(tab, "GroupService/CreateGroup", {"name": "Trip"}, token)["body"]["group"]
    groups = call(tab, "GroupService/ListGroups", {}, token)["body"]["groups"]
    assert [each["groupId"] for each in groups] == [group["groupId"]]
    # A page may read errors, too.
    assert '"keys"' in tab.page.evaluate(KEYS)
    assert tab.complaints == []
    refused = call(tab, "AccountService/GetMe", {})
    assert refused["status"] == 401 and refused["body"]["code"] == "unauthenticated"


def test_grpc_web_from_an_allowed_origin(tab, phone):
    tab.page.goto(f"{WEB_APP_ORIGIN}/")
    answer = tab.page.evaluate(WEB, ["AccountService/GetMe", sign_in(tab, phone)])
    assert answer["status"] == 200 and "grpc-status: 0" in answer["trailers"].lower().replace(":0", ": 0")
    assert tab.complaints == []


def test_a_page_of_another_origin(tab, phone):
    """The preflight isn't granted, so that the call is never made; and what needs none can't be read."""
    tab.page.goto(f"{FOREIGN_ORIGIN}/")
    with pytest.raises(Error, match="Failed to fetch"):
        call(tab, "AuthService/SignInWithProvider", {"provider": "google", "idToken": phone.google(GOOGLE_WEB)["id_token"]})
    with pytest.raises(Error, match="Failed to fetch"):
        tab.page.evaluate(WEB, ["AccountService/GetMe", "a.b.c"])
    with pytest.raises(Error, match="Failed to fetch"):
        tab.page.evaluate(KEYS)
