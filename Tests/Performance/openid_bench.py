"""OpenID Connect by the pages: processor time of gateway, identity and profile for a sign-in from the authorization request to the code, for
the tokens of a code, and for the sign-in page beside a page of Go's html/template; and the memory that abandoned sign-ins take.

The unit is one ES256 signature, measured in the same run: what a sign-in can't do without.
"""

import base64
import concurrent.futures
import contextlib
import hashlib
import html
import http.client
import json
import os
import re
import secrets
import shutil
import statistics
import urllib.parse

import envoy_peer
import peers
from processes import BenchError, listening_port, resident_bytes, run, running
from processor_time import Meter, cpu_us, signature_us
from report import Bar, Figure
from service_stack import claims_of, free_ports, service_stack

REDIRECT = "http://127.0.0.1:51123/callback"
FLOWS, PAGES = 200, 3_000
# Browsers at a time where there are many.
BROWSERS = 16
ABANDONED = 100_000
CODE_SIGNATURES_MAX, TOKEN_SIGNATURES_MAX, PAGE_RATIO_MAX, ABANDONED_MB_MAX = 12, 6, 0.5, 64
PROGRAMS = ("gateway", "identity", "profile")
UNLIMITED = {
    f"VESTIBULE_GATEWAY_{name}_{kind}": "1000000" for name in ("ADDRESS", "AUTH") for kind in ("PER_SECOND", "BURST")}


class Visitor:
    """A browser, as far as a sign-in needs one: cookies by host, redirects, and the first form of a page."""

    def __init__(self, stack):
        self.stack = stack
        self.connections, self.cookies = {}, {}

    def send(self, url, form=None):
        """One request; gives the status, where it leads, and the body."""
        parts = urllib.parse.urlsplit(url)
        connection = self.connections.setdefault(parts.netloc, http.client.HTTPConnection(parts.netloc, timeout=15))
        cookies = self.cookies.setdefault(parts.netloc, {})
        headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items())} if cookies else {}
        if form is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        connection.request("GET" if form is None else "POST", path, None if form is None else urllib.parse.urlencode(form), headers)
        answer = connection.getresponse()
        body = answer.read().decode()
        for setting in answer.headers.get_all("Set-Cookie") or []:
            name, _, value = setting.partition(";")[0].partition("=")
            cookies[name] = value
            if not value:
                del cookies[name]
        location = answer.headers.get("Location")
        return answer.status, location and urllib.parse.urljoin(url, location), body

    def expect(self, status, url, form=None):
        found, location, body = self.send(url, form)
        if found != status:
            raise BenchError(f"{urllib.parse.urlsplit(url).path} answered {found}, not {status}")
        return location or body


def _authorization(stack):
    verifier = secrets.token_urlsafe(48)
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
    query = urllib.parse.urlencode({
        "client_id": "demo", "redirect_uri": REDIRECT, "response_type": "code", "scope": "openid profile email offline_access",
        "state": secrets.token_urlsafe(16), "nonce": secrets.token_urlsafe(16), "code_challenge": challenge,
        "code_challenge_method": "S256"})
    return f"http://{stack.addresses['gateway']}/oauth2/authorize?{query}", verifier


def _form(body):
    """Where a page's form leads, and its hidden fields."""
    action = re.search(r'<form[^>]*action="([^"]*)"', body)
    fields = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', body)
    return html.unescape(action[1]) if action else "", {html.unescape(name): html.unescape(value) for name, value in fields}


def _code(stack):
    """Signs a new user in, from the authorization request to the code; gives it and the verifier."""
    visitor = Visitor(stack)
    url, verifier = _authorization(stack)
    page = visitor.expect(200, url)
    button = html.unescape(re.search(r'href="(/sign-in/apple\?[^"]*)"', page)[1])
    provider = visitor.expect(303, urllib.parse.urljoin(url, button))
    action, fields = _form(visitor.expect(200, provider))
    answer = visitor.expect(200, urllib.parse.urljoin(provider, action), {
        **fields, "action": "continue", "email": f"{secrets.token_hex(8)}@example.com"})
    action, fields = _form(answer)
    back = visitor.expect(303, action, fields)
    found = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(visitor.expect(303, back)).query))
    if "code" not in found:
        raise BenchError(f"a sign-in gave no code but {sorted(found)}")
    return found["code"], verifier


