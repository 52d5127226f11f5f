"""Three PostgreSQL servers under Patroni and etcd, all on loopback, each a child of ours."""

import contextlib
import datetime
import json
import os
import pathlib
import pwd
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "EndToEnd"))

import process_table
from stack import free_ports

NAMES = ("a", "b", "c")
START_SECONDS, ELECTION_SECONDS, REJOIN_SECONDS = 60, 90, 120
# How soon a leader that is gone without a word is missed. Patroni's default is 30.
TTL_SECONDS = 20
SETTINGS = """scope: vestibule
name: {name}
log: {{level: INFO}}
restapi: {{listen: "127.0.0.1:{api}", connect_address: "127.0.0.1:{api}"}}
etcd3: {{hosts: "127.0.0.1:{etcd}"}}
bootstrap:
  dcs:
    ttl: {ttl}
    loop_wait: 5
    retry_timeout: 5
    maximum_lag_on_failover: 1048576
    synchronous_mode: true
    postgresql:
      use_pg_rewind: true
      use_slots: true
      parameters: {{max_connections: 200, wal_keep_size: 256MB, max_wal_senders: 10, max_replication_slots: 10}}
  initdb: [{{encoding: UTF8}}, data-checksums]
  pg_hba: [local all all trust, host all all 127.0.0.0/8 trust, host replication all 127.0.0.0/8 trust]
postgresql:
  listen: "{host}:{port}"
  connect_address: "{host}:{port}"
  data_dir: {folder}/data
  bin_dir: {programs}
  pgpass: {folder}/pgpass
  authentication:
    superuser: {{username: postgres}}
    replication: {{username: replicator}}
    rewind: {{username: rewinder}}
  parameters: {{unix_socket_directories: "{folder}", shared_buffers: 64MB, log_timezone: UTC}}
"""


