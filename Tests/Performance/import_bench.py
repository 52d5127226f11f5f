"""Imports of accounts of another backend: accounts per second, with names, numbers and providers' subjects, all on the same cores.

The files are made from a seed, in Supabase's format: each account has a number that a code had proven, a name, and an identity at
Google, and the identities are in another order than the users. Meanwhile each number is delivered to invites.
"""

import csv
import json
import os
import random
import subprocess
import time
import uuid

from processes import BenchError
from report import Bar, Figure
from service_stack import service_stack

SEED = 14
# A million in ten minutes.
PER_SECOND_MIN = 1_000_000 / 600
RESIDENT_MB_MAX = 250
IMPORT_SECONDS_MAX = 1_800
CREATED_AT = "2021-03-04 05:06:07.89+00"


def write_files(folder, count):
    """The two files, the same for each seed."""
    chance = random.Random(SEED)
    users = [str(uuid.UUID(int=chance.getrandbits(128), version=4)) for _ in range(count)]
    paths = [os.path.join(folder, name) for name in ("users.csv", "identities.csv")]
    with open(paths[0], "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "email", "phone", "phone_confirmed_at", "raw_user_meta_data", "created_at", "last_sign_in_at"])
        for number, user in enumerate(users):
            name = json.dumps({"full_name": f"Person {number}", "avatar_url": f"https://example.com/{number}.png"})
            writer.writerow([
                user, f"person{number}@example.com", f"63917{number:07}", CREATED_AT, name, CREATED_AT, CREATED_AT])
    numbers = list(range(count))
    chance.shuffle(numbers)
    with open(paths[1], "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["provider_id", "user_id", "identity_data", "provider", "last_sign_in_at", "created_at", "updated_at"])
        for number in numbers:
            data = {"sub": f"1{number:020}", "email": f"person{number}@example.com", "email_verified": True,
                    "full_name": f"Person {number}"}
            writer.writerow([
                data["sub"], users[number], json.dumps(data), "google", CREATED_AT, CREATED_AT, CREATED_AT])
    return paths


def _environment(stack):
    """What identity and profile are configured by."""
    found = {}
    for name in ("profile", "identity"):
        found |= stack.environment_of(name)
    return found


def run_import(stack, folder, *arguments):
    """Runs it; how many seconds it took, and what the largest of its processes had in memory, in MB."""
    command = [
        f"{stack.binaries}/vestibule", "import", *arguments, "--rejects", f"{folder}/rejects.csv", "--unreachable",
        f"{folder}/unreachable.csv"]
    log = os.path.join(folder, "import.log")
    began = time.monotonic()
    with open(log, "wb") as file:
        process = subprocess.Popen(
            command, env=_environment(stack), stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        with open(log, encoding="utf-8") as file:
            raise BenchError(f"the import ended with {os.waitstatus_to_exitcode(status)}: {file.read()[-400:].strip()}")
    return time.monotonic() - began, usage.ru_maxrss / 1024


def _check(stack, count):
    found = stack.sql(
        "SELECT (SELECT count(*) FROM identity.accounts), (SELECT count(*) FROM identity.provider_identities), "
        "(SELECT count(*) FROM profile.phones WHERE proof = 'import'), "
        "(SELECT count(*) FROM profile.profiles WHERE phone = proven_phone AND display_name LIKE 'Person %')")
    if set(found.split("|")) != {str(count)}:
        raise BenchError(f"of {count} accounts there are {found}")


def measure(options, scratch):
    """Gives the figures, the bars, and notes."""
    count = options.imports
    folder = os.path.join(scratch, "import-files")
    os.mkdir(folder)
    files = write_files(folder, count)
    with service_stack(options, os.path.join(scratch, "import")) as stack:
        dry_seconds, _ = run_import(stack, folder, "supabase", *files, "--dry-run")
        options.say(f"{count:,} accounts, dry: {count / dry_seconds:,.0f} a second")
        seconds, resident = run_import(stack, folder, "supabase", *files)
        _check(stack, count)
        options.say(f"{count:,} accounts: {count / seconds:,.0f} a second")
        again_seconds, _ = run_import(stack, folder, "supabase", *files)
    rate = count / seconds
    figures = [
        Figure(f"{count:,} accounts of another backend", f"{rate:,.0f} /s", "", f"{seconds:.0f} s"),
        Figure("the same with --dry-run, and again when all are there", f"{count / dry_seconds:,.0f} /s", "",
               f"again {count / again_seconds:,.0f} /s"),
        Figure("the largest process of an import", f"{resident:.0f} MB", "", "resident, at its most"),
    ]
    return figures, [
        Bar(f"{count:,} accounts imported, a second", f"{rate:,.0f}", f"at least {PER_SECOND_MIN:,.0f}", rate >= PER_SECOND_MIN),
        Bar("memory of an import's largest process", f"{resident:.0f} MB", f"under {RESIDENT_MB_MAX} MB",
            resident < RESIDENT_MB_MAX),
    ], ["Imports: Supabase's two files, each account with a number, a name and an identity at Google; all programs and PostgreSQL on all cores, "
        "while the numbers are delivered to invites."]
