"""A Docker engine of the test's own: data, sockets and process id file in a folder, started and ended here.

What an engine changes on the machine beside that (its bridge, the firewall's chains, forwarding) is put back as it was.
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

PREFIX = "vestibule-engine-"
FORWARDING = pathlib.Path("/proc/sys/net/ipv4/ip_forward")
BRIDGE = "docker0"
START_SECONDS = 40
STOP_SECONDS = 60


class CannotStart(Exception):
    """No engine can be had here; the text says why."""


def run(*command, **how):
    """Runs a command and gives what it printed; fails with what it said."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **how)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]} {' '.join(map(str, command[1:4]))} … exited with {done.returncode}: "
                           f"{(done.stderr + done.stdout)[-2000:]}")
    return done.stdout


class Engine:
    """Use with `with`; on the way out everything it started is stopped and its folder is gone."""

    def __init__(self):
        clear_abandoned()
        if _has_bridge() or "DOCKER" in _firewall():
            raise CannotStart(f"another engine's {BRIDGE} or firewall chains are here, which ours would share")
        # Short, for the path of a socket has at most 107 characters.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=PREFIX, dir="/var/tmp"))
        self.host = f"unix://{self.folder}/sock"
        self._process = None

    def __enter__(self):
        before = {"firewall": _firewall(), "forwarding": FORWARDING.read_text()}
        (self.folder / "before.json").write_text(json.dumps(before))
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start(self):
        (self.folder / "config.json").write_text("{}")
        log = open(self.folder / "log", "wb")
        self._process = subprocess.Popen(
            ["dockerd", f"--data-root={self.folder}/data", f"--exec-root={self.folder}/exec",
             f"--pidfile={self.folder}/pid", f"--host={self.host}", f"--config-file={self.folder}/config.json"],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        (self.folder / "owner").write_text(str(os.getpid()))
        limit = time.monotonic() + START_SECONDS
        while time.monotonic() < limit:
            if self._process.poll() is not None:
                raise CannotStart(f"dockerd ended by itself: {self._last_words()}")
            if subprocess.run(["docker", f"--host={self.host}", "info"], capture_output=True).returncode == 0:
                return
            time.sleep(0.1)
        raise CannotStart(f"dockerd did not answer within {START_SECONDS} s: {self._last_words()}")

    def _last_words(self):
        lines = (self.folder / "log").read_text(errors="replace").splitlines()
        return " / ".join(line.split("msg=", 1)[-1] for line in lines[-3:]) or "it said nothing"

    def __exit__(self, *_):
        if self._process:
            if self._process.poll() is None:
                run_quietly("sh", "-c", f"docker --host={self.host} ps --quiet | xargs -r docker --host={self.host} kill")
            _end(self._process.pid, self._process)
        _put_back(self.folder)


def run_quietly(*command):
    subprocess.run(command, capture_output=True)


def clear_abandoned():
    """Ends engines whose test was killed, and removes what they left."""
    for folder in pathlib.Path("/var/tmp").glob(PREFIX + "*"):
        owner = folder / "owner"
        if owner.exists() and pathlib.Path(f"/proc/{owner.read_text()}").exists():
            raise CannotStart(f"another run of this test uses {folder}")
        process = folder / "pid"
        if process.exists():
            number = int(process.read_text())
            command = pathlib.Path(f"/proc/{number}/cmdline")
            # The number may be another program's by now.
            if command.exists() and str(folder) in command.read_bytes().decode(errors="replace"):
                run_quietly("sh", "-c", f"docker --host=unix://{folder}/sock ps --quiet "
                                        f"| xargs -r docker --host=unix://{folder}/sock kill")
                _end(number)
        _put_back(folder)


def _end(number, process=None):
    """Ends dockerd in order; it ends its containerd."""
    try:
        os.kill(number, signal.SIGTERM)
    except ProcessLookupError:
        return
    limit = time.monotonic() + STOP_SECONDS
    while time.monotonic() < limit:
        if process.poll() is not None if process else not pathlib.Path(f"/proc/{number}").exists():
            return
        time.sleep(0.1)
    os.kill(number, signal.SIGKILL)
    if process:
        process.wait()


def _put_back(folder):
    before_file = folder / "before.json"
    if before_file.exists():
        before = json.loads(before_file.read_text())
        for bridge in _bridges():
            run_quietly("ip", "link", "delete", bridge)
        subprocess.run(["iptables-restore"], input=_flush(before["firewall"]), text=True, capture_output=True)
        FORWARDING.write_text(before["forwarding"])
    for mount in sorted(_mounts_below(folder), reverse=True):
        run_quietly("umount", "--lazy", mount)
    shutil.rmtree(folder, ignore_errors=True)


def _flush(firewall):
    """The former rules; tables that weren't in use then are emptied."""
    text = firewall
    for table, chains in {"nat": ["PREROUTING", "INPUT", "OUTPUT", "POSTROUTING"],
                          "filter": ["INPUT", "FORWARD", "OUTPUT"]}.items():
        if f"*{table}\n" not in text:
            text += f"*{table}\n" + "".join(f":{chain} ACCEPT [0:0]\n" for chain in chains) + "COMMIT\n"
    return text


def _firewall():
    done = subprocess.run(["iptables-save"], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else ""


def _bridges():
    """Ours, since there was no engine before: docker0, and those of Compose's networks."""
    links = json.loads(run("ip", "-json", "link", "show", "type", "bridge") or "[]")
    return [link["ifname"] for link in links
            if link.get("ifname") == BRIDGE or link.get("ifname", "").startswith("br-")]


def _has_bridge():
    return pathlib.Path(f"/sys/class/net/{BRIDGE}").exists()


def _mounts_below(folder):
    for line in pathlib.Path("/proc/self/mounts").read_text().splitlines():
        path = line.split(" ")[1]
        if path.startswith(f"{folder}/"):
            yield path
