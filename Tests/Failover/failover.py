"""The whole system on three PostgreSQL servers under Patroni, whose leader dies under load, several times. README.md tells."""

import argparse
import contextlib
import http.client
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

for folder in ("EndToEnd", "Chaos"):
    sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / folder))

import chaos
import process_table
from app import App, letters
from checks import QUIET_SECONDS, Checks
from metrics import Metrics
from parts import POSTGRESQL
from patroni import REJOIN_SECONDS, Cluster
from stack import PROGRAMS, program

SERVICES = ("identity", "profile", "invites")
# The services follow a new leader within this.
BACK_SECONDS = 5
# VESTIBULE_GATEWAY_REQUEST_TIMEOUT, and what a machine may add that has other things to do.
DEADLINE_SECONDS, SLACK_SECONDS = 5, 1
CALM_SECONDS = 5
TIMELINE = re.compile(r"another timeline")
COMMAND = re.compile(r"vestibule sessions end --before \S+ --confirm")


class Writers:
    """Asks each service for a write, again and again, and notes when it was acknowledged. Use with `with`."""

    def __init__(self, stack):
        self._stop = threading.Event()
        self._lock = threading.Lock()
        # By service: when each acknowledged write was begun and ended, in Unix seconds.
        self._done = {name: [] for name in SERVICES}
        self.longest = 0.0
        app = App(stack)
        app.sign_in()
        group = app.create_group()
        steps = {
            "identity": lambda: App(stack).sign_in(),
            "profile": lambda: app.save(display_name=f"Name {letters(9)}").expect(200),
            "invites": lambda: app.gateway.patch(f"/groups/{group}", {"name": f"Group {letters(9)}"}, token=app.access_token).expect(200)}
        self._threads = [threading.Thread(target=self._work, args=item, daemon=True) for item in steps.items()]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _work(self, name, write):
        while not self._stop.is_set():
            began, measured = time.time(), time.monotonic()
            with contextlib.suppress(AssertionError, OSError, http.client.HTTPException):
                write()
                with self._lock:
                    self._done[name].append((began, time.time()))
            self.longest = max(self.longest, time.monotonic() - measured)
            time.sleep(0.1)

    def back(self, since, seconds):
        """When each service had acknowledged a write that was begun after a moment."""
        def first():
            with self._lock:
                return {name: next((ended for began, ended in done if began > since), None) for name, done in self._done.items()}
        with contextlib.suppress(AssertionError):
            process_table.wait_until(lambda: None not in first().values(), seconds, "")
        return first()


def move(parts, cluster):
    """Has the services work on the cluster, with what is in the stack's own database."""
    stack = parts.stack
    socket = parts.setting("identity", "VESTIBULE_DATABASE_HOST")
    port = parts.setting("identity", "VESTIBULE_DATABASE_PORT")
    for name in (*SERVICES, "gateway"):
        parts.end(name, signal.SIGTERM)
    data = subprocess.run(["pg_dumpall", f"--host={socket}", f"--port={port}", "--username=postgres", "--no-password"],
                          capture_output=True, check=True).stdout
    # The role postgres is there already; nothing else may fail.
    leader = cluster.hosts[cluster.leader()]
    result = subprocess.run(
        ["psql", "--no-psqlrc", "--quiet", f"--host={leader}", f"--port={cluster.port}", "--username=postgres", "--dbname=postgres"],
        input=data, capture_output=True)
    faults = [line for line in result.stderr.decode().splitlines() if "ERROR" in line and 'role "postgres" already exists' not in line]
    assert not faults, faults
    parts.end(POSTGRESQL, signal.SIGINT)
    parts.names = PROGRAMS
    parts.configure(*SERVICES, VESTIBULE_DATABASE_HOST=",".join(cluster.hosts.values()), VESTIBULE_DATABASE_PORT=str(cluster.port))
    parts.expect_back()
    assert stack.sql("SHOW port") == str(cluster.port)


def timeline_lines(stack, name):
    return [line for line in (stack.folder / "logs" / f"{name}-by-hand.log").read_text().splitlines() if TIMELINE.search(line)]


def noticed(stack, name, timeline):
    """Whether a service measures this timeline."""
    return Metrics(stack.metrics_addresses[name]).sum("vestibule_database_timeline") == timeline


def fail_over(number, parts, cluster, writers, findings):
    """Kills the leader; returns the figures of the round."""
    stack, leader = parts.stack, cluster.leader()
    before = {name: len(timeline_lines(stack, name)) for name in SERVICES}
    since = time.time()
    cluster.kill(leader)
    new, database_back = cluster.wait_for_writes(without=leader)
    back = writers.back(since, BACK_SECONDS + 10)
    seconds = {name: max(0.0, ended - database_back) if ended else None for name, ended in back.items()}
    findings += [f"round {number}: {name} was back {each} s after the database" for name, each in seconds.items()
                 if each is None or each > BACK_SECONDS]
    timeline = cluster.timeline(new)
    for name in SERVICES:
        process_table.wait_until(lambda name=name: noticed(stack, name, timeline), 15, f"{name} to measure timeline {timeline}")
        if len(timeline_lines(stack, name)) != before[name] + 1:
            findings.append(f"round {number}: {name} logged {timeline_lines(stack, name)[before[name]:]}")
    cluster.start(leader)
    began = time.monotonic()
    process_table.wait_until(lambda: cluster.is_whole(), REJOIN_SECONDS, lambda: f"{leader} to rejoin; they are {cluster.states()}")
    print(f"  round {number}: {leader} was killed, {new} took writes {database_back - since:.1f} s later (timeline {timeline}); "
          f"services back after {', '.join(f'{name} {each if each is None else round(each, 2)} s' for name, each in seconds.items())}; "
          f"{leader} follows again {time.monotonic() - began:.1f} s after its start", flush=True)


