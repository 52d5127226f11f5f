"""`vestibule run` with everything on free ports and in a folder of its own."""

import contextlib
import itertools
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading

import process_table
from http_client import Client

READY_SECONDS = 90
# Calls may take 10 s to end and PostgreSQL 15 s; an idle stack takes none of it.
STOP_SECONDS = 45
PROGRAMS = ("simulator", "identity", "profile", "invites", "gateway")
MEASURED = PROGRAMS[1:]
# Caller proofs (docs/run/trust-between-services.md) are sent between services and never returned to a test: 57 bytes in base64url, of which the first is 1.
PROOF = re.compile(r"(?<![\w-])A[Q-Za-f][\w-]{74}(?![\w-])")
_addresses = itertools.count()


def binaries():
    """The folder of the programs: VESTIBULE_BINARIES, which run.sh sets."""
    folder = pathlib.Path(os.environ["VESTIBULE_BINARIES"]).resolve()
    missing = [name for name in ("vestibule", *PROGRAMS) if not os.access(folder / name, os.X_OK)]
    assert not missing, f"{folder} has no {', '.join(missing)}"
    return folder


def program(name):
    return str(binaries() / name)


def clean_environment():
    """This process's environment without variables that would configure the programs, but for the version of PostgreSQL."""
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("OTEL_", "VESTIBULE_")) or name == "VESTIBULE_RUN_POSTGRES"}
    return {**kept, "SWIFT_BACKTRACE": "enable=no"}


def free_ports(count):
    """Free ports, which the system gives to no outgoing connection while a stack is stopped. Tests that run beside each other have ports
    of their own: a port is only taken once the stack listens, some seconds after this."""
    first_of_the_system = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    end = first_of_the_system if first_of_the_system > 12_000 else 30_000
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    found = []
    for port in random.sample(range(10_000 + worker, end, workers), 1000):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            found.append(port)
        if len(found) == count:
            return found
    raise AssertionError("no free ports")


