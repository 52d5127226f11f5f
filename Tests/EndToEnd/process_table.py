"""What runs on this machine, read from /proc: which processes belong to a stack, and what they were started with."""

import os
import pathlib
import time


def identifiers():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def command_line(process):
    return _words(process, "cmdline")


def environment(process):
    return dict(word.split("=", 1) for word in _words(process, "environ") if "=" in word)


def is_running(process):
    """Whether the process is there and has not ended (a zombie has, and only waits to be collected)."""
    return _state(process) not in (None, "Z", "X")


def belonging_to(folder):
    """The processes that work on a stack's folder: by their environment, command line or working folder."""
    folder = str(folder)
    found = []
    for process in identifiers():
        if process == os.getpid() or not is_running(process):
            continue
        places = [_link(process, "cwd")]
        told = _words(process, "environ") + _words(process, "cmdline")
        if any(place.startswith(folder) for place in places) or any(folder in word for word in told):
            found.append(process)
    return found


def describe(processes):
    return ", ".join(f"{process} ({' '.join(command_line(process))[:120]})" for process in processes)


def start_time_seconds(process):
    """When a process began, in seconds since 1970."""
    ticks = int(pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19])
    boot = next(line for line in pathlib.Path("/proc/stat").read_text().splitlines() if line.startswith("btime"))
    return int(boot.split()[1]) + ticks / os.sysconf("SC_CLK_TCK")


def children(process):
    try:
        return [int(word) for word in pathlib.Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except OSError:
        return []


def wait_until(condition, seconds, what):
    """The condition's first true answer; fails with `what` if there is none in time."""
    end = time.monotonic() + seconds
    while True:
        answer = condition()
        if answer:
            return answer
        assert time.monotonic() < end, f"not within {seconds} s: {what() if callable(what) else what}"
        time.sleep(0.02)


def _words(process, name):
    try:
        content = pathlib.Path(f"/proc/{process}/{name}").read_bytes()
    except OSError:
        return []
    return [word.decode(errors="replace") for word in content.split(b"\0") if word]


def _link(process, name):
    try:
        return os.readlink(f"/proc/{process}/{name}")
    except OSError:
        return ""


def _state(process):
    try:
        text = pathlib.Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return None
    return text.rpartition(")")[2].split()[0]