def _codes(stack, browsers):
    """Signs FLOWS new users in, by so many browsers at a time."""
    with concurrent.futures.ThreadPoolExecutor(browsers) as executor:
        return list(executor.map(lambda _: _code(stack), range(FLOWS)))


def _redeem(visitor, stack, code, verifier):
    answer = visitor.expect(200, f"http://{stack.addresses['gateway']}/oauth2/token", {
        "grant_type": "authorization_code", "code": code, "redirect_uri": REDIRECT, "client_id": "demo", "code_verifier": verifier})
    tokens = json.loads(answer)
    if "id_token" not in tokens:
        raise BenchError("a code gave no tokens")
    return tokens


def _check_envoy(options, scratch, stack, tokens):
    """Envoy's jwt_authn, with what the discovery document says, takes an access token and refuses an ID token."""
    metadata = stack.ask("gateway", "/.well-known/openid-configuration")
    keys = stack.ask("gateway", urllib.parse.urlsplit(metadata["jwks_uri"]).path)
    audience = claims_of(tokens["access_token"])["aud"]
    with envoy_peer.serving(
            options, scratch, free_ports(1)[0], issuer=metadata["issuer"], audience=audience, key_set=keys, has_cache=False) as target:
        found = []
        for name in ("access_token", "id_token"):
            target.more_headers = [f"authorization: Bearer {tokens[name]}"]
            found.append(target.status())
    if found[0] == 401 or found[1] not in (401, 403):
        raise BenchError(f"Envoy answered an access token with {found[0]} and an ID token with {found[1]}")


@contextlib.contextmanager
def _go(options, scratch):
    if shutil.which("go") is None:
        raise BenchError("install the package golang-go")
    program = os.path.join(scratch, "page-peer-go")
    environment = {**os.environ, "GO111MODULE": "off", "GOCACHE": os.path.join(scratch, "go-cache")}
    run(["go", "build", "-o", program, f"{peers.FOLDER}/go/page_peer.go"], timeout_seconds=600, env=environment)
    log = os.path.join(scratch, "page-peer-go.log")
    with running([program], log, environment={**os.environ, "GOMAXPROCS": "1"}, core=options.server_core) as process:
        yield process.pid, listening_port(process, log)


def _pages(options, url, process_ids, count):
    """The processor time of one page, in microseconds, by many connections at once."""
    command = ["h2load", "--h1", "-c", "32", "-n", str(count), url]
    run(command, core=options.load_core)
    before = cpu_us(process_ids)
    text = run(command, core=options.load_core)
    if f"{count} succeeded" not in text or f"{count} 2xx" not in text:
        raise BenchError(f"not every page was answered: {text[-300:]}")
    return (cpu_us(process_ids) - before) / count


def measure(options, scratch):
    """Gives the figures, the bars, and notes."""
    codes, many, tokens, pages, gos, units, notes, shares = [], [], [], [], [], [], [], []
    with service_stack(options, os.path.join(scratch, "openid"), VESTIBULE_EVENT_LOOPS="1", **UNLIMITED) as stack:
        for name in PROGRAMS:
            stack.pin(name, options.server_core)
        process_ids = [stack.process_of(name) for name in PROGRAMS]
        visitor = Visitor(stack)
        for turn in range(options.rounds):
            units.append(signature_us(options))
            first = _redeem(visitor, stack, *_code(stack))
            meter = Meter(process_ids)
            found, each = meter.of(lambda: _codes(stack, 1))
            each = [used / FLOWS for used in each]
            _, used = meter.of(lambda: _codes(stack, BROWSERS))
            many.append(sum(used) / FLOWS)
            codes.append(sum(each))
            shares.append(each)
            _, used = meter.of(lambda: [_redeem(visitor, stack, *code) for code in found])
            tokens.append(sum(used) / FLOWS)
            url, _ = _authorization(stack)
            pages.append(_pages(options, url, process_ids, PAGES))
            try:
                with _go(options, scratch) as (process_id, port):
                    path = url.split("/oauth2/", 1)[1]
                    gos.append(_pages(options, f"http://127.0.0.1:{port}/oauth2/{path}", [process_id], PAGES))
            except BenchError as error:
                notes.append(f"Missing peer Go's html/template: {error}")
            options.say(
                f"OpenID {turn + 1}/{options.rounds}   code {codes[-1]:.0f} µs, of many {many[-1]:.0f} µs, tokens {tokens[-1]:.0f} µs, page {pages[-1]:.0f} µs, "
                f"Go's page {gos[-1] if gos else 0:.0f} µs, a signature {units[-1]:.1f} µs; of a code "
                + ", ".join(f"{name} {share:.0f} µs" for name, share in zip(PROGRAMS, each)))
        try:
            _check_envoy(options, scratch, stack, first)
            notes.append("Envoy's jwt_authn, set up by the discovery document, took an access token and refused an ID token.")
        except BenchError as error:
            notes.append(f"Envoy: {error}")
        grown = _abandoned_mb(options, stack)
    each = ", ".join(f"{name} {statistics.median(column):.0f} µs" for name, column in zip(PROGRAMS, zip(*shares)))
    return *_judge(codes, many, tokens, pages, gos, statistics.median(units), grown), sorted(set(notes)) + [
        f"OpenID, from the request to the code: {each}.",
        "OpenID: processor time of gateway, identity and profile, without PostgreSQL's and the simulator's. A code takes four requests of "
        "the browser to the gateway; the user is new."]


