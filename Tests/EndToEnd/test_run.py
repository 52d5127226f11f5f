"""`vestibule run`, `demo` and `clean-data`: how the whole starts, says what is wrong, and ends."""

import json
import os
import re
import signal
import socket
import stat
import subprocess
import time

import pytest

import process_table
from app import App
from stack import PROGRAMS, STOP_SECONDS, binaries, clean_environment, new_stack, pasteable_lines, run_vestibule


def expect_one_line(result, *words):
    """A failure that says what it is in one line."""
    assert result.returncode != 0
    told = (result.stdout + result.stderr).splitlines()
    assert len(told) == 1, told
    for word in words:
        assert word in told[0], told[0]


# A running stack

def test_it_says_what_runs_where(stack):
    for name in ("simulator", "gateway"):
        assert f"http://{stack.addresses[name]}" in stack.output
    for name in ("identity", "profile", "invites"):
        assert f"grpc://{stack.addresses[name]}" in stack.output
    assert str(stack.folder / "logs") in stack.output and str(stack.folder / "postgres") in stack.output
    assert "Ctrl-C" in stack.output
    assert f"Vestibule is ready: http://{stack.addresses['gateway']}/ " in stack.output
    assert f"Simulator: http://{stack.addresses['simulator']}/ " in stack.output


def test_the_printed_lines_work_when_pasted(stack):
    lines = "\n".join(pasteable_lines(stack.output))
    # Twice: people do.
    for _ in range(2):
        result = subprocess.run(
            ["sh"], input=lines + "\n", capture_output=True, text=True, env=clean_environment(), timeout=60)
        assert result.returncode == 0 and result.stderr == ""
        assert json.loads(result.stdout)["missing_fields"] == ["display_name", "phone_number"]


def test_the_demo_passes_again_and_again(stack):
    for _ in range(2):
        result = run_vestibule("demo", environment=stack.environment)
        assert result.returncode == 0, result.stdout + result.stderr
        steps = [re.fullmatch(r" *(\d+) +\d+\.\d ms  ok  (.+)", line) for line in result.stdout.splitlines()]
        assert all(steps), result.stdout
        assert [int(step[1]) for step in steps] == list(range(1, len(steps) + 1)) and len(steps) >= 10


def test_a_second_run_at_the_same_time(stack):
    result = run_vestibule("run", environment=stack.environment)
    expect_one_line(result, "already running", str(stack.folder))
    stack.gateway.get("/readyz").expect(200)


def test_clean_data_refuses_while_it_runs(stack):
    expect_one_line(run_vestibule("clean-data", environment=stack.environment), "already running")
    stack.gateway.get("/readyz").expect(200)


def test_it_listens_on_loopback_only(stack):
    """Development secrets and a simulator that signs anybody in are nobody else's."""
    ports = {f"{int(address.rsplit(':', 1)[1]):04X}" for address in stack.addresses.values()}
    with open("/proc/net/tcp") as table:
        listeners = [line.split()[1] for line in table if line.split()[3] == "0A"]
    places = {place.split(":")[0] for place in listeners if place.split(":")[1] in ports}
    assert places == {"0100007F"}


# What keeps it from starting

@pytest.mark.parametrize("name", PROGRAMS)
def test_a_port_that_is_taken(name):
    with new_stack() as stack, socket.socket() as holder:
        host, port = stack.addresses[name].split(":")
        holder.bind((host, int(port)))
        holder.listen()
        result = run_vestibule("run", environment=stack.environment)
        expect_one_line(result, f"port {port} is taken", f"(pid {os.getpid()})", name, f"VESTIBULE_{name.upper()}_LISTEN")
        stack.expect_nothing_left()
        assert not (stack.folder / "postgres").exists()


def test_a_program_that_is_missing(tmp_path):
    with new_stack(VESTIBULE_RUN_PROGRAMS=str(tmp_path)) as stack:
        expect_one_line(run_vestibule("run", environment=stack.environment), f"{tmp_path}/simulator is missing")
        stack.expect_nothing_left()


