"""What one call of each kind costs: processor time in each program and in PostgreSQL, rows and bytes of its write-ahead log, and bytes of TCP.

Calls come by eight connections, each with one call at a time, so that few of them are answered together: an upper bound of what they cost
under load. Then some are made one by one, each after a checkpoint, where PostgreSQL writes whole pages (full_page_writes): the most that
a call can add to the log.
"""

import concurrent.futures
import dataclasses
import hashlib
import http.client
import json
import os
import re
import secrets
import time

from fleet import POSTGRES, cpu_ns
from groups_bench import LIMITS as GROUP_LIMITS
from processes import BenchError, children, run
from report import Figure
from service_stack import GOOGLE_CLIENT

PROGRAMS = ("gateway", "identity", "profile", "invites")
LIMITS = {
    **GROUP_LIMITS, "VESTIBULE_PROFILE_ADDRESS_PHONE_CLAIMS": "1000000", "VESTIBULE_PROFILE_ADDRESS_PHONE_TRIES": "1000000"}
CONNECTIONS = 8
# Calls of a kind for each second that a run should last, and those after a checkpoint each.
CALLS_PER_SECOND, FRESH_CALLS = 50, 8
READS_EACH = 10
# Of the people who are invited, and of those whose numbers nobody waits for.
AWAITED_PHONES, OTHER_PHONES = 639_180_000_000, 639_190_000_000
SETTLE_SECONDS = 0.5
DRAIN_SECONDS_MAX = 120
FLUSHED = "SELECT pg_current_wal_flush_lsn()"
WAL = """SELECT
    count(*) FILTER (WHERE resource_manager = 'Heap' AND record_type LIKE 'INSERT%'),
    count(*) FILTER (WHERE resource_manager = 'Heap' AND record_type ~ '^(HOT_)?UPDATE'),
    count(*) FILTER (WHERE resource_manager = 'Heap' AND record_type LIKE 'DELETE%'),
    count(*) FILTER (WHERE resource_manager = 'Btree' AND record_type LIKE 'INSERT%'),
    count(*) FILTER (WHERE resource_manager = 'Transaction' AND record_type LIKE 'COMMIT%'),
    COALESCE(sum(record_length - fpi_length), 0), COALESCE(sum(fpi_length), 0),
    COALESCE(sum((length(block_ref) - length(replace(block_ref, 'FPW', ''))) / 3), 0)
    FROM pg_get_wal_records_info('{}', '{}')"""


@dataclasses.dataclass
class Log:
    """A part of the write-ahead log, or what one call adds to it."""
    inserted: float
    updated: float
    deleted: float
    entries: float
    commits: float
    record_bytes: float
    page_bytes: float
    pages: float


@dataclasses.dataclass
class Cost:
    """What one call costs."""
    cpu_us: dict
    log: Log
    client_bytes: float
    inner_bytes: float


class Person:
    """Somebody with a connection to the gateway, and from the first sign-in on a session."""

    def __init__(self, stack, number):
        self.stack = stack
        self.number = number
        self.email = f"{secrets.token_hex(8)}@example.com"
        self.connection = None
        self.session = self.order = self.group = None

    def choose_provider(self):
        """Has the provider sign the person in, so that only our part of a sign-in is left."""
        nonce = secrets.token_hex(16)
        order = {
            "client_id": GOOGLE_CLIENT, "nonce": hashlib.sha256(nonce.encode()).hexdigest(), "person": {"email": self.email}}
        self.order = {"id_token": self.stack.ask("simulator", "/control/google/sign-in", order)["id_token"], "nonce": nonce}

    def _ask(self, method, path, body=None):
        headers = {"Content-Type": "application/json"}
        if self.session:
            headers["Authorization"] = f"Bearer {self.session['access_token']}"
        self.connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = self.connection.getresponse()
        content = answer.read()
        if answer.status not in (200, 201):
            raise BenchError(f"{method} {path}: {answer.status} {content[:200]!r}")
        return json.loads(content)

    # One method for each kind of call

    def sign_in(self):
        """Begins a session."""
        self.session = None
        self.session = self._ask("POST", "/auth/google", self.order)

    def refresh(self):
        """Replaces the session's tokens."""
        self.session = self.session | self._ask("POST", "/auth/refresh", {"refresh_token": self.session["refresh_token"]})

    def me(self):
        """Reads the profile."""
        self._ask("GET", "/me")

    def save_name(self):
        """Changes the name alone."""
        self._ask("PATCH", "/me", {"display_name": f"Some {secrets.token_hex(4)}"})

    def save_all(self):
        """Saves a name and a number that no group waits for."""
        self._ask("PATCH", "/me", {"display_name": "Some One", "phone_number": f"+{OTHER_PHONES + self.number}"})

    def create_group(self):
        """Creates a group."""
        self.group = self._ask("POST", "/groups", {"name": "Some Group"})["id"]

    def invite(self):
        """Adds a number that no user has to the group."""
        self._ask("POST", f"/groups/{self.group}/members", {
            "phone_number": f"+{AWAITED_PHONES + self.number}", "display_name": "Some One"})

    def join(self):
        """Saves a name and the number that a group waits for."""
        self._ask("PATCH", "/me", {"display_name": "Some One", "phone_number": f"+{AWAITED_PHONES + self.number}"})


