"""Upgrades a filled database of the version before under load, service by service, and goes back; README.md says what it checks."""

import argparse
import collections
import json
import pathlib
import signal
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "EndToEnd"), str(HERE.parent / "Chaos")]

import accounts
import previous
from chaos import LIMITS, TYPES, target_of_webhooks, told
from checks import QUIET_SECONDS, Checks
from ledger import Ledger
from phone import PATIENCE_SECONDS, Phone, Run
from phone_backend import PhoneBackend
from replicas import ORDER, SERVICES, Replicas
from stack import new_stack, short_folder
from webhook_target import secret

# The load comes from few addresses.
OPEN_LIMITS = {f"VESTIBULE_GATEWAY_{kind}_{part}": "1000000" for kind in ("AUTH", "ADDRESS", "ACCOUNT", "CHANGES")
               for part in ("PER_SECOND", "BURST")}


class TimedRun(Run):
    """Notes the longest call and the failures of each phase."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.phase = "before"
        self.phases = collections.defaultdict(collections.Counter)
        self.longest_of_phase = collections.Counter()

    def count(self, counter, name):
        super().count(counter, name)
        is_failure = counter is self.failures
        # A stream ends with its gateway, as docs/apps/events.md says, and is asked for again.
        kind = "calls" if not is_failure else "streams that ended" if "stream" in name else "failed"
        with self._lock:
            self.phases[self.phase][kind] += 1
            if kind == "failed":
                self.findings.append(f"a call failed in the phase {self.phase!r}: {name}")

    def measure(self, what, began):
        super().measure(what, began)
        with self._lock:
            self.longest_of_phase[self.phase] = max(self.longest_of_phase[self.phase], time.monotonic() - began)


class Load:
    """Phones at work, with `with`."""

    def __init__(self, stack, count, seed):
        self.run = TimedRun(stack, Ledger(seed), stack.gateway.get("/openapi.json").expect(200)["paths"])
        self.phones = [Phone(self.run, number, seed) for number in range(count)]
        self._threads = [threading.Thread(target=phone.use, name=phone.name, daemon=True) for phone in self.phones]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.run.stop.set()
        self.run.restored_at = time.monotonic()
        for thread in self._threads:
            thread.join(timeout=2 * PATIENCE_SECONDS)
            if thread.is_alive():
                self.run.find(f"{thread.name} hangs")

    def during(self, phase, seconds=0.0, do=lambda: None):
        """Has the phones work for a while, and until something is done; prints what came of it."""
        self.run.phase = phase
        began = time.monotonic()
        do()
        took = time.monotonic() - began
        time.sleep(max(seconds - took, 0))
        elapsed = time.monotonic() - began
        counts = self.run.phases[phase]
        if elapsed > 1 and not counts["calls"]:
            self.run.find(f"no call was made in the phase {phase!r}")
        print(f"  {phase:<22} {took:7.2f} s   {counts['calls']:6,} calls in {elapsed:5.1f} s, {counts['failed']} failed, "
              f"{counts['streams that ended']} streams ended, the longest took {self.run.longest_of_phase[phase]:.2f} s", flush=True)


def plan(replicas, binaries, code=0):
    """What `vestibule upgrade --plan` of a version prints."""
    done = subprocess.run(
        [binaries / "vestibule", "upgrade", "--plan"], env=replicas.environment(), capture_output=True, text=True, timeout=60)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def test(stack, folder, target, options, before, after):
    """Upgrades and goes back; returns the findings."""
    with Replicas(stack, folder, before) as replicas:
        began = time.monotonic()
        accounts.fill(stack, options.accounts)
        size = stack.sql("SELECT pg_size_pretty(pg_database_size(current_database()))")
        print(f"  filled with {options.accounts:,} accounts in {time.monotonic() - began:.1f} s: {size}", flush=True)
        print("\n" + plan(replicas, after), flush=True)
        with Load(stack, options.phones, options.seed) as load:
            load.during(f"{previous.VERSION} alone", options.seconds)
            for name in ORDER:
                if name in SERVICES:
                    load.during(f"{name} is migrated", do=lambda: replicas.migrate(name, after))
                load.during(f"{name} is replaced", options.seconds, lambda: replicas.replace(name, after))
            load.during("this version alone", options.seconds)
            # What calls the others goes back before them.
            for name in reversed(ORDER):
                load.during(f"{name} goes back", options.seconds, lambda: replicas.replace(name, before))
            load.during(f"{previous.VERSION} again", options.seconds)
        checks = Checks(load.run, load.phones, replicas, lambda: told(target), QUIET_SECONDS)
        # Commands that the checks use ask for the programs by their stack.
        stack.process_of = replicas.process
        checks.all()
        accounts.expect_all(stack, options.accounts)
        assert "nothing to migrate" in plan(replicas, after)
        replicas.stop()
        checks.logs()
        print(f"  {sum(load.run.acknowledged.values()):,} acknowledged calls; checked: "
              + ", ".join(f"{count:,} {name}" for name, count in checks.counts.items()))
        return [*load.run.findings, *checks.findings]


def arguments():
    parser = argparse.ArgumentParser(prog="Tests/Upgrade/run.sh", description=__doc__)
    parser.add_argument("--accounts", type=int, default=100_000, help="how many the database has before (default: 100000)")
    parser.add_argument("--phones", type=int, default=8, help="how many phones make calls meanwhile (default: 8)")
    parser.add_argument("--seconds", type=float, default=5, help="how long each step lasts at least (default: 5)")
    parser.add_argument("--seed", type=int, default=1, help="of what the phones do (default: 1)")
    given = parser.parse_args()
    if not 1 <= given.accounts <= 10_000_000 or not 1 <= given.phones <= 100 or not 0 <= given.seconds <= 600:
        parser.error("1 to 10000000 accounts, 1 to 100 phones, 0 to 600 seconds")
    return given


def main():
    options = arguments()
    # So that nothing of ours outlives us.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    before, after = previous.build(), previous.ROOT / ".build/release"
    print(f"upgrade: from {previous.VERSION} and back, seed {options.seed}", flush=True)
    with target_of_webhooks() as target, short_folder() as folder:
        (folder / "webhooks.json").write_text(json.dumps({"targets": [
            {"name": "all", "url": target.url, "secrets": [secret()], "types": TYPES, "private_addresses": True}]}))
        backend = PhoneBackend(folder / "backend.json")
        with new_stack(
                VESTIBULE_IDENTITY_WEBHOOKS_FILE=str(folder / "webhooks.json"),
                VESTIBULE_IDENTITY_PHONE_ASSERTIONS_FILE=str(folder / "backend.json"), **(LIMITS | OPEN_LIMITS)) as stack:
            stack.backend = backend
            findings = test(stack, folder, target, options, before, after)
    for finding in findings:
        print(f"  FOUND: {finding}")
    print(f"{0 if findings else 1} passed, {1 if findings else 0} failed")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
