"""What a call costs when more processes, event loops and connections share the work: 1, 2 and 4 processes of gateway, identity and profile
each, on one machine and one database; two of each with 1, 2 and 4 event loops; and two of each with 8 to 10,000 connections.

The calls are `GET /me` through the gateways, with access tokens that they know, and CheckSession at identity. Each event loop gets the same
number of calls a second, as if it had a core of its own: where a constant load is shared by more processes, each of them has fewer calls at
a time to answer together, and that is measured for comparison. Processor time is read, with the number of calls, at both ends of a window in
which the load runs. Everything has all cores, so that rates say little; the cost of a call is what must not grow.
"""

import contextlib
import itertools
import os
import resource
import statistics
import time

import call_costs
import disk_sizes
from fleet import HTTP_CALLS, POSTGRES, PROGRAMS, RPC_CALLS, fleet
from h2load import Target
from messages import texts
from processes import BenchError, running, wait_until
from report import Bar, Figure
from service_stack import service_stack
from session_bench import CHECK_SESSION

ME, CHECK = "GET /me", "CheckSession"
# Where a call is counted: the program, its metric, and a part of the labels.
COUNTED = {ME: ("gateway", HTTP_CALLS, 'route="/me"'), CHECK: ("identity", RPC_CALLS, "IdentityService/CheckSession")}
# (processes of each program, event loops of each process).
FLEETS = ((1, 1), (2, 1), (4, 1), (2, 2), (2, 4))
CONNECTIONS = (8, 1_000, 10_000)
PROCESSES_TIMES_MAX, CONNECTIONS_TIMES_MAX = 1.25, 1.5
# Those to which a load in a closed loop is given as well, which takes all of the machine.
CLOSED_FLEETS = ((1, 1), (4, 1))
# Calls a second for each event loop; eight of them leave the machine time.
RATES = {ME: 500, CHECK: 1_500}
# Calls a second of all connections together, however many there are.
CONNECTION_RATES = {ME: 4_000, CHECK: 8_000}
# As many accounts take turns. In a closed loop there are so many calls in flight for each process.
ACCOUNTS, WORKERS = 128, 32
# The load has run for so long when the window begins, and runs on after it.
WARM_SECONDS, SPARE_SECONDS = 1, 20
# Windows of a fleet: medians of at most so many.
ROUNDS_MAX = 2
OPEN_SECONDS_MAX = 60
# A server closes the oldest of more than 512 connections that have sent nothing yet: h2load opens these a hundred at a time, and some
# more than are needed. It is ended long before it has made its requests.
OPENED_AT_ONCE, OPENED_EVERY, OPENED_SPARE, REQUESTS_EACH = 100, "60ms", 0.01, 100_000
# The two gateways let one address have half of their connections, and take as many as they may open files.
GATEWAY_CONNECTIONS, FILES_MIN = 12_000, 13_000
SETTINGS = {
    **call_costs.LIMITS,
    "VESTIBULE_GATEWAY_CONNECTIONS_MAX": str(GATEWAY_CONNECTIONS), "VESTIBULE_CONNECTIONS_MAX": "12000", "VESTIBULE_CONNECTIONS_PER_ADDRESS_MAX": "0",
}


