"""A walk by curl alone, and redirect URIs that are nearly right: the browser is sent nowhere but to the client."""

import html
import json
import re
import secrets
import subprocess
import time
import urllib.parse

import authlib.oauth2.rfc7636
import requests

from test_openid import REDIRECT, email_of, issuer, metadata  # noqa: F401

#: The client `demo` has /callback and / at 127.0.0.1 and [::1] with any port, and com.example.demo:/callback.
NEARLY = [
    "", "/callback", "//127.0.0.1/callback", "http://127.0.0.1", "http://127.0.0.1/callback/",
    "http://127.0.0.1/callback?a=b", "http://127.0.0.1/callback#f", "http://127.0.0.1/Callback", "http://127.0.0.1/callback/..",
    "http://127.0.0.1/x/../callback", "http://127.0.0.1/%63allback", "http://127.0.0.1:/callback", "http://127.0.0.1:0x50/callback",
    "http://127.0.0.1:99999/callback", "http://127.0.0.1:80:80/callback", "http://127.0.0.1.evil.example/callback",
    "http://127.0.0.1@evil.example/callback", "http://evil.example@127.0.0.1/callback", "http://127.0.0.1:1@evil.example/callback",
    "http://127.0.0.1\\@evil.example/callback", "http://127.0.0.1\\.evil.example/callback", "http:\\\\127.0.0.1\\callback",
    "http:/127.0.0.1/callback", "http:127.0.0.1/callback", "HTTP://127.0.0.1/callback", "https://127.0.0.1/callback",
    "http://localhost/callback", "http://127.1/callback", "http://2130706433/callback", "http://0x7f.0.0.1/callback",
    "http://127.0.0.2/callback", "http://[::]/callback", "http://[::1/callback", "http://::1/callback", "http://[::ffff:127.0.0.1]/callback",
    "http://127.0.0.1/callback ", " http://127.0.0.1/callback", "http://127.0.0.1/callback\r\nSet-Cookie: a=b", "http://127.0.0.1/callback\0",
    "http://127.0.0.1/callback\t", "com.example.demo://callback", "com.example.demo:/callback/", "com.example.demo:/Callback",
    "com.example.demo2:/callback", "com.example:/callback", "javascript:alert(1)", "data:text/html,x", "file:///etc/passwd",
    "javascript://127.0.0.1/callback", "https://evil.example/http://127.0.0.1/callback", "https://evil.example/?http://127.0.0.1/callback",
    "http://127.0.0.1/callback,http://evil.example/", "http://１２７.0.0.1/callback", "http://127.0.0.1／callback",
]


def ask(url, query):
    """One request, which waits while the gateway limits this address."""
    while True:
        answer = requests.get(url, params=query, allow_redirects=False, timeout=15)
        if answer.status_code != 429:
            return answer
        time.sleep(0.1)


def test_a_redirect_uri_that_is_nearly_right_leads_nowhere(metadata):  # noqa: F811
    for uri in NEARLY:
        for more in ({}, {"prompt": "none"}, {"response_type": "token"}, {"response_mode": "form_post", "prompt": "none"}):
            query = {"client_id": "demo", "redirect_uri": uri, "response_type": "code", "scope": "openid", "state": "s", **more}
            answer = ask(metadata["authorization_endpoint"], query)
            assert answer.status_code == 400 and "Location" not in answer.headers and "Set-Cookie" not in answer.headers, (uri, more)
            assert "evil.example" not in answer.text and "evil.example" not in answer.headers["Content-Security-Policy"], uri
        answer = ask(metadata["end_session_endpoint"], {"client_id": "demo", "post_logout_redirect_uri": uri or "x"})
        assert answer.status_code == 400 and "Location" not in answer.headers, uri


def test_many_requests_at_once_lead_to_their_own_client(metadata):  # noqa: F811
    for count in range(300):
        state, port = secrets.token_hex(8), 1024 + count
        query = {"client_id": "demo", "redirect_uri": f"http://127.0.0.1:{port}/callback", "response_type": "code", "scope": "openid",
                 "state": state, "prompt": "none", "code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
                 "code_challenge_method": "S256"}
        answer = ask(metadata["authorization_endpoint"], query)
        assert answer.status_code == 303
        where = urllib.parse.urlsplit(answer.headers["Location"])
        found = urllib.parse.parse_qs(where.query)
        assert where.port == port and found["state"] == [state] and found["error"] == ["login_required"]


def test_a_walk_by_curl(stack, metadata, tmp_path):  # noqa: F811
    jar = tmp_path / "jar"

    def curl(url, *arguments):
        """The status, the address that it leads to, and the body."""
        done = subprocess.run(
            ["curl", "-sS", "-b", jar, "-c", jar, "-o", tmp_path / "body", "-w", "%{http_code} %{redirect_url}", *arguments, url],
            check=True, capture_output=True, text=True, timeout=30)
        status, _, location = done.stdout.partition(" ")
        return int(status), location, (tmp_path / "body").read_text()

    def form(body):
        action = re.search(r'<form[^>]*action="([^"]*)"', body)
        fields = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', body)
        found = [(html.unescape(name), html.unescape(value)) for name, value in fields]
        return html.unescape(action[1]) if action else "", found

    def data(fields):
        return [word for name, value in fields for word in ("--data-urlencode", f"{name}={value}")]

    verifier = secrets.token_urlsafe(48)
    query = urllib.parse.urlencode({
        "client_id": "demo", "redirect_uri": REDIRECT, "response_type": "code", "scope": "openid email", "state": "s-1",
        "code_challenge": authlib.oauth2.rfc7636.create_s256_code_challenge(verifier), "code_challenge_method": "S256"})
    url = f"{metadata['authorization_endpoint']}?{query}"
    status, _, page = curl(url)
    assert status == 200
    button = html.unescape(re.search(r'href="(/sign-in/apple\?[^"]*)"', page)[1])
    _, provider, _ = curl(urllib.parse.urljoin(url, button))
    _, _, shown = curl(provider)
    action, fields = form(shown)
    email = email_of(stack)
    _, _, answer = curl(urllib.parse.urljoin(provider, action) if action else provider, *data(
        [*fields, ("action", "continue"), ("email", email)]))
    action, fields = form(answer)
    status, onward, _ = curl(action, *data(fields))
    assert status == 303
    status, back, _ = curl(onward)
    assert status == 303 and back.startswith(f"{REDIRECT}?")
    code = urllib.parse.parse_qs(urllib.parse.urlsplit(back).query)["code"][0]
    status, _, body = curl(metadata["token_endpoint"], *data([
        ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", REDIRECT), ("client_id", "demo"),
        ("code_verifier", verifier)]))
    tokens = json.loads(body)
    stack.confidential |= {tokens["access_token"], tokens["id_token"]}
    status, _, body = curl(metadata["userinfo_endpoint"], "-H", f"Authorization: Bearer {tokens['access_token']}")
    assert status == 200 and json.loads(body)["email"] == email
