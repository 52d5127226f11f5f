"""Webhook deliveries of the running system to servers of this test, verified by the standard's library."""

import contextlib
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import time

import pytest
from standardwebhooks import Webhook

import process_table
from app import App
from metrics import Metrics, lint
from stack import free_ports, new_stack, program, short_folder
from webhook_target import SECONDS, Target, secret

PAGE = pathlib.Path(__file__).parents[2] / "docs/run/webhooks.md"
HELD_SECRET = secret()
# The event types of profile and invites.
OF_OTHERS = ["profile.completed", "phone.changed", "group.joined"]


@pytest.fixture(scope="module")
def targets():
    found = {name: Target() for name in ("all", "two", "flaky", "private")}
    yield found
    for target in found.values():
        target.shutdown()


@pytest.fixture(scope="module")
def secrets():
    return {name: [secret(), secret()] for name in ("all", "two", "flaky", "private", "silent")}


@pytest.fixture(scope="module")
def own_stack(targets, secrets):
    # Accepts connections, and never answers.
    silent = socket.create_server(("127.0.0.1", 0))
    with short_folder() as folder:
        (folder / "two.secret").write_text(secrets["two"][1] + "\n")
        kinds = ["account.created", "session.ended", "account.deleted", *OF_OTHERS]
        entries = [
            {"name": "all", "url": targets["all"].url, "secrets": secrets["all"][:1], "types": kinds, "private_addresses": True},
            {"name": "two", "url": targets["two"].url, "secrets": secrets["two"][:1], "secret_files": ["two.secret"],
             "types": ["account.created"], "private_addresses": True},
            {"name": "flaky", "url": targets["flaky"].url, "secrets": secrets["flaky"], "types": ["account.deleted"],
             "private_addresses": True},
            {"name": "silent", "url": f"http://127.0.0.1:{silent.getsockname()[1]}/", "secrets": secrets["silent"],
             "types": kinds, "private_addresses": True},
            # The target has a name instead of an address, so that the file is valid.
            {"name": "private", "url": f"https://{socket.gethostname()}:{targets['private'].server_port}/",
             "secrets": secrets["private"], "types": ["account.created"]},
        ]
        (folder / "webhooks.json").write_text(json.dumps({"targets": entries}))
        with new_stack(
                VESTIBULE_LOG_LEVEL="trace", VESTIBULE_IDENTITY_WEBHOOKS_FILE=str(folder / "webhooks.json")) as stack:
            stack.start()
            for several in secrets.values():
                stack.confidential |= {each.removeprefix("whsec_") for each in several}
            stack.confidential.add("in-the-url")
            yield stack
            assert stack.stop() == 0, stack.output
            stack.expect_no_confidences()
    silent.close()


def work(stack, *arguments):
    return subprocess.run(
        [program("identity"), "work", *arguments], env=process_table.environment(stack.process_of("identity")),
        capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)


def sign_in(stack):
    app = App(stack)
    app.sign_in()
    return app


# The queue of webhook deliveries.
WORK = ("(SELECT event_id, substr(queue, 10) AS target, data ->> 'type' AS type, user_id, tries, failure, due_at, parked_at "
        "FROM identity.work WHERE queue LIKE 'webhooks.%') webhooks")


def rows(stack, app, columns="target"):
    return stack.sql(
        f"SELECT {columns} FROM {WORK} WHERE user_id = '{app.user_id}' ORDER BY target").split("\n")


def example():
    """The code that the page tells users to write."""
    namespace = {}
    code, = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    exec(code, namespace)
    return namespace["receive"]


def test_the_events_of_an_account_are_delivered(own_stack, targets, secrets):
    app = sign_in(own_stack)
    (created_headers, created), = targets["all"].wait_for("account.created", app.user_id)
    assert created["data"] == {"user_id": app.user_id, "provider": "apple", "client_id": "com.example.app"}
    assert abs(time.time() - int(created_headers["webhook-timestamp"])) < 60
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", created["timestamp"])
    session_id = app.session["session_id"]
    app.post("/auth/sign-out").expect(204)
    (_, ended), = targets["all"].wait_for("session.ended", app.user_id)
    assert ended["data"] == {"user_id": app.user_id, "session_id": session_id, "reason": "sign_out"}
    app.sign_in()
    app.delete()
    (deleted_headers, deleted), = targets["all"].wait_for("account.deleted", app.user_id)
    assert deleted["data"] == {"user_id": app.user_id, "reason": "owner"}
    told = targets["all"].wait_for("session.ended", app.user_id, 2)
    assert {message["data"]["reason"] for _, message in told} == {"sign_out", "account_deleted"}
    assert len(targets["all"].told("account.created", app.user_id)) == 1
    text = str(targets["all"].messages)
    for secret in (app.person.name, app.person.email, app.person.digits):
        assert secret not in text
    # Rows of delivered events are deleted.
    process_table.wait_until(
        lambda: "all" not in rows(own_stack, app), SECONDS, lambda: f"an end of {rows(own_stack, app)}")


