"""The images and compose files on a real engine, from `make up` to `make down`. `run.sh` calls it.

Each step is printed with its time; after the first that fails only the tear-down follows. Everything goes through
127.0.0.1, and the load has an end.
"""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import backups
import checks
import engine
import https
import monitoring
import release
from load import Load
from stack import Stack

ROOT = pathlib.Path(__file__).resolve().parents[2]
IMAGE_ADDS_MB_MAX = 95
# The program that no server is has all tools: Foundation's tables of languages, and PostgreSQL's programs for backups.
TOOLS_ADD_MB_MAX = 140
LEAVE_SECONDS = 3
# As compose.yaml names them, and where their stand-ins are made.
IMAGES = {
    "postgres:15-bookworm": "postgres", "caddy:2.11.2": "caddy", "prom/prometheus:v3.5.0": "prometheus",
    "prom/alertmanager:v0.28.1": "alertmanager"}
EXIT_SKIPPED = 3


class Steps:
    def __init__(self):
        self.passed = self.failed = 0

    @contextlib.contextmanager
    def step(self, title):
        note = []
        begun = time.monotonic()
        try:
            yield note.append
        except BaseException:
            self.failed += 1
            print(f"{self.passed + self.failed:2}  {time.monotonic() - begun:6.1f} s  FAILED  {title}", flush=True)
            raise
        self.passed += 1
        words = "".join(f"\n{'':17}{line}" for line in note)
        print(f"{self.passed:2}  {time.monotonic() - begun:6.1f} s  ok  {title}{words}", flush=True)


def free_port(count=1):
    """The first of so many free ports in a row."""
    while True:
        with contextlib.ExitStack() as held, contextlib.suppress(OSError):
            first = held.enter_context(socket.socket())
            first.bind(("127.0.0.1", 0))
            port = first.getsockname()[1]
            for more in range(1, count):
                held.enter_context(socket.socket()).bind(("127.0.0.1", port + more))
            return port


def base_images(stack, scratch):
    """Debian's base under the very tag that the Dockerfiles name, since no image can be pulled."""
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        engine.run("debootstrap", "--variant=minbase", "bookworm", folder)
        # What the slim image leaves out as well.
        for part in ["usr/share/doc", "usr/share/man", "usr/share/locale", "var/cache/apt/archives", "var/lib/apt/lists"]:
            shutil.rmtree(f"{folder}/{part}", ignore_errors=True)
            os.makedirs(f"{folder}/{part}")
        os.makedirs(f"{folder}/var/cache/apt/archives/partial")
        os.makedirs(f"{folder}/var/lib/apt/lists/partial")
        with subprocess.Popen(["tar", "-C", folder, "-c", "."], stdout=subprocess.PIPE) as archive:
            stack.docker("import", "-", "debian:bookworm-slim", stdin=archive.stdout)
    # By the classic builder, which no plugin is needed for.
    for tag, folder in IMAGES.items():
        engine.run("docker", "build", "--quiet", "--tag", tag, ROOT / "Tests/Compose" / folder,
                   env=stack.environment | {"DOCKER_BUILDKIT": "0"})


def prove_kill(stack, load, note):
    """One of three is killed: calls leave it, and only what was in flight and may not be repeated can fail."""
    before = time.monotonic()
    time.sleep(2)
    killed = stack.containers("identity")[1]
    moment = time.monotonic()
    stack.docker("kill", killed)
    time.sleep(LEAVE_SECONDS + 3)
    failed = load.failed(before)
    assert len(failed) <= load.threads, load.summary(before)
    late = [call for call in failed if call.begun > moment + LEAVE_SECONDS]
    assert not late, f"{len(late)} calls failed that began {LEAVE_SECONDS} s after the kill: {load.summary(before)}"
    # GET asks identity, profile and invites by idempotent methods only: these are tried again.
    reads = [call for call in failed if call.name in ("me", "groups")]
    assert not reads, f"reads failed: {reads}"
    note(load.summary(before))
    stack.docker("rm", killed)


