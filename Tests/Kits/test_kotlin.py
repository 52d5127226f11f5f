"""The Kotlin kit by itself: hostile servers, failing stores and impatient callers (kotlin/tests/Attacks.kt), and its files for Android."""

import pathlib
import subprocess
import zlib

import pytest

FOLDER = pathlib.Path(__file__).resolve().parent
PROJECT = FOLDER.parents[1]
SECONDS = 300
TESTS = 33
JAR_BYTES_MAX = 600_000


def built(what):
    """The class path of what build.sh compiles."""
    ran = subprocess.run([FOLDER / "kotlin/build.sh", what], capture_output=True, text=True, timeout=SECONDS)
    assert ran.returncode == 0, ran.stderr
    return ":".join(str(PROJECT / part) for part in ran.stdout.strip().split(":"))


@pytest.fixture
def keys(tmp_path):
    """A folder with the key stores of a host that the JVM trusts, and of one that it doesn't."""
    def run(*command):
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=SECONDS)

    for name in ("trusted", "untrusted"):
        run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}", "-days", "2",
            "-addext", "subjectAltName=DNS:localhost", "-keyout", f"{name}.key", "-out", f"{name}.pem")
        run("openssl", "pkcs12", "-export", "-inkey", f"{name}.key", "-in", f"{name}.pem", "-out", f"{name}.p12", "-passout", "pass:secret")
    run("keytool", "-importcert", "-noprompt", "-file", "trusted.pem", "-keystore", "trust.p12", "-storetype", "PKCS12", "-storepass", "secret")
    return tmp_path


def test_attacks(keys):
    trust = [f"-Djavax.net.ssl.trustStore={keys / 'trust.p12'}", "-Djavax.net.ssl.trustStorePassword=secret"]
    ran = subprocess.run(["java", "-XX:TieredStopAtLevel=1", *trust, "-cp", built("tests"), "vestibule.tests.AttacksKt", keys],
                         capture_output=True, text=True, timeout=SECONDS)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.count("passed: ") >= TESTS, ran.stdout


def test_the_files_for_android():
    """They and their sample are compiled, and the store runs with a Keystore that can break."""
    ran = subprocess.run(["java", "-XX:TieredStopAtLevel=1", "-cp", built("android"), "vestibule.android.tests.KeystoreTestsKt"],
                         capture_output=True, text=True, timeout=SECONDS)
    assert ran.returncode == 0 and "passed: android" in ran.stdout, ran.stdout + ran.stderr


def test_the_size_of_the_kit_and_what_it_needs():
    kit = built("kit").split(":")
    classes = sorted(pathlib.Path(kit[0]).rglob("*.class"))
    # As a jar, before an app's shrinker leaves out what it doesn't call.
    assert len(kit) == 3 and 0 < sum(len(zlib.compress(each.read_bytes())) for each in classes) < JAR_BYTES_MAX
    # Java 8: what Android's compiler takes.
    assert {each.read_bytes()[6:8] for each in classes} == {b"\x00\x34"}
