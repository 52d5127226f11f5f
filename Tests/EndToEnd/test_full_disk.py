"""PostgreSQL's disk is full: calls say so, the system isn't ready, and it is again by itself when there is room."""

import contextlib
import pathlib
import shutil
import subprocess
import tempfile

import pytest

import process_table
from app import App
from metrics import Metrics
from stack import Stack, clean_environment, program

#: Enough for a new cluster and the programs' tables.
MEGABYTES = 160


@contextlib.contextmanager
def small_disk():
    """A file system of its own."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="ve2e-", dir="/tmp"))
    folder.chmod(0o755)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={MEGABYTES}m,mode=0755", "vestibule-test", folder], capture_output=True, text=True)
    try:
        if mounted.returncode != 0:
            pytest.skip(f"only a user who may mount can make a disk full: {mounted.stderr.strip()}")
        yield folder
    finally:
        if mounted.returncode == 0:
            subprocess.run(["umount", "--lazy", folder], check=True)
        shutil.rmtree(folder, ignore_errors=True)


def fill(file):
    """Takes all room there is."""
    with file.open("wb", buffering=0) as out, contextlib.suppress(OSError):
        while True:
            out.write(bytes(1 << 20))
    with file.open("ab", buffering=0) as out, contextlib.suppress(OSError):
        while True:
            out.write(bytes(512))


def readiness(stack):
    return stack.gateway.get("/readyz")


def test_a_full_disk_is_told_and_mended_without_a_restart(tmp_path):
    with small_disk() as disk:
        # The simulator has a file of its own.
        stack = Stack(disk / "stack", VESTIBULE_SIMULATOR_STATE_FILE=str(tmp_path / "simulator.json"))
        stack.start()
        try:
            app = App(stack)
            app.sign_in()
            assert readiness(stack).status == 200
            filler = disk / "filler"
            fill(filler)
            # Old pages have room for some.
            for _ in range(400):
                person = App(stack)
                answer = person.present("apple", person.ask_apple())
                if answer.status != 200:
                    break
            answer.problem(503, "DATABASE_UNAVAILABLE")
            process_table.wait_until(lambda: readiness(stack).status == 503, 10, lambda: "the system to say that it isn't ready")
            assert Metrics(stack.metrics_addresses["identity"]).sum("vestibule_postgres_refused_writes_total", reason="disk_full") > 0
            status = subprocess.run(
                [program("vestibule"), "status"], env={**clean_environment(), "VESTIBULE_RUN_FOLDER": str(stack.folder)},
                capture_output=True, text=True, timeout=60)
            assert status.returncode == 1 and "its disk is full" in status.stdout
            # What is only read goes on.
            assert app.get("/me").status == 200
            filler.unlink()
            process_table.wait_until(lambda: readiness(stack).status == 200, 10, lambda: "the system to be ready again")
            App(stack).sign_in()
        finally:
            assert stack.stop() == 0, stack.output