def prove_freeze(stack, load, note):
    """One is frozen, so that nothing says that it is gone: the clients find out themselves."""
    before = time.monotonic()
    frozen = stack.containers("identity")[0]
    stack.docker("pause", frozen)
    try:
        time.sleep(LEAVE_SECONDS + 4)
        after = time.monotonic()
        calls = load.calls(before + LEAVE_SECONDS)
        slow = [call for call in calls if call.begun < after - 1 and call.seconds > 1]
        assert not slow, f"{len(slow)} calls still waited for it after {LEAVE_SECONDS} s"
        reads = [call for call in load.failed(before) if call.name in ("me", "groups")]
        assert not reads and not load.failed(before + LEAVE_SECONDS), load.summary(before)
        note(load.summary(before))
    finally:
        stack.docker("unpause", frozen)


def prove_renewal(stack, load, note):
    """The containers that run read a new key and certificate, and no connection ends for it."""
    former, starts, before = stack.certificates("identity", 7001), stack.starts(), time.monotonic()
    stack.renew("identity")
    expected = (stack.secrets_folder / "identity.pem").read_text()
    deadline = time.monotonic() + 10
    while stack.certificates("identity", 7001) != [expected] * 2:
        assert time.monotonic() < deadline, "the new certificate is not served"
        time.sleep(0.2)
    assert len(former) == 2 and expected not in former and stack.starts() == starts
    time.sleep(1)
    assert not load.failed(before), load.summary(before)
    assert load.calls(before), "there was no load"
    note(load.summary(before))
    return expected


def prove_rotation(stack, load, note):
    """Every key gets a successor, which all containers learn of before it is used; nobody notices."""
    kinds = sorted(ring.stem for ring in (stack.secrets_folder / "keys").glob("*.json"))
    starts, before = stack.starts(), time.monotonic()
    for step, done in ((["--every", "0s"], "is published"), (["--at-once"], "is used from now on")):
        said = stack.keys("rotate", *step).splitlines()
        assert len(said) == len(kinds) and all(done in line for line in said), said
        known = stack.keys("list")
        # Each container got a signal; without it, it would read the folder within five seconds.
        time.sleep(2)
    states = [known.count(f"  {state}  ") for state in ("next", "current", "retired")]
    assert states == [0, len(kinds), len(kinds)], known
    read = [checks.container_logs(stack, one).count("keys read again") for one in stack.containers("identity")]
    assert read and all(count >= 2 for count in read), read
    assert stack.starts() == starts
    assert not load.failed(before), load.summary(before)
    note(f"{', '.join(kinds)}: {load.summary(before)}")


def prove_roll(stack, load, service, note):
    old = set(stack.containers(service))
    before = time.monotonic()
    engine.run("make", "--no-print-directory", "roll", f"SERVICE={service}", cwd=ROOT, env=stack.environment)
    time.sleep(1)
    now = set(stack.containers(service))
    assert len(now) == len(old) and not now & old, (old, now)
    assert not load.failed(before), load.summary(before)
    assert load.calls(before), "there was no load"
    note(load.summary(before))


def prove_database_restart(stack, load, note):
    starts = stack.starts()
    before = time.monotonic()
    stack.docker("restart", stack.containers("postgres")[0])
    restarted = time.monotonic()
    stack.wait_until_ready(30)
    ready = time.monotonic()
    time.sleep(2)
    assert not load.failed(ready + 0.5), load.summary(ready + 0.5)
    after = stack.starts()
    assert {name: after[name] for name in starts if "postgres" not in name} == {
        name: starts[name] for name in starts if "postgres" not in name}, "a service ended with the database"
    note(f"ready {ready - restarted:.1f} s after it; meanwhile {load.summary(before)}")


def prove_https(stack, steps, sessions):
    """Caddy in front, as compose's profile has it."""
    ports = free_port(), free_port()
    with steps.step("make up with the profile https: Caddy before the gateway, closed as all others") as note:
        https.networks(stack)
        stack.environment |= https.environment(*ports)
        for line in stack.make("up", "DEV=1").splitlines():
            if line.startswith("By HTTPS"):
                note(line)
        checks.hardening(stack)
        proxy = https.Proxy(stack, *ports)
        note(proxy.answers())
    with steps.step("behind Caddy, limits count each client's address, and none that is made up") as note:
        note(proxy.clients_are_told_apart())
    with steps.step("the gateway rolled under load by HTTPS, no call failed") as note:
        with Load(proxy.address, sessions, context=proxy.context) as load:
            time.sleep(1)
            note(proxy.roll(load, ROOT))