@contextlib.contextmanager
def short_folder():
    """A new folder whose path is short enough for a unix socket, and enterable by PostgreSQL's user."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="ve2e-", dir="/tmp"))
    path.chmod(0o755)
    try:
        yield path
    finally:
        shutil.rmtree(path)


class Stack:
    """A stack that can be started, stopped and started again on the same folder and ports."""

    def __init__(self, folder, **more_environment):
        self.folder = folder
        ports = free_ports(len(PROGRAMS) + len(MEASURED))
        self.addresses = {name: f"127.0.0.1:{port}" for name, port in zip(PROGRAMS, ports)}
        self.metrics_addresses = {name: f"127.0.0.1:{port}" for name, port in zip(MEASURED, ports[len(PROGRAMS):])}
        self.environment = {
            **clean_environment(),
            "VESTIBULE_RUN_FOLDER": str(folder),
            # Most tests are not about the waiting time of a number that somebody gave up.
            "VESTIBULE_PROFILE_PHONE_COOL_DOWN": "0s",
            **{f"VESTIBULE_{name.upper()}_LISTEN": address for name, address in self.addresses.items()},
            **{f"VESTIBULE_{name.upper()}_METRICS_LISTEN": address
               for name, address in self.metrics_addresses.items()},
            **more_environment,
        }
        self.gateway = self.client()
        self.simulator = Client(self.addresses["simulator"])
        self.process = None
        self._lines = []
        # The environment of a program that uses the database; known from the first use on, even if that program is killed later.
        self._database = None
        # Values that must not be in any log: each function that makes a token, number, name or e-mail adds it.
        self.confidential = set()

    def client(self):
        """A client of the gateway with its own address: requests are counted by address."""
        number = next(_addresses)
        return Client(self.addresses["gateway"], source=f"127.1.{number // 250}.{number % 250 + 1}")

    # Running

    def spawn(self, *arguments):
        """Starts `vestibule run` and returns at once."""
        assert self.process is None or self.process.poll() is not None
        self._lines = []
        # A separate session, so that Ctrl-C for pytest doesn't reach the stack. The working directory isn't the folder, as a relative
        # path to the folder would then be shown.
        self.process = subprocess.Popen(
            [program("vestibule"), "run", *arguments], env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True, cwd=binaries())
        self._reader = threading.Thread(target=self._read, args=(self.process, self._lines), daemon=True)
        self._reader.start()

    def start(self, *arguments):
        """Starts `vestibule run` and waits until it reports that all programs are ready."""
        self.spawn(*arguments)
        process_table.wait_until(
            lambda: "Vestibule is ready" in self.output or self.process.poll() is not None, READY_SECONDS,
            lambda: f"the stack to be ready; it said:\n{self.output}")
        assert self.process.poll() is None, f"the stack ended with {self.process.poll()}:\n{self.output}"

    def stop(self, signal_number=signal.SIGINT):
        """Stops like Ctrl-C does; returns the exit status. Nothing may be left running."""
        self.process.send_signal(signal_number)
        return self.wait()

    def wait(self):
        """Waits for the end; returns the exit status. Nothing may be left running."""
        status = self.process.wait(timeout=STOP_SECONDS)
        self._reader.join(timeout=STOP_SECONDS)
        self.expect_nothing_left()
        return status

    def expect_nothing_left(self, seconds=1):
        process_table.wait_until(
            lambda: not process_table.belonging_to(self.folder), seconds,
            lambda: f"an end of {process_table.describe(process_table.belonging_to(self.folder))}")
        assert not (self.folder / "postgres/data/postmaster.pid").exists()

    def kill_all(self):
        """Ends all processes of the folder, after a test that failed."""
        for process in process_table.belonging_to(self.folder):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        if self.process is not None:
            self.process.wait()

    # Output

    @property
    def output(self):
        return "\n".join(self._lines)

    def logs(self):
        """Every log of the folder by its name, including earlier runs, and the standard output."""
        files = [*self.folder.glob("logs/*"), *self.folder.glob("postgres/server.log")]
        return {"printed": self.output, **{file.name: file.read_text(errors="replace") for file in files}}

    def expect_no_confidences(self):
        """Checks that no log contains a value of `confidential`."""
        logs = self.logs()
        assert any("listening" in text for text in logs.values()), "the logs are empty"
        leaks = []
        for name, text in logs.items():
            for secret in (each for each in self.confidential if each in text):
                leaks += [f"{name}: {line[:300]}" for line in text.splitlines() if secret in line]
            leaks += [f"{name}: a proof of a caller" for _ in PROOF.findall(text)]
        assert not leaks, "confidential in logs:\n" + "\n".join(leaks[:10])

    # Processes

    def process_of(self, name):
        """The process of one of our programs, neither the shell beside it nor another gateway of a test."""
        key = f"VESTIBULE_{name.upper()}_LISTEN"
        found = [
            process for process in process_table.belonging_to(self.folder)
            if process_table.command_line(process)[:2] == [program(name), "serve"]
            and process_table.environment(process).get(key) == self.addresses[name]]
        assert len(found) == 1, f"{name}: {found}"
        return found[0]

    def wait_for_restart(self, name, before, seconds=30):
        """Waits until a program that was the process `before` runs again, and until the gateway reaches all services."""

        def is_back():
            key = f"VESTIBULE_{name.upper()}_LISTEN"
            now = [
                process for process in process_table.belonging_to(self.folder)
                if process_table.command_line(process)[:2] == [program(name), "serve"]
                and process_table.environment(process).get(key) == self.addresses[name]]
            if len(now) != 1 or now == [before]:
                return False
            try:
                with socket.create_connection(self.addresses[name].split(":"), timeout=1):
                    return self.gateway.get("/readyz").status == 200
            except OSError:
                return False

        process_table.wait_until(is_back, seconds, lambda: f"{name} to run again; the stack said:\n{self.output}")

    def command(self, *arguments, seconds=60, **more_environment):
        """Runs a command as a developer types it beside `make run`: with the folder alone."""
        return subprocess.run(
            [program("vestibule"), *arguments],
            env={**clean_environment(), "VESTIBULE_RUN_FOLDER": str(self.folder), **more_environment},
            capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=seconds)

    @property
    def postmaster(self):
        """PostgreSQL's first process."""
        return int((self.folder / "postgres/data/postmaster.pid").read_text().split("\n")[0])

    def database_environment(self):
        """The environment of a program that uses the database, which is read while that program runs."""
        if self._database is None:
            self._database = process_table.environment(self.process_of("identity"))
        return self._database

    def sql(self, text):
        """Runs SQL as superuser, for changes that take longer than a test can wait; returns the rows as lines."""
        environment = self.database_environment()
        result = subprocess.run(
            ["psql", "--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1",
             f"--host={environment['VESTIBULE_DATABASE_HOST']}", f"--port={environment['VESTIBULE_DATABASE_PORT']}",
             "--username=postgres", f"--dbname={environment['VESTIBULE_DATABASE_NAME']}", "--no-password"],
            input=text, capture_output=True, text=True,
            # Of several servers, the one that takes writes.
            env={**os.environ, "PGTARGETSESSIONATTRS": "read-write"})
        assert result.returncode == 0, result.stderr
        return result.stdout.strip()

    def wait_for_database(self):
        """Waits until a PostgreSQL that was started without the programs answers."""
        def answers():
            with contextlib.suppress(AssertionError):
                return self.sql("SELECT 1") == "1"

        process_table.wait_until(answers, READY_SECONDS, "the database")

    @staticmethod
    def _read(process, lines):
        for line in process.stdout:
            lines.append(line.rstrip("\n"))


@contextlib.contextmanager
def new_stack(**more_environment):
    """A stack in a new folder that is not started yet. All its processes end with the test."""
    with short_folder() as parent:
        stack = Stack(parent / "data", **more_environment)
        try:
            yield stack
        finally:
            stack.kill_all()


def run_vestibule(*arguments, environment=None, seconds=60):
    """Runs `vestibule` to its end."""
    return subprocess.run(
        [program("vestibule"), *arguments], env={**clean_environment(), **(environment or {})}, capture_output=True,
        text=True, stdin=subprocess.DEVNULL, timeout=seconds, cwd=binaries())


def proof_keys(folder):
    """A folder of identity's keys with proof keys only: all other keys may be given as files."""
    assert run_vestibule("init", "--folder", str(folder / "secrets")).returncode == 0
    keys = folder / "secrets/keys"
    for kind in ("signing", "refresh"):
        (keys / f"{kind}.json").unlink()
    return keys


def pasteable_lines(output):
    """The three commands that the stack prints, as people paste them."""
    lines = [line for line in output.splitlines() if re.match(r"TOKEN=|ACCESS=|curl ", line)]
    assert [line.split("=")[0].split(" ")[0] for line in lines] == ["TOKEN", "ACCESS", "curl"], output
    return lines
