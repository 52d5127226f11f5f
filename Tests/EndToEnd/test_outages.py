"""A part of the system is down: what still works, which errors are returned, and that it recovers by itself."""

import concurrent.futures
import threading
import time

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

import process_table
import tokens
from app import APPLE_CLIENT, App, Person
from parts import BACK_SECONDS, POSTGRESQL, Parts, Stopwatch
from stack import new_stack

# The gateway's limit on a request is 5 s; a busy machine gets a second more.
DEADLINE_SECONDS = 6


@pytest.fixture(scope="module")
def all_parts():
    with new_stack() as stack:
        parts = Parts(stack)
        parts.expect_back()
        yield parts
        stack.expect_no_confidences()


@pytest.fixture
def parts(all_parts):
    """All programs run, before and after each test."""
    all_parts.expect_back()
    yield all_parts
    all_parts.expect_back()


@pytest.fixture
def app(parts):
    app = App(parts.stack)
    app.sign_in()
    return app


@pytest.fixture
def member(app):
    app.complete()
    return app


def requests_to_every_service(app):
    """Requests that need a database, as (name, function) pairs."""
    group = app.create_group()
    stranger = App(app.stack)
    sign_in = stranger.ask_apple() | {"full_name": stranger.person.name}
    return {
        "sign in": lambda: stranger.present("apple", sign_in),
        "refresh": app.refresh,
        "get me": lambda: app.get("/me"),
        "save": lambda: app.save(display_name=app.person.name[::-1]),
        "list groups": lambda: app.get("/groups"),
        "list members": lambda: app.get(f"/groups/{group}/members"),
        "add member": lambda: app.post(
            f"/groups/{group}/members", {"phone_number": Person().phone, "display_name": "Some One"}),
        "sign out": lambda: app.post("/auth/sign-out"),
    }


def at_once(requests):
    """The answers to the requests, all made concurrently, and the seconds they took."""
    def timed(request):
        with Stopwatch() as took:
            answer = request()
        return answer, took.seconds

    with concurrent.futures.ThreadPoolExecutor(len(requests)) as pool:
        return dict(zip(requests, pool.map(timed, requests.values())))


def health(address, service=""):
    with grpc.insecure_channel(address) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        return stub.Check(health_pb2.HealthCheckRequest(service=service), timeout=5, wait_for_ready=True).status


# PostgreSQL

def test_postgresql_down_and_back(parts, member):
    stack = parts.stack
    requests = requests_to_every_service(member)
    stack.gateway.get("/.well-known/jwks.json").expect(200)
    parts.kill(POSTGRESQL)
    for name, (answer, seconds) in at_once(requests).items():
        answer.problem(503, "DATABASE_UNAVAILABLE")
        assert seconds < DEADLINE_SECONDS, f"{name} took {seconds} s"
    # Routes without a database still answer, and report the problem.
    stack.gateway.get("/healthz").expect(200)
    stack.gateway.get("/.well-known/jwks.json").expect(200)
    process_table.wait_until(
        lambda: stack.gateway.get("/readyz").json == {
            "status": "not ready", "services": {"identity": "failed", "profile": "failed", "invites": "failed"}},
        10, lambda: stack.gateway.get("/readyz").content)
    assert stack.gateway.get("/readyz").status == 503
    for service in ("identity", "profile", "invites"):
        assert health(stack.addresses[service]) == health_pb2.HealthCheckResponse.NOT_SERVING

    parts.start(POSTGRESQL)
    process_table.wait_until(parts.is_ready, BACK_SECONDS, "readiness")
    # Nothing was half done: the same requests succeed, including the one with the token that was presented before.
    for name, request in requests.items():
        assert request().status in (200, 201, 204), name
    member.get("/me").problem(401, "SESSION_REVOKED")


def test_postgresql_frozen(parts, member):
    """A database that accepts connections and never answers: the worst outage, since no error reports it."""
    requests = requests_to_every_service(member)
    # Requests may be executed later, like any request whose answer is lost. All can be repeated except this one.
    del requests["sign out"]
    with parts.frozen(POSTGRESQL):
        for name, (answer, seconds) in at_once(requests).items():
            assert answer.status in (503, 504), f"{name}: {answer.status} {answer.content}"
            answer.problem(answer.status, answer.code)
            assert seconds < DEADLINE_SECONDS, f"{name} took {seconds} s"
        process_table.wait_until(
            lambda: parts.stack.gateway.get("/readyz").status == 503, 15, "readiness to be gone")
    process_table.wait_until(parts.is_ready, BACK_SECONDS, "readiness")
    for name, request in requests.items():
        assert request().status in (200, 201, 204), name