def programs_but(folder, name, script):
    """A folder of the programs with one that is a script."""
    for program in PROGRAMS:
        if program != name:
            (folder / program).symlink_to(binaries() / program)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(stat.S_IRWXU)


@pytest.mark.parametrize("script, words", [
    ('echo "disk of tables is full" >&2; exit 3', "identity-migrate ended with status 3"),
    ('[ "$1" = migrate ] || { echo "disk of tables is full" >&2; kill -SEGV $$; }',
     "identity was ended by signal 11")], ids=["at migration", "at start"])
def test_a_crash_at_start(tmp_path, script, words):
    programs_but(tmp_path, "identity", script)
    with new_stack(VESTIBULE_RUN_PROGRAMS=str(tmp_path)) as stack:
        stack.spawn()
        assert stack.wait() == 1, stack.output
        # What it is, and the last words of who is to blame.
        assert words in stack.output and "disk of tables is full" in stack.output
        assert "Vestibule is ready" not in stack.output


def test_a_program_that_never_gets_ready(tmp_path):
    programs_but(tmp_path, "gateway", "exec sleep 1000")
    with new_stack(VESTIBULE_RUN_PROGRAMS=str(tmp_path), VESTIBULE_RUN_READY_LIMIT="2s") as stack:
        stack.spawn()
        assert stack.wait() == 1
        assert re.search("not ready in time: .*gateway; logs are in", stack.output)


def test_ctrl_c_while_it_starts():
    with new_stack() as stack:
        stack.spawn()
        process_table.wait_until(lambda: "postgresql" in stack.output, 60, lambda: f"PostgreSQL; got {stack.output}")
        assert stack.stop() == 0, stack.output
        assert "Vestibule is ready" not in stack.output


def test_a_second_ctrl_c_kills():
    with new_stack() as stack:
        stack.start()
        # It will not end by itself.
        os.kill(stack.process_of("profile"), signal.SIGSTOP)
        stack.process.send_signal(signal.SIGINT)
        process_table.wait_until(lambda: "stopping" in stack.output, 10, "the first one's effect")
        # Within half a second it would be the first one, handed on by make.
        time.sleep(0.6)
        stack.process.send_signal(signal.SIGINT)
        assert stack.process.wait(timeout=5) == 130
        stack.expect_nothing_left(seconds=STOP_SECONDS)


def test_the_demo_without_a_stack():
    with new_stack() as stack:
        result = run_vestibule("demo", environment=stack.environment)
        assert result.returncode == 1
        assert len(result.stderr.splitlines()) == 1 and stack.addresses["gateway"] in result.stderr


# Its end, and what stays

def test_data_is_kept(tmp_path):
    """Through a Ctrl-C, through a kill without any chance to clean up, and by a configuration file."""
    with new_stack() as stack:
        file = tmp_path / "vestibule.conf"
        given = {name: value for name, value in stack.environment.items() if name.startswith("VESTIBULE_")}
        given["VESTIBULE_LOG_FORMAT"] = "json"
        file.write_text("".join(f"{name}={value}\n" for name, value in given.items()))
        for name in given:
            stack.environment.pop(name, None)

        stack.start("--config", str(file))
        app = App(stack)
        app.sign_in()
        profile = app.complete()
        group = app.create_group()
        assert stack.stop(signal.SIGINT) == 0
        assert stack.output.splitlines()[-1] == "stopped"
        for name, text in stack.logs().items():
            if name.removesuffix(".log") in PROGRAMS:
                assert {"level", "message"} <= set.intersection(*(set(json.loads(line)) for line in text.splitlines()))

        stack.start("--config", str(file))
        # The keys stayed, so the tokens are good; the session stayed, and everything in it.
        assert app.get("/me").expect(200) == profile
        app.refresh().expect(200)
        assert app.group_ids() == [group]
        assert app.sign_in()["is_new_user"] is False and app.told_user is None

        stack.process.kill()
        stack.process.wait()
        # Nobody is there to stop them, yet they end.
        stack.expect_nothing_left(seconds=STOP_SECONDS)
        stack.start("--config", str(file))
        assert app.get("/me").expect(200) == profile
        assert stack.stop(signal.SIGTERM) == 0
        stack.expect_no_confidences()


