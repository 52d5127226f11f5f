"""Processor time of all our programs for a sign-in by passkey, over the cryptography that it can't do without: one verification of the
passkey's ES256 signature and one ES256 signature of the access token, by libcrypto in the same run.

By `POST /auth/passkey`, with the passkeys of some accounts in turn, which keep all these sessions; the challenges are asked for before. PostgreSQL's time isn't in it.
"""

import base64
import hashlib
import json
import os
import statistics
import subprocess
import urllib.request

from openid_bench import UNLIMITED
from processes import BenchError
from processor_time import Meter, ecdsa_verification_us, signature_us
from report import Bar, Figure
from service_stack import service_stack
from sign_in_cost_bench import MANY, PROGRAMS, sign_in

RP_ID = "example.com"
PATH = "/auth/passkey"
SIGN_INS = 800
# Fewer sessions for each than an account may keep.
PEOPLE = 32
TIMES_MAX = 3
# User present and verified; with the credential's data.
PRESENT, WITH_CREDENTIAL = 0x05, 0x45


def _base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class _Passkey:
    """An authenticator with one passkey (ES256), by the program openssl."""

    def __init__(self, folder, number):
        self.key = os.path.join(folder, f"passkey-{number}.pem")
        subprocess.run(
            ["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", self.key], check=True, timeout=10)
        public = subprocess.run(
            ["openssl", "ec", "-in", self.key, "-pubout", "-outform", "DER"], check=True, capture_output=True, timeout=10).stdout
        self.x, self.y = public[-64:-32], public[-32:]
        self.id = os.urandom(16)
        self.user = None

    def _client_data(self, kind, challenge):
        return json.dumps({"type": kind, "challenge": challenge, "origin": f"https://{RP_ID}"}).encode()

    def _data(self, flags):
        return hashlib.sha256(RP_ID.encode()).digest() + bytes([flags]) + bytes(4)

    def _credential(self, **response):
        parts = {name: _base64url(value) for name, value in response.items()}
        return json.dumps({"id": _base64url(self.id), "rawId": _base64url(self.id), "type": "public-key", "response": parts})

    def create(self, options):
        """The credential of a registration, without attestation (WebAuthn Level 3 section 8.7)."""
        self.user = base64.urlsafe_b64decode(options["user"]["id"] + "==")
        cose = b"\xa5\x01\x02\x03\x26\x20\x01\x21\x58\x20" + self.x + b"\x22\x58\x20" + self.y
        data = self._data(WITH_CREDENTIAL) + bytes(16) + len(self.id).to_bytes(2, "big") + self.id + cose
        attestation = b"\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x58" + bytes([len(data)]) + data
        return self._credential(
            clientDataJSON=self._client_data("webauthn.create", options["challenge"]), attestationObject=attestation)

    def get(self, options):
        """The credential of a sign-in."""
        client_data, data = self._client_data("webauthn.get", options["challenge"]), self._data(PRESENT)
        signed = subprocess.run(
            ["openssl", "dgst", "-sha256", "-sign", self.key], input=data + hashlib.sha256(client_data).digest(), check=True,
            capture_output=True, timeout=10)
        return self._credential(
            clientDataJSON=client_data, authenticatorData=data, signature=signed.stdout, userHandle=self.user)


def _post(stack, path, body, token=None):
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    request = urllib.request.Request(
        f"http://127.0.0.1:{stack.ports['gateway']}{path}", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=10) as response:
        return json.load(response)


def _registered(stack, folder, number):
    """A passkey of a new account."""
    token, passkey = stack.access_token(), _Passkey(folder, number)
    options = json.loads(_post(stack, "/auth/passkeys/challenge", {}, token)["options"])
    _post(stack, "/auth/passkeys", {"credential": passkey.create(options)}, token)
    return passkey


def _bodies(stack, passkeys, count):
    for number in range(count):
        options = json.loads(_post(stack, "/auth/passkey/challenge", {})["options"])
        yield json.dumps({"credential": passkeys[number % len(passkeys)].get(options)}).encode()


def measure(options, scratch):
    """Gives the figures, the bar, and notes."""
    used, units = [], []
    settings = {"VESTIBULE_IDENTITY_PASSKEY_RP_ID": RP_ID, "VESTIBULE_IDENTITY_SESSIONS_MAX": "200", **UNLIMITED}
    with service_stack(options, os.path.join(scratch, "passkey"), VESTIBULE_EVENT_LOOPS="1", **settings) as stack:
        for name in PROGRAMS:
            stack.pin(name, options.server_core)
        passkeys = [_registered(stack, scratch, number) for number in range(PEOPLE)]
        port = stack.ports["gateway"]
        sign_in(port, list(_bodies(stack, passkeys, MANY)), MANY, options.load_core, PATH)
        for turn in range(options.rounds):
            units.append(signature_us(options) + ecdsa_verification_us(options))
            meter = Meter([stack.process_of(name) for name in PROGRAMS])
            bodies = list(_bodies(stack, passkeys, SIGN_INS))
            answers, found = meter.of(lambda: sign_in(port, bodies, MANY, options.load_core, PATH))
            if len({answer["session_id"] for answer in answers}) != SIGN_INS:
                raise BenchError("two sign-ins by passkey got one session")
            used.append([each / SIGN_INS for each in found])
            options.say(f"{turn + 1}/{options.rounds} sign-in by passkey: {sum(used[-1]):.0f} µs; "
                        + ", ".join(f"{name} {each:.0f} µs" for name, each in zip(PROGRAMS, used[-1])))
    unit, total = statistics.median(units), statistics.median(sum(each) for each in used)
    split = ", ".join(f"{name} {max(0, statistics.median(column)):.0f} µs" for name, column in zip(PROGRAMS, zip(*used)))
    figures = [
        Figure("cryptography of a sign-in by passkey, by libcrypto", "", f"{unit:.1f} µs", "one ES256 verification, one signature"),
        Figure(f"sign-in by passkey, {MANY} connections", f"{total / unit:.1f} × the cryptography", f"{total:.0f} µs", split)]
    bar = Bar(
        "CPU of all programs for a sign-in by passkey, over its cryptography", f"{total / unit:.1f} × ({split})",
        f"at most {TIMES_MAX} ×", total / unit <= TIMES_MAX)
    return figures, [bar], []
