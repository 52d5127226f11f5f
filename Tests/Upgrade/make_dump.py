"""Makes the kept dump of the version before, Tests/Upgrade/0.9.0: its schema with data in every table, by its own programs.

    .venv/bin/python Tests/Upgrade/make_dump.py

Everybody in it is made up. `dump.sql` is what pg_dump writes, `keys` are the keys of the folder that the data was made with, and `story.json`
says who is in it. Made once for a version; Tests/EndToEnd/test_upgrade.py upgrades from it.
"""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "EndToEnd"), str(HERE.parent / "Chaos")]

import previous
from app import App, Person
from chaos import LIMITS, TYPES
from ledger import Ledger
from phone import Phone, Run
from phone_backend import PhoneBackend
from stack import new_stack, short_folder
from webhook_target import secret

PHONES = 3
LOAD_SECONDS = 10
SEED = 9
SCHEMAS = ("identity", "profile", "invites")
# Nobody listens there: deliveries wait.
NOWHERE = "http://127.0.0.1:9/"

# A row for each table that what apps do leaves empty, or may. `u`, `v` and `w` are three users.
MORE = """
INSERT INTO identity.absorptions VALUES (gen_random_uuid(), u, v, v, '{}', 'asking', true, now(), now() + interval '1 day', 1, now() + interval '1 day');
INSERT INTO identity.account_openings SELECT absorption_id, 'operator', 'operator' FROM identity.absorptions LIMIT 1;
INSERT INTO identity.account_closings (user_id, why, closed_at, profile_done_at, invites_done_at)
    VALUES (gen_random_uuid(), 'deleted', now(), now(), now());
INSERT INTO identity.apple_transfers (provider, subject, from_team, to_team, transfer_sub, exported_at)
    SELECT provider, subject, 'TEAM000001', 'TEAM000002', 'transfer', now() FROM identity.provider_identities WHERE provider = 'apple' LIMIT 1;
INSERT INTO identity.code_exchanges VALUES (sha256('code'), gen_random_uuid(), now() + interval '1 minute', NULL, NULL, now() + interval '1 day')
    ON CONFLICT DO NOTHING;
INSERT INTO identity.email_reservations VALUES ('wordpress', 'reserved@example.com', u, now(), true);
INSERT INTO identity.imported_ids VALUES ('wordpress', '17', u);
INSERT INTO identity.provider_notices VALUES ('apple', 'notice', 1, 'consent-revoked', NULL, 'subject', now(), now(), now() + interval '1 day');
INSERT INTO identity.quotas VALUES (decode(repeat('01', 16), 'hex'), 'phone_assertions', 1, now() + interval '1 day') ON CONFLICT DO NOTHING;
INSERT INTO identity.revocations (session_id, reason) VALUES (gen_random_uuid(), 'sign_out');
INSERT INTO identity.scheduled_deletions VALUES (w, now(), now() + interval '30 days', now() + interval '30 days');
INSERT INTO identity.told_once (fingerprint, provider, full_name, created_at, expires_at)
    VALUES (sha256('token'), 'apple', 'Made Up', now(), now() + interval '1 day');
INSERT INTO identity.told_phones SELECT provider, subject, sha256('number'), now() FROM identity.provider_identities WHERE user_id = u LIMIT 1;
INSERT INTO identity.user_metadata VALUES (u, '{"a": 1}', now());
INSERT INTO identity.web_tickets (ticket_hash, code_ticket_hash, token_fingerprint, client_id, content, created_at, expires_at)
    VALUES (sha256('a'), sha256('b'), sha256('c'), 'com.example.app', 'x', now(), now() + interval '1 day');
INSERT INTO invites.blocked_inviters VALUES (u, v, now()) ON CONFLICT DO NOTHING;
INSERT INTO invites.closed_accounts (user_id, closed_at, swept_at) VALUES (gen_random_uuid(), now(), now());
INSERT INTO invites.held_accounts VALUES (gen_random_uuid(), gen_random_uuid(), now());
INSERT INTO invites.join_requests SELECT group_id, gen_random_uuid(), gen_random_uuid(), now(), now() + interval '30 days'
    FROM invites.groups LIMIT 1;
INSERT INTO invites.merged_numbers SELECT u, '639170000001', group_id, gen_random_uuid(), 'Made Up', v, now() FROM invites.groups LIMIT 1;
INSERT INTO invites.ordered_queues VALUES ('kept') ON CONFLICT DO NOTHING;
INSERT INTO invites.refused_absorptions VALUES (gen_random_uuid(), now());
INSERT INTO invites.wanted_events VALUES ('group.joined') ON CONFLICT DO NOTHING;
INSERT INTO profile.account_imports VALUES (sha256('file'), '17', now());
INSERT INTO profile.avatars VALUES (gen_random_uuid(), u, 'image/png', 'x', now());
INSERT INTO profile.closed_accounts (user_id, closed_at) VALUES (gen_random_uuid(), now());
INSERT INTO profile.phone_cool_downs VALUES ('639170000002', u, now() + interval '1 day', true) ON CONFLICT DO NOTHING;
INSERT INTO profile.phone_disputes VALUES (u, v, '639170000003', 'assertion', now());
INSERT INTO profile.quotas VALUES (decode(repeat('01', 16), 'hex'), 'phone_tries', 1, now() + interval '1 day') ON CONFLICT DO NOTHING;
INSERT INTO profile.refused_absorptions VALUES (gen_random_uuid(), now());
INSERT INTO profile.wanted_events VALUES ('profile.completed') ON CONFLICT DO NOTHING;
"""
WORK = """
INSERT INTO {schema}.work (queue, event_id, user_id, created_at, data, parked_at, failure)
    VALUES ('webhooks.gone', gen_random_uuid(), u, now(), '{{"type": "kept"}}', now(), 'kept')
"""