@pytest.fixture
def wanted(own_stack):
    """Profile and invites know which events targets want."""
    process_table.wait_until(
        lambda: own_stack.sql("SELECT (SELECT count(*) FROM profile.wanted_events) + "
                              "(SELECT count(*) FROM invites.wanted_events)") == "3", SECONDS, "the wishes")


def test_events_of_profile_and_invites_are_delivered(own_stack, targets, secrets, wanted):
    all_targets = targets["all"]
    host, guest, late = sign_in(own_stack), sign_in(own_stack), sign_in(own_stack)
    for app in (host, guest):
        app.complete()
        (_, changed), = all_targets.wait_for("phone.changed", app.user_id)
        assert changed["data"] == {"user_id": app.user_id}
        (_, completed), = all_targets.wait_for("profile.completed", app.user_id)
        assert completed["data"] == {"user_id": app.user_id}
    group = host.create_group()
    host.invite(guest.person, group)
    host.invite(late.person, group)
    late.save(display_name=late.person.name).expect(200)
    assert not any(all_targets.told(kind, late.user_id) for kind in OF_OTHERS)
    late.complete()
    late.wait_for_group(group)
    for app in (guest, late):
        (_, joined), = all_targets.wait_for("group.joined", app.user_id)
        member = own_stack.sql(
            f"SELECT member_id FROM invites.members WHERE group_id = '{group}' AND user_id = '{app.user_id}'")
        assert joined["data"] == {"user_id": app.user_id, "group_id": group, "member_id": member}
    all_targets.wait_for("profile.completed", late.user_id)
    guest.save(display_name="Another").expect(200)
    guest.delete()
    all_targets.wait_for("account.deleted", guest.user_id)
    assert len(all_targets.told("phone.changed", guest.user_id)) == 1
    assert all_targets.told("group.joined", host.user_id) == []
    for headers, body in all_targets.messages:
        assert Webhook(secrets["all"][0]).verify(body, headers) == json.loads(body)
    text = str(all_targets.messages)
    for app in (host, guest, late):
        for each in (app.person.name, app.person.email, app.person.digits):
            assert each not in text
    for schema in ("profile", "invites"):
        process_table.wait_until(
            lambda: own_stack.sql(f"SELECT count(*) FROM {schema}.work WHERE queue = 'events'") == "0", SECONDS, f"the end of {schema}'s rows")


def test_events_while_identity_is_down_are_delivered_later(own_stack, targets, wanted):
    app = sign_in(own_stack)
    identity = own_stack.process_of("identity")
    os.kill(identity, signal.SIGSTOP)
    try:
        # The row that a save writes which was authenticated just before.
        own_stack.sql(
            "INSERT INTO profile.work (queue, event_id, user_id, created_at, data) VALUES "
            f"('events', '{app.user_id}', '{app.user_id}', now(), " "'{\"type\": \"phone.changed\"}')")
        time.sleep(3)
        assert targets["all"].told("phone.changed", app.user_id) == []
    finally:
        os.kill(identity, signal.SIGCONT)
    (headers, _), = targets["all"].wait_for("phone.changed", app.user_id)
    assert headers["webhook-id"] == app.user_id
    assert own_stack.sql("SELECT count(*) FROM profile.work WHERE parked_at IS NOT NULL") == "0"


def test_the_standards_library_and_the_pages_example_verify_every_message(own_stack, targets, secrets):
    app = sign_in(own_stack)
    targets["two"].wait_for("account.created", app.user_id)
    receive = example()
    assert targets["two"].messages
    for headers, body in targets["two"].messages:
        assert len(headers["webhook-signature"].split(" ")) == 2
        for each in secrets["two"]:
            assert Webhook(each).verify(body, headers)["type"] == "account.created"
            assert receive(each, body, headers) == json.loads(body)
            assert receive(each, body.replace(b"a", b"b", 1), headers) is None
            earlier = str(int(headers["webhook-timestamp"]) - 1)
            assert receive(each, body, {**headers, "webhook-timestamp": earlier}) is None
        assert receive(secrets["all"][0], body, headers) is None
        assert headers["user-agent"].startswith("vestibule-webhooks")
        assert headers["content-type"] == "application/json"


