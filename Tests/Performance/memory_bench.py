"""The resident memory of an idle service: identity, with its database, its provider's keys and a session."""

import base64
import contextlib
import hashlib
import http.server
import json
import os
import threading
import time

from load import Target
from messages import field, texts
from processes import BenchError, resident_bytes, run, running, wait_until
from report import Bar, Figure

RESIDENT_BYTES_MAX = 40_000_000
SETTLE_SECONDS = 5
CALLS = 1000
DATABASE = "identity_bench"
AUDIENCE = "bench.apps.example.com"
KEY_ID = "bench"
SERVICE = "vestibule.identity.v1.IdentityService"


def base64url(content):
    """RFC 4648 section 5, without padding."""
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode("ascii")


class Provider:
    """A stand-in for Google: one RSA key, its public half on a web server on loopback, and tokens signed with it."""

    def __init__(self, scratch):
        self.private_key = os.path.join(scratch, "provider.pem")
        self.url = None
        run([
            "openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", self.private_key])

    @contextlib.contextmanager
    def serving(self):
        """Serves the key as long as the block runs."""
        modulus = run(["openssl", "rsa", "-in", self.private_key, "-noout", "-modulus"]).strip().partition("=")[2]
        key = {"kty": "RSA", "use": "sig", "alg": "RS256", "kid": KEY_ID, "n": base64url(bytes.fromhex(modulus)),
               "e": "AQAB"}
        body = json.dumps({"keys": [key]}).encode()

        class Handler(http.server.BaseHTTPRequestHandler):
            """Answers every GET with the key."""

            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                """Nothing."""

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{server.server_address[1]}/keys"
        try:
            yield
        finally:
            server.shutdown()
            server.server_close()

    def id_token(self, nonce):
        """An ID token as Google makes it."""
        now = int(time.time())
        claims = {"iss": "https://accounts.google.com", "aud": AUDIENCE, "sub": "1", "iat": now, "exp": now + 600,
                  "nonce": nonce}
        header = {"alg": "RS256", "typ": "JWT", "kid": KEY_ID}
        signed = ".".join(base64url(json.dumps(part).encode()) for part in (header, claims))
        signature_path = self.private_key + ".signature"
        run(["openssl", "dgst", "-sha256", "-sign", self.private_key, "-out", signature_path], input=signed.encode())
        with open(signature_path, "rb") as file:
            return f"{signed}.{base64url(file.read())}"


def configuration(options, scratch, postgres, provider):
    """What identity is told."""
    signing_key = os.path.join(scratch, "signing.pem")
    run(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", signing_key])
    refresh_key = os.path.join(scratch, "refresh-key")
    with open(refresh_key, "wb") as file:
        file.write(os.urandom(32))
    for path in (signing_key, refresh_key):
        os.chmod(path, 0o600)
    return {
        "PATH": os.environ.get("PATH", ""),
        "VESTIBULE_DATABASE_HOST": postgres.socket_folder,
        "VESTIBULE_DATABASE_NAME": DATABASE,
        "VESTIBULE_IDENTITY_DATABASE_USER": "postgres",
        "VESTIBULE_IDENTITY_LISTEN": f"127.0.0.1:{options.identity_port}",
        "VESTIBULE_IDENTITY_SIGNING_KEY_FILE": signing_key,
        "VESTIBULE_IDENTITY_REFRESH_KEY_FILE": refresh_key,
        "VESTIBULE_IDENTITY_PROVIDERS": "google",
        "VESTIBULE_IDENTITY_GOOGLE_AUDIENCES": AUDIENCE,
        "VESTIBULE_IDENTITY_GOOGLE_KEYS_URL": provider.url,
    }


def measure(options, scratch, postgres):
    """Starts identity and reads its memory, idle and after calls. Gives the figures and the bars."""
    program = f"{options.binaries}/identity"
    postgres.sql(f"CREATE DATABASE {DATABASE}")
    postgres.sql("CREATE SCHEMA identity", DATABASE)
    provider = Provider(scratch)
    with provider.serving():
        environment = configuration(options, scratch, postgres, provider)
        run([program, "migrate"], env=environment)
        log = os.path.join(scratch, "identity.log")
        with running([program], log, environment=environment) as process:
            wait_until_serving(options, scratch, process, log)
            time.sleep(SETTLE_SECONDS)
            idle = resident_bytes(process.pid)
            use(options, scratch, process, provider)
            time.sleep(1)
            return _judge(options, idle, resident_bytes(process.pid))


def wait_until_serving(options, scratch, process, log):
    """Asks for its health until it serves."""
    health = Target(process.pid, options.identity_port, "grpc.health.v1.Health/Check", b"", 2, scratch)

    def is_serving():
        if process.poll() is not None:
            with open(log, encoding="utf-8", errors="replace") as file:
                raise BenchError(f"identity ended: {file.read()[-400:].strip()}")
        with contextlib.suppress(BenchError):
            return health.call() == (0, b"\x08\x01")

    wait_until(is_serving, "identity serves")


def use(options, scratch, process, provider):
    """Signs in once, which fetches the provider's keys, and checks the session many times, a read each."""
    nonce = base64url(os.urandom(16))
    request = texts((1, "google"), (2, provider.id_token(hashlib.sha256(nonce.encode()).hexdigest())), (3, nonce))
    sign_in = Target(process.pid, options.identity_port, f"{SERVICE}/SignIn", request, 0, scratch)
    status, answer = sign_in.call()
    access_token = field(field(answer, 1), 1).decode()
    if status != 0 or not access_token:
        raise BenchError(f"identity answered a sign-in with status {status}")
    request = texts((1, access_token))
    check = Target(process.pid, options.identity_port, f"{SERVICE}/CheckSession", request, 0, scratch)
    status, answer = check.call()
    if status != 0 or len(answer) == 0:
        raise BenchError(f"identity answered a check of the session with status {status}")
    check.answer_bytes = len(answer)
    check.load(CALLS)
    check.check(answer)


def _judge(options, idle, used):
    options.say(f"identity: {idle[0] / 1e6:.1f} MB idle, {used[0] / 1e6:.1f} MB after {CALLS:,} calls")
    figures = [
        Figure(f"identity, {what}", f"{total / 1e6:.1f} MB resident", "", f"{own / 1e6:.1f} MB of it its own")
        for what, (total, own) in (("idle", idle), (f"after a sign-in and {CALLS:,} calls", used))
    ]
    limit = f"under {RESIDENT_BYTES_MAX / 1e6:.0f} MB"
    return figures, [Bar("resident memory of an idle service", f"{idle[0] / 1e6:.1f} MB", limit, idle[0] < RESIDENT_BYTES_MAX)]
