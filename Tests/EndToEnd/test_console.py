"""The operators' console as a browser has it: sign-in by provider and by certificate, roles, masks, forms of other sites, and the audit log."""

import concurrent.futures
import http.client
import http.server
import json
import re
import subprocess
import threading
import time
import urllib.parse

import pytest

import process_table
from operators_console import PEOPLE, Console, Operator, without
from stack import clean_environment, program
from test_operators import events


@pytest.fixture(scope="module")
def console(stack, tmp_path_factory):
    with Console(stack, tmp_path_factory.mktemp("console")).running() as console:
        yield console


@pytest.fixture
def operator(console):
    return lambda name: Operator(console).sign_in(PEOPLE[name])


def test_nothing_is_reached_without_a_sign_in(console, member):
    account = f"/accounts/{member.user_id}"
    for path in ("/", "/accounts", account, f"{account}/events", "/disputes", "/work", "/charts"):
        browser = Operator(console).visit(path)
        assert browser.path == "/sign-in" and member.user_id not in browser.text.replace(urllib.parse.quote(account, ""), "")
    for path in ("/accounts/search", f"{account}/open", f"{account}/block", f"{account}/delete", "/sign-out"):
        answer = Operator(console).session.post(f"http://{console.address}{path}", data={"confirm": "yes"}, allow_redirects=False)
        assert answer.status_code == 403, path
    assert member.get("/me").status == 200


def test_an_operator_signs_in_by_subject_and_a_stranger_does_not(console, stack):
    browser = Operator(console).sign_in(PEOPLE["maria"], "/disputes")
    assert browser.path == "/disputes" and "maria (owner)" in browser.text
    cookie = next(each for each in browser.session.cookies if each.name == "vestibule-console")
    assert cookie.has_nonstandard_attr("HttpOnly") and cookie.get_nonstandard_attr("SameSite") == "Lax"
    # The same e-mail with another subject is somebody else.
    stranger = Operator(console).visit("/accounts")
    stranger.follow("/sign-in/begin")
    assert stranger.submit(action="continue", sub="199999999999999999999", email=PEOPLE["maria"], given_name="Maria", family_name="Santos") is None
    assert stranger.path == "/sign-in" and "You are no operator" in stranger.text
    assert "You are no operator" not in stranger.visit("/accounts").text
    assert browser.visit("/accounts").send("/sign-out").path == "/sign-in"
    browser.session.cookies.set("vestibule-console", cookie.value, domain="127.0.0.1", path="/")
    assert browser.visit("/accounts").path == "/sign-in"


def test_answers_have_the_headers_of_pages(console, operator):
    browser = operator("ben")
    for path in ("/accounts", "/charts", "/sign-in"):
        headers = browser.visit(path).response.headers
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "form-action 'self'" in policy
        assert "unsafe" not in policy and headers["Cache-Control"] == "no-store"
        assert headers["Referrer-Policy"] == "no-referrer" and headers["X-Content-Type-Options"] == "nosniff"
        assert not re.search(r"<(script|style)(?![^>]*\bsrc=)|\bon\w+=|style=", browser.text)
    # A name that was made to stand for this machine (DNS rebinding).
    connection = http.client.HTTPConnection(console.address, timeout=15)
    connection.request("GET", "/accounts", headers={"Host": "evil.example"})
    assert connection.getresponse().status == 421


def test_an_account_is_masked_until_it_is_opened_with_a_reason(console, operator, member, stack):
    number, email = member.person.phone, member.person.email
    browser = operator("ana")
    browser.send("/accounts/search", kind="email", term=f" {email.upper()} ")
    assert member.user_id in browser.text and number not in browser.text
    browser.follow(f"/accounts/{member.user_id}")
    assert number not in browser.text and email not in browser.text
    assert f"{number[:3]}•••••{number[-2:]}" in browser.text and member.person.name in browser.text
    subject = stack.sql(f"SELECT subject FROM identity.provider_identities WHERE user_id = '{member.user_id}'").strip()
    assert subject not in browser.text and f"{subject[:2]}•••••{subject[-2:]}" in browser.text
    assert browser.visit(f"/accounts/{member.user_id}").send("/open", status=400, reason="No word").response.status_code == 400
    browser.visit(f"/accounts/{member.user_id}").send("/open", reason="support_ticket")
    assert number in browser.text and email in browser.text and subject in browser.text
    assert number not in browser.visit(f"/accounts/{member.user_id}").text
    told = [json.loads(event["details_json"]) for event in events(stack, member.user_id)]
    opened = [each for each in told if each.get("reason") == "support_ticket"]
    assert [(each["by"], each["operator"]) for each in opened] == [("user_id", "ana")]
    searches = [each for each in told if each.get("by") == "email"]
    assert [each["operator"] for each in searches] == ["ana"] and len(searches[0]["term"]) == 32
    assert not any(each in json.dumps(told) for each in member.person.confidential)


