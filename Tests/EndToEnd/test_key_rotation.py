"""Our own keys are replaced: by runs that are killed after each change of a file, and under load with two identities."""

import base64
import contextlib
import hashlib
import hmac
import json
import os
import shutil
import signal
import subprocess
import time

import pytest

import process_table
import tokens
from app import App
from http_client import Client
from metrics import Metrics
from other_gateway import another_gateway
from stack import free_ports, new_stack, program, run_vestibule
from steady_load import SteadyLoad

# More files than any step changes: such a run isn't killed, and the steps are counted.
CALLS_MAX = 40
# Longer than identity waits between two reads of its folder.
LOOK_SECONDS = 15
# The pause between these reads.
LOOK_PAUSE_SECONDS = 5
STEADY_SECONDS = 1.0
# For calls that use keys read a moment ago.
SETTLE_SECONDS = 0.2
KINDS = ("signing", "rsa", "refresh", "proof", "vault", "cursor")
# All other keys are derived from the proof keys.
TAKERS = ("profile", "invites")
DERIVED = (
    ("proof", "profile", "vestibule caller proof key 1"), ("proof", "invites", "vestibule caller proof key 1"),
    ("cursor", "invites", "vestibule cursor key 1"))
READS = 6


def keys(folder, *arguments, **environment):
    return run_vestibule("keys", *arguments, "--folder", str(folder), environment=environment)


def rotate(folder, *arguments):
    result = keys(folder, "rotate", *arguments)
    assert result.returncode == 0, result.stderr
    return result.stdout


def ring(folder, kind, keys="keys"):
    return json.loads((folder / f"{keys}/{kind}.json").read_text())["keys"]


def states(folder, kind, keys="keys"):
    return [key["state"] for key in ring(folder, kind, keys)]


def derived(master, service, label="vestibule caller proof key 1"):
    """The keys derived for a service, according to docs/run/trust-between-services.md and docs/inside/cursors.md."""
    secret = base64.urlsafe_b64decode(master + "=")
    extracted = hmac.new(bytes(32), secret, hashlib.sha256).digest()
    key = hmac.new(extracted, f"{label} {service}".encode() + b"\x01", hashlib.sha256).digest()
    return base64.urlsafe_b64encode(key).decode().rstrip("=")


def services_follow(folder):
    """Whether the services' keys are those derived from identity's proof and cursor keys."""
    return all(
        ring(folder, kind, f"{service}-keys") == [
            {**key, "key": derived(key["key"], service, label)} for key in ring(folder, kind)]
        for kind, service, label in DERIVED)


def expect_proofs_are_taken(folder):
    """Checks that identity makes proofs with a key that every service knows."""
    current = ring(folder, "proof")[0]
    assert current["state"] == "current"
    for service in TAKERS:
        known = {key["id"]: key["key"] for key in ring(folder, "proof", f"{service}-keys")}
        assert known[current["id"]] == derived(current["key"], service)


def set_retired_long_ago(folder, kind):
    file = folder / f"keys/{kind}.json"
    content = json.loads(file.read_text())
    for key in content["keys"]:
        if key["state"] == "retired":
            key["since"] = 0
    file.chmod(0o600)
    file.write_text(json.dumps(content))


