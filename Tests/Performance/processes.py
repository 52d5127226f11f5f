"""Processes of the benchmark: started on chosen cores, watched, and always ended, each by its own id."""

import contextlib
import os
import select
import signal
import subprocess
import time


class BenchError(Exception):
    """Something that keeps the benchmark from giving a figure, in one line."""


def run(command, timeout_seconds=120, core=None, **options):
    """Runs a program to its end and gives what it printed; `core` pins it. Throws BenchError if it fails."""
    if core is not None:
        command = ["taskset", "--cpu-list", str(core), *command]
    try:
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout_seconds, **options)
    except FileNotFoundError as error:
        raise BenchError(f"{command[0]} is missing") from error
    except subprocess.TimeoutExpired as error:
        raise BenchError(f"{command[0]} took longer than {timeout_seconds} s") from error
    if done.returncode != 0:
        words = (done.stderr or done.stdout).decode(errors="replace").strip().splitlines()
        raise BenchError(f"{' '.join(command[:3])} … failed: {' | '.join(words[-3:])}")
    return done.stdout.decode(errors="replace")


@contextlib.contextmanager
def running(command, log_path, environment=None, core=None, stop_signal=signal.SIGTERM):
    """A program that runs as long as the block does. Its errors go to a file."""
    if core is not None:
        # It becomes the program, so that the id is the program's.
        command = ["taskset", "--cpu-list", str(core), *command]
    with open(log_path, "wb") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, env=environment)
    try:
        yield process
    finally:
        process.send_signal(stop_signal)
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def listening_port(process, log_path, limit_seconds=20):
    """The port from the line `listening on PORT` that our servers and the peer print first."""
    ready, _, _ = select.select([process.stdout], [], [], limit_seconds)
    words = process.stdout.readline().decode().split() if ready else []
    if words[:2] != ["listening", "on"]:
        with open(log_path, encoding="utf-8", errors="replace") as log:
            raise BenchError(f"{process.args[-1]} did not start: {log.read()[-300:].strip()}")
    return int(words[2])


def wait_until(is_so, what, limit_seconds=30):
    """Asks again and again until the answer is yes."""
    end = time.monotonic() + limit_seconds
    while not is_so():
        if time.monotonic() > end:
            raise BenchError(f"{what}: not within {limit_seconds} s")
        time.sleep(0.05)


def cpu_and_waiting_ns(process_id):
    """Processor time used by all threads that live, and time they stood ready while others had the core.

    From the scheduler's own account in nanoseconds (proc_pid_schedstat), which is finer than the ticks of `stat`.
    """
    used = waited = 0
    folder = f"/proc/{process_id}/task"
    for thread in os.listdir(folder):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            with open(f"{folder}/{thread}/schedstat", encoding="ascii") as file:
                fields = file.read().split()
                used += int(fields[0])
                waited += int(fields[1])
    return used, waited


def children(process_id):
    """The ids of a process's children, whichever thread started them."""
    found = []
    for thread in os.listdir(f"/proc/{process_id}/task"):
        with open(f"/proc/{process_id}/task/{thread}/children", encoding="ascii") as file:
            found += [int(word) for word in file.read().split()]
    return found


def resident_bytes(process_id):
    """VmRSS, and how much of it is the process's own (anonymous) memory."""
    found = {}
    with open(f"/proc/{process_id}/status", encoding="ascii", errors="replace") as file:
        for line in file:
            name, _, value = line.partition(":")
            if name in ("VmRSS", "RssAnon"):
                found[name] = int(value.split()[0]) * 1024
    return found["VmRSS"], found["RssAnon"]
