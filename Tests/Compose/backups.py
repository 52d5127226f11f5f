"""Compose's profile `backup`, and `docker/restore.sh`."""

import json
import pathlib
import shutil
import subprocess
import time

import checks
import engine
from stack import send

SECONDS = 90
PROGRAM = "/usr/local/bin/vestibule-program"


def listed(stack):
    return json.loads(stack.compose("exec", "--no-TTY", "backup", PROGRAM, "backup", "list", "--json"))


def first_backup(stack):
    """Waits for the whole backup that following begins with."""
    limit = time.monotonic() + SECONDS
    while not (found := listed(stack)):
        assert time.monotonic() < limit, stack.compose("logs", "backup")
        time.sleep(0.5)
    return found[0]


def received(stack):
    """Waits until all that was committed is in the backups."""
    def ask(sql):
        return stack.compose("exec", "--no-TTY", "postgres", "psql", "--username=postgres", "--tuples-only", "--no-align",
                             f"--command={sql}", "vestibule").strip()
    position = ask("SELECT pg_current_wal_flush_lsn()")
    limit = time.monotonic() + SECONDS
    while ask(f"SELECT restart_lsn >= '{position}' FROM pg_replication_slots WHERE slot_name = 'vestibule_backup'") != "t":
        assert time.monotonic() < limit, stack.compose("logs", "backup")
        time.sleep(0.2)
    # Deletions are written down each second.
    time.sleep(2)


def restore(stack, *arguments, expected=0):
    done = subprocess.run([stack.root / "docker/restore.sh", "dev", *arguments], env=stack.environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    assert done.returncode == expected, done.stdout
    return done.stdout


def delete(stack, session):
    status, told, _ = send(stack.gateway, "DELETE", "/me", headers={"Authorization": f"Bearer {session['access_token']}"})
    assert status == 204, (status, told)


def me(stack, session):
    return send(stack.gateway, "GET", "/me", headers={"Authorization": f"Bearer {session['access_token']}"})[0]


def accounts(stack):
    return set(stack.compose(
        "exec", "--no-TTY", "postgres", "psql", "--username=postgres", "--tuples-only", "--no-align",
        "--command=SELECT user_id FROM identity.accounts", "vestibule").split())


def key_and_certificate(folder):
    engine.run("openssl", "req", "-x509", "-newkey", "rsa:3072", "-nodes", "-days", "36500", "-subj", "/CN=backup",
               "-keyout", folder / "backup-key.pem", "-out", folder / "backup.pem")


def keys_are_sealed(stack, folder):
    """The newest file of keys, opened by OpenSSL alone, has the ring that refresh tokens are made with."""
    container = stack.containers("backup")[0]
    name = listed(stack)[-1]["name"]
    stack.docker("cp", f"{container}:/var/lib/vestibule/backup/secrets/{name}.tar.cms", folder / "sealed")
    opened = subprocess.run(
        f"openssl cms -decrypt -inform DER -in {folder}/sealed -inkey {folder}/backup-key.pem -recip {folder}/backup.pem | tar t",
        shell=True, check=True, capture_output=True, text=True).stdout.split()
    assert {"run/sealed/secrets/keys/refresh.json", "run/sealed/secrets/address-key"} <= set(opened), opened
    return f"{len(opened)} files and folders"


def volume_in_use(stack):
    mounts = stack.inspect(stack.containers("postgres")[0])[0]["Mounts"]
    return next(mount["Name"] for mount in mounts if mount["Destination"] == "/var/lib/postgresql/data")


class OwnEnvironmentFile:
    """docker/.env, which restore.sh changes, as it was before."""

    def __init__(self, root):
        self.path = pathlib.Path(root) / "docker/.env"
        self.before = self.path.read_bytes() if self.path.exists() else None

    def __enter__(self):
        self.path.unlink(missing_ok=True)
        return self.path

    def __exit__(self, *_):
        if self.before is None:
            self.path.unlink(missing_ok=True)
        else:
            self.path.write_bytes(self.before)


def prove(stack, steps, scratch):
    """Followed, destroyed by mistake, and restored into a new volume."""
    files = scratch / "files"
    for part in ("identity", "gateway", "backup"):
        (files / part).mkdir(parents=True)
    key_and_certificate(scratch)
    shutil.copy(scratch / "backup.pem", files / "backup")
    with OwnEnvironmentFile(stack.root) as own:
        with steps.step("the profile backup: PostgreSQL is followed, and the keys are sealed") as note:
            stack.environment |= {
                "COMPOSE_PROFILES": "backup", "VESTIBULE_FILES": str(files), "VESTIBULE_BACKUP_RECIPIENT_FILE": "/run/files/backup.pem"}
            stack.follow(stack.make("up", "DEV=1"))
            checks.hardening(stack)
            kept_person, gone_person = stack.sign_in(1), stack.sign_in(2)
            backup = first_backup(stack)
            note(f"{backup['bytes'] / 1e6:.1f} MB, {keys_are_sealed(stack, scratch)} sealed")
        with steps.step("docker/restore.sh: what was there comes back, deleted stays deleted, and the former volume stays") as note:
            late_person = stack.sign_in(3)
            delete(stack, gone_person)
            received(stack)
            before = accounts(stack)
            assert {kept_person["user_id"], late_person["user_id"]} <= before and gone_person["user_id"] not in before
            former = volume_in_use(stack)
            assert "--confirm" in restore(stack, expected=1) and not own.exists()
            begun = time.monotonic()
            moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3600))
            said = restore(stack, "--to", moment, "--confirm", expected=1)
            assert "recovery ended before" in said, said
            stack.follow(said)
            assert volume_in_use(stack) == former and me(stack, kept_person) == 200
            note(f"a time that the log doesn't reach: back on the former volume after {time.monotonic() - begun:.0f} s")
            begun = time.monotonic()
            said = restore(stack, "--confirm")
            stack.follow(said)
            note(f"restored in {time.monotonic() - begun:.0f} s")
            assert volume_in_use(stack) != former and former in said, said
            assert me(stack, kept_person) == 401
            assert accounts(stack) == before
            stack.wait_until_ready(10)
            stack.sign_in(4)
        with steps.step("after it the follower begins anew, and a second restore works as the first") as note:
            limit = time.monotonic() + 60
            while len(listed(stack)) < 2:
                assert time.monotonic() < limit, stack.compose("logs", "backup")
                time.sleep(0.5)
            received(stack)
            before = accounts(stack)
            stack.follow(restore(stack, "--confirm"))
            assert accounts(stack) == before
            stack.wait_until_ready(10)
            note(f"{len(before)} accounts")
            used = volume_in_use(stack)
            stack.compose("stop", "backup")
            stack.compose("rm", "--force", "backup")
            for volume in stack.docker("volume", "ls", "--quiet", "--filter", "name=vestibule_database").split():
                if volume != used:
                    stack.docker("volume", "rm", volume)
        for name in ("COMPOSE_PROFILES", "VESTIBULE_FILES", "VESTIBULE_BACKUP_RECIPIENT_FILE"):
            stack.environment.pop(name)
        stack.environment["VESTIBULE_DATABASE_VOLUME"] = used