def prove_monitoring(stack, steps):
    with steps.step("the profile monitoring: Prometheus reads each program, and its alerts reach Alertmanager") as note:
        prometheus, alertmanager = (f"127.0.0.1:{free_port()}" for _ in range(2))
        stack.environment |= {
            "COMPOSE_PROFILES": "monitoring", "VESTIBULE_PROMETHEUS_PUBLISH": prometheus, "VESTIBULE_ALERTMANAGER_PUBLISH": alertmanager}
        stack.make("up", "DEV=1")
        checks.hardening(stack)
        note(monitoring.programs_are_read(prometheus))
        note(monitoring.alerts_arrive(alertmanager))
        stack.compose("rm", "--stop", "--force", "prometheus", "alertmanager")
        stack.environment["COMPOSE_PROFILES"] = ""


# A PostgreSQL that isn't ours, as far as Compose is concerned: another name, another volume.
ELSEWHERE = """
services:
  elsewhere:
    extends: {file: %s, service: postgres}
    volumes: !override ["elsewhere:/var/lib/postgresql/data", "%s:/etc/vestibule/pg_hba.conf:ro"]
  roles:
    depends_on:
      elsewhere: {condition: service_healthy}
volumes:
  elsewhere:
"""


def prove_database_elsewhere(stack, steps, scratch):
    with steps.step("a PostgreSQL elsewhere: the one in a container isn't started, and people sign in") as note:
        own = scratch / "elsewhere.yaml"
        own.write_text(ELSEWHERE % (ROOT / "docker/compose.yaml", ROOT / "docker/pg_hba.conf"))
        stack.environment |= {
            "VESTIBULE_DATABASE_HOST": "elsewhere", "VESTIBULE_DATABASE_TLS": "disable", "VESTIBULE_COMPOSE_FILES": str(own)}
        note(stack.follow(stack.make("up", "DEV=1")))
        names = {one["Config"]["Labels"]["com.docker.compose.service"] for one in stack.all_containers().values()}
        assert "elsewhere" in names and "postgres" not in names, names
        stack.wait_until_ready(10)
        stack.sign_in(0)
        stack.make("down")
        assert not stack.containers("elsewhere")


def prove_release(stack, steps, scratch):
    with contextlib.ExitStack() as made:
        with steps.step("a release, rehearsed: archives of the images, bills, bundle, checksums, signature") as note:
            folder = made.enter_context(release.rehearsed(stack, scratch))
            note(release.files(folder))
        with steps.step("its bundle on a machine without Swift and without a network") as note:
            note(release.on_a_bare_machine(stack, folder))
        with steps.step("its images, loaded from the archives and started by the bundle's scripts") as note:
            note(release.in_containers(stack, folder, scratch))


def story(stack, steps):
    with steps.step("the story of `vestibule demo`, through the gateway") as note:
        note(f"{stack.demo()} steps")


