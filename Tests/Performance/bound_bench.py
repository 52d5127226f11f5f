"""What a call costs more whose token is bound to a key (DPoP, RFC 9449): processor time of all our programs for `GET /me` with a proof, less
that of the same call with a bearer token, over one verification of an ES256 signature by libcrypto in the same run.

The proofs are made before, each for one call. PostgreSQL's time isn't in it.
"""

import base64
import hashlib
import http.client
import json
import os
import statistics
import subprocess
import time

from openid_bench import UNLIMITED
from processes import BenchError
from processor_time import Meter, ecdsa_verification_us
from report import Bar, Figure
from service_stack import service_stack
from sign_in_cost_bench import PROGRAMS

PATH = "/me"
# A key may make 1,024 proofs in two minutes, and a nonce is good for one.
SESSIONS, CALLS = 8, 100
TIMES_MAX = 1.5
ACCOUNTS_UNLIMITED = {f"VESTIBULE_GATEWAY_ACCOUNT_{kind}": "1000000" for kind in ("PER_SECOND", "BURST")}


def _base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class _Key:
    """A P-256 key, by the program openssl."""

    def __init__(self, folder, number):
        self.file = os.path.join(folder, f"proof-key-{number}.pem")
        subprocess.run(
            ["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", self.file], check=True, timeout=10)
        public = subprocess.run(
            ["openssl", "ec", "-in", self.file, "-pubout", "-outform", "DER"], check=True, capture_output=True, timeout=10).stdout
        self.jwk = {"kty": "EC", "crv": "P-256", "x": _base64url(public[-64:-32]), "y": _base64url(public[-32:])}

    def proof(self, method, url, nonce, token=None):
        claims = {"jti": os.urandom(12).hex(), "htm": method, "htu": url, "iat": int(time.time())}
        if nonce:
            claims["nonce"] = nonce
        if token:
            claims["ath"] = _base64url(hashlib.sha256(token.encode()).digest())
        header = {"typ": "dpop+jwt", "alg": "ES256", "jwk": self.jwk}
        text = ".".join(_base64url(json.dumps(part, separators=(",", ":")).encode()) for part in (header, claims))
        return f"{text}.{_base64url(self._signature(text.encode()))}"

    def _signature(self, data):
        der = subprocess.run(
            ["openssl", "dgst", "-sha256", "-sign", self.file], input=data, check=True, capture_output=True, timeout=10).stdout
        # SEQUENCE { INTEGER r, INTEGER s }: both positive, perhaps with a zero in front.
        first = der[4:4 + der[3]]
        second = der[6 + der[3]:6 + der[3] + der[5 + der[3]]]
        return b"".join(int.from_bytes(part, "big").to_bytes(32, "big") for part in (first, second))


class _Session:
    """A session on a connection of its own."""

    def __init__(self, stack, key=None):
        self.key, self.nonce = key, None
        self.base = f"http://127.0.0.1:{stack.ports['gateway']}"
        self.connection = http.client.HTTPConnection("127.0.0.1", stack.ports["gateway"], timeout=10)
        token, nonce = stack.provider_token()
        body = json.dumps({"id_token": token, "nonce": nonce})
        for _ in range(2):
            headers = {"Content-Type": "application/json"}
            if key:
                headers["DPoP"] = key.proof("POST", f"{self.base}/auth/google", self.nonce)
            status, content = self.ask("POST", "/auth/google", headers, body)
            if status != 401:
                break
        if status != 200 or json.loads(content)["token_type"] != ("DPoP" if key else "Bearer"):
            raise BenchError(f"a sign-in was answered with {status}: {content[:200]}")
        self.token = json.loads(content)["access_token"]

    def ask(self, method, path, headers, body=None):
        self.connection.request(method, path, body, headers)
        response = self.connection.getresponse()
        self.nonce = response.headers.get("DPoP-Nonce", self.nonce)
        return response.status, response.read()

    def headers(self):
        """Those of one call."""
        if not self.key:
            return {"Authorization": f"Bearer {self.token}"}
        return {"Authorization": f"DPoP {self.token}", "DPoP": self.key.proof("GET", self.base + PATH, self.nonce, self.token)}


def _calls(sessions, core):
    """Gives the work of a round."""
    for session in sessions:
        session.ask("GET", PATH, session.headers())
    prepared = [(session, session.headers()) for _ in range(CALLS) for session in sessions]

    def work():
        cores = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {core})
        try:
            for session, headers in prepared:
                status, content = session.ask("GET", PATH, headers)
                if status != 200:
                    raise BenchError(f"a call was answered with {status}: {content[:200]}")
        finally:
            os.sched_setaffinity(0, cores)

    return work


def measure(options, scratch):
    """Gives the figures, the bar, and notes."""
    units, found = [], {"bearer": [], "bound": []}
    settings = {**UNLIMITED, **ACCOUNTS_UNLIMITED}
    with service_stack(options, os.path.join(scratch, "bound"), VESTIBULE_EVENT_LOOPS="1", **settings) as stack:
        for name in PROGRAMS:
            stack.pin(name, options.server_core)
        kinds = {
            "bearer": [_Session(stack) for _ in range(SESSIONS)],
            "bound": [_Session(stack, _Key(scratch, number)) for number in range(SESSIONS)]}
        for turn in range(options.rounds):
            units.append(ecdsa_verification_us(options))
            for kind, sessions in kinds.items():
                meter = Meter([stack.process_of(name) for name in PROGRAMS])
                _, used = meter.of(_calls(sessions, options.load_core))
                found[kind].append(sum(used) / (SESSIONS * CALLS))
            options.say(f"{turn + 1}/{options.rounds} GET /me: bearer {found['bearer'][-1]:.0f} µs, bound {found['bound'][-1]:.0f} µs")
    unit = statistics.median(units)
    bearer, bound = (statistics.median(found[kind]) for kind in ("bearer", "bound"))
    more = statistics.median(one - other for one, other in zip(found["bound"], found["bearer"]))
    figures = [
        Figure("one ES256 verification, by libcrypto", "", f"{unit:.1f} µs", ""),
        Figure("GET /me with a bearer token, one call at a time", "", f"{bearer:.0f} µs", "all programs"),
        Figure("GET /me with a bound token and its proof", f"{bound / bearer:.2f} × the bearer token's", f"{bound:.0f} µs", "all programs")]
    bar = Bar(
        "CPU that a bound call costs more, over one ES256 verification", f"{more / unit:.2f} × ({more:.0f} µs)",
        f"at most {TIMES_MAX} ×", more / unit <= TIMES_MAX)
    return figures, [bar], []