def test_clean_data_forgets():
    with new_stack() as stack:
        stack.start()
        app = App(stack)
        app.sign_in()
        assert stack.stop() == 0
        result = run_vestibule("clean-data", environment=stack.environment)
        assert (result.returncode, result.stderr) == (0, "") and str(stack.folder) in result.stdout
        assert not stack.folder.exists()
        # And again, when there is nothing to forget.
        assert run_vestibule("clean-data", environment=stack.environment).returncode == 0

        stack.start()
        app.gateway.post("/auth/refresh", {"refresh_token": app.refresh_token}).problem(401, "REFRESH_TOKEN_INVALID")
        assert app.sign_in()["is_new_user"] is True
        assert stack.stop() == 0


def test_clean_data_leaves_what_is_not_its_own(tmp_path):
    (tmp_path / "postgres").mkdir()
    (tmp_path / "postgres/precious").write_text("x")
    (tmp_path / "thesis.txt").write_text("x")
    result = run_vestibule("clean-data", environment={"VESTIBULE_RUN_FOLDER": str(tmp_path)})
    expect_one_line(result, str(tmp_path))
    assert (tmp_path / "postgres/precious").exists() and (tmp_path / "thesis.txt").exists()


@pytest.mark.parametrize("name", ["profile", "simulator"])
def test_a_program_that_dies_is_reported_and_started_again(name):
    with new_stack() as stack:
        stack.start()
        before = stack.process_of(name)
        os.kill(before, signal.SIGKILL)
        process_table.wait_until(
            lambda: f"{name} was ended by signal 9; it is started again in 0.5 s" in stack.output, 10, lambda: stack.output)
        stack.wait_for_restart(name, before)
        app = App(stack)
        app.sign_in()
        app.complete()
        # Its log goes on in the same file.
        assert (stack.folder / f"logs/{name}.log").read_text().count("listening") == 2
        assert stack.stop() == 0, stack.output


def test_a_program_that_dies_again_and_again_is_started_later_each_time():
    with new_stack() as stack:
        stack.start()
        for wait in ("0.5", "1.0", "2.0"):
            before = stack.process_of("invites")
            os.kill(before, signal.SIGKILL)
            process_table.wait_until(
                lambda: f"invites was ended by signal 9; it is started again in {wait} s" in stack.output, 10,
                lambda: stack.output)
            stack.wait_for_restart("invites", before)
        assert stack.stop() == 0, stack.output


def test_ctrl_c_while_a_program_waits_for_its_restart():
    with new_stack() as stack:
        stack.start()
        os.kill(stack.process_of("profile"), signal.SIGKILL)
        process_table.wait_until(lambda: "profile was ended by signal 9" in stack.output, 10, lambda: stack.output)
        assert stack.stop() == 0, stack.output


def test_postgresql_that_dies_is_reported_and_everything_stops():
    with new_stack() as stack:
        stack.start()
        os.kill(stack.postmaster, signal.SIGKILL)
        assert stack.process.wait(timeout=STOP_SECONDS) == 1
        process_table.wait_until(
            lambda: not process_table.belonging_to(stack.folder), STOP_SECONDS,
            lambda: process_table.describe(process_table.belonging_to(stack.folder)))
        assert f"PostgreSQL ended by itself; its log is {stack.folder}/postgres/server.log" in stack.output
        # What a crash leaves is no obstacle.
        stack.start()
        assert stack.stop() == 0