def _abandoned_mb(options, stack):
    """How much gateway and identity grow by sign-ins that are begun and left."""
    process_ids = [stack.process_of(name) for name in ("gateway", "identity")]
    url, _ = _authorization(stack)
    page = Visitor(stack).expect(200, url)
    button = html.unescape(re.search(r'href="(/sign-in/apple\?[^"]*)"', page)[1])
    rows = "SELECT sum(n_live_tup) FROM pg_stat_user_tables"
    before = sum(resident_bytes(process_id)[0] for process_id in process_ids)
    run(["h2load", "--h1", "-c", "64", "-n", str(ABANDONED // 2), url], core=options.load_core, timeout_seconds=600)
    begun = urllib.parse.urljoin(url, button)
    run(["h2load", "--h1", "-c", "64", "-n", str(ABANDONED // 2), begun], core=options.load_core, timeout_seconds=600)
    grown = (sum(resident_bytes(process_id)[0] for process_id in process_ids) - before) / 1e6
    options.say(f"OpenID, {ABANDONED:,} abandoned sign-ins: {grown:.1f} MB more; rows in all tables: {stack.sql(rows)}")
    return grown


def _judge(codes, many, tokens, pages, gos, unit, grown):
    code, code_of_many, token, page = (statistics.median(found) for found in (codes, many, tokens, pages))
    figures = [
        Figure("ES256 signature by libcrypto", f"{unit:.1f} µs", "", "the unit of the next two"),
        Figure("authorization request to code", f"{code / unit:.1f} signatures", f"{code:.0f} µs", "a new user, simulated Apple, one browser"),
        Figure("the same of many browsers", f"{code_of_many / unit:.1f} signatures", f"{code_of_many:.0f} µs", f"{BROWSERS} at a time"),
        Figure("code to tokens", f"{token / unit:.1f} signatures", f"{token:.0f} µs", "access, ID and refresh token"),
        Figure("sign-in page", "", f"{page:.0f} µs", "32 connections"),
        Figure(f"{ABANDONED:,} abandoned sign-ins", f"{grown:.1f} MB", "", "gateway and identity, resident"),
    ]
    bars = [
        Bar("authorization request to code, in ES256 signatures", f"{code / unit:.1f}", f"at most {CODE_SIGNATURES_MAX}",
            code / unit <= CODE_SIGNATURES_MAX),
        Bar("code to tokens, in ES256 signatures", f"{token / unit:.1f}", f"at most {TOKEN_SIGNATURES_MAX}",
            token / unit <= TOKEN_SIGNATURES_MAX),
        Bar("memory of 100,000 abandoned sign-ins", f"{grown:.1f} MB", f"at most {ABANDONED_MB_MAX} MB", grown <= ABANDONED_MB_MAX),
    ]
    if gos:
        go = statistics.median(gos)
        figures.append(Figure("Go's html/template, the same page", "", f"{go:.0f} µs", "renders it, and asks nobody"))
        bars.append(Bar("the sign-in page over Go's html/template", f"{page / go:.2f} ×", f"at most {PAGE_RATIO_MAX} ×",
                        page / go <= PAGE_RATIO_MAX))
    return figures, bars
