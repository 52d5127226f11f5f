"""What a `GET /me` costs each program, counted and not timed: reference counts, allocations, tasks and instructions by callgrind, system
calls by perf, context switches by the kernel; with the session's check by row and by stream side by side.

The access token is known to the gateway. One program at a time runs under callgrind, beside the stack, with a gateway of its own before
it. There it is slow, so that more requests than usual wait for each wake-up of its loop; the kernel's counts are of programs that run as
always.
"""

import contextlib
import os
import re
import statistics
import urllib.request

import http_peers
from callgrind import INSTRUCTIONS, Row, counted, readable, symbols
from edge_bench import PROGRAMS, me_stack
from kernel_counts import EventCount, sockets_to, switches
from processes import BenchError, running, wait_until
from report import Figure, table
from service_stack import free_ports

BY_ROW, BY_STREAM = "row", "stream"
MODES = {BY_ROW: {"VESTIBULE_GATEWAY_CHECK": "row"}, BY_STREAM: {}}
ALLOCATORS = "(mi_)?(malloc|calloc|realloc|posix_memalign|aligned_alloc|memalign)|operator new.*"
ROWS = (
    Row("swift_retain", "swift_retain(_n)?"),
    Row("from swift_bridgeObjectRetain", "swift_bridgeObjectRetain(_n)?"),
    Row("swift_release", "swift_release(_n)?"),
    Row("from swift_bridgeObjectRelease", "swift_bridgeObjectRelease(_n)?"),
    Row("swift_allocObject", "swift_allocObject"),
    Row("tasks: swift_task_create_common", "swift_task_create_common"),
    Row("swift_task_alloc", "swift_task_alloc"),
    Row("swift_task_switch", "swift_task_switch"),
    Row("swift_job_run", "swift_job_run"),
    Row("swift_task_enqueue, …Global", "swift_task_enqueue(Global|GlobalWithDelay|GlobalWithDeadline|MainExecutor)?"),
    Row("swift_allocBox", "swift_allocBox"),
    Row("swift_projectBox", "swift_projectBox"),
    Row("boxes of existentials made", "__swift_allocate_boxed_opaque_existential_.*"),
    Row("boxes of existentials read", "__swift_(mutable_)?project_boxed_opaque_existential_.*"),
    Row("malloc, calloc, realloc, …", ALLOCATORS, is_foreign=True),
    Row("free", "(mi_)?free", is_foreign=True),
)
NO_SYMBOL = "no symbol"
TRACEPOINTS = ("sendto", "recvfrom", "epoll_wait", "epoll_ctl", "futex", "read", "write")
ALL_CALLS = "system calls"
# Services that the gateway calls for a `GET /me`.
CALLED = ("identity", "profile")
READY_SECONDS_MAX = 120
# By stream, the gateway asks identity once a minute for a token; more often means that it didn't hear identity in time.
ASKED_SHARE_MAX = 0.05


# ---- Under callgrind ----

def _ask_metrics(address):
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=10) as answer:
        return answer.read().decode()


def _calls_to(metrics_address):
    """How many calls a gateway has made to each service."""
    rows = re.findall(
        r'^vestibule_rpc_client_calls_total\{method="vestibule\.(\w+)\.[^}]*\} (\d+)', _ask_metrics(metrics_address), re.MULTILINE)
    return {name: sum(int(number) for service, number in rows if service == name) for name in CALLED}


def _own_environment(stack, program, **settings):
    """That of the stack's program, but with ports of its own; gives it, its port and the address of its metrics."""
    port, metrics_port = free_ports(2)
    environment = stack.environment_of(program) | settings
    name = f"VESTIBULE_{program.upper()}"
    environment[f"{name}_LISTEN"] = f"127.0.0.1:{port}"
    environment[f"{name}_METRICS_LISTEN"] = f"127.0.0.1:{metrics_port}"
    return environment, port, f"127.0.0.1:{metrics_port}"


@contextlib.contextmanager
def _counted_path(stack, program, copy, folder):
    """The program under callgrind, behind a gateway of its own: the first, the gateway's process, its port and its metrics' address."""
    with contextlib.ExitStack() as entered:
        environment, port, metrics = _own_environment(stack, program)
        program_counted = entered.enter_context(counted(copy, environment, folder, ROWS))
        wait_until(lambda: stack.listens(port), f"{program} under callgrind listens", READY_SECONDS_MAX)
        process_id = program_counted.process_id
        if program != "gateway":
            environment, port, metrics = _own_environment(
                stack, "gateway", **{f"VESTIBULE_{program.upper()}_ADDRESS": f"127.0.0.1:{port}"})
            log = os.path.join(folder, f"gateway-before-{program}.log")
            process_id = entered.enter_context(
                running([f"{stack.binaries}/gateway", "serve"], log, environment=environment)).pid
        yield program_counted, process_id, port, metrics


