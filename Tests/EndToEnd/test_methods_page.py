"""`GET /` of the gateway in development: every curl line that it shows works."""

import html
import os
import re
import subprocess

import pytest

import tokens
from app import letters


@pytest.fixture(scope="module")
def page(stack):
    answer = stack.client().get("/")
    assert answer.status == 200 and answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert "<script" not in answer.content.decode()
    return answer.content.decode()


def examples(page):
    """Each heading with its line."""
    found = re.findall(r"<h3>(.*?)</h3>\n<p>.*?</p>\n<pre>(.*?)</pre>", page)
    assert len(found) == page.count("<h3>") == page.count("<pre>")
    return [(html.unescape(title), html.unescape(line)) for title, line in found]


def test_every_line_works(stack, page, new_app, tmp_path):
    """Each as somebody new runs it, with fresh tokens: some lines end what others need."""
    # A line fails where the gateway refuses.
    (tmp_path / ".curlrc").write_text("fail-with-body\nsilent\nshow-error\noutput = /dev/null\n")
    shown = examples(page)
    assert len(shown) >= 40
    failed = []
    for title, line in shown:
        variables = shell_variables(stack, new_app, title)
        run = subprocess.run(
            ["bash", "-euc", line], env={**os.environ, **variables, "HOME": str(tmp_path), "CURL_HOME": str(tmp_path)},
            capture_output=True, text=True, timeout=60)
        if run.returncode != 0:
            failed.append(f"{title}: {line}\n{run.stderr}{run.stdout}")
    assert not failed, "\n\n".join(failed)


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
    if title == "POST /wp-json/gread/v1/auth/apple/register":
        return variables
    if title == "POST /wp-json/gread/v1/auth/apple/login":
        # Who logs in is registered.
        register = {
            "appleUserID": variables["APPLE_USER"], "email": variables["EMAIL"], "username": variables["USERNAME"],
            "identityToken": app.ask_apple(nonce=nonce)["identity_token"], "nonce": nonce}
        stack.client().post("/wp-json/gread/v1/auth/apple/register", register).expect(200)
        return variables
    single = stack.client().post("/api/auth/apple", {
        key: value for key, value in app.ask_apple().items() if key in ("identity_token", "nonce")}).expect(200)["token"]
    stack.confidential.add(single)
    app.sign_in("google")
    app.complete()
    return variables | {
        "ACCESS": app.access_token, "REFRESH": app.refresh_token, "SINGLE": single, "USER_ID": app.user_id,
        "GROUP": app.create_group(), "SERVICE_KEY": (stack.folder / "secrets/supabase-service-key").read_text().strip()}


def test_the_lines_name_the_gateway_as_it_was_called(stack, page):
    assert all(f"http://{stack.addresses['gateway']}/" in line for _, line in examples(page))
    hostile = stack.client().send("GET", "/", headers={"Host": "$(touch${IFS}/tmp/owned)"})
    assert "touch" not in hostile.content.decode()