@pytest.mark.parametrize("kind", ("id", "phone", "username", "name", "device", "provider"))
def test_an_account_is_found_by_each_kind_of_term(console, operator, member, stack, kind):
    username = f"con_{member.person.digits[-8:]}"
    member.save(username=username).expect(200)
    session = member.get("/auth/sessions").expect(200)["sessions"][0]["id"]
    subject = stack.sql(f"SELECT subject FROM identity.provider_identities WHERE user_id = '{member.user_id}'").strip()
    terms = {
        "id": member.user_id, "phone": member.person.phone, "username": username, "name": member.person.name, "device": session,
        "provider": f"apple:{subject}"}
    browser = operator("ben").send("/accounts/search", kind=kind, term=terms[kind])
    assert f'href="/accounts/{member.user_id}"' in browser.text, browser.text


def test_a_role_allows_what_it_says(console, operator, member):
    account = f"/accounts/{member.user_id}"
    reader, support = operator("ben"), operator("ana")
    assert not [form for form in reader.visit(account).forms if account in form]
    value = reader.page.forms[0]["fields"]["form_value"]
    for act in ("open", "end-sessions", "release-phone", "block", "unblock", "delete"):
        answer = reader.session.post(
            f"http://{console.address}{account}/{act}", data={"form_value": value, "confirm": "yes", "reason": "abuse"})
        assert answer.status_code == 403 and "This needs the role" in answer.text, act
    actions = support.visit(account).forms
    assert f"{account}/block" in actions and f"{account}/delete" not in actions
    value = support.page.forms[0]["fields"]["form_value"]
    answer = support.session.post(f"http://{console.address}{account}/delete", data={"form_value": value, "confirm": "yes"})
    assert answer.status_code == 403 and "This needs the role owner" in answer.text
    assert member.get("/me").status == 200


def test_acts_need_confirmation_and_the_number_of_the_account(console, operator, member, stack):
    account = f"/accounts/{member.user_id}"
    browser = operator("ana")
    number = re.search(r"Account (\d+)</h1>", browser.visit(account).text).group(1)
    browser.send(f"{account}/block", status=400, reason="abuse", number=number)
    browser.visit(account).send(f"{account}/block", status=400, reason="abuse", number="1" + number, confirm="yes")
    assert member.get("/me").status == 200
    browser.visit(account).send(f"{account}/block", reason="abuse", number=number, confirm="yes")
    assert "The account is blocked." in browser.text and "Blocked since" in browser.text
    process_table.wait_until(lambda: member.get("/me").status == 401, 2, "the end of the session")
    browser.send(f"{account}/unblock", confirm="yes")
    assert "no longer blocked" in browser.text
    told = {event["kind"]: json.loads(event["details_json"]) for event in events(stack, member.user_id)}
    assert told["account_blocked"]["operator"] == "ana" and told["account_unblocked"]["operator"] == "ana"
    member.sign_in()
    browser.visit(account).send(f"{account}/end-sessions", confirm="yes")
    assert "All sessions ended." in browser.text
    browser.send(f"{account}/release-phone", confirm="yes")
    assert "The number is free." in browser.text
    owner = operator("maria").visit(account).send(f"{account}/delete", number=number, confirm="yes")
    assert "The account is deleted" in owner.text
    assert owner.visit(account, 404).follow(f"{account}/events") is None
    assert "account_deleted" in owner.text