class Meter:
    """Reads what calls cost, from when it is made."""

    def __init__(self, stack):
        self.stack = stack
        self.bytes = self._tcp_bytes()
        self.position = stack.sql(FLUSHED)
        self.cpu = self._cpu_ns()

    def _cpu_ns(self):
        return {name: cpu_ns([self.stack.process_of(name)]) for name in PROGRAMS} | {
            POSTGRES: cpu_ns([self.stack.postmaster, *children(self.stack.postmaster)])}

    def _tcp_bytes(self):
        """Both directions of all connections that each program has accepted."""
        found = {}
        for name in PROGRAMS:
            text = run(["ss", "--tcp", "--info", "--no-header", "--numeric", "state", "established",
                        f"( sport = :{self.stack.ports[name]} )"])
            found[name] = sum(int(number) for number in re.findall(r"\bbytes_(?:sent|received):(\d+)", text))
        return found

    def log(self, calls):
        """What has been written to the log since, for each call."""
        position = self.stack.sql(FLUSHED)
        if position == self.position:
            return Log(*[0] * len(dataclasses.fields(Log)))
        return Log(*(float(number) / calls for number in self.stack.sql(WAL.format(self.position, position)).split("|")))

    def cost(self, calls):
        """What each of the calls has cost."""
        time.sleep(SETTLE_SECONDS)
        cpu = self._cpu_ns()
        moved = {name: (count - self.bytes[name]) / calls for name, count in self._tcp_bytes().items()}
        client = moved.pop("gateway")
        return Cost(
            {name: sum(used - self.cpu[name].get(process_id, 0) for process_id, used in some.items()) / calls / 1e3
             for name, some in cpu.items()},
            self.log(calls), client, sum(moved.values()))


class Crowd:
    """People who do the same, eight of them at a time."""

    def __init__(self, stack, count, first=0):
        self.stack = stack
        self.people = [Person(stack, first + number) for number in range(count)]
        self.connections = [http.client.HTTPConnection("127.0.0.1", stack.ports["gateway"], timeout=10) for _ in range(CONNECTIONS)]
        for connection in self.connections:
            connection.connect()

    def all(self, act, people=None, times=1):
        """Has each of the people do it."""
        def do_some(place):
            for person in (people or self.people)[place::CONNECTIONS]:
                person.connection = self.connections[place]
                for _ in range(times):
                    act(person)

        with concurrent.futures.ThreadPoolExecutor(CONNECTIONS) as pool:
            list(pool.map(do_some, range(CONNECTIONS)))

    def measure(self, act, prepare=None, times=1, drain=None):
        """The cost of a call, and what a call after a checkpoint adds to the log."""
        many, few = self.people[:-FRESH_CALLS], self.people[-FRESH_CALLS:]
        if prepare:
            self.all(prepare)
        meter = Meter(self.stack)
        self.all(act, many, times)
        if drain:
            drain()
        cost = meter.cost(len(many) * times)
        logs = []
        for person in few:
            self.stack.sql("CHECKPOINT")
            meter = Meter(self.stack)
            person.connection = self.connections[0]
            act(person)
            if drain:
                drain()
            logs.append(meter.log(1))
        return cost, Log(*(sum(values) / FRESH_CALLS for values in zip(*map(dataclasses.astuple, logs))))


