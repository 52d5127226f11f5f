"""Proxies of other makes before a gateway, as processes of the tests: Debian's HAProxy and Caddy."""

import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess

import process_table
from stack import free_ports

ROOT = pathlib.Path(__file__).resolve().parents[2]
READY_SECONDS = 20
STOP_SECONDS = 15

HAPROXY = """\
global
    maxconn 2000
defaults
    timeout connect 2s
    timeout client 30s
    timeout server 30s
    timeout check 10s
    retries 3
    option redispatch
    option httpchk
    http-check send meth GET uri /readyz ver HTTP/1.1 hdr Host gateway
    http-check expect status 200
    default-server check inter 100ms fall 1 rise 1
"""


@contextlib.contextmanager
def haproxy(folder, *ways):
    """HAProxy with a frontend for each of `ways`; gives their addresses and a function for the states of the servers."""
    binary = _program("haproxy")
    control = folder / "haproxy.sock"
    ports = free_ports(len(ways))
    parts = [HAPROXY.replace("    maxconn", f"    stats socket {control}\n    maxconn")]
    for port, way in zip(ports, ways):
        parts.append(way.text(port))
    file = folder / "haproxy.cfg"
    file.write_text("\n".join(parts))
    checked = subprocess.run([binary, "-c", "-f", file], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr

    def states():
        """UP or DOWN for each server of each way, such as `{("pass", "one"): "UP"}`."""
        told = ask(control, "show stat").splitlines()
        rows = [line.split(",") for line in told if line and not line.startswith("#")]
        return {(row[0], row[1]): row[17].split(" ")[0] for row in rows if row[1] not in ("FRONTEND", "BACKEND")}

    with _process([binary, "-db", "-f", file], folder / "haproxy.log"):
        process_table.wait_until(
            lambda: control.exists() and set(states().values()) == {"UP"}, READY_SECONDS,
            lambda: f"HAProxy's servers; its log is {(folder / 'haproxy.log').read_text()}")
        yield [f"127.0.0.1:{port}" for port in ports], states


class Way:
    """How HAProxy passes requests on, and to which servers.

    - Parameters: `mode` is tcp or http; `on_bind` and `on_server` are added to the lines of these.
    """

    def __init__(self, name, servers, mode="tcp", on_bind="", on_server=""):
        self.name, self._servers, self._mode = name, servers, mode
        self._on_bind, self._on_server = on_bind, on_server

    def text(self, port):
        lines = [f"listen {self.name}", f"    mode {self._mode}", f"    bind 127.0.0.1:{port} {self._on_bind}"]
        lines += [f"    server {name} {address} {self._on_server}" for name, address in self._servers.items()]
        return "\n".join(lines) + "\n"


@contextlib.contextmanager
def caddy(folder, gateway, names="localhost"):
    """Caddy as compose's profile `https` has it, before one gateway; gives the addresses of HTTPS and HTTP and the file
    with the certificate of its authority."""
    https, http, health = free_ports(3)
    gateway_port = gateway.rsplit(":", 1)[1]
    text = (ROOT / "docker/Caddyfile").read_text()
    for before, after in [
            ("dynamic a gateway.front 8080", f"dynamic a localhost {gateway_port}"), ("https_port 8443", f"https_port {https}"),
            ("http_port 8080", f"http_port {http}"), ("http://127.0.0.1:8081", f"http://127.0.0.1:{health}")]:
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    file = folder / "Caddyfile"
    file.write_text(text)
    environment = {
        "PATH": os.environ["PATH"], "HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder),
        "VESTIBULE_HTTPS_NAMES": names, "VESTIBULE_HTTPS_TLS": "tls internal", "VESTIBULE_HTTPS_HSTS_SECONDS": "31536000"}
    authority = folder / "caddy/pki/authorities/local/root.crt"
    certificates = folder / "caddy/certificates/local"
    command = [_program("caddy"), "run", "--config", file, "--adapter", "caddyfile"]
    with _process(command, folder / "caddy.log", environment):
        process_table.wait_until(
            lambda: authority.exists() and all(
                (certificates / name / f"{name}.crt").exists() for name in names.split(", ")), READY_SECONDS,
            lambda: f"Caddy; its log is {(folder / 'caddy.log').read_text()}")
        yield f"127.0.0.1:{https}", f"127.0.0.1:{http}", authority


def _program(name):
    """Debian has some of them where only root's PATH looks."""
    found = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    assert found, f"{name} is not installed; Sources/install-dependencies.sh test installs it"
    return found


@contextlib.contextmanager
def _process(command, log, environment=None):
    with log.open("wb") as file:
        process = subprocess.Popen(
            [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=file, stderr=file, env=environment,
            start_new_session=True)
    try:
        yield
        assert process.poll() is None, log.read_text()
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def ask(control, question):
    """What HAProxy says at its control socket; empty while there is none."""
    with socket.socket(socket.AF_UNIX) as connection, contextlib.suppress(ConnectionRefusedError, FileNotFoundError):
        connection.settimeout(5)
        connection.connect(str(control))
        connection.sendall(f"{question}\n".encode())
        parts = []
        while part := connection.recv(65536):
            parts.append(part)
        return b"".join(parts).decode()
    return ""
