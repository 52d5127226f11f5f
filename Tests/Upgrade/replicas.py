"""The programs of a stack as two replicas each behind HAProxy, of which one after the other is replaced by another version's."""

import os
import pathlib
import signal
import subprocess
import time

import process_table
from parts import POSTGRESQL, Parts
from proxies import Way, haproxy
from stack import free_ports

SERVICES = ("identity", "profile", "invites")
ORDER = (*SERVICES, "gateway")
SLOTS = ("a", "b")
READY_SECONDS = 60
# Longer than a channel waits before it connects again (`ChannelConfiguration.backoffMax`): the address stays, so that nothing else has it look.
RECONNECT_SECONDS = 6
STOP_SECONDS = 60
# Longer than HAProxy needs to notice that a gateway isn't ready any more.
DRAIN_DELAY = "500ms"


class Replicas:
    """Use with `with`. Starts as the version of the folder `binaries`, whose `vestibule run` makes the data."""

    def __init__(self, stack, folder, binaries):
        self.stack, self.folder = stack, folder
        os.environ["VESTIBULE_BINARIES"] = str(binaries)
        self.parts = Parts(stack)
        self.parts.start(POSTGRESQL, "simulator")
        stack.wait_for_database()
        ports = iter(free_ports(len(ORDER) * len(SLOTS)))
        self.addresses = {name: {slot: f"127.0.0.1:{next(ports)}" for slot in SLOTS} for name in ORDER}
        self._running = {}
        for name in ORDER:
            for slot in SLOTS:
                self._start(name, slot, binaries)

    def __enter__(self):
        self._proxy = haproxy(self.folder, Way("gateway", self.addresses["gateway"]))
        (address,), self._states = self._proxy.__enter__()
        self.stack.addresses["gateway"] = address
        self.stack.gateway = self.stack.client()
        return self

    def __exit__(self, *error):
        self._proxy.__exit__(*error)

    def migrate(self, name, binaries):
        """Has a version's program bring the tables of a service up to date, as its owner."""
        owner = {
            f"VESTIBULE_{name.upper()}_DATABASE_OWNER": f"vestibule_{name}_owner",
            f"VESTIBULE_{name.upper()}_DATABASE_OWNER_PASSWORD_FILE": str(self.stack.folder / f"secrets/{name}-database-owner-password")}
        done = subprocess.run(
            [binaries / name, "migrate"], env=self._environment(name, "a") | owner, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stdout + done.stderr

    def replace(self, name, binaries):
        """Replaces the replicas of a program one by one."""
        for slot in SLOTS:
            self._stop(name, slot)
            self._start(name, slot, binaries)
            if name == "gateway":
                process_table.wait_until(
                    lambda: self._states()["gateway", slot] == "UP", READY_SECONDS, lambda: f"HAProxy: {self._states()}")
            else:
                time.sleep(RECONNECT_SECONDS)

    def stop(self):
        """Ends all programs; each must end by itself, with status 0."""
        for name in reversed(ORDER):
            for slot in SLOTS:
                self._stop(name, slot)

    def restart(self, name):
        """For the checks of the chaos test: the same version again."""
        self.replace(name, pathlib.Path(self._running[name, "a"].args[0]).parent)

    def process(self, name):
        """One of a program's processes, by its number."""
        return self._running[name, "a"].pid

    def environment(self):
        """That of operators' commands: it has the configurations of all services."""
        together = {}
        for name in SERVICES:
            together |= self._environment(name, "a")
        return together

    def _start(self, name, slot, binaries):
        environment = self._environment(name, slot)
        with (self.stack.folder / "logs" / f"{name}-{slot}.log").open("ab") as log:
            self._running[name, slot] = subprocess.Popen(
                [binaries / name, "serve"], env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)

        def is_ready():
            assert self._running[name, slot].poll() is None, f"{name} ended: see {log.name}"
            return subprocess.run([binaries / name, "healthcheck"], env=environment, capture_output=True).returncode == 0

        process_table.wait_until(is_ready, READY_SECONDS, lambda: f"{name} to be ready")

    def _stop(self, name, slot):
        process = self._running.pop((name, slot))
        process.send_signal(signal.SIGTERM)
        status = process.wait(timeout=STOP_SECONDS)
        assert status == 0, f"{name} ended with {status}"

    def _environment(self, name, slot):
        environment = self.parts.environment(name)
        environment |= {f"VESTIBULE_{each.upper()}_ADDRESS": ",".join(self.addresses[each].values()) for each in SERVICES}
        environment |= {f"VESTIBULE_{name.upper()}_LISTEN": self.addresses[name][slot], "VESTIBULE_GATEWAY_DRAIN_DELAY": DRAIN_DELAY}
        return environment | {f"VESTIBULE_{each.upper()}_METRICS_LISTEN": "" for each in ORDER}
