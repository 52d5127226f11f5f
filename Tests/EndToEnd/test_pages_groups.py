"""Groups and invitations by pages, visited by browsers without scripts; and what their scripts ask for."""

import contextlib
import html
import re
import threading
import time

import pytest
import requests

LANDING_SECONDS = 15


@pytest.fixture
def owner(new_visitor):
    """Somebody with a group, at its page."""
    owner = new_visitor().sign_in("/my/groups").complete().visit("/my/groups")
    owner.send("/my/groups", name="Trip <to> Siargao")
    assert re.fullmatch(r"/my/groups/[0-9a-f-]{36}\?notice=created", owner.path), owner.text
    owner.group = owner.path.split("?")[0]
    return owner


def link_of(owner):
    """A new invitation link, which is shown once."""
    owner.visit(owner.group).send("/links")
    link = html.unescape(re.search(r'<input id="link" value="([^"]*)"', owner.text)[1])
    assert link.startswith(f"{owner.base}/my/join#"), link
    return link


def until(check):
    end = time.monotonic() + LANDING_SECONDS
    while not check():
        assert time.monotonic() < end
        time.sleep(0.1)


def test_a_group_is_created_once_by_one_form(new_visitor):
    visitor = new_visitor().sign_in("/my/groups").complete().visit("/my/groups")
    form = next(form for form in visitor.page.forms if form["action"] == "/my/groups")
    places = {visitor._go("POST", f"{visitor.base}/my/groups", form["fields"] | {"name": "Choir"}) or visitor.path for _ in range(2)}
    assert len(places) == 1, "a form that is sent twice"
    assert visitor.visit("/my/groups").text.count("Choir") == 1
    visitor.send("/my/groups", name=" ")
    assert visitor.response.status_code == 422 and "role=\"alert\"" in visitor.text


def test_a_pending_person_lands(owner, new_visitor):
    friend = new_visitor()
    assert "&lt;to&gt;" in owner.visit(owner.group).text
    owner.send("/members", display_name="Ana", phone_number="12")
    assert owner.response.status_code == 422 and "role=\"alert\"" in owner.text and 'value="Ana"' in owner.text
    owner.send("/members", display_name="Ana", phone_number=friend.person.phone)
    assert owner.path == f"{owner.group}?notice=added" and "Added by phone number" in owner.text
    friend.sign_in().complete()
    until(lambda: friend.person.name in owner.visit(f"{owner.group}/people").text)
    assert "Added by phone number" not in owner.text and not owner.text.startswith("<!doctype")
    assert "Siargao" in friend.visit("/my/groups").text
    assert owner.person.name in friend.visit(owner.group).text and "/links" not in friend.text
    friend.send("/leave")
    assert friend.path == "/my/groups?notice=left"
    friend.visit(owner.group, status=404 if friend.session.get(f"{owner.base}{owner.group}", timeout=15).status_code == 404 else 403)


def stream(visitor, group):
    response = visitor.session.get(f"{visitor.base}{group}/live", stream=True, timeout=60)
    assert response.status_code == 200 and response.headers["Content-Type"].startswith("text/event-stream")
    return response


def events(visitor, group):
    """The events of a stream, as they come, and whether it has ended."""
    seen, ended, response = [], threading.Event(), stream(visitor, group)

    def read():
        with contextlib.suppress(requests.RequestException):
            for line in response.iter_lines(decode_unicode=True):
                if line.startswith("event: "):
                    seen.append(line.removeprefix("event: "))
        ended.set()

    threading.Thread(target=read, daemon=True).start()
    return seen, ended


def test_a_stream_says_that_the_list_has_changed(owner, new_visitor):
    other = new_visitor().sign_in("/my/groups").complete().visit("/my/groups").send("/my/groups", name="Other")
    seen, ended = events(owner, owner.group)
    elsewhere, _ = events(other, other.path.split("?")[0])
    until(lambda: seen == ["changed"])
    owner.visit(owner.group).send("/members", display_name="Ana", phone_number=new_visitor().person.phone)
    until(lambda: len(seen) > 1)
    assert set(seen) == {"changed"} and elsewhere == ["changed"], "a change of another group is none"
    owner.visit("/my/account").send("everywhere", which="all")
    assert ended.wait(LANDING_SECONDS), "the stream ends with its session"
    assert owner.session.get(f"{owner.base}{owner.group}/live", timeout=15).status_code == 204


def test_streams_are_bounded(owner):
    streams = [stream(owner, owner.group) for _ in range(10)]
    assert owner.session.get(f"{owner.base}{owner.group}/live", timeout=15).status_code == 204
    for opened in streams:
        opened.close()


def test_a_stranger_sees_nothing(owner, new_visitor):
    stranger = new_visitor().sign_in("/my/groups")
    for path in ("", "/people"):
        answer = stranger.session.get(f"{owner.base}{owner.group}{path}", timeout=15)
        assert answer.status_code in (403, 404) and "Siargao" not in answer.text
    assert stranger.session.get(f"{owner.base}{owner.group}/live", timeout=15).status_code == 204
    value = next(form["fields"]["form_value"] for form in stranger.page.forms)
    for act in ("links", "leave", "members"):
        answer = stranger.session.post(f"{owner.base}{owner.group}/{act}", data={"form_value": value}, allow_redirects=False, timeout=15)
        assert answer.status_code in (303, 403, 404, 422), act
    assert "Siargao" in owner.visit("/my/groups").text


def test_an_invitation_link_comes_through_the_sign_in(stack, owner, new_visitor):
    link = link_of(owner)
    stack.confidential.add(link.split("#")[1])
    guest = new_visitor().visit("/my/join")
    guest.send("/my/join", invitation="no link!")
    assert guest.response.status_code == 422
    guest.send("/my/join", invitation=link)
    guest.pass_sign_in()
    assert guest.path == "/my/invitation" and "Siargao" in guest.text and owner.person.name not in guest.text
    guest.send("/my/invitation", accept="yes")
    assert guest.path == f"{owner.group}?notice=joined", guest.text
    assert owner.person.name in guest.text
    # The invitation is used, and the browser has it no more.
    assert guest.visit("/my/invitation").path == "/my/join"
    guest.send("/my/join", invitation=link.split("#")[1])
    assert guest.path == "/my/invitation" and "already" in guest.text


def test_declining_an_invitation_and_a_link_that_is_over(stack, owner, new_visitor):
    link = link_of(owner)
    stack.confidential.add(link.split("#")[1])
    guest = new_visitor().sign_in()
    guest.visit("/my/join").send("/my/join", invitation=link).send("/my/invitation", accept="no")
    assert guest.path == "/my/groups" and "Siargao" not in guest.text
    owner.visit(owner.group).send("/revoke")
    assert owner.path == f"{owner.group}?notice=revoked"
    guest.visit("/my/join").send("/my/join", invitation=link)
    assert guest.response.status_code in (404, 409, 410, 400, 422) and "Siargao" not in guest.text
    assert guest.visit("/my/invitation").path == "/my/join", "a link that is over is kept by nobody"


def test_removing_a_person(owner, new_visitor):
    owner.visit(owner.group).send("/members", display_name="Ana", phone_number=new_visitor().person.phone)
    assert "Ana" in owner.text
    owner.send("/remove")
    assert owner.path == f"{owner.group}?notice=removed" and "Ana" not in owner.text