def lose(parts, cluster, findings):
    """Acknowledged writes are lost with a leader whose standbys confirm nothing: that is said, and the command that is named ends what
    they left behind."""
    stack = parts.stack
    cluster.set_synchronous(False)
    # The services remember from their last look that nothing is confirmed.
    time.sleep(2 * CALM_SECONDS)
    leaver, newcomer = App(stack), App(stack)
    leaver.sign_in()
    token = leaver.refresh_token
    time.sleep(2)
    leader = cluster.leader()
    before = len(timeline_lines(stack, "identity"))
    for sender in cluster.senders(leader):
        os.kill(sender, signal.SIGSTOP)
    leaver.post("/auth/sign-out").expect(204)
    newcomer.sign_in()
    cluster.kill(leader)
    cluster.wait_for_writes(without=leader)
    process_table.wait_until(parts.is_ready, 30, "the services to be ready")
    process_table.wait_until(lambda: len(timeline_lines(stack, "identity")) > before, 15, "a line in identity's log")
    line = timeline_lines(stack, "identity")[-1]
    if newcomer.refresh().status != 401:
        findings.append("nothing was lost, so that nothing was tried")
    revived = leaver.refresh(token)
    if revived.status != 200:
        findings.append(f"the lost sign-out was not lost: {revived}")
    command = COMMAND.search(line)
    if not command or " error " not in line or "used refresh and provider tokens" not in line:
        findings.append(f"what may be lost is not named: {line}")
        return
    result = subprocess.run([program("vestibule"), *command[0].split()[1:]], env=parts.environment("identity"), capture_output=True, text=True)
    if result.returncode != 0 or "ended" not in result.stdout:
        findings.append(f"{command[0]}: {result}")
    if leaver.refresh().status != 401:
        findings.append("the session that a lost sign-out had left went on after the command")
    later = App(stack)
    later.sign_in()
    if later.refresh().status != 200:
        findings.append("a session that began after the failover was ended")
    cluster.start(leader)
    process_table.wait_until(lambda: cluster.is_whole(is_synchronous=False), REJOIN_SECONDS, lambda: f"{leader} to rejoin: {cluster.states()}")
    print(f"  asynchronous: a sign-out and an account were lost with {leader}; identity's log named `{command[0]}`, which ended the session "
          f"that had come back; {leader} was rewound and follows", flush=True)


def one_run(seed, rounds, logs):
    findings = []
    with chaos.target_of_webhooks() as target, chaos.running_parts(target, logs) as parts:
        with Cluster(parts.stack.folder.parent / "ha") as cluster:
            try:
                move(parts, cluster)

                def work(_):
                    with Writers(parts.stack) as writers:
                        for number in range(1, rounds + 1):
                            time.sleep(CALM_SECONDS)
                            fail_over(number, parts, cluster, writers, findings)
                    run_longest.append(writers.longest)

                run_longest = []
                run, phones, supervisor = chaos.under_load(parts, seed, work)
                checks = Checks(run, phones, supervisor, lambda: chaos.told(target), QUIET_SECONDS)
                checks.all()
                longest, what = max(run.longest, (run_longest[0], "a write of each service"))
                if longest > DEADLINE_SECONDS + SLACK_SECONDS:
                    findings.append(f"{what} took {longest:.2f} s")
                print(f"  the longest call took {longest:.2f} s, of {DEADLINE_SECONDS} s that it has")
                chaos.report(run, supervisor, checks, [])
                lose(parts, cluster, findings)
                supervisor.end()
                findings += [*supervisor.findings, *run.findings, *checks.findings]
            finally:
                if logs:
                    logs.mkdir(parents=True, exist_ok=True)
                    for path in (parts.stack.folder.parent / "ha").glob("*.log"):
                        shutil.copy(path, logs)
                for name in parts.running:
                    parts.kill(name)
    return findings


def arguments():
    parser = argparse.ArgumentParser(prog="Tests/Failover/run.sh", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="how often the leader is killed under load (default: 3)")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6), help="of what the phones do (default: another each time)")
    parser.add_argument("--logs", type=pathlib.Path, help="a folder to copy all logs to")
    given = parser.parse_args()
    if not 1 <= given.rounds <= 100:
        parser.error("1 to 100 rounds")
    return given


def main():
    given = arguments()
    # So that nothing of ours outlives us.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    versions = [subprocess.run(command, capture_output=True, text=True).stdout.split("\n")[0]
                for command in (["patroni", "--version"], ["etcd", "--version"], ["postgres", "--version"])
                if shutil.which(command[0])]
    print(f"failover: seed {given.seed}, {given.rounds} rounds; {', '.join(versions)}", flush=True)
    findings = one_run(given.seed, given.rounds, given.logs)
    for finding in findings:
        print(f"  FOUND: {finding}")
    print("0 passed, 1 failed" if findings else "1 passed, 0 failed")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