def drain_events(stack):
    """Waits until every number that was saved is delivered to invites, and its group has the member."""
    ended = time.monotonic() + DRAIN_SECONDS_MAX
    while int(stack.sql("SELECT (SELECT count(*) FROM profile.work) + (SELECT count(*) FROM invites.work)")):
        if time.monotonic() > ended:
            raise BenchError("numbers are still undelivered")
        time.sleep(0.02)


def _check_sessions(options, scratch, stack, people):
    """CheckSession by gRPC, as services call it."""
    path = os.path.join(scratch, "call-costs-sessions")
    with open(path, "w", encoding="ascii") as file:
        file.write("".join(f"{person.session['access_token']}\n" for person in people))
    meter = Meter(stack)
    total = stack.load(
        "check-session", duration=f"{options.seconds}s", warm_up="0s", workers=CONNECTIONS, sessions=path)["total"]
    return meter.cost(total["succeeded"]), Log(*[0] * len(dataclasses.fields(Log)))


def _costs(options, scratch, stack):
    """Each kind of call, in an order in which each finds what it needs."""
    count = CALLS_PER_SECOND * options.seconds + FRESH_CALLS
    crowd = Crowd(stack, count)

    def drain():
        drain_events(stack)

    yield "sign-in of a new account", crowd.measure(Person.sign_in, Person.choose_provider)
    yield "sign-in of a known account", crowd.measure(Person.sign_in, Person.choose_provider)
    crowd.all(Person.me)
    yield "GET /me, known token", crowd.measure(Person.me, times=READS_EACH)
    yield "CheckSession, known token", _check_sessions(options, scratch, stack, crowd.people)
    yield "refresh", crowd.measure(Person.refresh)
    yield "GET /me, the first with a new token", crowd.measure(Person.me)
    yield "profile, first save: name and number", crowd.measure(Person.save_all, drain=drain)
    yield "profile, name changed", crowd.measure(Person.save_name)
    yield "group created", crowd.measure(Person.create_group)
    yield "number invited", crowd.measure(Person.invite)
    # Other people, who have not saved a number yet.
    guests = Crowd(stack, count)
    guests.all(Person.choose_provider)
    guests.all(Person.sign_in)
    yield "join: the save of an awaited number", guests.measure(Person.join, drain=drain)
    joined = int(stack.sql(
        f"SELECT count(*) FROM invites.members WHERE user_id IS NOT NULL AND phone::bigint BETWEEN {AWAITED_PHONES} AND {OTHER_PHONES}"))
    if joined != count:
        raise BenchError(f"{joined} of {count} people became members by their numbers")


def _figure(what, cost, fresh):
    log = cost.log
    return Figure(
        what, f"{log.record_bytes:,.0f} bytes of WAL", f"{sum(cost.cpu_us.values()):.0f} µs",
        ", ".join(f"{name} {value:.0f}" for name, value in cost.cpu_us.items())
        + f"; rows {log.inserted:.1f} inserted, {log.updated:.1f} updated, {log.deleted:.1f} deleted; {log.entries:.1f} index entries; "
        f"{log.commits:.1f} commits; after a checkpoint {fresh.pages:.1f} pages, {fresh.page_bytes:,.0f} bytes more; TCP {cost.client_bytes:,.0f} "
        f"bytes with the client, {cost.inner_bytes:,.0f} between programs")


def measure(options, scratch, stack):
    """Gives the figures of each kind of call."""
    stack.sql("ALTER SYSTEM SET autovacuum = off")
    stack.sql("SELECT pg_reload_conf()")
    stack.sql("CREATE EXTENSION IF NOT EXISTS pg_walinspect")
    # What the programs do without a call.
    meter = Meter(stack)
    time.sleep(options.seconds)
    idle = meter.cost(options.seconds)
    figures = [Figure(
        "idle programs and PostgreSQL, a second", f"{idle.log.record_bytes:,.0f} bytes of WAL", f"{sum(idle.cpu_us.values()):,.0f} µs",
        ", ".join(f"{name} {value:,.0f}" for name, value in idle.cpu_us.items()))]
    for what, (cost, fresh) in _costs(options, scratch, stack):
        figures.append(_figure(what, cost, fresh))
        options.say(f"{what:38} {figures[-1].server_cpu:>8} {figures[-1].result}  {figures[-1].note}")
    return figures
