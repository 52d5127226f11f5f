"""The sessions of a person as their app shows them: listed, named, ended one by one and together; and how many there may be."""

import re
import uuid

import pytest

from app import App
from app_clients import WAYS, Refused, client_of
from stack import new_stack

MEMBERS = {"id", "device_name", "provider", "created_at", "last_used_at", "current"}
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def listed(app):
    sessions = app.get("/auth/sessions").expect(200)
    assert set(sessions) == {"sessions", "recent_changes", "deletes_at"} and sessions["deletes_at"] is None
    for session in sessions["sessions"]:
        assert set(session) == MEMBERS
        assert MOMENT.fullmatch(session["created_at"]) and MOMENT.fullmatch(session["last_used_at"])
        assert session["created_at"] <= session["last_used_at"]
    used = [session["last_used_at"] for session in sessions["sessions"]]
    assert used == sorted(used, reverse=True)
    return sessions["sessions"]


def sign_in(new_app, person, device_name=None, provider="apple"):
    app = new_app(person)
    request = app.ask_apple() if provider == "apple" else app.ask_google()
    app.present(provider, request | {"device_name": device_name}).expect(200)
    return app


@pytest.fixture
def phones(app, new_app):
    """One person's three phones: `app`, which told no name, and two that did."""
    return app, sign_in(new_app, app.person, "Maria's phone"), sign_in(new_app, app.person, "Kitchen tablet")


def test_a_person_sees_their_sessions(phones, new_app):
    stranger = new_app()
    stranger.sign_in("google")
    first, second, third = phones
    # Used again, it comes first.
    first.refresh().expect(200)
    for asking in phones:
        sessions = listed(asking)
        assert [each["id"] for each in sessions] == [app.session["session_id"] for app in (first, third, second)]
        assert [each["device_name"] for each in sessions] == [None, "Kitchen tablet", "Maria's phone"]
        assert {each["provider"] for each in sessions} == {"apple"}
        assert [each["id"] for each in sessions if each["current"]] == [asking.session["session_id"]]
    [alone] = listed(stranger)
    assert alone["provider"] == "google" and alone["current"]


def test_a_session_is_named(phones):
    first, second, _ = phones
    path = f"/auth/sessions/{second.session['session_id']}"
    renamed = first.gateway.patch(path, {"device_name": " Old phone "}, token=first.access_token).expect(200)
    assert set(renamed) == MEMBERS and renamed["device_name"] == "Old phone" and not renamed["current"]
    assert renamed in listed(first)
    answer = first.gateway.patch(path, {"device_name": "x" * 51}, token=first.access_token)
    answer.problem(422, "DEVICE_NAME_INVALID", [("device_name", "DEVICE_NAME_INVALID")])
    first.gateway.patch(path, {}, token=first.access_token).problem(400, "REQUEST_INVALID", [("device_name", "REQUIRED")])


def end(app, session):
    return app.gateway.send("DELETE", f"/auth/sessions/{session}", token=app.access_token)


def test_a_session_is_ended(phones):
    first, second, third = phones
    ended = second.session["session_id"]
    # The answer may be lost: asking again is as good.
    for _ in range(2):
        assert end(first, ended).expect(204) is None
    second.get("/me").problem(401, "SESSION_REVOKED")
    second.refresh().problem(401, "SESSION_REVOKED")
    assert ended not in [each["id"] for each in listed(third)]
    first.gateway.patch(f"/auth/sessions/{ended}", {"device_name": "Gone"}, token=first.access_token).problem(
        404, "SESSION_NOT_FOUND")
    assert end(first, first.session["session_id"]).status == 204
    first.get("/auth/sessions").problem(401, "SESSION_REVOKED")
    third.get("/me").expect(200)


def test_somebody_elses_is_not_found(app, new_app):
    other = new_app()
    other.sign_in()
    unknown = [other.session["session_id"], str(uuid.uuid4()), "nothing"]
    told = []
    for session in unknown:
        answer = end(app, session)
        answer.problem(404, "SESSION_NOT_FOUND")
        told.append(answer.json["detail"])
        app.gateway.patch(f"/auth/sessions/{session}", {"device_name": "Mine"}, token=app.access_token).problem(
            404, "SESSION_NOT_FOUND")
    assert len(set(told)) == 1
    [session] = listed(other)
    assert session["device_name"] is None
    other.refresh().expect(200)