def test_confirmed_changes_survive_a_crash_of_postgresql(parts, member):
    confirmed, stop = [], threading.Event()

    def save_numbers():
        number = 0
        while not stop.is_set():
            number += 1
            if member.save(display_name=f"Number {number}").status == 200:
                confirmed.append(number)

    saver = threading.Thread(target=save_numbers)
    saver.start()
    try:
        for _ in range(2):
            before = len(confirmed)
            process_table.wait_until(lambda: len(confirmed) > before + 20, 30, "saves")
            parts.restart(POSTGRESQL)
        before = len(confirmed)
        process_table.wait_until(lambda: len(confirmed) > before + 20, BACK_SECONDS, "saves after the crash")
    finally:
        stop.set()
        saver.join()
    # The last one that was confirmed, or one that was saved though its answer was lost.
    assert int(member.get("/me").expect(200)["display_name"].removeprefix("Number ")) >= confirmed[-1]


# Services

def test_invites_down_while_a_phone_is_saved(parts, member):
    stack, guest = parts.stack, Person()
    group = member.create_group()
    member.invite(guest, group)
    app = App(stack, guest)
    app.sign_in()

    parts.kill("invites")
    assert app.complete()["phone_number"] == guest.phone
    app.get("/me").expect(200)
    for request in (lambda: app.get("/groups"), lambda: member.post("/groups", {"name": "Another"})):
        with Stopwatch() as took:
            answer = request()
        assert answer.status == 503
        answer.problem(503, "UNAVAILABLE")
        assert took.seconds < DEADLINE_SECONDS
    process_table.wait_until(
        lambda: stack.gateway.get("/readyz").json["services"] == {
            "identity": "ok", "profile": "ok", "invites": "failed"},
        10, lambda: stack.gateway.get("/readyz").content)
    assert app.sign_in()["missing_fields"] == []

    parts.start("invites")
    app.wait_for_group(group, seconds=BACK_SECONDS)
    (_, linked) = app.members(group)
    assert (linked["state"], linked["user_id"]) == ("member", app.user_id)


def test_profile_dies_before_it_delivers_the_link(parts, member):
    """The restarted profile delivers the event: it was committed with the save."""
    guest = Person()
    group = member.create_group()
    member.invite(guest, group)
    app = App(parts.stack, guest)
    app.sign_in()
    parts.kill("invites")
    app.complete()
    parts.kill("profile")
    parts.start("invites", "profile")
    app.wait_for_group(group, seconds=BACK_SECONDS)


def test_profile_down(parts, app):
    """Nobody loses their session: the missing fields are returned later."""
    parts.kill("profile")
    again = app.sign_in()
    assert again["missing_fields"] is None and again["is_new_user"] is False
    assert app.refresh().expect(200)["missing_fields"] is None
    with Stopwatch() as took:
        app.get("/me").problem(503, "UNAVAILABLE")
        app.save(display_name=app.person.name).problem(503, "UNAVAILABLE")
    assert took.seconds < 2 * DEADLINE_SECONDS
    parts.expect_back()
    assert app.save(display_name=app.person.name).expect(200)["missing_fields"] == ["phone_number"]


def test_identity_down(parts, member):
    parts.stack.gateway.get("/.well-known/jwks.json").expect(200)
    parts.kill("identity")
    # For so long the gateway goes by what identity said of the token (SessionAnswers.newsAgeMax).
    time.sleep(0.3)
    for answer in (member.get("/me"), member.refresh(), member.gateway.post("/auth/sign-out", token=member.access_token)):
        answer.problem(503, "UNAVAILABLE")
    # Other backends can still verify our tokens.
    parts.stack.gateway.get("/.well-known/jwks.json").expect(200)
    parts.expect_back()
    member.refresh().expect(200)
    member.get("/me").expect(200)