def test_forms_of_other_sites_and_sessions_are_refused(console, operator, member):
    account = f"http://{console.address}/accounts/{member.user_id}"
    browser, other = operator("ana"), operator("maria")
    own = browser.visit(f"/accounts/{member.user_id}").page.forms[0]["fields"]["form_value"]
    foreign = other.page.forms[0]["fields"]["form_value"]
    for value, headers in (
            ("", {}), (foreign, {}), (own, {"Sec-Fetch-Site": "cross-site"}), (own, {"Sec-Fetch-Site": "same-site"}),
            (own, {"Origin": "https://evil.example"})):
        answer = browser.session.post(
            f"{account}/end-sessions", data={"form_value": value, "confirm": "yes"}, headers=headers, allow_redirects=False)
        assert answer.status_code == 403, (value, headers)
    twice = browser.session.post(f"{account}/end-sessions", data=[("form_value", own), ("form_value", own), ("confirm", "yes")])
    assert twice.status_code == 400
    assert member.get("/me").status == 200


def test_a_sign_in_leads_to_no_other_site_and_answers_one_attempt(console):
    for goal in ("https://evil.example/", "//evil.example/", "/%5Cevil.example", "/accounts%0d%0aSet-Cookie:%20a=b"):
        browser = Operator(console).visit(f"/sign-in?goal={goal}")
        assert "evil" not in browser.text and "Set-Cookie" not in browser.text
        browser.pass_sign_in(PEOPLE["ben"])
        assert browser.path == "/accounts"
    # A code without this browser's attempt, with another state, and one that is none.
    stranger = Operator(console).visit("/sign-in/callback?code=c&state=s")
    assert stranger.path == "/sign-in" and "failed" in stranger.text
    begun = stranger.session.get(f"http://{console.address}/sign-in/begin", allow_redirects=False)
    query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(begun.headers["Location"]).query))
    assert query["code_challenge_method"] == "S256" and query["nonce"] and query["prompt"] == "login"
    assert "failed" in stranger.visit("/sign-in/callback?code=c&state=other").text
    begun = stranger.session.get(f"http://{console.address}/sign-in/begin", allow_redirects=False)
    state = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(begun.headers["Location"]).query))["state"]
    assert "failed" in stranger.visit(f"/sign-in/callback?code=none&state={state}").text
    cross = stranger.session.get(
        f"http://{console.address}/sign-in/begin", headers={"Sec-Fetch-Site": "cross-site"}, allow_redirects=False)
    assert cross.headers["Location"].startswith("/sign-in?")


def test_text_of_users_is_escaped_and_the_list_has_filters(console, operator, member):
    member.save(display_name="<b>Eve & \"Co\"</b>").expect(200)
    browser = operator("ben").visit(f"/accounts/{member.user_id}")
    assert "&lt;b&gt;Eve &amp; &quot;Co&quot;&lt;/b&gt;" in browser.text and "<b>Eve" not in browser.text
    browser.visit("/accounts").send("/accounts/search", kind="name", term="<b>Eve")
    assert "<b>Eve" not in browser.text and member.user_id in browser.text
    assert member.user_id in browser.visit("/accounts").text
    assert member.user_id not in browser.visit("/accounts?blocked=yes").text
    assert member.user_id in browser.visit("/accounts?provider=apple&blocked=no&since=2020-01-01").text
    assert member.user_id not in browser.visit("/accounts?until=2020-01-01").text
    browser.visit("/accounts?page=forged", 400)
    browser.visit("/accounts/not-an-id", 404)


def test_only_the_number_that_was_shown_is_released(console, operator, member, new_app):
    account = f"/accounts/{member.user_id}"
    browser = operator("ana").visit(account)
    other = new_app().person.phone
    member.save(phone_number=other).expect(200)
    browser.send(f"{account}/release-phone", status=409, confirm="yes")
    assert "has another phone number by now" in browser.text
    assert member.get("/me").expect(200)["phone_number"] == other
    browser.visit(account).send(f"{account}/release-phone", confirm="yes")
    assert "The number is free." in browser.text
    # A link of anybody's has no page say that something was done.
    assert "The account is blocked." not in browser.visit(f"{account}?done=block").text
    assert "The account is blocked." not in browser.visit(f"{account}?done=block&by=x").text


