"""Load on everything a phone does while programs and the database are killed and frozen; then what must hold. README.md tells."""

import argparse
import collections
import contextlib
import json
import pathlib
import random
import shutil
import signal
import sys
import threading
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "EndToEnd"))

import breakages
from checks import QUIET_SECONDS, Checks
from faults import Supervisor, schedule
from ledger import Ledger
from parts import Parts
from phone import PATIENCE_SECONDS, Phone, Run
from phone_backend import PhoneBackend
from stack import new_stack, short_folder
from webhook_target import Target, secret

PHONES = 12
# Of the load whose work is then broken.
PROOF_SECONDS = 10
TYPES = ["account.created", "session.ended", "account.deleted", "profile.completed", "phone.changed", "group.joined"]
# What would refuse a phone that is in such haste.
LIMITS = {
    "VESTIBULE_GATEWAY_CHANGES_PER_SECOND": "1000", "VESTIBULE_GATEWAY_ACCOUNT_PER_SECOND": "1000",
    "VESTIBULE_PROFILE_PHONE_TRIES": "1000", "VESTIBULE_PROFILE_PHONE_CLAIMS": "1000",
    "VESTIBULE_INVITES_USER_ADDS": "100000", "VESTIBULE_INVITES_USER_GROUPS": "1000", "VESTIBULE_INVITES_USER_LINKS": "10000",
    "VESTIBULE_INVITES_USER_GROUP_CHANGES": "100000",
}

# With `distributed` each transaction is serializable, and one of twenty statements and commits is undone as by a conflict.
ENGINES = {
    "postgresql": {}, "distributed": {"VESTIBULE_DATABASE_ENGINE": "distributed", "VESTIBULE_DATABASE_INJECTED_CONFLICTS": "50"}}


@contextlib.contextmanager
def running_parts(target, logs, engine="postgresql"):
    """All programs and the database, each a child of ours, on a folder of their own. Logs are copied to the folder `logs`, if there is
    one, when a finding was made."""
    with short_folder() as folder:
        (folder / "webhooks.json").write_text(json.dumps({"targets": [
            {"name": "all", "url": target.url, "secrets": [secret()], "types": TYPES, "private_addresses": True}]}))
        backend = PhoneBackend(folder / "backend.json")
        with new_stack(
                VESTIBULE_IDENTITY_WEBHOOKS_FILE=str(folder / "webhooks.json"),
                VESTIBULE_IDENTITY_PHONE_ASSERTIONS_FILE=str(folder / "backend.json"), **LIMITS, **ENGINES[engine]) as stack:
            stack.backend = backend
            parts = Parts(stack)
            parts.expect_back()
            try:
                yield parts
            finally:
                if logs:
                    shutil.copytree(stack.folder / "logs", logs, dirs_exist_ok=True)


def one_round(seed, seconds, logs, engine):
    """Runs once; returns the findings."""
    with target_of_webhooks() as target, running_parts(target, logs, engine) as parts:
        run, phones, supervisor = load(parts, seed, seconds, schedule(seed, seconds))
        checks = Checks(
            run, phones, supervisor, lambda: told(target), QUIET_SECONDS, conflicts_are_expected=engine == "distributed")
        checks.all()
        supervisor.end()
        checks.logs()
        findings = [*supervisor.findings, *run.findings, *checks.findings]
        report(run, supervisor, checks, findings)
        return findings


def prove(seed, seconds, logs):
    """Whether the checks find what a fault would leave behind, and nothing before; returns the number of what was found and of what
    was not."""
    with target_of_webhooks() as target, running_parts(target, logs) as parts:
        run, phones, supervisor = load(parts, seed, seconds, [])
        before = Checks(run, phones, supervisor, lambda: told(target), QUIET_SECONDS)
        before.all()
        missed = [*run.findings, *supervisor.findings, *before.findings]
        broken = breakages.make(parts)
        supervisor.restore()
        after = Checks(run, phones, supervisor, lambda: told(target), quiet_seconds=1)
        after.all()
        supervisor.end()
        after.logs()
        found = [*supervisor.findings, *after.findings]
        missed += [f"not found: {words}, made by: {how}" for how, words in broken.items() if not any(words in each for each in found)]
        for finding in missed:
            print(f"  {finding}")
        return len(broken) - len(missed), len(missed)