def test_everything_restarts_at_once(parts, member):
    group = member.create_group()
    parts.restart("gateway", "identity", "profile", "invites", "simulator")
    parts.expect_back()
    assert member.group_ids() == [group]
    member.refresh().expect(200)
    assert member.sign_in()["is_new_user"] is False and member.told_user is None


# Providers

def test_provider_down_with_known_keys(parts):
    app = App(parts.stack)
    app.sign_in("apple")
    app.sign_in("google")
    requests = {"apple": app.ask_apple(), "google": app.ask_google()}
    parts.kill("simulator")
    for provider, request in requests.items():
        app.present(provider, request).expect(200)


def test_provider_down_before_its_keys_were_seen(parts):
    app = App(parts.stack)
    request = app.ask_apple() | {"full_name": app.person.name}
    parts.kill("simulator")
    parts.restart("identity")
    process_table.wait_until(parts.is_ready, BACK_SECONDS, "readiness")
    with Stopwatch() as took:
        app.present("apple", request).problem(503, "PROVIDER_UNAVAILABLE")
    assert took.seconds < DEADLINE_SECONDS
    # Tokens that can be rejected without keys are rejected as usual.
    other = App(parts.stack)
    other.gateway.post("/auth/apple", {"identity_token": "x", "nonce": "n"}).problem(401, "TOKEN_MALFORMED")
    parts.start("simulator")
    # The first attempt failed; its token and name can still be used.
    answer = process_table.wait_until(
        lambda: next((a for a in [app.present("apple", request)] if a.status == 200), None), BACK_SECONDS, "a session")
    assert answer.json["is_new_user"] is True
    assert answer.json["suggested_display_name"] == app.person.name


@pytest.mark.parametrize("misbehaviour", [
    {"keys": "error", "status": 500}, {"keys": "slow", "delay_ms": 20_000}], ids=["errors", "says nothing"])
def test_provider_that_misbehaves(parts, misbehaviour):
    control = "/control/misbehave"
    app = App(parts.stack)
    parts.restart("identity")
    process_table.wait_until(parts.is_ready, BACK_SECONDS, "readiness")
    parts.stack.simulator.post(control, {"provider": "google", **misbehaviour}).expect(200)
    request = app.ask_google()
    try:
        with Stopwatch() as took:
            answer = app.present("google", request)
        answer.problem(503, "PROVIDER_UNAVAILABLE")
        assert took.seconds < DEADLINE_SECONDS
        # The other provider is unaffected.
        app.sign_in("apple")
    finally:
        parts.stack.simulator.post(control, {"provider": "google", "keys": "off"}).expect(200)
    process_table.wait_until(
        lambda: app.present("google", request).status == 200, BACK_SECONDS, "a session")


def test_provider_that_changes_its_keys(parts):
    app = App(parts.stack)
    before = app.ask_apple()
    parts.restart("identity")
    process_table.wait_until(parts.is_ready, BACK_SECONDS, "readiness")
    parts.stack.simulator.post("/control/keys/rotate", {"provider": "apple"}).expect(200)
    # New tokens, and those that were signed before with a key that is still published.
    user_id = app.sign_in()["user_id"]
    assert app.present("apple", before).expect(200)["user_id"] == user_id


def test_an_acknowledged_notice_survives_a_kill(parts, app):
    """It is stored and can't be applied until identity was killed."""
    stack = parts.stack
    subject = tokens.parts(app.ask_apple()["identity_token"])[1]["sub"]
    stack.sql("""
        CREATE FUNCTION identity.fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not now'; END $$;
        CREATE TRIGGER fails BEFORE UPDATE OF revoke_reason ON identity.sessions
            FOR EACH ROW WHEN (NEW.revoke_reason = 'provider') EXECUTE FUNCTION identity.fail();""")
    try:
        told = stack.simulator.post("/control/apple/notify", {
            "client_id": APPLE_CLIENT, "type": "consent-revoked", "sub": subject,
            "to": f"http://{stack.addresses['gateway']}/auth/apple/notifications"}).expect(200)
        assert told["statuses"] == [200]
        assert app.get("/me").status == 200
        parts.kill("identity")
    finally:
        stack.sql("DROP TRIGGER fails ON identity.sessions; DROP FUNCTION identity.fail();")
    parts.start("identity")
    parts.expect_back()
    process_table.wait_until(lambda: app.get("/me").status == 401, BACK_SECONDS, "the end of the session")