def _count(stack, me, program, copy, folder, mode, rounds):
    """The counts of a request in one program, by callgrind."""
    with _counted_path(stack, program, copy, folder) as (program_counted, gateway_id, port, metrics):
        target = http_peers.target(gateway_id, port, folder, path="me", answer_bytes=me.answer_bytes)
        target.more_headers = me.more_headers
        wait_until(lambda: target.status() == 200, f"GET /me through {program} under callgrind", READY_SECONDS_MAX)
        asked_share = 0

        def load(count):
            nonlocal asked_share
            before = _calls_to(metrics)["identity"]
            target.load(count)
            asked_share = (_calls_to(metrics)["identity"] - before) / count

        counts = program_counted.per_request(load, rounds)
    # Of the last load: the first requests come before the gateway hears identity.
    if mode == BY_STREAM and asked_share > ASKED_SHARE_MAX:
        raise BenchError(f"with {program} under callgrind, the gateway asked identity for {asked_share:.0%} of requests by stream")
    return counts


def _all_counts(stack, me, copies, options, folder, mode):
    found = {}
    for program in PROGRAMS:
        found[program] = _count(stack, me, program, copies[program], folder, mode, options.rounds)
        options.say(f"GET /me by {mode}, {program} under callgrind: {found[program][INSTRUCTIONS]:,.0f} instructions")
    return found


# ---- By the kernel ----

class _RunningCounts:
    """Tracepoints of the programs from now on; the gateway's sends to each service as well."""

    def __init__(self, stack, folder):
        names = [f"syscalls:sys_enter_{name}" for name in TRACEPOINTS]
        self.counts = {}
        for program in PROGRAMS:
            process_id = stack.process_of(program)
            events = ["raw_syscalls:sys_enter", *names]
            if program == "gateway":
                events += [_sends(process_id, stack.ports[name]) for name in CALLED]
            self.counts[program] = EventCount(process_id, events, folder)

    def end(self):
        """System calls of each program by name, and sends to each service."""
        ended = {program: count.end() for program, count in self.counts.items()}
        calls = {program: dict(zip((ALL_CALLS, *TRACEPOINTS), numbers)) for program, numbers in ended.items()}
        return calls, dict(zip(CALLED, ended["gateway"][-len(CALLED):]))


def _sends(process_id, port):
    """The tracepoint of writes to the connections with a service."""
    found = sockets_to(process_id, port)
    if not found:
        raise BenchError("the gateway has no connection to a service")
    return "syscalls:sys_enter_sendto", " || ".join(f"fd == {descriptor}" for descriptor in found)


def _kernel_run(stack, me, requests, core, folder, has_perf):
    """The kernel's counts of a request by program, and the calls that the gateway makes to services, for a request and for a write."""
    metrics = stack.environment_of("gateway")["VESTIBULE_GATEWAY_METRICS_LISTEN"]
    ids = {program: stack.process_of(program) for program in PROGRAMS}
    calls_before = _calls_to(metrics)
    perf = _RunningCounts(stack, folder) if has_perf else None
    switches_before = {program: switches(process_id) for program, process_id in ids.items()}
    me.load(requests, core)
    found = {program: _difference(switches(process_id), switches_before[program]) for program, process_id in ids.items()}
    system_calls, sends = perf.end() if perf else ({}, {})
    calls = _difference(_calls_to(metrics), calls_before)
    for program in PROGRAMS:
        counts = {**system_calls.get(program, {}), **{f"{kind} switches": number for kind, number in found[program].items()}}
        found[program] = {what: number / requests for what, number in counts.items()}
    for name in CALLED:
        found["gateway"][f"calls to {name}"] = calls[name] / requests
        if sends.get(name) and calls[name] >= sends[name]:
            found["gateway"][f"calls to {name} a write"] = calls[name] / sends[name]
    return found


def _difference(after, before):
    return {name: number - before[name] for name, number in after.items()}