def load(parts, seed, seconds, faults):
    """Phones at work under faults, until everything runs again and each has its last answer."""
    return under_load(parts, seed, lambda supervisor: supervisor.carry_out(faults, seconds))


def under_load(parts, seed, work):
    """The same, with whatever is done meanwhile."""
    stack, supervisor = parts.stack, Supervisor(parts)
    run = Run(stack, Ledger(seed), stack.gateway.get("/openapi.json").expect(200)["paths"])
    phones = [Phone(run, number, seed) for number in range(PHONES)]
    threads = [threading.Thread(target=phone.use, name=phone.name, daemon=True) for phone in phones]
    for thread in threads:
        thread.start()
    try:
        work(supervisor)
    finally:
        run.stop.set()
        supervisor.restore()
        run.restored_at = time.monotonic()
    for thread in threads:
        thread.join(timeout=2 * PATIENCE_SECONDS)
        if thread.is_alive():
            run.find(f"{thread.name} hangs")
    return run, phones, supervisor


class PatientTarget(Target):
    """Whose callers die."""

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


@contextlib.contextmanager
def target_of_webhooks():
    target = PatientTarget()
    try:
        yield target
    finally:
        target.shutdown()
        target.server_close()


def told(target):
    with target.lock:
        return [json.loads(body) for _, body in target.messages]


def report(run, supervisor, checks, findings):
    kinds = collections.Counter(f"{fault.kind} of {fault.target}" for fault in supervisor.done)
    show(f"{len(supervisor.done)} faults", kinds)
    show(f"{sum(run.acknowledged.values())} acknowledged calls", run.acknowledged)
    show(f"{sum(run.failures.values())} calls to be made again", run.failures)
    show("checked", checks.counts)
    if findings:
        print("  the faults were:", *supervisor.done, sep="\n    ")
    for finding in findings:
        print(f"  FOUND: {finding}")


def show(title, counter):
    print(f"  {title}:", ", ".join(f"{count} {name}" for name, count in sorted(counter.items(), key=lambda item: -item[1])))


def arguments():
    parser = argparse.ArgumentParser(prog="Tests/Chaos/run.sh", description=__doc__)
    parser.add_argument("--seconds", type=int, default=60, help="how long a round's load and faults last (default: 60)")
    parser.add_argument("--seed", type=int, help="of the first round; the next ones have the next (default: another each time)")
    parser.add_argument("--rounds", type=int, default=1, help="how many rounds, each on a new database (default: 1)")
    parser.add_argument("--prove", action="store_true", help="break what was acknowledged instead, and have the checks find it")
    parser.add_argument("--engine", choices=ENGINES, default="postgresql", help="what kind of database it is (default: postgresql)")
    parser.add_argument("--logs", type=pathlib.Path, help="a folder to copy the programs' logs to")
    given = parser.parse_args()
    if not 5 <= given.seconds <= 3600 or not 1 <= given.rounds <= 1000:
        parser.error("5 to 3600 seconds, 1 to 1000 rounds")
    return given


def main():
    given = arguments()
    # So that nothing of ours outlives us.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    first = given.seed if given.seed is not None else random.randrange(10**6)
    if given.prove:
        print(f"chaos: proof of the checks, seed {first}", flush=True)
        passed, failed = prove(first, PROOF_SECONDS, given.logs)
        print(f"{passed} passed, {failed} failed")
        return 1 if failed else 0
    failed = 0
    for seed in range(first, first + given.rounds):
        print(f"chaos: seed {seed}, {given.seconds} s", flush=True)
        failed += bool(one_round(seed, given.seconds, given.logs and given.logs / str(seed), given.engine))
    print(f"{given.rounds - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
