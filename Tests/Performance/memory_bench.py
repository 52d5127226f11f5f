"""The resident memory of an idle service: identity, with its database and its providers' keys."""

import base64
import contextlib
import hashlib
import hmac
import http.server
import json
import os
import threading
import time

from load import Target
from processes import BenchError, resident_bytes, run, running, wait_until
from report import Bar, Figure

RESIDENT_BYTES_MAX = 40_000_000
SETTLE_SECONDS = 5
CALLS = 1000
DATABASE = "identity_bench"
UNAUTHENTICATED = 16


def base64url(content):
    """RFC 4648 section 5, without padding."""
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode("ascii")


def refresh_token(key):
    """A token that this server could have made, of a session that does not exist: refused by the database alone."""
    session = bytearray(os.urandom(16))
    session[6] = session[6] & 0x0F | 0x70  # UUID version 7
    session[8] = session[8] & 0x3F | 0x80
    content = bytes(session) + (1).to_bytes(4, "big") + os.urandom(16)
    return "vrt1_" + base64url(content + hmac.new(key, content, hashlib.sha256).digest())


@contextlib.contextmanager
def provider_keys(scratch):
    """A web server on loopback with one RSA key, in the place of Apple's and Google's."""
    private = os.path.join(scratch, "provider.pem")
    run(["openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", private])
    modulus = run(["openssl", "rsa", "-in", private, "-noout", "-modulus"]).strip().partition("=")[2]
    key = {"kty": "RSA", "use": "sig", "alg": "RS256", "kid": "bench", "n": base64url(bytes.fromhex(modulus)),
           "e": "AQAB"}
    body = json.dumps({"keys": [key]}).encode()
    asked = threading.Event()

    class Handler(http.server.BaseHTTPRequestHandler):
        """Answers every GET with the keys."""

        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            asked.set()

        def log_message(self, *_):
            """Nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/keys", asked
    finally:
        server.shutdown()
        server.server_close()


def configuration(options, scratch, postgres, keys_url):
    """What identity is told, and the key of its refresh tokens."""
    signing_key = os.path.join(scratch, "signing.pem")
    run(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", signing_key])
    refresh_key = os.urandom(32)
    refresh_key_path = os.path.join(scratch, "refresh-key")
    for path, content in ((refresh_key_path, refresh_key), (signing_key, None)):
        if content is not None:
            with open(path, "wb") as file:
                file.write(content)
        os.chmod(path, 0o600)
    environment = {
        "PATH": os.environ.get("PATH", ""),
        "VESTIBULE_DATABASE_HOST": postgres.socket_folder,
        "VESTIBULE_DATABASE_NAME": DATABASE,
        "VESTIBULE_IDENTITY_DATABASE_USER": "postgres",
        "VESTIBULE_IDENTITY_LISTEN": f"127.0.0.1:{options.identity_port}",
        "VESTIBULE_IDENTITY_SIGNING_KEY_FILE": signing_key,
        "VESTIBULE_IDENTITY_REFRESH_KEY_FILE": refresh_key_path,
        "VESTIBULE_IDENTITY_APPLE_KEYS_URL": keys_url,
        "VESTIBULE_IDENTITY_GOOGLE_KEYS_URL": keys_url,
    }
    return environment, refresh_key


def measure(options, scratch, postgres):
    """Starts identity and reads its memory, idle and after calls. Gives the figures and the bars."""
    program = f"{options.binaries}/identity"
    postgres.sql(f"CREATE DATABASE {DATABASE}")
    postgres.sql("CREATE SCHEMA identity", DATABASE)
    with provider_keys(scratch) as (keys_url, asked):
        environment, refresh_key = configuration(options, scratch, postgres, keys_url)
        run([program, "migrate"], env=environment)
        log = os.path.join(scratch, "identity.log")
        with running([program], log, environment=environment) as process:
            return _measure(options, scratch, process, log, refresh_key, asked)


def _measure(options, scratch, process, log, refresh_key, asked):
    health = Target(process.pid, options.identity_port, "grpc.health.v1.Health/Check", b"", 2, scratch)

    def is_serving():
        if process.poll() is not None:
            with open(log, encoding="utf-8", errors="replace") as file:
                raise BenchError(f"identity ended: {file.read()[-400:].strip()}")
        with contextlib.suppress(BenchError):
            return health.call() == (0, b"\x08\x01")

    wait_until(is_serving, "identity serves")
    if not asked.wait(timeout=20):
        raise BenchError("identity did not fetch its providers' keys")
    time.sleep(SETTLE_SECONDS)
    idle, idle_own = resident_bytes(process.pid)
    token = refresh_token(refresh_key).encode()
    request = b"\x0a" + bytes([len(token)]) + token
    path = "vestibule.identity.v1.IdentityService/Refresh"
    target = Target(process.pid, options.identity_port, path, request, 0, scratch)
    for _ in range(2):  # before the load and after it
        status, _ = target.call()
        if status != UNAUTHENTICATED:
            raise BenchError(f"a refresh token without a session was answered with status {status}")
        target.load(CALLS, is_each_answered=False)
    time.sleep(1)
    used, used_own = resident_bytes(process.pid)
    most = max(idle, used)
    options.say(f"identity: {idle / 1e6:.1f} MB idle, {used / 1e6:.1f} MB after {2 * CALLS:,} calls")
    figures = [
        Figure("identity, idle", f"{idle / 1e6:.1f} MB resident", "", f"{idle_own / 1e6:.1f} MB of it its own"),
        Figure(
            f"identity, after {2 * CALLS:,} calls", f"{used / 1e6:.1f} MB resident", "",
            f"{used_own / 1e6:.1f} MB of it its own"),
    ]
    limit = f"under {RESIDENT_BYTES_MAX / 1e6:.0f} MB"
    return figures, [Bar("resident memory of a service", f"{most / 1e6:.1f} MB", limit, most < RESIDENT_BYTES_MAX)]