def lives(stack):
    """Some people, as the chaos test has them live."""
    run = Run(stack, Ledger(SEED), stack.gateway.get("/openapi.json").expect(200)["paths"])
    threads = [threading.Thread(target=Phone(run, number, SEED).use, daemon=True) for number in range(PHONES)]
    for thread in threads:
        thread.start()
    time.sleep(LOAD_SECONDS)
    run.stop.set()
    for thread in threads:
        thread.join()
    assert not run.findings, run.findings


def story(stack):
    """Three people of whom a test knows everything."""
    people = [
        Person("Ana", "Example", "ana@example.com", "9171110001"), Person("Ben", "Example", "ben@example.com", "9171110002"),
        Person("Eva", "Example", "eva@example.com", "9171110003")]
    apps = [App(stack, person) for person in people]
    for app in apps:
        app.sign_in("google")
        app.complete()
    group = apps[0].create_group("Family")
    apps[0].invite(people[1], group)
    apps[0].invite(Person("Not", "Here", "", "9171110004"), group)
    apps[1].wait_for_group(group)
    return {
        "group_id": group, "waiting_phone": "+639171110004",
        "people": [{
            "user_id": app.user_id, "email": app.person.email, "name": app.person.name, "phone": app.person.phone,
            "refresh_token": app.refresh_token,
            "subject": stack.sql(f"SELECT subject FROM identity.provider_identities WHERE user_id = '{app.user_id}'")} for app in apps]}


def fill(stack, told):
    users = [person["user_id"] for person in told["people"]]
    text = MORE + ";".join(WORK.format(schema=schema) for schema in SCHEMAS) + ";"
    names = " ".join(f"{name} CONSTANT uuid := '{user}';" for name, user in zip("uvw", users))
    stack.sql(f"DO $fill$ DECLARE {names} BEGIN {text} END $fill$")
    empty = [
        table for table in stack.sql(f"SELECT schemaname || '.' || tablename FROM pg_tables WHERE schemaname IN {SCHEMAS}").splitlines()
        if stack.sql(f"SELECT count(*) FROM {table}") == "0"]
    assert not empty, f"nothing in {empty}"


def dump(stack):
    environment = stack.database_environment()
    text = subprocess.run(
        ["pg_dump", f"--host={environment['VESTIBULE_DATABASE_HOST']}", f"--port={environment['VESTIBULE_DATABASE_PORT']}",
         "--username=postgres", "--no-password", *(f"--schema={schema}" for schema in SCHEMAS), environment["VESTIBULE_DATABASE_NAME"]],
        capture_output=True, text=True, check=True).stdout
    # psql of an older minor version doesn't know these.
    return "".join(line for line in text.splitlines(True) if not line.startswith(("\\restrict", "\\unrestrict", "SET transaction_timeout")))


def main():
    os.environ["VESTIBULE_BINARIES"] = str(previous.build())
    target = HERE / previous.VERSION
    with short_folder() as folder:
        (folder / "webhooks.json").write_text(json.dumps({"targets": [
            {"name": "all", "url": NOWHERE, "secrets": [secret()], "types": TYPES, "private_addresses": True}]}))
        backend = PhoneBackend(folder / "backend.json")
        with new_stack(
                VESTIBULE_IDENTITY_WEBHOOKS_FILE=str(folder / "webhooks.json"),
                VESTIBULE_IDENTITY_PHONE_ASSERTIONS_FILE=str(folder / "backend.json"), **LIMITS) as stack:
            stack.backend = backend
            stack.start()
            lives(stack)
            told = story(stack)
            fill(stack, told)
            text = dump(stack)
            told["dumped_at"] = time.time()
            with contextlib.suppress(FileNotFoundError):
                shutil.rmtree(target)
            target.mkdir()
            (target / "dump.sql").write_text(text)
            (target / "story.json").write_text(json.dumps(told, indent=1) + "\n")
            for keys in stack.folder.glob("secrets/*keys"):
                shutil.copytree(keys, target / "keys" / keys.name, ignore=shutil.ignore_patterns(".lock"))
            assert stack.stop() == 0
    print(f"{target.relative_to(previous.ROOT)}: {len(text):,} bytes of SQL")


if __name__ == "__main__":
    main()