def prove(stack, steps, scratch):
    with steps.step("base images out of Debian's packages"):
        base_images(stack, scratch)
    with steps.step("make up: images, secrets, start, all healthy") as note:
        for line in stack.make("up", "DEV=1").splitlines():
            if line.startswith("Vestibule is ready"):
                note(line)
    with steps.step(f"each image adds less than {IMAGE_ADDS_MB_MAX} MB to its base, that of the tools {TOOLS_ADD_MB_MAX}") as note:
        note(checks.image_sizes(stack, IMAGE_ADDS_MB_MAX, vestibule=TOOLS_ADD_MB_MAX))
    with steps.step("containers are closed as far as they can be, and have only their own secrets"):
        checks.hardening(stack)
    with steps.step("as on a server, only the gateway is published"):
        checks.published(stack)
        checks.networks(stack)
    with steps.step("mutual TLS, and who may call what") as note:
        note(checks.allow_lists(stack))
    story(stack, steps)
    with steps.step("make up again changes nothing"):
        before, secrets = stack.starts(), stack.secrets()
        stack.make("up", "DEV=1")
        services = {name for name in before if "migrate" not in name and "roles" not in name}
        after = stack.starts()
        assert all(after[name] == before[name] for name in services), "a container was started anew"
        assert stack.secrets() == secrets, "secrets changed"
    sessions = [stack.sign_in(index) for index in range(6)]
    with steps.step("an operator finds somebody, as the page about it says"):
        checks.operator(stack, sessions[0])
    with Load(stack.gateway, sessions) as load:
        with steps.step("identity on three containers: calls go to all of them") as note:
            stack.compose("up", "--detach", "--wait", "--no-recreate", "--scale", "identity=3", "identity")
            note(checks.spread(stack, load))
        with steps.step("one screen shows each of them, and that nothing needs attention") as note:
            lines = stack.compose("run", "--rm", "status").strip().splitlines()
            assert [line.split()[0] for line in lines[1:7]] == ["identity"] * 3 + ["profile", "invites", "gateway"], lines
            # Whether NTP keeps this machine's clock right isn't ours to say.
            found = [line for line in lines[lines.index("", 8) + 1:] if "NTP" not in line and line]
            assert found in ([], ["Nothing needs attention."]), lines
            note(lines[1])
        with steps.step("one of them killed under load") as note:
            prove_kill(stack, load, note)
        with steps.step("another one frozen under load") as note:
            prove_freeze(stack, load, note)
        with steps.step("identity's certificate renewed under load in the containers that run, no call failed") as note:
            expected = prove_renewal(stack, load, note)
        with steps.step("every key replaced under load, no call failed") as note:
            prove_rotation(stack, load, note)
        with steps.step("identity rolled under load, no call failed") as note:
            prove_roll(stack, load, "identity", note)
            assert stack.certificates("identity", 7001) == [expected] * 2
        for service in ["profile", "invites"]:
            with steps.step(f"{service} rolled under load, no call failed") as note:
                prove_roll(stack, load, service, note)
        with steps.step("PostgreSQL restarted under load") as note:
            prove_database_restart(stack, load, note)
        with steps.step("the whole load") as note:
            note(load.summary())
    prove_https(stack, steps, sessions)
    prove_monitoring(stack, steps)
    backups.prove(stack, steps, scratch)
    story(stack, steps)
    with steps.step("logs name no person and no secret"):
        checks.logs(stack, sessions)
    with steps.step("make down: every program ends by itself and in order, and nothing is left but data"):
        checks.down(stack)
    prove_database_elsewhere(stack, steps, scratch)
    for name in ("VESTIBULE_DATABASE_HOST", "VESTIBULE_DATABASE_TLS", "VESTIBULE_COMPOSE_FILES"):
        del stack.environment[name]
    prove_release(stack, steps, scratch)


def main():
    # So that a stop from outside takes the way out through every `with`.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    steps = Steps()
    begun = time.monotonic()
    try:
        with engine.Engine() as running:
            scratch = running.folder / "scratch"
            scratch.mkdir()
            stack = Stack(ROOT, running.host, scratch, free_port(2), free_port())
            version = json.loads(stack.docker("version", "--format", "{{json .Server}}"))["Version"]
            print(f"engine {version}, {time.monotonic() - begun:.1f} s", flush=True)
            try:
                prove(stack, steps, scratch)
            except BaseException:
                print(stack.last_words(), flush=True)
                raise
            finally:
                stack.remove()
    except engine.CannotStart as reason:
        print(f"\n##### test-compose: NOTHING WAS TESTED: no engine can be started here: {reason} #####")
        print("0 passed, 0 failed, 1 skipped")
        return EXIT_SKIPPED
    except (AssertionError, RuntimeError, OSError) as error:
        steps.failed = max(1, steps.failed)
        print(f"{type(error).__name__}: {error}", flush=True)
    print(f"{time.monotonic() - begun:.0f} s in all\n{steps.passed} passed, {steps.failed} failed")
    return 1 if steps.failed else 0


if __name__ == "__main__":
    sys.exit(main())
