"""The recipe of docs/run/three-machines.md, with loopback addresses as machines: HAProxy by its own file, one machine after the other
lost, frozen and back."""

import contextlib
import os
import pathlib
import signal
import ssl
import subprocess
import time

import process_table
from app import App
from certificates import Authority
from http_client import Client
from parts import POSTGRESQL, Parts
from proxies import ask
from stack import binaries, free_ports, new_stack
from steady_load import KeptConnection, SteadyLoad

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = ("identity", "profile", "invites", "gateway")
MACHINES = ("vm1", "vm2", "vm3")
READY_SECONDS = 60
# Two checks of half a second that fail, and the end of the one that is under way.
NOTICED_SECONDS = 3
WORKERS = 6


class Machine:
    """One machine's programs, each of which calls only those of its own machine."""

    def __init__(self, parts, name):
        self.name, self._parts = name, parts
        self.addresses = {program: f"127.0.0.1:{port}" for program, port in zip(PROGRAMS, free_ports(len(PROGRAMS)))}
        self._processes = {}

    def start(self):
        for program in PROGRAMS:
            environment = self._parts.environment(program)
            environment |= {f"VESTIBULE_{each.upper()}_ADDRESS": self.addresses[each] for each in PROGRAMS[:3]}
            environment |= {f"VESTIBULE_{each.upper()}_METRICS_LISTEN": "" for each in PROGRAMS}
            environment |= {
                f"VESTIBULE_{program.upper()}_LISTEN": self.addresses[program], "VESTIBULE_GATEWAY_TRUSTED_PROXIES": "127.0.0.1/32",
                "VESTIBULE_GATEWAY_DRAIN_DELAY": "2s"}
            with (self._parts.stack.folder / "logs" / f"{program}-{self.name}.log").open("ab") as log:
                self._processes[program] = subprocess.Popen(
                    [binaries() / program, "serve"], env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                    start_new_session=True)

    def signal_all(self, number):
        for process in self._processes.values():
            process.send_signal(number)

    def lose(self):
        self.signal_all(signal.SIGKILL)
        for process in self._processes.values():
            process.wait(10)

    def stop(self):
        """As `docker compose stop` does: the gateway, which needs the others, first."""
        for name in reversed(PROGRAMS):
            self._processes[name].send_signal(signal.SIGTERM)
            assert self._processes[name].wait(40) == 0, name


@contextlib.contextmanager
def haproxy(machines, certificate, folder):
    """The recipe's HAProxy; gives its address and a function for the states of the machines."""
    port, control = free_ports(1)[0], folder / "haproxy.sock"
    environment = {"PATH": f"{os.environ['PATH']}:/usr/sbin", "LISTEN": f"127.0.0.1:{port}", "CERTIFICATE": str(certificate)}
    environment |= {name.upper(): machine.addresses["gateway"] for name, machine in machines.items()}
    own = folder / "own.cfg"
    own.write_text(f"global\n    stats socket {control}\n")
    with (folder / "haproxy.log").open("wb") as log:
        process = subprocess.Popen(
            ["haproxy", "-db", "-f", ROOT / "docker/three-machines/haproxy.cfg", "-f", own], env=environment, stdin=subprocess.DEVNULL,
            stdout=log, stderr=log, start_new_session=True)

    def states():
        assert process.poll() is None, (folder / "haproxy.log").read_text()
        told = ask(control, "show stat")
        rows = [line.split(",") for line in told.splitlines() if line.startswith("gateway,vm")]
        return {row[1]: row[17].split(" ")[0] for row in rows}
    try:
        process_table.wait_until(
            lambda: set(states().values()) == {"UP"}, READY_SECONDS, lambda: f"{states()} {(folder / 'haproxy.log').read_text()}")
        yield f"127.0.0.1:{port}", states
    finally:
        process.terminate()
        process.wait(10)


def test_each_machine_may_be_lost_frozen_and_restarted(tmp_path):
    with new_stack() as stack:
        parts = Parts(stack)
        parts.start(POSTGRESQL, "simulator")
        stack.wait_for_database()
        machines = {name: Machine(parts, name) for name in MACHINES}
        authority = Authority(tmp_path, "authority")
        issued = authority.issue("gateway", ["DNS:localhost", "IP:127.0.0.1"])
        certificate = tmp_path / "certificate.pem"
        certificate.write_text(issued.certificate.read_text() + issued.key.read_text())
        try:
            for machine in machines.values():
                machine.start()
            context = ssl.create_default_context(cafile=str(authority.certificate))
            with haproxy(machines, certificate, tmp_path) as (address, states):
                app = App(stack)
                app.gateway = Client(address, context=context)
                app.sign_in()
                workers = {f"worker {number}": KeptConnection(address, app.access_token, context) for number in range(WORKERS)}

                def is_up(name):
                    return lambda: states()[name] == "UP"

                def calm(load, seconds):
                    """No request fails in that time."""
                    before = len(load.failures)
                    time.sleep(seconds)
                    assert load.failures[before:] == []

                with SteadyLoad(workers) as load:
                    calm(load, 1)
                    # Lost: what was in flight may fail, once for each connection, and nothing after the machine is known to be gone.
                    machines["vm1"].lose()
                    time.sleep(NOTICED_SECONDS)
                    assert states()["vm1"] == "DOWN" and len(load.failures) <= WORKERS, load.failures
                    calm(load, 1)
                    machines["vm1"].start()
                    process_table.wait_until(is_up("vm1"), READY_SECONDS, states)
                    calm(load, 1)
                    # Restarted in order: nothing fails at all.
                    before = len(load.failures)
                    machines["vm2"].stop()
                    calm(load, 1)
                    machines["vm2"].start()
                    process_table.wait_until(is_up("vm2"), READY_SECONDS, states)
                    assert load.failures[before:] == []
                    # Frozen: requests that wait there fail by the clients' own time limit; new ones go elsewhere.
                    machines["vm3"].signal_all(signal.SIGSTOP)
                    time.sleep(NOTICED_SECONDS)
                    assert states()["vm3"] == "DOWN"
                    other = Client(address, context=context)
                    for _ in range(20):
                        assert other.get("/me", token=app.access_token).status == 200
                    machines["vm3"].signal_all(signal.SIGCONT)
                    process_table.wait_until(is_up("vm3"), READY_SECONDS, states)
                    # Those that waited there have had their answer, or not.
                    time.sleep(1)
                    calm(load, 1)
        finally:
            for machine in machines.values():
                machine.lose()