def test_everywhere_but_here_and_everywhere(phones, new_app):
    first, second, third = phones
    first.post("/auth/sign-out-everywhere", {"except_current": True}).expect(204)
    for app in (second, third):
        app.get("/me").problem(401, "SESSION_REVOKED")
    assert [each["current"] for each in listed(first)] == [True]
    another = new_app(first.person)
    another.sign_in()
    for _ in range(2):
        first.post("/auth/sign-out-everywhere").expect(204)
    for app in (first, another):
        app.get("/me").problem(401, "SESSION_REVOKED")
        app.refresh().problem(401, "SESSION_REVOKED")
    first.gateway.post("/auth/sign-out-everywhere").problem(401, "AUTHENTICATION_REQUIRED")


@pytest.mark.parametrize("way", WAYS)
def test_by_rpc(stack, app, new_app, way):
    other = sign_in(new_app, app.person, "Kitchen tablet")
    with client_of(stack.addresses["gateway"], way) as client:
        client.tells_details = way != "grpc-web-pyease"
        sessions = client.call("AuthService/ListSessions", app.access_token).sessions
        assert [(each.session_id, each.device_name, each.is_current) for each in sessions] == [
            (other.session["session_id"], "Kitchen tablet", False), (app.session["session_id"], "", True)]
        assert all(0 < each.created_at.ToMilliseconds() <= each.last_used_at.ToMilliseconds() for each in sessions)
        renamed = client.call(
            "AuthService/RenameSession", app.access_token, session_id=app.session["session_id"], device_name="Phone")
        assert renamed.session.device_name == "Phone" and renamed.session.is_current
        client.call("AuthService/EndSession", app.access_token, session_id=other.session["session_id"])
        other.get("/me").problem(401, "SESSION_REVOKED")
        with pytest.raises(Refused) as caught:
            client.call("AuthService/EndSession", app.access_token, session_id=str(uuid.uuid4()))
        assert caught.value.code == "NOT_FOUND"
        client.call("AuthService/SignOutEverywhere", app.access_token, except_current=True)
        app.get("/me").expect(200)
        client.call("AuthService/SignOutEverywhere", app.access_token)
        app.get("/me").problem(401, "SESSION_REVOKED")


def test_what_happened_is_in_the_audit_log_and_no_name_is(stack, phones):
    first, second, third = phones
    first.gateway.patch(
        f"/auth/sessions/{second.session['session_id']}", {"device_name": "Old phone"}, token=first.access_token).expect(200)
    end(first, second.session["session_id"])
    first.refresh().expect(200)
    first.post("/auth/sign-out-everywhere", {"except_current": True}).expect(204)
    told = stack.sql(
        "SELECT kind || ' ' || details FROM identity.security_events "
        f"WHERE user_id = '{first.user_id}' ORDER BY event_id;").splitlines()
    assert [line.split(" ")[0] for line in told[:5]] == [
        "signed_in", "signed_in", "signed_in", "session_renamed", "session_ended"]
    # The two of one moment are in either order.
    assert sorted(told[5:]) == [
        'session_ended {"reason": "sign_out"}', 'sessions_ended_everywhere {"by": "owner", "sessions": 1}']
    assert not any(word in line for line in told for word in ("phone", "tablet", first.person.email))


def test_a_sign_in_beyond_the_cap_ends_the_oldest():
    with new_stack(VESTIBULE_IDENTITY_SESSIONS_MAX="2") as stack:
        stack.start()
        first = App(stack)
        first.sign_in()
        second, third = App(stack, first.person), App(stack, first.person)
        second.sign_in()
        first.refresh().expect(200)
        third.sign_in()
        second.get("/me").problem(401, "SESSION_REVOKED")
        second.refresh().problem(401, "SESSION_REVOKED")
        assert {each["id"] for each in listed(first)} == {app.session["session_id"] for app in (first, third)}
        assert stack.sql("SELECT revoke_reason FROM identity.sessions WHERE revoked_at IS NOT NULL;") == "too_many"
        assert stack.stop() == 0, stack.output