def _has_perf(stack, folder):
    """Whether perf counts here; if not, why."""
    try:
        EventCount(stack.process_of("gateway"), ["raw_syscalls:sys_enter"], folder).end()
        return True, None
    except BenchError as error:
        return False, f"Not counted: system calls, and calls a write. {error}"


def _kernel_counts(stack, me, options, folder, mode, has_perf):
    requests = me.calls_for(options.seconds, options.load_core)
    runs = [_kernel_run(stack, me, requests, options.load_core, folder, has_perf) for _ in range(options.rounds)]
    found = {}
    for program in PROGRAMS:
        labels = dict.fromkeys(label for one in runs for label in one[program])
        found[program] = {label: statistics.median(one[program][label] for one in runs if label in one[program]) for label in labels}
        options.say(f"GET /me by {mode}, {program}: " + ", ".join(f"{number:.2f} {label}" for label, number in found[program].items()))
    return found


# ---- The tables ----

def _number(value):
    digits = 0 if abs(value) >= 1_000 else 2 if abs(value) < 9.995 else 1
    # Adding zero makes a zero of a negative one.
    return f"{round(value, digits) + 0.0:,.{digits}f}"


def _cell(by_mode, program, label):
    values = [by_mode[mode][program].get(label) for mode in MODES]
    if values == [None] * len(values):
        return ""
    return " → ".join("–" if value is None else NO_SYMBOL if value == NO_SYMBOL else _number(value) for value in values)


def _saved(by_mode, label):
    """What all programs together save for a request."""
    sums = []
    for mode in MODES:
        values = [by_mode[mode][program].get(label) for program in PROGRAMS]
        sums.append(sum(value for value in values if isinstance(value, float)))
    return f"{_number(sums[0] - sums[1])} of {_number(sums[0])}"


def _table(by_mode, labels):
    head = ("of a request", *(f"{program}, row → stream" for program in PROGRAMS), "saved in all")
    rows = [
        (label, *(_cell(by_mode, program, label) for program in PROGRAMS), "" if label.endswith("a write") else _saved(by_mode, label))
        for label in labels]
    return "\n".join(table(head, rows))


def _figures(by_mode):
    figures = []
    for program in PROGRAMS:
        row, stream = (by_mode[mode][program][INSTRUCTIONS] for mode in MODES)
        figures.append(Figure(f"GET /me, {program}", f"{_number(stream)} instructions", "", f"{_number(row)} by row; by callgrind"))
    return figures


def _mark_missing(by_mode, copies):
    """Names what a program has no symbol for, so that it isn't taken for a zero."""
    for program, copy in copies.items():
        known = symbols(copy)
        for row in ROWS:
            # C++'s operators have other names in the symbol table than callgrind prints; the row has malloc as well.
            if not any(row.pattern.fullmatch(name) for name in known):
                for counts in by_mode.values():
                    counts[program][row.label] = NO_SYMBOL


def measure(options, scratch):
    """Gives the figures, no bars, and the tables as notes."""
    copies = {program: readable(f"{options.binaries}/{program}", scratch, program) for program in PROGRAMS}
    kernel, counts, notes = {}, {}, []
    for mode, settings in MODES.items():
        with me_stack(options, os.path.join(scratch, f"counts-{mode}"), options.binaries, **settings) as (stack, me):
            has_perf, why = _has_perf(stack, scratch)
            notes += [why] if why and why not in notes else []
            kernel[mode] = _kernel_counts(stack, me, options, scratch, mode, has_perf)
            counts[mode] = _all_counts(stack, me, copies, options, scratch, mode)
    figures = _figures(counts)
    _mark_missing(counts, copies)
    labels = dict.fromkeys(label for mode in MODES for program in PROGRAMS for label in kernel[mode][program])
    return figures, [], [
        "Counts of a `GET /me` at 32 connections, by row → by stream. By callgrind, user space alone:",
        _table(counts, [INSTRUCTIONS, *(row.label for row in ROWS)]),
        "By the kernel, of programs that run as always, on one core:",
        _table(kernel, list(labels)),
        *notes,
        "By stream, nobody asks identity: what is left there, of either sign, is work by its clock, such as new connections to PostgreSQL. "
        "The other counts are uncertain by as much.",
        "The rows `from …` are parts of the row above them. Allocations are those that a program or another library asks the allocator "
        "for. A log line for every call is in all counts. valgrind has no SHA extensions: each hash counts for several times "
        "its instructions."]