class Cluster:
    """Use with `with`."""

    def __init__(self, folder):
        self._folder = folder
        *apis, self._etcd_port, peer, self.port = free_ports(len(NAMES) + 3)
        self._apis = dict(zip(NAMES, apis))
        self._peer = peer
        # One port at an address each, as one variable names it for all.
        self.hosts = {name: f"127.0.77.{number}" for number, name in enumerate(NAMES, 1)}
        self._processes = {}
        self._programs = pathlib.Path(max(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name)))

    def __enter__(self):
        try:
            self._start_all()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for name, process in self._processes.items():
            if name in NAMES:
                self._end_postgres(name)
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            process.wait()
        # A supervisor may have begun another server before its end.
        for name in NAMES:
            self._end_postgres(name)

    def _start_all(self):
        self._folder.mkdir(mode=0o755)
        self._give(self._folder)
        self._spawn("etcd", [
            "etcd", "--name", "etcd", "--data-dir", self._folder / "etcd",
            "--listen-client-urls", f"http://127.0.0.1:{self._etcd_port}", "--advertise-client-urls", f"http://127.0.0.1:{self._etcd_port}",
            "--listen-peer-urls", f"http://127.0.0.1:{self._peer}", "--initial-advertise-peer-urls", f"http://127.0.0.1:{self._peer}",
            "--initial-cluster", f"etcd=http://127.0.0.1:{self._peer}"])
        process_table.wait_until(lambda: self._get(self._etcd_port, "/health"), START_SECONDS, "etcd")
        for name in NAMES:
            folder = self._folder / name
            folder.mkdir(mode=0o700)
            (folder / "patroni.yaml").write_text(SETTINGS.format(
                name=name, api=self._apis[name], etcd=self._etcd_port, ttl=TTL_SECONDS, host=self.hosts[name], port=self.port,
                folder=folder, programs=self._programs))
            self._give(folder)
            self.start(name)
            # The first one makes the data that the others copy.
            process_table.wait_until(lambda: self.state(name).get("state") in ("running", "streaming"), START_SECONDS, lambda: self.log(name))
        process_table.wait_until(self.is_whole, REJOIN_SECONDS, lambda: f"three servers; they are {self.states()}")
        self.sql(self.leader(), "CREATE TABLE writes (at timestamptz)")

    def start(self, name):
        self._spawn(name, ["patroni", self._folder / name / "patroni.yaml"])

    def _spawn(self, name, command):
        with open(self._folder / f"{name}.log", "ab") as log:
            self._processes[name] = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/", start_new_session=True, **self._account())

    @staticmethod
    def _account():
        """PostgreSQL never runs as root."""
        if os.geteuid() != 0:
            return {}
        owner = pwd.getpwnam("postgres")
        return {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}

    def _give(self, path):
        if account := self._account():
            shutil.chown(path, account["user"], account["group"])

    # What is so

    def log(self, name):
        return (self._folder / f"{name}.log").read_text(errors="replace")[-4000:]

    @staticmethod
    def _get(port, path):
        with contextlib.suppress(OSError, ValueError):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=2) as answer:
                    return json.load(answer)
            except urllib.error.HTTPError as error:
                return json.load(error)
        return {}

    def state(self, name):
        """What Patroni says of a server."""
        return self._get(self._apis[name], "/patroni")

    def states(self):
        return {name: {key: state.get(key) for key in ("role", "state", "timeline", "sync_standby")}
                for name in NAMES for state in [self.state(name)]}

    def members(self):
        return {member["name"]: member for member in self._get(next(iter(self._apis.values())), "/cluster").get("members", [])}

    def is_whole(self, is_synchronous=True):
        """Whether there is a leader with two standbys that follow it on its timeline, of which one confirms commits."""
        leader = self.leader()
        if not leader:
            return False
        rows = self.sql(leader, "SELECT application_name, state, sync_state FROM pg_stat_replication").splitlines()
        following = [row.split("|") for row in rows]
        return len([row for row in following if row[1] == "streaming"]) == len(NAMES) - 1 and (
            not is_synchronous or any(row[2] in ("sync", "quorum") for row in following))

    def leader(self):
        """The server that is no standby and holds the lock, or None."""
        for name in NAMES:
            state = self.state(name)
            if state.get("role") in ("master", "primary") and state.get("state") == "running":
                return name
        return None

    def sql(self, name, text, seconds=5):
        """Runs SQL as superuser on a server; raises `CalledProcessError` or `TimeoutExpired` if it can't."""
        result = subprocess.run(
            ["psql", "--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1", f"--host={self._folder / name}",
             f"--port={self.port}", "--username=postgres", "--dbname=postgres", "--no-password", "--command", text],
            capture_output=True, text=True, timeout=seconds, check=True, env={**os.environ, "PGCONNECT_TIMEOUT": "2"})
        return result.stdout.strip()

    def timeline(self, name):
        return int(self.sql(name, "SELECT left(pg_walfile_name(pg_current_wal_lsn()), 8)"), 16)

    def set_synchronous(self, is_synchronous):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self._apis[self.leader()]}/config", json.dumps({"synchronous_mode": is_synchronous}).encode(),
            {"Content-Type": "application/json"}, method="PATCH")
        urllib.request.urlopen(request, timeout=5).close()

        def is_so():
            names = self.sql(self.leader(), "SHOW synchronous_standby_names")
            return bool(names) == is_synchronous
        process_table.wait_until(is_so, 60, "another replication")

    # What is done to it

    def _postmaster(self, name):
        """The server's first process, if it is of this cluster."""
        folder = self._folder / name / "data"
        try:
            process = int((folder / "postmaster.pid").read_text().split("\n")[0])
        except (OSError, ValueError):
            return None
        return process if str(folder) in " ".join(process_table.command_line(process)) else None

    def _end_postgres(self, name):
        process = self._postmaster(name)
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGSTOP)  # First, or it could make another child while we look.
            for each in [process, *process_table.children(process)]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(each, signal.SIGKILL)

    def kill(self, name):
        """Ends a server and its Patroni at once, as a machine that loses its power."""
        process = self._processes.pop(name)
        process.kill()
        self._end_postgres(name)
        process.wait()

    def senders(self, name):
        """The processes of a server that send its WAL to standbys."""
        return [int(each) for each in self.sql(name, "SELECT pid FROM pg_stat_replication").splitlines()]

    def wait_for_writes(self, without, seconds=ELECTION_SECONDS):
        """Waits until another server has taken a write; returns its name and since when it takes them, in Unix seconds."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for name in (name for name in NAMES if name != without):
                with contextlib.suppress(subprocess.SubprocessError):
                    self.sql(name, "INSERT INTO writes VALUES (now())", seconds=2)
                    return name, self._opened(name)
            time.sleep(0.05)
        raise AssertionError(f"no server takes writes; they are {self.states()}")

    def _opened(self, name):
        """When a server said last that it takes writes, in Unix seconds."""
        found = re.findall(r"^(\S+ \S+) UTC .*database system is ready to accept connections$",
                           (self._folder / f"{name}.log").read_text(errors="replace"), re.MULTILINE)
        return datetime.datetime.fromisoformat(f"{found[-1]}+00:00").timestamp()
