#!/usr/bin/env python3
"""Sets up what the tests need, builds it once, and runs the test suites, those that are independent at the same time.

    run.py                  all suites of `make test`
    run.py --checks         the suites that `make check` adds: sanitizers and fuzzers
    run.py --only NAME      one suite, or the tests of one part of the system: invites, identity, gateway, postgres, ...
    run.py --list           the suites

What a suite prints goes to .build/tests/SUITE.log. Failed tests are shown when their suite ends, and once more at the end.
The last line is 'N passed, N failed'. JOBS=N runs that many suites at the same time; without it, half as many as there are
cores: each suite runs its own tests side by side, and two suites on two cores save a tenth of the time, and make tests of attackers
slower than the limits that they attack.
"""

import argparse
import dataclasses
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import suites
from counting import failures_of, last_lines

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOGS = ROOT / ".build" / "tests"
REPORT_SECONDS = 30
STOP_SECONDS = 15
FAILURES_SHOWN_MAX = 40
LAST_LINES_SHOWN = 15


@dataclasses.dataclass
class Run:
    """A suite that was started."""

    suite: suites.Suite
    log: pathlib.Path
    process: subprocess.Popen
    began: float

    @classmethod
    def start(cls, suite, environment):
        log = LOGS / f"{suite.name}.log"
        with open(log, "wb") as output:
            # A group of its own, so that a stop reaches all that the suite started.
            process = subprocess.Popen(suite.command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=output,
                                       stderr=subprocess.STDOUT, start_new_session=True)
        return cls(suite, log, process, time.monotonic())

    def stop(self):
        """Asks the suite to end, as Ctrl-C does, and ends it by force if it doesn't."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.process.pid, number)
                self.process.wait(STOP_SECONDS)
                return
            except ProcessLookupError:
                return
            except subprocess.TimeoutExpired:
                continue

    def outcome(self):
        """(passed, failed, failures) of a suite that has ended."""
        text = self.log.read_text(errors="replace")
        passed, failed = self.suite.count(text)
        if self.process.returncode == 0 and failed == 0 and passed > 0:
            return passed, 0, []
        failures = failures_of(text)
        # A suite that counted no failure ended early, or ran nothing: how it ended says why.
        if failed == 0:
            failed = 1
            failures += [f"It ended with status {self.process.returncode}; the last lines that it printed:", *last_lines(text, LAST_LINES_SHOWN)]
        return passed, failed, failures


def clock(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


class Report:
    """What the user sees: one line that is rewritten on a terminal, else a line now and then."""

    def __init__(self):
        self.is_terminal = sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self.began = time.monotonic()
        self.reported = self.began

    def progress(self, running, waiting):
        now = time.monotonic()
        if not self.is_terminal and now - self.reported < REPORT_SECONDS:
            return
        self.reported = now
        names = ", ".join(run.suite.name for run in running)
        text = f"Testing … {clock(now - self.began)}; running: {names}" + (f"; waiting: {waiting}" if waiting else "")
        print(f"\r\033[?7l{text}\033[K\033[?7h" if self.is_terminal else text, end="" if self.is_terminal else "\n", flush=True)

    def line(self, text):
        print(("\r\033[K" if self.is_terminal else "") + text, flush=True)


def run_all(chosen, environment, jobs, release=None):
    """Runs the suites, and returns (passed, failed, lines that say what failed). `release`: the environment of suites that test the
    release programs."""
    LOGS.mkdir(parents=True, exist_ok=True)
    waiting, running, report = list(chosen), [], Report()
    passed = failed = 0
    summary = []
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                suite = waiting.pop(0)
                running.append(Run.start(suite, release if suite.tests_release else environment))
            for run in [run for run in running if run.process.poll() is not None]:
                running.remove(run)
                good, bad, failures = run.outcome()
                passed += good
                failed += bad
                name, took = run.suite.name, clock(time.monotonic() - run.began)
                report.line(f"{'FAIL' if bad else 'ok  '} {name:<13} {good:>6} passed {bad:>4} failed {took:>7}")
                if bad:
                    log = run.log.relative_to(ROOT)
                    lines = [f"{name}: all it printed is in {log}"] + [f"  {line}" for line in failures[:FAILURES_SHOWN_MAX]]
                    summary += lines
                    for line in lines:
                        report.line(line)
            report.progress(running, len(waiting))
            time.sleep(0.2)
    finally:
        for run in running:
            run.stop()
    report.line(f"Tested in {clock(time.monotonic() - report.began)}")
    return passed, failed, summary


def build(*command, environment):
    """Runs a command that installs or builds; ends this program if it fails."""
    status = subprocess.run(command, cwd=ROOT, env=environment).returncode
    if status != 0:
        sys.exit(status)


def prepare(chosen):
    """Installs and builds what the suites need; returns their environment, and that of the suites that test the release programs."""
    environment = dict(
        os.environ,
        # Writing a backtrace takes minutes on a small machine, and a failed expectation needs none.
        SWIFT_BACKTRACE="enable=no",
        WARNINGS_ARE_ERRORS="1",
        # All tests at once starve each other's tasks: some make keys or start servers, which holds a thread of the pool.
        SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=str((os.cpu_count() or 1) * 3),
    )
    build("Sources/install-dependencies.sh", "test", environment=environment)
    build("Tests/Interop/setup.sh", environment=environment)
    if any(suite.name == "kits" for suite in chosen):
        # Here and not by the suite, so that nothing is fetched once the tests have begun.
        build("Tests/Kits/kotlin/setup.sh", environment=environment)
    build("Sources/build-with-progress.sh", "--build-tests", environment=environment)
    folder = subprocess.run(["swift", "build", "--show-bin-path"], cwd=ROOT, env=environment, check=True,
                            capture_output=True, text=True).stdout.strip()
    environment.update(VESTIBULE_BINARIES=folder, INTEROP_SERVER=f"{folder}/rpc-interop-server",
                       INTEROP_CLIENT=f"{folder}/rpc-interop-client")
    release = dict(environment, VESTIBULE_BINARIES=f"{ROOT}/.build/release")
    if any(suite.tests_release for suite in chosen):
        # With the flags of `make run`: another plan would build everything again.
        build("make", "--no-print-directory", "build", environment=os.environ)
    return environment, release


def main(arguments):
    parser = argparse.ArgumentParser(prog="Tests/Runner/run.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checks", action="store_true")
    parser.add_argument("--only", metavar="NAME")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args(arguments)
    if options.list:
        for suite in suites.TESTS + suites.CHECKS:
            print(f"{suite.name:<13} {suite.summary}")
        return 0
    chosen = suites.CHECKS if options.checks else suites.TESTS
    if options.only:
        chosen = suites.only(options.only, ROOT)
        if not chosen:
            print(f"Tests/Runner/run.py: no suite and no part is named {options.only!r}; --list lists the suites", file=sys.stderr)
            return 2
    environment, release = prepare(chosen)
    jobs = int(os.environ.get("JOBS") or (os.cpu_count() or 1) // 2)
    passed, failed, summary = run_all(chosen, environment, max(jobs, 1), release)
    if summary:
        print("What failed:")
        print("\n".join(summary))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
