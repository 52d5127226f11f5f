"""A release of the programs that are built: its bundle on a machine without Swift and without a network, and its images, loaded."""

import contextlib
import re
import shutil
import tarfile
import time

import checks
import engine
from stack import send

VERSION = "0.0.0-test"
SECONDS_MAX = 60
BASE = "debian:bookworm-slim"
MACHINE = "bundle-machine"
#: From the bundle to a signed-in call, by what start.sh prints; then Ctrl-C, and nothing is left.
START = r"""
set -eu
! command -v swift
test "$(ls /sys/class/net)" = lo
tar -xf /release/vestibule-*.tar
cd vestibule-*/
./start.sh >log 2>&1 & started=$!
for _ in $(seq 300); do
    if grep -q '^Vestibule is ready' log || ! kill -0 $started; then break; fi
    sleep 0.2
done
sed -n '/^TOKEN=/p; /^ACCESS=/p; /^curl /p' log | bash || { cat log; exit 1; }
echo
kill -INT $started
wait $started || { cat log; exit 1; }
! pgrep -x 'postgres|identity'
"""


@contextlib.contextmanager
def rehearsed(stack, scratch):
    """The folder of a release, which is removed afterwards."""
    key = scratch / "release-key.pem"
    engine.run("openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", key)
    folder = stack.root / "release" / VERSION
    try:
        stack.environment["RELEASE_KEY_FILE"] = str(key)
        stack.make("release", f"VERSION={VERSION}", "REHEARSAL=1")
        yield folder
    finally:
        del stack.environment["RELEASE_KEY_FILE"]
        shutil.rmtree(folder, ignore_errors=True)


def files(folder):
    """What a release has; gives a line for people."""
    names = {file.name for file in folder.iterdir()}
    assert {"SHA256SUMS", "SHA256SUMS.sig", "Package.resolved"} <= names and len(names) == 3 + 2 * len(images()) + 1, names
    engine.run("sha256sum", "--check", "--quiet", "--strict", "SHA256SUMS", cwd=folder)
    archives = sum(file.stat().st_size for file in folder.glob("image-*.oci.tar"))
    bundle, = folder.glob("vestibule-*.tar")
    return f"bundle {bundle.stat().st_size / 1e6:.0f} MB, six images {archives / 1e6:.0f} MB"


def images():
    return [*checks.PROGRAMS, "simulator", "vestibule"]


def on_a_bare_machine(stack, folder):
    """start.sh names the packages that a bare Debian lacks; with those the bundle starts. Gives a line for people."""
    mounted = ["run", "--rm", "--network", "none", "--volume", f"{folder}:/release:ro"]
    try:
        stack.docker(*mounted, BASE, "bash", "-c", "cd /tmp && tar -xf /release/vestibule-*.tar && vestibule-*/start.sh --check")
        raise AssertionError("start.sh misses nothing on a bare Debian")
    except RuntimeError as refused:
        packages = re.search(r"apt-get install (.*)", str(refused))[1].split()
    assert "postgresql" in packages and len(packages) > 5, packages
    # The image has PostgreSQL already, which takes the most of the time to install.
    engine.run(
        "docker", "build", "--quiet", "--tag", MACHINE, "--build-arg", f"PACKAGES={' '.join(set(packages) - {'postgresql'})}",
        stack.root / "Tests/Compose/bundle", env=stack.environment | {"DOCKER_BUILDKIT": "0"})
    begun = time.monotonic()
    said = stack.docker(*mounted, MACHINE, "bash", "-c", START)
    seconds = time.monotonic() - begun
    assert '"user_id"' in said, said
    assert seconds < SECONDS_MAX, f"{seconds:.1f} s"
    return f"{seconds:.1f} s from the bundle's file to a signed-in curl and a stop, on Debian with {', '.join(packages)}"


def in_containers(stack, folder, scratch):
    """The bundle's scripts with the release's images, which are nowhere but in its archives. Gives a line for people."""
    # Data of a former deployment would have other passwords.
    stack.remove()
    ours = stack.docker("images", "--format", "{{.Repository}}:{{.Tag}}", "--filter", "reference=vestibule/*").split()
    ids = {name: stack.inspect(f"vestibule/{name}:{VERSION}")[0]["Id"] for name in images()}
    stack.docker("rmi", *ours)
    with tarfile.open(next(folder.glob("vestibule-*.tar"))) as bundle:
        bundle.extractall(scratch, filter="data")
    docker, = scratch.glob("vestibule-*/docker")
    environment = stack.environment | {"VESTIBULE_SECRETS": str(scratch / "secrets-of-bundle")}
    del environment["VESTIBULE_PROGRAMS"]
    begun = time.monotonic()
    engine.run(docker / "load.sh", folder, env=environment)
    loaded = time.monotonic()
    assert {name: stack.inspect(f"vestibule/{name}:{VERSION}")[0]["Id"] for name in images()} == ids, "other images were loaded"
    stack.follow(engine.run(docker / "up.sh", "dev", env=environment))
    session = stack.sign_in(0)
    status, me, _ = send(stack.gateway, "GET", "/me", headers={"Authorization": f"Bearer {session['access_token']}"})
    seconds = time.monotonic() - begun
    assert status == 200 and me["user_id"], me
    used = {one["Config"]["Image"] for one in stack.all_containers().values()}
    assert {image for image in used if image.startswith("vestibule/")} == {f"vestibule/{name}:{VERSION}" for name in images()}, used
    engine.run(*stack.environment["DOCKER_COMPOSE"].split(), "--project-name", "vestibule", "down", "--volumes", env=environment)
    assert seconds < SECONDS_MAX, f"{seconds:.1f} s"
    return f"loaded in {loaded - begun:.1f} s, signed in after {seconds:.1f} s"
