"""Instructions of identity in user space for a CheckSession and a refresh, counted by callgrind; beside an older version
(`--against`) with a bar. valgrind has no SHA extensions, so that each hash counts for several times what it costs."""

import contextlib
import json
import os
import re
import signal
import subprocess

import known_sessions
from callgrind import readable
from instruction_bench import RATIO_MAX
from processes import BenchError, wait_until
from report import Bar, Figure
from service_stack import free_ports, service_stack

# The longer of two runs; what is done once falls out of their difference. Nobody under valgrind answers many calls.
SECONDS = (3, 15)
START_SECONDS_MAX = 120
STOP_SECONDS = 120
WORKERS = 32
# The suffix of the older program's copy.
BEFORE = "-of-before"
UNSEEN_SESSIONS = 40_000
REFRESHED_SESSIONS = 20_000


def _providers_of_before(path):
    """The providers file beside it that the version before reads, which refuses members that it doesn't know."""
    with open(path, encoding="utf-8") as file:
        providers = json.load(file)
    for audience in (audience for provider in providers["providers"] for audience in provider["audiences"]):
        audience.pop("id_token", None)
    with open(f"{path}-before", "w", encoding="utf-8") as file:
        json.dump(providers, file)
    return f"{path}-before"


def _run(stack, program, scratch, scenario, sessions, seconds):
    """All instructions of an identity of its own beside the stack's, and the calls that it answered."""
    log, port = os.path.join(scratch, "callgrind-identity.log"), free_ports(1)[0]
    environment = stack.environment_of("identity")
    environment |= {"VESTIBULE_IDENTITY_LISTEN": f"127.0.0.1:{port}", "VESTIBULE_EVENT_LOOPS": "1"}
    environment.pop("VESTIBULE_IDENTITY_METRICS_LISTEN", None)
    if BEFORE in program:
        providers = "VESTIBULE_IDENTITY_PROVIDERS_FILE"
        environment[providers] = _providers_of_before(environment[providers])
    with open(log, "wb") as file:
        process = subprocess.Popen(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={os.devnull}", program, "serve"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=file, env=environment)
    try:
        wait_until(lambda: stack.listens(port), "identity under callgrind listens", START_SECONDS_MAX)
        stack.addresses["callgrind"] = f"127.0.0.1:{port}"
        calls = 0

        def called(seconds):
            nonlocal calls
            total = stack.load(
                scenario, identity="callgrind", duration=f"{seconds}s", warm_up="0s", workers=WORKERS, connections=1,
                timeout="60s", sessions=sessions)["total"]
            calls += total["succeeded"]
            return True

        def is_ready():
            # It listens before it has connected to the database.
            with contextlib.suppress(BenchError):
                return called(1)

        wait_until(is_ready, "identity under callgrind answers", START_SECONDS_MAX)
        called(seconds)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    with open(log, encoding="utf-8", errors="replace") as file:
        found = re.search(r"Collected\s*:\s*(\d+)", file.read())
    if not found:
        raise BenchError("callgrind told no count of instructions of identity")
    return int(found[1]), calls


def _per_call(stack, program, scratch, scenario, files):
    (few, few_calls), (many, many_calls) = (
        _run(stack, program, scratch, scenario, file, seconds) for file, seconds in zip(files, SECONDS))
    if many_calls <= few_calls:
        raise BenchError("the longer run made fewer calls")
    return (many - few) / (many_calls - few_calls)


def measure(options, scratch):
    """Gives the figures, and bars if there is an older program."""
    programs = {"ours": readable(f"{options.binaries}/identity", scratch, "identity-ours")}
    if options.against:
        programs["before"] = readable(f"{options.against}/identity", scratch, f"identity{BEFORE}")
    figures, bars = [], []
    with service_stack(options, os.path.join(scratch, "counted")) as stack:
        known_sessions.insert(stack, UNSEEN_SESSIONS + 2 * len(programs) * REFRESHED_SESSIONS)
        next_first = UNSEEN_SESSIONS + 1
        for what, scenario in (
                ("CheckSession, token seen before", "check-session"), ("CheckSession, token never seen before", "check-session"),
                ("refresh", "refresh")):
            counts = {}
            for name, program in programs.items():
                files = []
                for number in range(2):
                    path = os.path.join(scratch, f"counted-tokens-{number}")
                    if scenario == "refresh":
                        known_sessions.tokens(stack, path, REFRESHED_SESSIONS, first=next_first)
                        next_first += REFRESHED_SESSIONS
                    else:
                        known_sessions.tokens(stack, path, WORKERS if "never" not in what else UNSEEN_SESSIONS)
                    files.append(path)
                counts[name] = _per_call(stack, program, scratch, scenario, files)
                options.say(f"instructions of identity, {what}, {name}: {counts[name]:,.0f}")
                figures.append(
                    Figure(f"{what}, {name}", f"{counts[name]:,.0f} instructions", "", "identity's, by callgrind"))
            if options.against:
                ratio = counts["ours"] / counts["before"]
                bars.append(Bar(
                    f"instructions of {what} over those before", f"{ratio:.3f} ×", f"at most {RATIO_MAX} ×",
                    ratio <= RATIO_MAX))
    return figures, bars