def due(stack):
    """Makes waiting deliveries due now, which would take longer than a test can wait."""
    stack.sql("UPDATE identity.work SET due_at = now() WHERE queue LIKE 'webhooks.%' AND parked_at IS NULL AND due_at > now()")


def test_failed_deliveries_are_retried_with_the_same_id_then_parked_and_replayed(own_stack, targets):
    flaky = targets["flaky"]
    # A body without an end does no harm either.
    flaky.status, flaky.headers = 500, {"Content-Length": "99999999"}
    app = sign_in(own_stack)
    app.delete()
    first = flaky.wait_for("account.deleted", app.user_id)
    process_table.wait_until(
        lambda: Metrics(own_stack.metrics_addresses["identity"]).sum(
            "vestibule_work_failures_total", queue="webhooks.flaky") >= 1, SECONDS, "the failure")
    due(own_stack)
    flaky.wait_for("account.deleted", app.user_id, 2)
    # Three days later.
    own_stack.sql("UPDATE identity.work SET retried_at = now() - interval '4 days' WHERE queue = 'webhooks.flaky'")
    process_table.wait_until(
        lambda: own_stack.sql("SELECT tries > 1 AND failure IS NOT NULL AND due_at > now() + interval '4 seconds' AND "
                              "due_at < now() + interval '40 seconds' OR parked_at IS NOT NULL "
                              "FROM identity.work WHERE queue = 'webhooks.flaky'") == "t", SECONDS, "the second failure")
    due(own_stack)
    process_table.wait_until(
        lambda: "parked" in work(own_stack, "list", "--queue", "webhooks.flaky").stdout, SECONDS,
        lambda: f"a parked event; there is {work(own_stack, 'list').stdout}")
    listed = work(own_stack, "list", "--queue", "webhooks.flaky").stdout
    event_id = first[0][0]["webhook-id"]
    assert re.fullmatch(r"\d+  webhooks.flaky  .*\"account.deleted\".*  parked  tries: 3  status 500\n", listed), listed
    shown = work(own_stack, "show", event_id).stdout
    assert app.user_id in shown and "status 500" in shown
    assert work(own_stack, "show", app.user_id).returncode == 1
    process_table.wait_until(
        lambda: Metrics(own_stack.metrics_addresses["identity"]).sum("vestibule_work_parked", queue="webhooks.flaky") == 1,
        SECONDS, "the metric")
    assert lint(Metrics(own_stack.metrics_addresses["identity"]).text) == ""

    count = len(flaky.told("account.deleted", app.user_id))
    flaky.status, flaky.headers = 200, {}
    # By its number: other targets may have failed to get the event too.
    number = listed.split()[0]
    replayed = work(own_stack, "retry", number)
    assert (replayed.returncode, replayed.stdout) == (0, "1 will be retried\n"), replayed.stderr
    told = flaky.wait_for("account.deleted", app.user_id, count + 1)
    assert {headers["webhook-id"] for headers, _ in told} == {event_id}
    process_table.wait_until(
        lambda: "flaky" not in rows(own_stack, app), SECONDS, lambda: f"an end of {rows(own_stack, app)}")
    assert work(own_stack, "retry", number).returncode == 1
    assert work(own_stack, "retry").returncode == 64


def test_a_redirect_is_not_followed(own_stack, targets):
    flaky, private = targets["flaky"], targets["private"]
    flaky.status, flaky.headers = 307, {"Location": private.url}
    app = sign_in(own_stack)
    app.delete()
    flaky.wait_for("account.deleted", app.user_id)
    process_table.wait_until(
        lambda: rows(own_stack, app, "failure") != [""] and "status 307" in rows(own_stack, app, "failure"), SECONDS,
        lambda: f"status 307 in {rows(own_stack, app, 'failure')}")
    assert private.messages == []
    flaky.status, flaky.headers = 200, {}
    due(own_stack)
    process_table.wait_until(lambda: "flaky" not in rows(own_stack, app), SECONDS, "the end of its row")


