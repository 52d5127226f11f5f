"""Changes in a user's groups, as their apps get them: `GET /me/events` and `GroupService/WatchGroups`."""

import collections
import json
import os
import pathlib
import random
import re
import subprocess
import time

import grpc
import pytest
from vestibule.app.v1 import group_pb2

import tokens
from app import App, Person
from other_gateway import another_gateway
from parts import Parts
from stack import free_ports, new_stack
from watching import Watching

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/groups/watching-groups.md"
# The first line of the page's function.
FUNCTION = "// Calls back"
# The number of random operations.
OPERATIONS = 300
# Sessions end within a fraction of a second; a busy machine gets more.
ENDED_SECONDS = 10
# The most operations that an app misses: many more are sent as one.
AWAY_MAX = 12
# How often an app reconnects before a server is back.
TRIES = 200


def test_a_phone_sees_its_new_group_without_polling(member, new_app):
    guest = new_app()
    guest.sign_in()
    group = member.create_group()
    pending = member.invite(guest.person, group)
    with Watching(member) as inviter, Watching(guest) as landing:
        assert landing.events == [("begin", {})]
        guest.complete()
        landing.wait_for("group.joined", group, pending["id"])
        inviter.wait_for("member.changed", group, pending["id"])
    assert guest.group_ids() == [group]


def test_users_get_only_their_own_changes(member, new_app):
    other = new_app()
    other.sign_in()
    with Watching(member) as watching, Watching(other) as elsewhere:
        group = member.create_group()
        watching.wait_for("group.joined", group)
        own = other.create_group()
        elsewhere.wait_for("group.joined", own)
        assert {change["group_id"] for change in elsewhere.changes} == {own}


def test_missed_changes_are_sent_once(member):
    group = member.create_group()
    with Watching(member) as first:
        seen = member.invite(Person(), group)
        first.wait_for("member.changed", group, seen["id"])
    missed = [member.invite(Person(), group) for _ in range(3)]
    with Watching(member, first.position) as second:
        for each in missed:
            second.wait_for("member.changed", group, each["id"])
        assert len(second.changes) == 3 and second.kinds[0] == "begin"
    with Watching(member, second.position) as third:
        assert third.events == [("begin", {})]
    with Watching(member, "AAAA") as unknown:
        assert unknown.events == [("reset", {})]


def test_a_position_must_be_unchanged_and_of_the_same_account(stack, member, new_app):
    """No time, number or length in it makes a service fail."""
    member.create_group()
    with Watching(member) as watching:
        member.create_group()
        watching.wait(lambda: watching.changes, "a change")
    given = tokens.decode(watching.position)
    edges = [value.to_bytes(8, "big") for value in (0, 1, 1 << 63, (1 << 63) - 1, (1 << 64) - 1)]
    forged = [given[:at] + edge + given[at + 8:] for at in (1, 9, 17, 25, 33, 41) for edge in edges]
    forged += [given[:-16], given[:25] + edges[2] + given[33:-16], given + b"\0", given[:-1], given[:-1] + bytes([given[-1] ^ 1])]
    running = stack.process_of("invites")
    stranger = new_app()
    stranger.sign_in()
    # A client that disconnected counts for ten seconds more.
    with another_gateway(stack, WATCHES_PER_ACCOUNT="100") as gateway:
        for position in forged:
            with Watching(member, tokens.encode(position), client=gateway) as other:
                assert other.events == [("reset", {})], position.hex()
        with Watching(stranger, watching.position, client=gateway) as other:
            assert other.events == [("reset", {})]
        with Watching(member, watching.position, client=gateway) as other:
            assert other.events == [("begin", {})]
    assert stack.process_of("invites") == running


@pytest.mark.parametrize("ending", ["sign-out", "sign-out-everywhere", "deletion"])
def test_the_end_of_the_session_ends_the_stream(member, ending):
    with Watching(member) as watching:
        if ending == "deletion":
            member.delete()
        else:
            member.post(f"/auth/{ending}").expect(204)
        begun = time.monotonic()
        watching.wait_for_end("SESSION_REVOKED")
        assert time.monotonic() - begun < ENDED_SECONDS


def test_another_session_continues(member, stack):
    other = App(stack, member.person)
    other.sign_in()
    assert other.user_id == member.user_id
    with Watching(member) as ends, Watching(other) as stays:
        member.post("/auth/sign-out").expect(204)
        ends.wait_for_end("SESSION_REVOKED")
        group = other.create_group()
        stays.wait_for("group.joined", group)
        assert not stays.is_over


