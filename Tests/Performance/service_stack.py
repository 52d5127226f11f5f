"""Everything that `make run` starts, from the same programs, on ports and in a folder of the benchmark's own."""

import base64
import contextlib
import hashlib
import json
import os
import random
import re
import secrets
import socket
import threading
import urllib.request

from processes import BenchError, children, run, running, wait_until

PROGRAMS = ("simulator", "identity", "profile", "invites", "gateway")
GOOGLE_CLIENT = "example.apps.googleusercontent.com"
READY_SECONDS = 90
# Below those that the system gives to outgoing connections.
PORTS = range(10_000, 30_000)
# Characters of the log's end in the message of a failure.
LOG_LENGTH_SHOWN = 400


def free_ports(count):
    """Ports of loopback that nobody has."""
    found = []
    for port in random.sample(PORTS, 1000):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            found.append(port)
            if len(found) == count:
                return found
    raise BenchError("no free ports")


def claims_of(token):
    """What a JSON Web Token says; nobody verifies it here."""
    payload = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))


class ServiceStack:
    """A running stack."""

    def __init__(self, binaries, folder, ports, process):
        self.binaries = os.path.realpath(binaries)
        self.folder = folder
        self.addresses = {name: f"127.0.0.1:{port}" for name, port in ports.items()}
        self.ports = ports
        self.process = process
        self.database_host = self.database_port = None

    # What it is made of

    def _descendants(self):
        found, waiting = [], [self.process.pid]
        while waiting:
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                waiting += children(waiting[0])
            found.append(waiting.pop(0))
        return found

    def process_of(self, name):
        """The id of a program's process."""
        words = [f"{self.binaries}/{name}", "serve"]
        for process_id in self._descendants():
            with contextlib.suppress(FileNotFoundError), open(f"/proc/{process_id}/cmdline", encoding="utf-8") as file:
                if file.read().split("\0")[:2] == words:
                    return process_id
        raise BenchError(f"{name} does not run")

    def environment_of(self, name):
        """The environment of a program's process."""
        with open(f"/proc/{self.process_of(name)}/environ", encoding="utf-8") as file:
            return dict(word.split("=", 1) for word in file.read().split("\0") if "=" in word)

    @property
    def postmaster(self):
        """PostgreSQL's first process."""
        with open(f"{self.folder}/postgres/data/postmaster.pid", encoding="ascii") as file:
            return int(file.readline())

    def pin(self, name, core):
        """Keeps all threads of a program on one core; `postgres` is the server with its sessions."""
        if name == "postgres":
            process_ids = [self.postmaster, *children(self.postmaster)]
        else:
            process_ids = [self.process_of(name)]
        for process_id in process_ids:
            run(["taskset", "--all-tasks", "--cpu-list", "--pid", str(core), str(process_id)])

    def database_words(self):
        """What makes PostgreSQL's programs connect as its superuser, to the services' database."""
        if self.database_host is None:
            found = self.environment_of("identity")
            self.database_host, self.database_port = (found[f"VESTIBULE_DATABASE_{name}"] for name in ("HOST", "PORT"))
        return [f"--host={self.database_host}", f"--port={self.database_port}", "--username=postgres", "--no-password"]

    def sql(self, text, timeout_seconds=120):
        """Runs SQL as superuser, and gives what it printed, columns parted by `|`."""
        return run([
            "psql", "--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1",
            *self.database_words(), "--dbname=vestibule", f"--command={text}"], timeout_seconds=timeout_seconds).strip()

    # What is asked of it

    def ask(self, program, path, body=None):
        """One request to the gateway or the simulator, JSON both ways."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            f"http://{self.addresses[program]}{path}", data, {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return json.load(answer)
        except (OSError, ValueError) as error:
            raise BenchError(f"{program} {path}: {error}") from error

    def provider_token(self, email=None, client=GOOGLE_CLIENT):
        """Simulated Google's ID token for a person, by default a new one; gives it and the nonce."""
        nonce = secrets.token_hex(16)
        order = {
            "client_id": client, "nonce": hashlib.sha256(nonce.encode()).hexdigest(),
            "person": {"email": email or f"{secrets.token_hex(8)}@example.com"}}
        return self.ask("simulator", "/control/google/sign-in", order)["id_token"], nonce

    def access_token(self):
        """The access token of somebody who signs in for the first time."""
        token, nonce = self.provider_token()
        return self.ask("gateway", "/auth/google", {"id_token": token, "nonce": nonce})["access_token"]

    @staticmethod
    def listens(port):
        """Whether somebody accepts connections there."""
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
        return False

    def load_command(self, scenario, output, *flags, identity="identity", **options):
        """`vestibule load` against this stack, or an identity that is named; options by their names, and flags."""
        words = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
        return [
            f"{self.binaries}/vestibule", "load", scenario, f"--output={output}",
            f"--simulator=http://{self.addresses['simulator']}", f"--identity={self.addresses[identity]}",
            f"--profile={self.addresses['profile']}", *flags, *words]

    def load(self, scenario, *flags, core=None, timeout_seconds=180, **options):
        """Runs it to its end; gives its report. Throws if a call failed."""
        output = f"{self.folder}/load-{scenario}"
        run(self.load_command(scenario, output, *flags, **options), core=core, timeout_seconds=timeout_seconds)
        with open(f"{output}.json", encoding="utf-8") as file:
            return json.load(file)


def clean_environment():
    """Ours without anything that would configure the programs."""
    return {name: value for name, value in os.environ.items() if not name.startswith("VESTIBULE_")}


@contextlib.contextmanager
def service_stack(options, folder, binaries=None, **settings):
    """A stack that runs as long as the block does; calls that succeed get no line in the log unless settings say so.

    Without `binaries` it is made of this version's.
    """
    binaries = binaries or options.binaries
    ports = dict(zip(PROGRAMS, free_ports(len(PROGRAMS))))
    environment = {
        **clean_environment(), "VESTIBULE_RUN_FOLDER": folder, "VESTIBULE_LOG_CALLS": "failures",
        **{f"VESTIBULE_{name.upper()}_LISTEN": f"127.0.0.1:{port}" for name, port in ports.items()}, **settings}
    log = f"{folder}.log"
    with running([f"{binaries}/vestibule", "run"], log, environment=environment) as process:
        is_ready = threading.Event()
        said = []

        # What it prints is read to the end: it must never wait for us.
        def read():
            for line in process.stdout:
                said.append(line.decode(errors="replace"))
                if re.search("Vestibule is ready", said[-1]):
                    is_ready.set()

        threading.Thread(target=read, daemon=True).start()

        def is_up():
            if process.poll() is not None:
                with open(log, encoding="utf-8", errors="replace") as file:
                    raise BenchError(f"the stack ended: {(''.join(said) + file.read())[-LOG_LENGTH_SHOWN:].strip()}")
            return is_ready.is_set()

        wait_until(is_up, "the stack is ready", READY_SECONDS)
        yield ServiceStack(binaries, folder, ports, process)