def test_a_private_target_gets_nothing_unless_allowed(own_stack, targets):
    connections = []
    targets["private"].process_request = lambda request, address: connections.append(address)
    app = sign_in(own_stack)
    targets["all"].wait_for("account.created", app.user_id)
    process_table.wait_until(
        lambda: any("private" in failure for failure in rows(own_stack, app, "failure")), SECONDS,
        lambda: f"a refusal in {rows(own_stack, app, 'target, failure')}")
    assert connections == []


def test_a_target_that_is_gone_is_stopped(own_stack, targets):
    flaky = targets["flaky"]
    flaky.status, flaky.headers = 410, {}
    app, other = sign_in(own_stack), sign_in(own_stack)
    app.delete()
    flaky.wait_for("account.deleted", app.user_id)
    process_table.wait_until(
        lambda: "status 410" in work(own_stack, "list", "--queue", "webhooks.flaky").stdout, SECONDS, "the parked event")
    flaky.status = 200
    other.delete()
    targets["all"].wait_for("account.deleted", other.user_id)
    time.sleep(2.5)
    assert flaky.told("account.deleted", other.user_id) == []
    assert work(own_stack, "retry", "--queue", "webhooks.flaky").returncode == 0
    flaky.wait_for("account.deleted", other.user_id)
    flaky.wait_for("account.deleted", app.user_id, 2)


@contextlib.contextmanager
def replica(stack, folder, target):
    """Another identity, the only one with a target called `held`."""
    (folder / "held.json").write_text(json.dumps({"targets": [
        {"name": "held", "url": target.url, "secrets": [HELD_SECRET], "types": ["account.created"], "private_addresses": True}]}))
    environment = {
        **process_table.environment(stack.process_of("identity")), "SWIFT_BACKTRACE": "enable=no",
        "VESTIBULE_IDENTITY_WEBHOOKS_FILE": str(folder / "held.json"),
        "VESTIBULE_IDENTITY_LISTEN": f"127.0.0.1:{free_ports(1)[0]}", "VESTIBULE_IDENTITY_METRICS_LISTEN": ""}
    log = folder / "held.log"
    with log.open("a") as file:
        process = subprocess.Popen([program("identity"), "serve"], env=environment, stdout=file, stderr=file)
    try:
        process_table.wait_until(
            lambda: stack.sql("SELECT count(*) FROM identity.webhook_targets WHERE name = 'held'") == "1", SECONDS,
            lambda: f"the target to be known; the log: {log.read_text()}")
        yield process
    finally:
        process.kill()
        process.wait()
    assert HELD_SECRET not in log.read_text() and "in-the-url" not in log.read_text()


def test_deliveries_of_a_killed_replica_are_made_by_the_next(own_stack, tmp_path):
    target = Target()
    target.pause = 60
    with replica(own_stack, tmp_path, target) as first:
        app = sign_in(own_stack)
        target.wait_for("account.created", app.user_id)
        first.kill()
        first.wait()
    assert own_stack.sql(f"SELECT tries FROM {WORK} WHERE target = 'held' AND user_id = '{app.user_id}'") == "1"
    target.pause = 0
    with replica(own_stack, tmp_path, target):
        # Its lease is over.
        due(own_stack)
        told = target.wait_for("account.created", app.user_id, 2)
        process_table.wait_until(lambda: "held" not in rows(own_stack, app), SECONDS, "the end of its row")
    assert len({headers["webhook-id"] for headers, _ in told}) == 1
    target.shutdown()


def test_errors_of_the_file_are_reported_without_secrets(own_stack, tmp_path):
    path = tmp_path / "webhooks.json"
    environment = {
        **process_table.environment(own_stack.process_of("identity")), "VESTIBULE_IDENTITY_WEBHOOKS_FILE": str(path)}

    def check():
        return subprocess.run(
            [program("vestibule"), "check"], env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL,
            timeout=60)

    entry = {"name": "crm", "url": "https://crm.example/x?hunter2", "secrets": [secret()], "types": ["account.created"]}
    path.write_text(json.dumps({"targets": [entry]}))
    told = check()
    assert told.returncode == 0, told.stderr
    assert "webhooks to crm: account.created\n  at https://crm.example:443, signed by one secret\n" in told.stdout
    assert "hunter2" not in told.stdout and entry["secrets"][0] not in told.stdout
    path.write_text(json.dumps({"targets": [entry | {"url": "https://127.0.0.1/", "secrets": ["hunter2"], "colour": 1}]}))
    told = check()
    assert told.returncode == 1
    assert told.stderr.count("VESTIBULE_IDENTITY_WEBHOOKS_FILE") == 3 and "hunter2" not in told.stderr
