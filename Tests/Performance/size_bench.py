"""How large the images of all programs are; how large the gateway is beside an older version (`--against`), in its image and in memory,
and how long a clean release build takes beside that of an older commit (`--build-against`)."""

import os
import re
import resource
import subprocess
import time

from edge_bench import BEFORE, OURS
from memory_bench import SETTLE_SECONDS
from processes import BenchError, resident_bytes, run
from report import Bar, Figure
from service_stack import service_stack

PROGRAM = "gateway"
IMAGES = ("gateway", "identity", "profile", "invites", "vestibule")
IMAGE_BYTES_MAX = 45_000_000
RATIO_MAX, BUILD_RATIO_MAX = 0.6, 0.5
BUILD_SECONDS_MAX = 3600
# Of the libraries that programs load, those of the images' base (debian:bookworm-slim).
BASE_PACKAGES = {"libc6", "libgcc-s1", "libstdc++6", "zlib1g"}
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"


def _package_of(path):
    for name in (path, f"/usr{path}", path.removeprefix("/usr")):
        done = subprocess.run(["dpkg-query", "--search", name], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        if done.returncode == 0:
            return done.stdout.decode().split(":")[0]
    raise BenchError(f"no package has {path}: the sizes of images can be measured only on Debian")


def image_bytes(program, scratch):
    """What docker/Dockerfile puts over its base: the program without symbols, and the libraries that the base lacks."""
    stripped = os.path.join(scratch, "stripped")
    run(["strip", "-o", stripped, program])
    total = os.path.getsize(stripped) + (os.path.getsize(CERTIFICATES) if os.path.exists(CERTIFICATES) else 0)
    for library in re.findall(r"=> (/\S+)", run(["ldd", program])):
        if _package_of(os.path.realpath(library)) not in BASE_PACKAGES:
            total += os.path.getsize(library)
    return total


def _idle_bytes(options, binaries, folder):
    with service_stack(options, folder, binaries) as stack:
        time.sleep(SETTLE_SECONDS)
        return resident_bytes(stack.process_of(PROGRAM))[0]


def _measure_images(options, scratch):
    """The image of each program."""
    figures, bars = [], []
    for name in IMAGES:
        size = image_bytes(f"{options.binaries}/{name}", scratch) / 1e6
        options.say(f"{name}'s image: {size:.1f} MB over its base")
        figures.append(Figure(f"{name}'s image over its base", f"{size:.1f} MB", "", ""))
        bars.append(Bar(
            f"{name}'s image over its base", f"{size:.1f} MB", f"at most {IMAGE_BYTES_MAX / 1e6:.0f} MB", size * 1e6 <= IMAGE_BYTES_MAX))
    return figures, bars


def _ratio_bars(what, found, times_max):
    if BEFORE not in found:
        return []
    ratio = found[OURS] / found[BEFORE]
    return [Bar(f"{what}, over the version before", f"{ratio:.2f} ×", f"at most {times_max} ×", ratio <= times_max)]


def _build_seconds(options, scratch, commit):
    """A clean release build of a commit, after everything was fetched: (seconds, processor seconds)."""
    tree = os.path.join(scratch, f"build-{commit}")
    run(["git", "-C", options.root, "worktree", "add", "--detach", tree, commit])
    try:
        run(["swift", "package", "--package-path", tree, "resolve"], timeout_seconds=BUILD_SECONDS_MAX)
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        run([
            "Sources/build.sh", "--configuration", "release", "--static-swift-stdlib", "--disable-local-rpath", "--jobs",
            str(options.jobs), "--target", "programs"], cwd=tree, timeout_seconds=BUILD_SECONDS_MAX)
        took, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        return took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    finally:
        run(["git", "-C", options.root, "worktree", "remove", "--force", tree])


def _measure_build(options, scratch):
    commits = {OURS: "HEAD", BEFORE: options.build_against}
    found, figures = {}, []
    for name, commit in commits.items():
        options.say(f"a clean release build of {commit}")
        seconds, used = _build_seconds(options, scratch, run(["git", "-C", options.root, "rev-parse", commit]).strip())
        found[name] = seconds
        options.say(f"build, {name}: {seconds:.0f} s, {used:.0f} s of processor time")
        figures.append(Figure(
            f"clean release build, {name}", f"{seconds / 60:.1f} minutes", "", f"{used / 60:.1f} minutes of processor time"))
    return figures, _ratio_bars("clean release build", found, BUILD_RATIO_MAX)


def measure(options, scratch):
    """Gives the figures, and bars where there is something to compare with."""
    versions = {OURS: options.binaries}
    if options.against:
        versions[BEFORE] = options.against
    images, idle = {}, {}
    figures, image_bars = _measure_images(options, scratch)
    for name, binaries in versions.items():
        images[name] = image_bytes(f"{binaries}/{PROGRAM}", scratch)
        idle[name] = _idle_bytes(options, binaries, os.path.join(scratch, f"size-{name}"))
        options.say(f"{PROGRAM}, {name}: {images[name] / 1e6:.1f} MB over its base, {idle[name] / 1e6:.1f} MB idle")
        figures += [
            Figure(f"{PROGRAM}'s image over its base, {name}", f"{images[name] / 1e6:.1f} MB", "", ""),
            Figure(f"{PROGRAM}, idle, {name}", f"{idle[name] / 1e6:.1f} MB resident", "", ""),
        ]
    bars = image_bars + _ratio_bars(f"{PROGRAM}'s image over its base", images, RATIO_MAX)
    bars += _ratio_bars(f"{PROGRAM}'s resident memory, idle", idle, RATIO_MAX)
    if options.build_against:
        more = _measure_build(options, scratch)
        figures, bars = figures + more[0], bars + more[1]
    return figures, bars
