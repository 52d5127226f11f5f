"""A PostgreSQL server of the benchmark's own: its data in a folder that goes away, reached over a unix socket only."""

import contextlib
import glob
import os
import pwd
import signal

from processes import BenchError, children, cpu_and_waiting_ns, run, running, wait_until

SUPERUSER = "postgres"
SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "100",
    # All of the test's table fits.
    "shared_buffers": "512MB",
    # Nothing here has to last, and nothing of it may disturb a run.
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "autovacuum": "off",
    "max_wal_size": "4GB",
    "checkpoint_timeout": "1h",
}


class PrivatePostgres:
    """A running server."""

    def __init__(self, programs, socket_folder, process_id):
        self.programs = programs
        self.socket_folder = socket_folder
        self.process_id = process_id

    def sql(self, text, database="postgres"):
        """Runs SQL and gives what it printed, columns parted by `|`."""
        return run([
            f"{self.programs}/psql", "--no-psqlrc", "--quiet", "--tuples-only", "--no-align",
            "--set=ON_ERROR_STOP=1", f"--host={self.socket_folder}", f"--username={SUPERUSER}",
            f"--dbname={database}", f"--command={text}"]).strip()

    def pgbench(self, *arguments, database, timeout_seconds=120):
        """Runs pgbench and gives what it printed."""
        return run(
            ["pgbench", f"--host={self.socket_folder}", f"--username={SUPERUSER}", *arguments, database],
            timeout_seconds=timeout_seconds)

    def cpu_ns(self):
        """Processor time so far of the server and of each session and worker that lives, by process id."""
        used = {}
        for process_id in [self.process_id, *children(self.process_id)]:
            with contextlib.suppress(FileNotFoundError):
                used[process_id] = cpu_and_waiting_ns(process_id)[0]
        return used


def cpu_ns_between(before, after):
    """Processor time between two readings; sessions that ended meanwhile are left out."""
    return sum(used - before.get(process_id, 0) for process_id, used in after.items())


def _programs():
    folders = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[-2]), reverse=True)
    for folder in folders + os.environ.get("PATH", "").split(":"):
        if all(os.access(f"{folder}/{name}", os.X_OK) for name in ("initdb", "postgres", "psql")):
            return folder
    raise BenchError("PostgreSQL's server is missing: install the package postgresql")


def _as_server_user(folder):
    """PostgreSQL refuses to be root: the words before a command that make it run as `postgres` instead."""
    if os.geteuid() != 0:
        return []
    try:
        user = pwd.getpwnam("postgres")
    except KeyError as error:
        raise BenchError("there is no user postgres to run PostgreSQL as") from error
    os.chown(folder, user.pw_uid, user.pw_gid)
    return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups", "--"]


@contextlib.contextmanager
def private_postgres(folder):
    """A server that runs as long as the block does. The folder is the caller's, and short, as a socket's path must be."""
    programs = _programs()
    os.makedirs(folder, mode=0o700)
    prefix = _as_server_user(folder)
    data = f"{folder}/data"
    run([
        *prefix, f"{programs}/initdb", f"--pgdata={data}", f"--username={SUPERUSER}", "--encoding=UTF8",
        "--locale=C.UTF-8", "--auth-local=trust", "--auth-host=reject", "--no-sync", "--no-instructions"], cwd="/")
    settings = [f"-c{name}={value}" for name, value in {**SETTINGS, "unix_socket_directories": folder}.items()]
    command = [*prefix, f"{programs}/postgres", "-D", data, *settings]
    # SIGINT is PostgreSQL's fast stop: sessions are ended, not waited for.
    with running(command, f"{folder}.log", stop_signal=signal.SIGINT) as process:
        server = PrivatePostgres(programs, folder, process.pid)

        def accepts():
            if process.poll() is not None:
                with open(f"{folder}.log", encoding="utf-8", errors="replace") as log:
                    raise BenchError(f"PostgreSQL did not start: {log.read()[-300:].strip()}")
            with contextlib.suppress(BenchError):
                return server.sql("SELECT 1") == "1"

        wait_until(accepts, "PostgreSQL accepts")
        yield server
