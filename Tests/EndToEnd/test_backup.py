"""`vestibule backup` and `vestibule restore`: what was deleted stays deleted, all else comes back, and nobody is signed in."""

import contextlib
import datetime
import json
import os
import pathlib
import re
import signal
import subprocess
import threading
import time
import urllib.request

import pytest

import process_table
from app import App
from stack import clean_environment, new_stack, program

RECEIVED_SECONDS = 30


@pytest.fixture
def own_stack():
    with new_stack() as stack:
        stack.start()
        yield stack


def now():
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def succeed(stack, *arguments, **environment):
    result = stack.command(*arguments, seconds=120, **environment)
    assert result.returncode == 0, (arguments, result.stdout, result.stderr)
    return result.stdout


def backups(stack):
    return json.loads(succeed(stack, "backup", "list", "--json"))


def deleted_ids(stack):
    log = stack.folder / "backup/deleted-accounts.log"
    return [line.split()[0] for line in log.read_text().splitlines()] if log.exists() else []


@contextlib.contextmanager
def following(stack, **environment):
    """`vestibule backup follow`, with the lines that it says."""
    if environment:
        environment["VESTIBULE_CONFIG"] = str(stack.folder / "operator.env")
    process = subprocess.Popen(
        [program("vestibule"), "backup", "follow"],
        env={**clean_environment(), "VESTIBULE_RUN_FOLDER": str(stack.folder), **environment},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines = []
    reader = threading.Thread(target=lambda: lines.extend(iter(process.stdout.readline, "")), daemon=True)
    reader.start()
    try:
        yield lines
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0, "".join(lines)


def wait_until_received(stack):
    """Waits until all that was committed is in the backups."""
    position = stack.sql("SELECT pg_current_wal_flush_lsn()")
    process_table.wait_until(
        lambda: stack.sql(
            "SELECT COALESCE(bool_or(flush_lsn >= '" + position + "'), false) FROM pg_stat_replication "
            "WHERE application_name = 'vestibule-backup'") == "t",
        RECEIVED_SECONDS, lambda: f"{position} to be received: " + stack.sql("SELECT * FROM pg_stat_replication"))


def test_a_backup_brings_back_what_was_there_and_signs_everybody_out(own_stack):
    kept = App(own_stack)
    kept.sign_in()
    gone = App(own_stack)
    gone.sign_in()
    printed = succeed(own_stack, "backup")
    assert "made the backup" in printed
    (backup,) = backups(own_stack)
    assert backup["bytes"] > 1_000_000 and backup["majorVersion"] >= 15
    later = App(own_stack)
    later.sign_in()
    gone.delete()
    # The next backup finds who was deleted since, also without a follower.
    succeed(own_stack, "backup")
    assert deleted_ids(own_stack) == [gone.user_id]
    assert own_stack.stop() == 0
    refused = own_stack.command("restore", "--backup", backup["name"])
    assert refused.returncode == 1 and "--confirm" in refused.stderr
    printed = succeed(own_stack, "restore", "--backup", backup["name"], "--confirm")
    assert "ended 2 live sessions" in printed and "deleted 1 accounts again" in printed, printed
    own_stack.start()
    assert kept.get("/me").status == 401
    assert own_stack.sql("SELECT user_id FROM identity.accounts") == kept.user_id
    before = kept.user_id
    kept.sign_in()
    assert kept.user_id == before
    gone_id = gone.user_id
    gone.sign_in()
    assert gone.user_id != gone_id
    # The other services forget the account, too.
    process_table.wait_until(
        lambda: own_stack.command("account", "trace", gone_id).returncode == 0, 30, lambda: "an account without data")


def test_the_log_is_followed_and_a_time_between_is_restored(own_stack):
    first = App(own_stack)
    first.sign_in()
    with following(own_stack) as lines:
        process_table.wait_until(lambda: any("made the backup" in line for line in lines), 60, lambda: "".join(lines))
        second = App(own_stack)
        second.sign_in()
        time.sleep(1.1)
        moment = now()
        time.sleep(1.1)
        third = App(own_stack)
        third.sign_in()
        second.delete()
        wait_until_received(own_stack)
        process_table.wait_until(lambda: deleted_ids(own_stack) == [second.user_id], 10, lambda: "the deletion in the log")
    assert own_stack.stop() == 0

    # To the moment: the third wasn't there yet; the second was, and was deleted since.
    printed = succeed(own_stack, "restore", "--to", moment, "--confirm")
    assert "deleted 1 accounts again" in printed, printed
    own_stack.start()
    assert own_stack.sql("SELECT user_id FROM identity.accounts") == first.user_id
    assert own_stack.stop() == 0

    # To the end of the log that was received, on the timeline of before: the deletion is in it.
    for former in own_stack.folder.glob("postgres/data.before-*"):
        assert former.is_dir()
    printed = succeed(own_stack, "restore", "--confirm")
    assert "1 were not in the database" in printed, printed
    own_stack.start()
    ids = own_stack.sql("SELECT user_id FROM identity.accounts ORDER BY 1").split()
    assert ids == sorted([first.user_id, third.user_id])
    assert own_stack.sql("SHOW data_checksums")


def test_a_time_beyond_the_log_changes_nothing(own_stack):
    app = App(own_stack)
    app.sign_in()
    succeed(own_stack, "backup")
    assert own_stack.stop() == 0
    result = own_stack.command("restore", "--to", "2099-01-01T00:00:00Z", "--confirm", seconds=120)
    assert result.returncode == 1 and "recovery ended before configured recovery target was reached" in result.stderr
    result = own_stack.command("restore", "--to", "2020-01-01T00:00:00Z", "--confirm")
    assert result.returncode == 1 and "later time" in result.stderr
    own_stack.start()
    assert app.get("/me").status == 200
    result = own_stack.command("restore", "--confirm")
    assert result.returncode == 1 and "already running" in result.stderr


def test_a_changed_byte_is_found(own_stack):
    succeed(own_stack, "backup")
    (backup,) = backups(own_stack)
    assert own_stack.stop() == 0
    folder = own_stack.folder / "backup/base" / backup["name"]
    manifest = folder / "backup_manifest"
    text = manifest.read_text()
    start = text.index('"Checksum": "') + len('"Checksum": "')
    manifest.write_text(text[:start] + ("0" if text[start] != "0" else "1") + text[start + 1:])
    result = own_stack.command("restore", "--confirm", seconds=120)
    assert result.returncode == 1 and "pg_verifybackup failed" in result.stderr, result.stderr
    own_stack.start()


def test_after_a_restore_the_follower_begins_anew(own_stack):
    App(own_stack).sign_in()
    with following(own_stack) as lines:
        process_table.wait_until(lambda: any("made the backup" in line for line in lines), 60, lambda: "".join(lines))
        wait_until_received(own_stack)
    assert own_stack.stop() == 0
    succeed(own_stack, "restore", "--confirm")
    own_stack.start()
    with following(own_stack) as lines:
        process_table.wait_until(lambda: any("made the backup" in line for line in lines), 60, lambda: "".join(lines))
        late = App(own_stack)
        late.sign_in()
        wait_until_received(own_stack)
        # One process at a time.
        second = own_stack.command("backup", "follow")
        assert second.returncode == 1 and "another process writes" in second.stderr
    chains = sorted((own_stack.folder / "backup/wal").iterdir())
    assert len(chains) == 2
    assert own_stack.stop() == 0
    succeed(own_stack, "restore", "--confirm")
    own_stack.start()
    assert late.user_id in own_stack.sql("SELECT user_id FROM identity.accounts")


def receivers(stack):
    folder = f"--directory={stack.folder}/backup/wal/".encode()
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = path.read_bytes().split(b"\0")
            found += [path.parent.name] if words[0].endswith(b"pg_receivewal") and words[1].startswith(folder) else []
    return found


def test_a_follower_that_is_killed_or_loses_the_database_goes_on(own_stack):
    killed = subprocess.Popen(
        [program("vestibule"), "backup", "follow"], env={**clean_environment(), "VESTIBULE_RUN_FOLDER": str(own_stack.folder)},
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    process_table.wait_until(lambda: backups(own_stack), 60, lambda: "a backup")
    assert len(receivers(own_stack)) == 1
    killed.kill()
    killed.wait()
    process_table.wait_until(lambda: not receivers(own_stack), 10, lambda: "the end of pg_receivewal")
    meanwhile = App(own_stack)
    meanwhile.sign_in()
    with following(own_stack) as lines:
        process_table.wait_until(lambda: receivers(own_stack), 30, lambda: "".join(lines))
        own_stack.process.send_signal(signal.SIGINT)
        assert own_stack.process.wait(45) == 0
        process_table.wait_until(lambda: any("tried again" in line for line in lines), 30, lambda: "".join(lines))
        own_stack.start()
        process_table.wait_until(lambda: any("going on" in line for line in lines), 30, lambda: "".join(lines))
        late = App(own_stack)
        late.sign_in()
        wait_until_received(own_stack)
    assert len(list((own_stack.folder / "backup/wal").iterdir())) == 1
    assert len(backups(own_stack)) == 1
    assert own_stack.stop() == 0
    succeed(own_stack, "restore", "--confirm")
    own_stack.start()
    ids = own_stack.sql("SELECT user_id FROM identity.accounts").split()
    assert set(ids) == {meanwhile.user_id, late.user_id}


def test_a_database_that_waits_for_the_backup_loses_nothing(own_stack):
    with following(own_stack) as lines:
        process_table.wait_until(lambda: any("made the backup" in line for line in lines), 60, lambda: "".join(lines))
        own_stack.sql("ALTER SYSTEM SET synchronous_standby_names = '\"vestibule-backup\"'")
        own_stack.sql("SELECT pg_reload_conf()")
        process_table.wait_until(
            lambda: "sync" in own_stack.sql("SELECT sync_state FROM pg_stat_replication").split(), 10,
            lambda: own_stack.sql("SELECT application_name, sync_state FROM pg_stat_replication"))
        apps = [App(own_stack) for _ in range(10)]
        for app in apps:
            app.sign_in()
        # Nothing is waited for between the last answer and the loss.
        os.kill(int((own_stack.folder / "postgres/data/postmaster.pid").read_text().split()[0]), signal.SIGKILL)
        assert own_stack.process.wait(45) == 1
    succeed(own_stack, "restore", "--confirm")
    own_stack.start()
    ids = own_stack.sql("SELECT user_id FROM identity.accounts").split()
    assert set(ids) == {app.user_id for app in apps}


def test_metrics_say_how_old_the_backups_are(own_stack):
    with following(own_stack, VESTIBULE_BACKUP_METRICS_LISTEN="127.0.0.1:0") as lines:
        process_table.wait_until(lambda: any("made the backup" in line for line in lines), 60, lambda: "".join(lines))
        address = next(line for line in lines if "metrics are at" in line).split()[-1]

        def value(name):
            text = urllib.request.urlopen(f"http://{address}/metrics", timeout=5).read().decode()
            found = re.search(rf"^vestibule_backup_{name} (.*)$", text, re.MULTILINE)
            return float(found[1]) if found else None
        assert abs(value("newest_timestamp_seconds") - time.time()) < 60
        assert value("newest_bytes") == backups(own_stack)[0]["bytes"]
        assert value("interval_seconds") == 86400 and value("disk_free_bytes") > 0
        began = value("followed_timestamp_seconds")
        process_table.wait_until(lambda: value("log_lag_bytes") is not None, 30, lambda: "".join(lines))
        process_table.wait_until(lambda: value("followed_timestamp_seconds") > began, 30, lambda: "".join(lines))
        def healthy():
            return own_stack.command("backup", "healthcheck", VESTIBULE_CONFIG=str(own_stack.folder / "operator.env"),
                                     VESTIBULE_BACKUP_METRICS_LISTEN=address)
        assert healthy().returncode == 0, healthy().stderr
        # The database goes, and with it the word that its log is received.
        own_stack.process.send_signal(signal.SIGINT)
        assert own_stack.process.wait(45) == 0
        stands = value("followed_timestamp_seconds")
        time.sleep(7)
        assert value("followed_timestamp_seconds") == stands
    gone = own_stack.command("backup", "healthcheck", VESTIBULE_BACKUP_FOLDER=str(own_stack.folder), VESTIBULE_BACKUP_METRICS_LISTEN=address)
    assert gone.returncode == 1 and "nothing follows" in gone.stderr


def test_only_as_many_as_are_kept_stay(own_stack):
    names = []
    for _ in range(3):
        succeed(own_stack, "backup", VESTIBULE_BACKUP_KEEP="2", VESTIBULE_CONFIG=str(own_stack.folder / "operator.env"))
        names.append(backups(own_stack)[-1]["name"])
        time.sleep(1.1)
    assert [each["name"] for each in backups(own_stack)] == names[1:]


def test_keys_are_sealed_for_the_owner_of_a_certificate(own_stack, tmp_path):
    for name in ("owner", "other"):
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:3072", "-nodes", "-days", "36500", "-subj", f"/CN={name}",
             "-keyout", f"{name}-key.pem", "-out", f"{name}.pem"], cwd=tmp_path, check=True, capture_output=True)
    secrets = own_stack.folder / "secrets"
    printed = succeed(
        own_stack, "backup", VESTIBULE_CONFIG=str(own_stack.folder / "operator.env"), VESTIBULE_BACKUP_SECRETS=str(secrets),
        VESTIBULE_BACKUP_RECIPIENT_FILE=str(tmp_path / "owner.pem"))
    sealed = pathlib.Path(printed.split("sealed the keys into ")[1].splitlines()[0])
    assert b"refresh" not in sealed.read_bytes()
    for name, code in (("owner", 0), ("other", 1)):
        result = own_stack.command(
            "backup", "open-secrets", str(sealed), "--key", str(tmp_path / f"{name}-key.pem"), "--certificate",
            str(tmp_path / f"{name}.pem"), "--into", str(tmp_path / f"opened-{name}"))
        assert result.returncode == code, result.stderr
    opened = tmp_path / "opened-owner" / str(secrets).lstrip("/")
    files = sorted(path.relative_to(secrets) for path in secrets.rglob("*") if path.is_file() and path.name != ".lock")
    assert files == sorted(path.relative_to(opened) for path in opened.rglob("*") if path.is_file())
    assert all((opened / each).read_bytes() == (secrets / each).read_bytes() for each in files)
    # OpenSSL's own command reads it, too.
    archive = subprocess.run(
        ["openssl", "cms", "-decrypt", "-inform", "DER", "-in", sealed, "-inkey", "owner-key.pem", "-recip", "owner.pem"],
        cwd=tmp_path, check=True, capture_output=True).stdout
    names = subprocess.run(["tar", "--list"], input=archive, check=True, capture_output=True).stdout.decode()
    assert "secrets/identity-database-password" in names
    changed = bytearray(sealed.read_bytes())
    changed[-40] ^= 1
    (tmp_path / "changed.cms").write_bytes(changed)
    result = own_stack.command(
        "backup", "open-secrets", str(tmp_path / "changed.cms"), "--key", str(tmp_path / "owner-key.pem"), "--certificate",
        str(tmp_path / "owner.pem"), "--into", str(tmp_path / "changed"))
    assert result.returncode == 1


def test_many_deletions_of_one_moment_are_all_kept(own_stack):
    count = 25_000
    own_stack.sql(
        "INSERT INTO identity.account_closings (user_id, why, closed_at, consents_left) "
        f"SELECT gen_random_uuid(), 'deleted', now(), '{{}}' FROM generate_series(1, {count})")
    for _ in range(2):
        succeed(own_stack, "backup")
        assert len(set(deleted_ids(own_stack))) == len(deleted_ids(own_stack)) == count
        time.sleep(1.1)


def test_settings_that_are_missing_are_named(own_stack):
    assert own_stack.stop() == 0
    result = own_stack.command("backup")
    assert result.returncode == 78 and "VESTIBULE_BACKUP_FOLDER is required" in result.stderr, result.stderr
    result = own_stack.command("backup", VESTIBULE_BACKUP_FOLDER=str(own_stack.folder / "b"), VESTIBULE_BACKUP_SECRETS="/etc/hosts")
    assert result.returncode == 78 and "VESTIBULE_BACKUP_RECIPIENT_FILE" in result.stderr
    result = own_stack.command("restore", "--confirm")
    assert result.returncode == 1 and "has no complete backup" in result.stderr