def _allow_files():
    """Raises the limit of open files of this process, which those that it starts inherit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < FILES_MIN:
        if hard < FILES_MIN:
            raise BenchError(f"{FILES_MIN} open files are needed, and the limit is {hard}: raise it (ulimit -Hn)")
        resource.setrlimit(resource.RLIMIT_NOFILE, (FILES_MIN, hard))


def _loads(running_fleet, kind, output, rate, **how):
    """The commands of `vestibule load` that call all processes: one for each gateway, one for all identities."""
    stack, gateways = running_fleet.stack, running_fleet.replicas["gateway"]
    if rate:
        how |= {"rate": rate // len(gateways) if kind == ME else rate, "workers": ACCOUNTS}
    else:
        how["workers"] = WORKERS if kind == ME else WORKERS * len(gateways)
    if kind == ME:
        return [
            stack.load_command("check-session", f"{output}-{place}", gateway=f"http://{gateway.address}", **how)
            for place, gateway in enumerate(gateways)]
    # The last one counts.
    return [[*stack.load_command("check-session", output, **how), f"--identity={running_fleet.addresses('identity')}"]]


def _cost_of_fleet(options, scratch, running_fleet, kind, sessions, rate):
    """(calls per second, microseconds by program) while `vestibule load` runs; without a rate in a closed loop."""
    seconds = _window(options)
    how = {"sessions": sessions, "duration": f"{int(seconds) + SPARE_SECONDS}s", "warm_up": "0s"}
    with contextlib.ExitStack() as entered:
        for place, command in enumerate(_loads(running_fleet, kind, os.path.join(scratch, "scale-load"), rate, **how)):
            entered.enter_context(running(command, os.path.join(scratch, f"scale-load-{place}.log")))
        time.sleep(WARM_SECONDS)
        return running_fleet.cost(*COUNTED[kind], seconds)


def _window(options):
    """Seconds of a window."""
    return max(1, options.seconds / 2)


def _target(scratch, replica, kind, token):
    """What h2load calls: GET /me by HTTP/1.1, or CheckSession, with one call at a time for each connection."""
    if kind == ME:
        target = Target(replica.process_id, replica.port, "me", None, 0, scratch)
        target.more_headers = [f"authorization: Bearer {token}"]
    else:
        target = Target(replica.process_id, replica.port, CHECK_SESSION, texts((1, token)), 0, scratch)
    target.speak(kind == ME)
    return target


def _open_files(replicas):
    """Open files of some processes, of which each connection is one."""
    return sum(len(os.listdir(f"/proc/{replica.process_id}/fd")) for replica in replicas)


def _cost_of_connections(options, scratch, running_fleet, kind, token, count, bases):
    """(calls per second, microseconds by program) while h2load holds so many connections, which have their calls in turn."""
    program = COUNTED[kind][0]
    replicas = running_fleet.replicas[program]
    each = round(count * (1 + OPENED_SPARE) / len(replicas))

    def more_files():
        return _open_files(replicas) - bases[program]

    with contextlib.ExitStack() as entered:
        for replica in replicas:
            target = _target(scratch, replica, kind, token)
            command = [
                "h2load", f"--clients={each}", "--threads=1", "--max-concurrent-streams=1", f"--requests={each * REQUESTS_EACH}",
                f"--rps={CONNECTION_RATES[kind] / count:.4f}", f"--rate={min(each, OPENED_AT_ONCE)}", f"--rate-period={OPENED_EVERY}", *target.h2load_options, *target.sent(),
                target.url]
            entered.enter_context(running(command, os.path.join(scratch, f"scale-h2load-{replica.port}.log")))
        wait_until(lambda: more_files() >= count, f"{count} connections to {program} are open", OPEN_SECONDS_MAX)
        time.sleep(WARM_SECONDS)
        cost = running_fleet.cost(*COUNTED[kind], _window(options))
        if more_files() < count:
            raise BenchError(f"some of {count} connections to {program} ended")
    wait_until(lambda: more_files() < CONNECTIONS[0], f"the connections to {program} are closed", OPEN_SECONDS_MAX)
    return cost


def _summed(cost):
    return sum(cost[1].values())


def _median(some):
    """Of several costs: (rate, microseconds by program)."""
    return statistics.median(rate for rate, _ in some), {
        name: statistics.median(used[name] for _, used in some) for name in (*PROGRAMS, POSTGRES)}


def _tell(options, what, cost):
    options.say(f"{what:44} {cost[0]:9,.0f} calls/s {_summed(cost):7.1f} µs   " + "  ".join(
        f"{name} {value:.1f}" for name, value in cost[1].items()))


def _simulate_fleets(options, scratch, stack, sessions):
    """One fleet after the other: costs by kind, fleet, and whether the loop was closed."""
    found = {}
    for shape in FLEETS:
        with fleet(stack, scratch, *shape) as running_fleet:
            for turn in range(min(options.rounds, ROUNDS_MAX)):
                for kind, rate in RATES.items():
                    for is_closed in (False, True) if shape in CLOSED_FLEETS else (False,):
                        cost = _cost_of_fleet(
                            options, scratch, running_fleet, kind, sessions, None if is_closed else rate * shape[0] * shape[1])
                        found.setdefault((kind, *shape, is_closed), []).append(cost)
                        _tell(options, f"{kind}, {_shape(*shape, is_closed)}", cost)
    return {key: _median(some) for key, some in found.items()}


def _shape(count, loops, is_closed):
    return f"{count} × {loops} event {'loop' if loops == 1 else 'loops'}{', closed loop' if is_closed else ''}"


def _simulate_connections(options, scratch, stack, token):
    """Two processes of each, with few and with many connections."""
    found = {}
    with fleet(stack, scratch, 2, 1) as running_fleet:
        bases = {program: _open_files(running_fleet.replicas[program]) for program in ("gateway", "identity")}
        for kind in COUNTED:
            for count in CONNECTIONS:
                found[kind, count] = _cost_of_connections(options, scratch, running_fleet, kind, token, count, bases)
                _tell(options, f"{kind}, {count:,} connections", found[kind, count])
    return found


def _figure(what, cost):
    return Figure(what, f"{cost[0]:,.0f} calls/s", f"{_summed(cost):.1f} µs", ", ".join(
        f"{name} {value:.1f}" for name, value in cost[1].items()))


def _judge(fleets, connections):
    figures = [
        _figure(f"{kind}, processes of each program {_shape(*shape)}", cost) for (kind, *shape), cost in sorted(fleets.items())]
    figures += [_figure(f"{kind}: two processes of each program, {count:,} connections", cost)
                for (kind, count), cost in sorted(connections.items())]
    bars = []
    for kind, is_closed in itertools.product(COUNTED, (False, True)):
        times = _summed(fleets[kind, 4, 1, is_closed]) / _summed(fleets[kind, 1, 1, is_closed])
        how = "the machine's cores full" if is_closed else f"{RATES[kind]:,} calls/s for each process"
        bars.append(Bar(f"{kind}: processor time of a call with 4 processes of each program over 1, {how}", f"{times:.2f} ×",
                        f"at most {PROCESSES_TIMES_MAX} ×", times <= PROCESSES_TIMES_MAX))
    for kind in COUNTED:
        times = _summed(connections[kind, CONNECTIONS[-1]]) / _summed(connections[kind, CONNECTIONS[0]])
        bars.append(Bar(f"{kind}: processor time of a call with {CONNECTIONS[-1]:,} connections over {CONNECTIONS[0]}", f"{times:.2f} ×",
                        f"at most {CONNECTIONS_TIMES_MAX} ×", times <= CONNECTIONS_TIMES_MAX))
    return figures, bars


def measure(options, scratch):
    """Gives the figures, the bars, and notes."""
    _allow_files()
    with service_stack(options, os.path.join(scratch, "scale"), VESTIBULE_EVENT_LOOPS="1", **SETTINGS) as stack:
        sessions = os.path.join(scratch, "scale-sessions")
        tokens = [stack.access_token() for _ in range(ACCOUNTS)]
        with open(sessions, "w", encoding="ascii") as file:
            file.write("".join(f"{token}\n" for token in tokens))
        fleets = _simulate_fleets(options, scratch, stack, sessions)
        connections = _simulate_connections(options, scratch, stack, tokens[0])
        figures, bars = _judge(fleets, connections)
        figures += call_costs.measure(options, scratch, stack)
        figures += disk_sizes.measure(options, scratch, stack)
        version = stack.sql("SHOW server_version")
    return figures, bars, [
        f"Scale: PostgreSQL {version} with its stock settings, on the same cores as all programs and the load; processor time is that of gateway, "
        "identity, profile and PostgreSQL (for other calls than GET /me and CheckSession also invites), in µs; WAL as pg_walinspect reads it; bytes "
        "of TCP without headers of packets."]
