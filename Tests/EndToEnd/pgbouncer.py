"""A PgBouncer between the services of a stack and its PostgreSQL, run by hand (Parts)."""

import contextlib
import os
import pwd
import shutil
import socket
import subprocess

import process_table
from stack import free_ports

SERVICES = ("identity", "profile", "invites")


@contextlib.contextmanager
def running(parts, mode, sessions=20):
    """Starts one whose mode is `session` or `transaction`, and which shares out so many sessions of PostgreSQL to each service; gives the
    settings with which the services reach PostgreSQL by way of it."""
    folder = parts.stack.folder.parent / f"pgbouncer-{mode}"
    folder.mkdir()
    host, port = parts.setting("identity", "VESTIBULE_DATABASE_HOST"), parts.setting("identity", "VESTIBULE_DATABASE_PORT")
    listen, = free_ports(1)
    users = {}
    for service in SERVICES:
        password_file = parts.setting(service, f"VESTIBULE_{service.upper()}_DATABASE_PASSWORD_FILE")
        with open(password_file) as file:
            users[parts.setting(service, f"VESTIBULE_{service.upper()}_DATABASE_USER")] = file.read().strip()
    (folder / "users").write_text("".join(f'"{user}" "{password}"\n' for user, password in users.items()))
    (folder / "settings").write_text(f"""[databases]
* = host={host} port={port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {listen}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = {folder}/users
pool_mode = {mode}
default_pool_size = {sessions}
max_client_conn = 500
logfile = {folder}/log
""")
    # PgBouncer never runs as root.
    account = {}
    if os.geteuid() == 0:
        owner = pwd.getpwnam("postgres")
        for path in (folder, folder / "users", folder / "settings"):
            shutil.chown(path, owner.pw_uid, owner.pw_gid)
        account = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
    (folder / "users").chmod(0o600)
    process = subprocess.Popen([shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin"), "-q", folder / "settings"],
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/", **account)

    def answers():
        assert process.poll() is None, (folder / "log").read_text()
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", listen), timeout=1):
            return True
        return False

    try:
        process_table.wait_until(answers, 10, "PgBouncer to listen")
        yield {"VESTIBULE_DATABASE_HOST": "127.0.0.1", "VESTIBULE_DATABASE_PORT": str(listen), "VESTIBULE_DATABASE_POOLER": mode}
    finally:
        process.terminate()
        process.wait(timeout=10)


def direct(parts):
    """The settings that name PostgreSQL itself beside a pooler; before the services go by way of one."""
    return {"VESTIBULE_DATABASE_DIRECT_HOST": parts.setting("identity", "VESTIBULE_DATABASE_HOST"),
            "VESTIBULE_DATABASE_DIRECT_PORT": parts.setting("identity", "VESTIBULE_DATABASE_PORT")}