def test_a_link_of_another_site_looks_nothing_up(console, operator, member, stack):
    browser = operator("ben")
    before = len(events(stack, member.user_id))
    answer = browser.session.get(
        f"http://{console.address}/accounts/{member.user_id}", headers={"Sec-Fetch-Site": "cross-site"})
    assert answer.status_code == 200 and "Go on to" in answer.text and member.person.name not in answer.text
    # The reading of the log is an event itself.
    assert len(events(stack, member.user_id)) == before + 1


def test_a_search_has_a_limit_and_takes_no_control_characters(console, operator):
    browser = operator("maria")
    for kind, term in (("imported", "a:b\0c"), ("provider", "apple:x\0"), ("provider", "apple:")):
        browser.visit("/accounts").send("/accounts/search", status=400, kind=kind, term=term)
    browser.visit("/accounts?provider=a%00b", 400)
    value = browser.visit("/accounts").page.forms[0]["fields"]["form_value"]
    statuses = [
        browser.session.post(f"http://{console.address}/accounts/search", data={
            "form_value": value, "kind": "username", "term": f"nobody{number}"}).status_code for number in range(35)]
    assert statuses.count(429) >= 5 and statuses[0] == 200, statuses


def test_an_attempt_asks_the_provider_once(console):
    browser = Operator(console)
    begun = browser.session.get(f"http://{console.address}/sign-in/begin", allow_redirects=False)
    state = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(begun.headers["Location"]).query))["state"]
    cookies = browser.session.cookies.copy()
    answers = []
    for _ in range(12):
        browser.session.cookies = cookies.copy()
        answers.append(browser.session.get(
            f"http://{console.address}/sign-in/callback?code=x&state={state}", allow_redirects=False).headers["Location"])
    assert all("notice=failed" in each for each in answers), answers


class SlowProvider(http.server.BaseHTTPRequestHandler):
    """An OpenID provider whose token endpoint answers only once it may."""

    def do_GET(self):
        base = f"http://{self.headers['Host']}"
        self.answer(200, {
            "issuer": base, "authorization_endpoint": f"{base}/authorize", "token_endpoint": f"{base}/token", "jwks_uri": f"{base}/keys",
            "id_token_signing_alg_values_supported": ["RS256"]})

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked.release()
        self.server.may.wait(15)
        self.answer(400, {"error": "invalid_grant"})

    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def test_one_address_waits_for_the_provider_twice_at_once(stack, tmp_path):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), SlowProvider)
    server.asked, server.may = threading.Semaphore(0), threading.Event()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    issuer = f"http://127.0.0.1:{server.server_address[1]}"
    settings = {"VESTIBULE_CONSOLE_ISSUER": issuer, "VESTIBULE_CONSOLE_DISCOVERY_URL": f"{issuer}/.well-known/openid-configuration"}
    with Console(stack, tmp_path, **settings).running() as console, concurrent.futures.ThreadPoolExecutor(2) as pool:

        def begin():
            session = Operator(console).session
            begun = session.get(f"http://{console.address}/sign-in/begin", allow_redirects=False)
            state = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(begun.headers["Location"]).query))["state"]
            address = f"http://{console.address}/sign-in/callback?code=x&state={state}"
            return lambda: session.get(address, allow_redirects=False, timeout=15)

        first, second, third = begin(), begin(), begin()
        waiting = [pool.submit(first), pool.submit(second)]
        assert server.asked.acquire(timeout=15) and server.asked.acquire(timeout=15)
        refused = third()
        assert refused.status_code == 429 and refused.headers["Retry-After"] == "5", refused.text
        assert refused.headers["Content-Type"].startswith("text/html") and "Load this page again" in refused.text
        server.may.set()
        # The page that was refused is loaded again: its sign-in was not used up.
        for answer in [each.result() for each in waiting] + [third()]:
            assert answer.status_code == 303 and "notice=failed" in answer.headers["Location"]
        assert server.asked.acquire(timeout=15), "the third one asked the provider, too"
    server.shutdown()