PUBLISH = ("--every", "0s")
PROMOTE = ("--at-once",)
STEPS = {
    "published": ((), PUBLISH, ["current"], ["current", "next"]),
    "promoted": ((PUBLISH,), PROMOTE, ["current", "next"], ["current", "retired"]),
    "forgotten": ((PUBLISH, PROMOTE), (), ["current", "retired"], ["current"]),
    "replaced": ((PUBLISH, PROMOTE, PUBLISH), ("--leaked", "--confirm"), ["current", "next", "retired"], ["current"]),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("step", STEPS)
def test_a_step_that_is_killed_anywhere_is_done_or_not_and_continues(killer, tmp_path, kind, step):
    before_it, arguments, before, after = STEPS[step]
    if (kind, step) == ("vault", "replaced"):
        # Data sealed with them must remain readable.
        after = ["current", "retired", "retired", "retired"]
    template = tmp_path / "template"
    assert run_vestibule("init", "--folder", str(template)).returncode == 0
    for each in before_it:
        rotate(template, kind, *each)
    if step == "forgotten":
        set_retired_long_ago(template, kind)
    assert states(template, kind) == before
    seen = set()
    for calls in range(1, CALLS_MAX):
        folder = tmp_path / f"{calls}"
        shutil.copytree(template, folder)
        first = ring(folder, kind)
        killed = keys(folder, "rotate", kind, *arguments, LD_PRELOAD=str(killer), KILLER_FOLDER=f"{folder}/",
                      KILLER_AFTER=str(calls))
        assert killed.returncode in (0, -signal.SIGKILL), killed
        now = states(folder, kind)
        assert now in (before, after), (calls, now)
        assert now == after or ring(folder, kind) == first, "half of a step"
        if step != "replaced":
            expect_proofs_are_taken(folder)
        seen.add(tuple(now))
        # A reader always finds keys.
        assert keys(folder, "list").returncode == 0
        if killed.returncode == 0:
            break
        # The same run again does the step, or finds that it is done, like any other run.
        is_done = now == after and step in ("promoted", "replaced")
        rotate(folder, kind, *(() if is_done else arguments))
        assert states(folder, kind) == after, calls
        assert services_follow(folder), calls
        assert {file.name for file in (folder / "keys").iterdir()} == {f"{kind}.json" for kind in KINDS} | {".lock"}
        assert {(file.stem, service) for service in TAKERS for file in (folder / f"{service}-keys").iterdir()} == {
            (kind, service) for kind, service, _ in DERIVED}
        assert all("PRIVATE" not in key["key"] for key in ring(folder, kind) if key["state"] == "retired")
    assert killed.returncode == 0 and calls > 6, f"killed {calls - 1} times"
    assert seen == {tuple(before), tuple(after)}


def test_early_runs_do_nothing_and_say_when(tmp_path):
    assert run_vestibule("init", "--folder", str(tmp_path / "s")).returncode == 0
    folder = tmp_path / "s"
    made = (folder / "keys/signing.json").read_bytes()
    assert rotate(folder, "signing").startswith("signing: nothing to do; a next key may be published from 20")
    assert (folder / "keys/signing.json").read_bytes() == made
    assert " is published; the next key may be used from 20" in rotate(folder, "signing", "--every", "0s")
    assert "nothing to do; the next key may be used from 20" in rotate(folder, "signing", "--every", "0s")
    listed = keys(folder, "list").stdout
    for key in [key for kind in KINDS for key in ring(folder, kind)]:
        assert f"{key['state']}  {key['id']}  since 20" in listed
        assert key["key"].strip().splitlines()[-1] not in listed


@pytest.mark.parametrize("arguments, word", [
    (("myspace",), "unknown kind of keys"), (("--leaked",), "needs the kind"), (("signing", "--leaked"), "--confirm"),
    (("--every", "soon"), "duration"), (("--spread", "1"), "duration")])
def test_invalid_arguments_are_reported(tmp_path, arguments, word):
    result = keys(tmp_path, "rotate", *arguments)
    assert result.returncode == 64 and word in result.stderr, result
    assert keys(tmp_path, "rotate").returncode == 1, "there is nothing"


def test_a_folder_of_single_files_is_adopted(tmp_path):
    """`vestibule init` makes the existing single files the first state, and keeps them."""
    folder = tmp_path / "s"
    folder.mkdir(mode=0o700)
    (folder / "identity-refresh-key").write_bytes(b"r" * 32)
    pem = subprocess.run(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
                         capture_output=True, check=True).stdout
    (folder / "identity-signing-key.pem").write_bytes(pem)
    assert run_vestibule("init", "--folder", str(folder)).returncode == 0
    assert ring(folder, "signing")[0]["key"].encode() == pem
    assert tokens.decode(ring(folder, "refresh")[0]["key"]) == b"r" * 32
    assert (folder / "identity-signing-key.pem").read_bytes() == pem


# Under load

class Roaming:
    """An app that refreshes at one gateway and uses the tokens at the other, and then the other way round; and whose first
    access token stays valid to the end."""

    def __init__(self, app, addresses):
        self._clients = [Client(address) for address in addresses]
        self._first = app.access_token
        self._refresh_token = app.refresh_token
        self.key_ids = set()

    def __call__(self):
        here, there = self._clients
        self._clients.reverse()
        session = here.post("/auth/refresh", {"refresh_token": self._refresh_token}).expect(200)
        self._refresh_token = session["refresh_token"]
        self.key_ids.add(tokens.parts(session["access_token"])[0]["kid"])
        for index in range(READS):
            token = self._first if index == 0 else session["access_token"]
            gateway = there if index % 2 else here
            # Profile and invites verify identity's proof of the user.
            gateway.get("/me", token=token).expect(200)
            gateway.get("/groups", token=token).expect(200)
        return 2 * READS + 1


class SigningIn:
    """Users who sign in at one gateway, and are known at the other."""

    def __init__(self, stack, addresses):
        self._stack = stack
        self._clients = [Client(address) for address in addresses]

    def __call__(self):
        here, there = self._clients
        self._clients.reverse()
        app = App(self._stack)
        app.gateway = here
        app.sign_in()
        there.get("/me", token=app.access_token).expect(200)
        return 2


@contextlib.contextmanager
def another_identity(stack):
    """An identity beside the stack's; returns its process, its address and its metrics address."""
    own, measured = free_ports(2)
    environment = process_table.environment(stack.process_of("identity")) | {
        "VESTIBULE_IDENTITY_LISTEN": f"127.0.0.1:{own}", "VESTIBULE_IDENTITY_METRICS_LISTEN": f"127.0.0.1:{measured}"}
    log = stack.folder / "logs" / f"identity-{own}.log"
    with log.open("ab") as file:
        process = subprocess.Popen(
            [program("identity"), "serve"], env=environment, stdin=subprocess.DEVNULL, stdout=file, stderr=file)
    try:
        process_table.wait_until(lambda: "listening" in log.read_text(), 30, log.read_text)
        yield process, f"127.0.0.1:{own}", f"127.0.0.1:{measured}"
    finally:
        process.terminate()
        assert process.wait(timeout=30) == 0


def wait_until_known(secrets, address, program):
    """Waits until a program has read the current content of its keys folder."""
    keys = "keys" if program == "identity" else f"{program}-keys"
    kinds = KINDS if program == "identity" else [kind for kind, service, _ in DERIVED if service == program]

    def is_known():
        metrics = Metrics(address)
        return all(
            int(metrics.sum(f"vestibule_{program}_own_keys", kind=kind, state=state)) == states(secrets, kind, keys).count(state)
            for kind in kinds for state in ("current", "next", "retired"))

    process_table.wait_until(is_known, LOOK_SECONDS, f"{program} at {address} to know")


def test_no_call_fails_while_keys_are_replaced():
    limits = {f"VESTIBULE_GATEWAY_AUTH_{part}": "1000000" for part in ("PER_SECOND", "BURST")}
    with new_stack(**limits) as stack:
        stack.start()
        secrets = stack.folder / "secrets"
        with another_identity(stack) as (other, address, measured), \
                another_gateway(stack, environment={"VESTIBULE_IDENTITY_ADDRESS": address}) as gateway:
            addresses = [stack.addresses["gateway"], gateway.address]
            apps = [App(stack), App(stack)]
            for app in apps:
                app.sign_in()
                app.complete()
            roaming = {f"app {index}": Roaming(app, addresses) for index, app in enumerate(apps)}
            replicas = {stack.metrics_addresses["identity"]: "identity", measured: "identity"} | {
                stack.metrics_addresses[service]: service for service in TAKERS}

            def follow(step):
                """Does a step, sends SIGHUP to some programs, and waits until all know: the other identity and invites poll."""
                begun = time.monotonic()
                print(rotate(secrets, *step))
                for program in ("identity", "profile"):
                    os.kill(stack.process_of(program), signal.SIGHUP)
                for replica, program in replicas.items():
                    wait_until_known(secrets, replica, program)
                print(f"known by all after {time.monotonic() - begun:.1f} s")

            with SteadyLoad({**roaming, "sign-ins": SigningIn(stack, addresses)}) as load:
                for _ in range(2):
                    time.sleep(STEADY_SECONDS)
                    follow(PUBLISH)
                    time.sleep(STEADY_SECONDS)
                    follow(PROMOTE)
                time.sleep(STEADY_SECONDS)
            print(load.counts)
            assert not load.failures, "\n".join(load.failures[:10])
            assert all(count >= 20 for count in load.counts.values()), load.counts
            assert all(len(each.key_ids) == 3 for each in roaming.values()), "three keys have signed"
            assert {kind: states(secrets, kind) for kind in KINDS} == dict.fromkeys(KINDS, ["current", "retired", "retired"])
            assert services_follow(secrets)
            # Data made with the first keys works with a new session's tokens, by a key that none of them knew.
            assert other.poll() is None
        assert stack.stop() == 0, stack.output
        stack.expect_no_confidences()


def test_no_call_fails_while_proof_keys_are_replaced_by_killed_runs(killer):
    """After each file of each step, with all programs having read the folder."""
    limits = {f"VESTIBULE_GATEWAY_AUTH_{part}": "1000000" for part in ("PER_SECOND", "BURST")}
    with new_stack(**limits) as stack:
        stack.start()
        secrets = stack.folder / "secrets"
        programs = ("identity", *TAKERS)
        apps = [App(stack), App(stack)]
        for app in apps:
            app.sign_in()
            app.complete()

        def have_all_read():
            for program in programs:
                os.kill(stack.process_of(program), signal.SIGHUP)
            for program in programs:
                wait_until_known(secrets, stack.metrics_addresses[program], program)

        def follow_killed(step):
            """Runs a step until it is done, each run killed one file later than the one before; returns the number of kills."""
            for files in range(1, CALLS_MAX):
                result = keys(secrets, "rotate", "proof", *step, LD_PRELOAD=str(killer), KILLER_FOLDER=f"{secrets}/",
                              KILLER_AFTER=str(files), KILLER_RENAMES="1")
                assert result.returncode in (0, -signal.SIGKILL), result
                have_all_read()
                expect_proofs_are_taken(secrets)
                time.sleep(SETTLE_SECONDS)
                if result.returncode == 0:
                    assert services_follow(secrets)
                    return files - 1
            raise AssertionError("it is never done")

        addresses = [stack.addresses["gateway"]] * 2
        with SteadyLoad({f"app {index}": Roaming(app, addresses) for index, app in enumerate(apps)}) as load:
            first = ring(secrets, "proof")[0]["id"]
            killed = [follow_killed(PUBLISH), follow_killed(PROMOTE)]
            set_retired_long_ago(secrets, "proof")
            killed.append(follow_killed(()))
        print(load.counts, killed)
        assert not load.failures, "\n".join(load.failures[:10])
        assert all(count >= 20 for count in load.counts.values()), load.counts
        assert min(killed) >= 3, "after each of the three files"
        assert states(secrets, "proof") == ["current"] and ring(secrets, "proof")[0]["id"] != first
        assert stack.stop() == 0, stack.output
        stack.expect_no_confidences()


def test_leaked_proof_keys_are_rejected_once_all_have_read():
    """Meanwhile calls for users are answered with 503, and nobody is signed out."""
    with new_stack() as stack:
        stack.start()
        secrets = stack.folder / "secrets"
        app = App(stack)
        app.sign_in()
        app.complete()
        before = ring(secrets, "proof")
        assert "removed, so that their tokens are invalid" in rotate(secrets, "proof", "--leaked", "--confirm")
        assert services_follow(secrets) and [key["id"] for key in ring(secrets, "proof")] != [key["id"] for key in before]
        begun, answers = time.monotonic(), []

        def is_over():
            answers.append([app.get(path).status for path in ("/me", "/groups")])
            return answers[-1] == [200, 200] and time.monotonic() - begun > LOOK_PAUSE_SECONDS

        process_table.wait_until(is_over, LOOK_SECONDS, lambda: f"it to be over; answers were {answers[-5:]}")
        assert {status for each in answers for status in each} <= {200, 503}, answers
        assert stack.stop() == 0, stack.output
        stack.expect_no_confidences()
