"""Servers that answer a small JSON over HTTP, to hold the edge against: each in clear text, over HTTP/2 and over TLS where it can."""

import contextlib
import dataclasses
import os
import shutil

import peers
from h2load import Target
from processes import BenchError, children, listening_port, run, running, wait_until
from service_stack import free_ports

NGINX, GO, HUMMINGBIRD = "nginx", "Go net/http", "Hummingbird"
JSON_SWIFT_PACKAGE = os.path.join(peers.FOLDER, "json-swift")
PATH = "small"
# What all of them answer, ours too.
ANSWER = b'{"message":"' + b"s" * 50 + b'"}'
NGINX_CONFIGURATION = """
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
events {{ worker_connections 4096; }}
http {{
    access_log off;
    keepalive_requests 1000000000;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{clear};
        listen 127.0.0.1:{http2} http2;
        listen 127.0.0.1:{tls} ssl;
        ssl_certificate {certificate};
        ssl_certificate_key {key};
        ssl_protocols TLSv1.3;
        location /{path} {{
            default_type application/json;
            return 200 '{answer}';
        }}
    }}
}}
"""


@dataclasses.dataclass
class HTTPPeer:
    """A server that answers: its targets by protocol."""
    name: str
    http1: Target
    http2: Target | None = None
    tls: Target | None = None


def target(process_id, port, scratch, is_encrypted=False, is_http1=True, path=PATH, answer_bytes=len(ANSWER)):
    """One request at a time on each of 32 connections, as many phones would."""
    found = Target(process_id, port, path, None, answer_bytes, scratch, is_encrypted)
    found.connections, found.in_flight = 32, 1
    found.speak(is_http1)
    return found


def check(found, wanted=ANSWER):
    """Throws unless the answer is exactly the wanted one."""
    answer = found.answer()
    if answer != wanted:
        raise BenchError(f"{found.url} answered {answer[:80]!r}, not {wanted[:80]!r}")


def nginx_program():
    """Its path, which for users other than root is not where programs are looked for; None if it is not there."""
    return shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")


@contextlib.contextmanager
def _nginx(options, scratch, certificate):
    program = nginx_program()
    if program is None:
        raise BenchError("install the package nginx-light")
    folder = os.path.join(scratch, "nginx")
    os.makedirs(folder, exist_ok=True)
    clear, http2, tls = free_ports(3)
    configuration = os.path.join(folder, "nginx.conf")
    with open(configuration, "w", encoding="utf-8") as file:
        file.write(NGINX_CONFIGURATION.format(
            folder=folder, clear=clear, http2=http2, tls=tls, certificate=certificate[0], key=certificate[1], path=PATH,
            answer=ANSWER.decode()))
    # Its workers would run as another user, who may not see the folder; ours has nothing to protect from ours.
    user = ["-g", "user root;"] if os.geteuid() == 0 else []
    log = os.path.join(folder, "log")
    with running([program, "-c", configuration, *user], log, core=options.server_core) as process:
        def is_up():
            if process.poll() is not None:
                with open(log, encoding="utf-8", errors="replace") as file:
                    raise BenchError(f"nginx did not start: {file.read()[-300:].strip()}")
            return len(children(process.pid)) == 1

        wait_until(is_up, "nginx has a worker")
        worker = children(process.pid)[0]
        found = HTTPPeer(
            NGINX, target(worker, clear, scratch), target(worker, http2, scratch, is_http1=False),
            target(worker, tls, scratch, is_encrypted=True))
        wait_until(lambda: found.http1.status() == 200, "nginx answers", 10)
        yield found


@contextlib.contextmanager
def _go(options, scratch, certificate):
    if shutil.which("go") is None:
        raise BenchError("install the package golang-go")
    program = os.path.join(scratch, "json-peer-go")
    environment = {**os.environ, "GO111MODULE": "off", "GOCACHE": os.path.join(scratch, "go-cache")}
    run(["go", "build", "-o", program, f"{peers.FOLDER}/go/json_peer.go"], timeout_seconds=600, env=environment)
    environment = {**os.environ, "GOMAXPROCS": "1"}
    with contextlib.ExitStack() as stack:
        targets = []
        for arguments in ((), certificate):
            log = os.path.join(scratch, f"json-peer-go-{len(arguments)}.log")
            process = stack.enter_context(
                running([program, *arguments], log, environment=environment, core=options.server_core))
            targets.append(
                target(process.pid, listening_port(process, log), scratch, is_encrypted=bool(arguments)))
        yield HTTPPeer(GO, targets[0], tls=targets[1])


@contextlib.contextmanager
def _hummingbird(options, scratch, _):
    folder = options.peer_binaries or peers.swift_build(options, JSON_SWIFT_PACKAGE, "--product", "json-peer")
    log = os.path.join(scratch, "json-peer.log")
    with running([f"{folder}/json-peer"], log, core=options.server_core) as process:
        yield HTTPPeer(HUMMINGBIRD, target(process.pid, listening_port(process, log), scratch))


def enter_all(stack, options, scratch, certificate):
    """Starts all that there are, for as long as the stack holds them: (peers by name, lines about the others)."""
    found, missing = {}, []
    for name, start in ((NGINX, _nginx), (GO, _go), (HUMMINGBIRD, _hummingbird)):
        try:
            peer = stack.enter_context(start(options, scratch, certificate))
            for one in (peer.http1, peer.http2, peer.tls):
                if one is not None:
                    check(one)
            found[name] = peer
        except BenchError as error:
            missing.append(f"Missing peer {name}: {error}")
    return found, missing