def test_a_provider_that_does_not_say_when_somebody_signed_in_is_taken_by_a_setting_alone(stack, tmp_path):
    with Console(stack, tmp_path, VESTIBULE_CONSOLE_AUTH_TIME_OPTIONAL="false").running() as console:
        browser = Operator(console).sign_in(PEOPLE["maria"])
        assert browser.path == "/sign-in" and "doesn’t say when you signed in" in browser.text
        assert "VESTIBULE_CONSOLE_AUTH_TIME_OPTIONAL accepts that" in console.log.read_text()


def test_charts_and_queues_come_from_the_services_metrics(console, operator, stack, new_app):
    browser = operator("ben")

    def drawn():
        new_app().sign_in()
        return "apple: " in browser.visit("/charts").text
    process_table.wait_until(drawn, 40, "a chart of sign-ins")
    text = browser.text
    assert text.count('<svg viewBox="0 0 720 240" role="img"') == 3
    for chart in ("sign-ins", "refreshes", "latencies"):
        assert f'<title id="chart-{chart}-title">' in text and f'<desc id="chart-{chart}-text">' in text
    assert "identity" in text and "Pause" in text
    work = browser.visit("/work").text
    assert "profile.events" in work or "Queue" in work
    assert "does not answer" not in work


def test_a_stale_sign_in_and_an_idle_session(stack, tmp_path, member):
    with Console(
            stack, tmp_path, VESTIBULE_CONSOLE_FRESH="10s", VESTIBULE_CONSOLE_SESSION_INACTIVITY="15s").running() as console:
        browser = Operator(console).sign_in(PEOPLE["maria"])
        account = f"/accounts/{member.user_id}"
        number = re.search(r"Account (\d+)</h1>", browser.visit(account).text).group(1)
        time.sleep(12)
        browser.send(f"{account}/delete", status=403, number=number, confirm="yes")
        assert "Your sign-in is too old" in browser.text and "counted from when the console asked the provider" in browser.text and member.get("/me").status == 200
        assert browser.visit(account).send(f"{account}/end-sessions", confirm="yes").path == account
        browser.send(f"{account}/delete", status=403, number=number, confirm="yes")
        browser.follow("/sign-in/begin")
        assert browser.submit(action="continue", email=PEOPLE["maria"], given_name="maria", family_name="santos") is None
        browser.visit(account).send(f"{account}/delete", number=number, confirm="yes")
        assert "The account is deleted" in browser.text
        # A page that refreshes itself is no use of the session.
        end = time.monotonic() + 17
        while time.monotonic() < end:
            browser.session.get(f"http://{console.address}/charts?live=1", allow_redirects=False)
            time.sleep(2)
        assert browser.visit("/accounts").path == "/sign-in"


@pytest.mark.parametrize("environment, words", (
    ({"VESTIBULE_CONSOLE_LISTEN": "0.0.0.0:7090"}, "VESTIBULE_CONSOLE_LISTEN"),
    ({"VESTIBULE_CONSOLE_PUBLIC_URL": "http://console.example"}, "VESTIBULE_CONSOLE_PUBLIC_URL"),
    ({"VESTIBULE_CONSOLE_ISSUER": ""}, "VESTIBULE_CONSOLE_DISCOVERY_URL"),
    ({"VESTIBULE_CONSOLE_CLIENT_ID": ""}, "VESTIBULE_CONSOLE_CLIENT_ID"),
    ({"VESTIBULE_CONSOLE_DISCOVERY_URL": "http://provider.example/x"}, "VESTIBULE_CONSOLE_DISCOVERY_URL"),
    ({"VESTIBULE_CONSOLE_OPERATORS_FILE": ""}, "VESTIBULE_CONSOLE_OPERATORS_FILE"),
))
def test_an_unsafe_configuration_is_refused(stack, tmp_path, environment, words):
    file = without(stack, tmp_path, *(name for name, value in environment.items() if not value))
    result = subprocess.run(
        [program("vestibule"), "console", "--config", str(file)], env={**clean_environment(), **environment},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30)
    assert result.returncode == 78 and words in result.stderr + result.stdout, result