def test_the_streams_of_an_account_are_limited(stack, member):
    with another_gateway(stack, WATCHES_PER_ACCOUNT="2") as gateway:
        first, second = Watching(member, client=gateway), Watching(member, client=gateway)
        gateway.get("/me/events", token=member.access_token).problem(429, "TOO_MANY_WATCHES")
        first.close()
        # Over HTTP/1.1 a client that disconnected may have closed its half only, so it counts for ten seconds more.
        deadline = time.monotonic() + 20
        third = Watching(member, client=gateway)
        while third.answer.status == 429 and time.monotonic() < deadline:
            time.sleep(0.2)
            third = Watching(member, client=gateway)
        with third:
            group = member.create_group()
            third.wait_for("group.joined", group)
        second.close()


def test_no_token_no_stream(gateway):
    gateway.get("/me/events").problem(401, "AUTHENTICATION_REQUIRED")


def test_by_grpc(stack, member):
    with grpc.insecure_channel(stack.addresses["gateway"]) as channel:
        watch = channel.unary_stream(
            "/vestibule.app.v1.GroupService/WatchGroups",
            request_serializer=group_pb2.WatchGroupsRequest.SerializeToString,
            response_deserializer=group_pb2.WatchGroupsResponse.FromString)
        metadata = [("authorization", f"Bearer {member.access_token}")]
        stream = watch(group_pb2.WatchGroupsRequest(), metadata=metadata, timeout=60)
        begun = next(stream)
        assert begun.position and not begun.is_reset and not begun.changes
        group = member.create_group()
        told = next(stream)
        assert {(each.kind, each.group_id) for each in told.changes} == {
            (group_pb2.GROUP_CHANGE_KIND_GROUP_JOINED, group), (group_pb2.GROUP_CHANGE_KIND_MEMBER_CHANGED, group)}
        again = watch(group_pb2.WatchGroupsRequest(position=begun.position), metadata=metadata, timeout=60)
        assert len(next(again).changes) == 2
        member.post("/auth/sign-out").expect(204)
        with pytest.raises(grpc.RpcError) as ended:
            for _ in stream:
                pass
        assert ended.value.code() == grpc.StatusCode.UNAUTHENTICATED


def page_block(start):
    found, = [block for block in re.findall(r"```\w*\n(.*?)\n```", PAGE.read_text(), re.DOTALL) if block.startswith(start)]
    return found


def test_the_command_on_the_page(stack, member):
    variables = {"GATEWAY": f"http://{stack.addresses['gateway']}", "ACCESS": member.access_token}
    with subprocess.Popen(
            ["bash", "-c", f"exec {page_block('curl')}"], env={**os.environ, **variables}, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True) as curl:
        try:
            assert curl.stdout.readline() == "event: begin\n"
            group = member.create_group()
            lines = iter(curl.stdout.readline, "")
            assert any(group in line for line in lines if line.startswith("data: {\"changes\""))
        finally:
            curl.terminate()


def test_the_function_on_the_page(stack, member):
    script = page_block(FUNCTION) + """
    watchGroups(process.env.GATEWAY, async () => process.env.ACCESS,
      (type, data) => console.log(`${type} ${JSON.stringify(data)}`)).then(() => console.log("over"));
    """
    variables = {"GATEWAY": f"http://{stack.addresses['gateway']}", "ACCESS": member.access_token}
    with subprocess.Popen(
            ["node", "-e", script], env={**os.environ, **variables}, stdout=subprocess.PIPE, text=True) as node:
        try:
            assert node.stdout.readline() == "begin {}\n"
            group = member.create_group()
            line = node.stdout.readline()
            assert line.startswith("changes ") and group in line
            member.post("/auth/sign-out").expect(204)
            assert "SESSION_REVOKED" in node.stdout.readline()
            assert node.stdout.readline() == "over\n"
        finally:
            node.kill()


def run_function(stack, tokens, seconds=20):
    """The page's function gets these access tokens in sequence; returns its callbacks. It must end."""
    script = page_block(FUNCTION) + """
    const tokens = JSON.parse(process.env.TOKENS);
    watchGroups(process.env.GATEWAY, async (isRefused) => { console.log(`asked ${isRefused}`); return tokens.shift(); },
      (type) => console.log(type)).then(() => { console.log("over"); process.exit(); });
    """
    variables = {"GATEWAY": f"http://{stack.addresses['gateway']}", "TOKENS": json.dumps(tokens)}
    return subprocess.run(
        ["node", "-e", script], env={**os.environ, **variables}, stdout=subprocess.PIPE, text=True, timeout=seconds,
        check=True).stdout.split("\n")[:-1]


def test_the_function_on_the_page_stops_after_the_session_ended(stack, member):
    token = member.access_token
    member.post("/auth/sign-out").expect(204)
    assert run_function(stack, [token, token]) == ["asked false", "over"]


def test_the_function_on_the_page_refreshes_a_refused_token(stack):
    # The second one is requested after a refusal; there is none, as in an app whose session is over.
    assert run_function(stack, ["nonsense"]) == ["asked false", "asked true", "over"]


class Phone:
    """An app that watches continuously, and reconnects with its position whenever its stream ends."""

    def __init__(self, app, client=None):
        self.app, self._client = app, client
        self.told, self.returns, self.missed = [], 0, None
        self._watching = Watching(app, client=client)

    @property
    def changes(self):
        return self.told + self._watching.changes

    def leave(self):
        self._watching.close()
        self.told += self._watching.changes
        self._watching.events, self.missed = [], 0

    def come_back(self):
        """Reconnects as soon as it is accepted."""
        if self.missed is None:
            self.leave()
        position, self.missed = self._watching.position, None
        for _ in range(TRIES):
            try:
                self._watching = Watching(self.app, position, self._client)
            except OSError:
                time.sleep(0.1)
                continue
            if self._watching.answer.status == 200:
                self.returns += 1
                assert self._watching.kinds[0] == "begin", self._watching.events
                return
            assert self._watching.answer.status == 503, self._watching.answer.status
            time.sleep(0.1)
        raise AssertionError("never let in again")

    @property
    def is_over(self):
        return self.missed is None and self._watching.is_over

    def operation_done(self):
        """It may be disconnected, but not for long, and reconnects by itself when its stream has ended."""
        if self.missed is not None:
            self.missed += 1
        if self.is_over or self.missed == AWAY_MAX:
            self.come_back()

    def wait_for(self, kind, group):
        def found():
            if self.is_over:
                self.come_back()
            return any(each["type"] == kind and each.get("group_id") == group for each in self.changes)

        self._watching.wait(found, f"{kind} of {group}", 60)

    def close(self):
        self._watching.close()


def test_no_change_is_lost_or_sent_twice_whatever_is_killed():
    """Random operations, while invites and the gateway are killed and phones disconnect and reconnect."""
    seed = random.randrange(2**32)
    print("seed", seed)
    chance = random.Random(seed)
    with new_stack(**{f"VESTIBULE_GATEWAY_{kind}_{part}": "1000000" for kind in ("CHANGES", "ACCOUNT", "ADDRESS")
                      for part in ("PER_SECOND", "BURST")}) as stack:
        parts = Parts(stack)
        parts.expect_back()
        owner = App(stack)
        owner.sign_in()
        owner.complete()
        group = owner.create_group()
        stack.sql("DELETE FROM invites.group_events")
        phones = [Phone(owner), Phone(owner)]
        for step in range(OPERATIONS):
            operation = chance.random()
            if operation < 0.8:
                owner.post(
                    f"/groups/{group}/members", {"phone_number": Person().phone, "display_name": "Some One"}).expect(201)
            elif operation < 0.96:
                phone = chance.choice(phones)
                phone.leave() if phone.missed is None else phone.come_back()
            else:
                parts.restart(chance.choice(["invites", "gateway"]))
                parts.expect_back()
            for phone in phones:
                phone.operation_done()
        for phone in phones:
            phone.come_back()
        last = owner.create_group()
        for phone in phones:
            phone.wait_for("group.joined", last)
        written = collections.Counter(
            tuple(line.split("|")) for line in stack.sql(
                f"SELECT kind, group_id, member_id FROM invites.group_events WHERE group_id = '{group}'").splitlines())
        assert len(written) > OPERATIONS / 2
        for phone in phones:
            told = collections.Counter(
                (each["type"], each["group_id"], each.get("member_id", "")) for each in phone.changes if each["group_id"] == group)
            assert told == written, f"seed {seed}: lost {written - told}, doubled {told - written}"
            assert phone.returns > 3
            phone.close()
        parts.expect_back()


def test_a_stopping_gateway_announces_it(stack, member):
    port, = free_ports(1)
    with another_gateway(stack, port=port) as gateway:
        watching = Watching(member, client=gateway)
    watching.wait_for_end("COME_AGAIN")
    group = member.create_group()
    with another_gateway(stack, port=port) as gateway, Watching(member, watching.position, gateway) as again:
        again.wait_for("group.joined", group)
    watching.close()
