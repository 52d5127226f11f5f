#!/usr/bin/env python3
"""Runs end-to-end tests on partitioned tables, and checks which keys each statement touched against crossings.tsv.

    Tests/Distributed/statements.py [--write] [--logs FOLDER]

--write       writes crossings.tsv anew: reasons stay, and what is new has none, which fails until somebody writes one
--logs FOLDER reads the logs of an earlier run, and runs nothing

VESTIBULE_BINARIES names the folder of the programs; without it, .build/release. Ends with 'N passed, N failed'.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys

import crossings
import distribution
import explained
import observations

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOGS = ROOT / ".build/distributed"
#: Together they have each statement that calls of users make, and the work behind them.
TESTS = ("sign_in", "sessions", "session_list", "check", "profile", "avatars", "groups", "group_management", "invitations", "linking", "phone_proof",
         "guests", "deletion", "provider_notices", "operators", "operator_search", "openid", "work", "apple_transfer", "import", "webhooks", "watching")
#: Tests that name each table of a dump, which partitions are not, and such that wait or kill for minutes and make no statement of their own.
LEFT_OUT = ("no_personal_data_is_left", "inviters_contacts_are_deleted", "survives_every_kill", "stays_away", "retried_with_the_same_id",
            "killed_import", "beyond_the_cap_ends")
#: Fewer mean that the tests, or the logs, have lost most of them.
STATEMENTS_MIN = 300


def run_tests(logs):
    """Runs the tests with logs of plans; returns whether they passed."""
    shutil.rmtree(logs, ignore_errors=True)
    logs.mkdir(parents=True)
    environment = dict(os.environ, DISTRIBUTION_LOGS=str(logs),
                       PYTHONPATH=f"{ROOT}/Tests/Distributed:{ROOT}/Tests/EndToEnd")
    environment.setdefault("VESTIBULE_BINARIES", str(ROOT / ".build/release"))
    files = [f"Tests/EndToEnd/test_{name}.py" for name in TESTS]
    return subprocess.run([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "partitioned_stack", "--quiet", "-k", " and ".join(f"not {name}" for name in LEFT_OUT), *files],
                          cwd=ROOT, env=environment, check=False).returncode == 0


def main(arguments):
    parser = argparse.ArgumentParser(prog="Tests/Distributed/statements.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--logs", type=pathlib.Path)
    options = parser.parse_args(arguments)
    tables = distribution.tables()
    faults = []
    if not options.logs and not run_tests(LOGS):
        faults.append("a test failed on partitioned tables")
    made = json.loads(((options.logs or LOGS) / "tables.json").read_text())
    if differing := {tuple(each) for each in made["tables"]} ^ set(tables):
        faults.append(f"distribution.tsv and the migrated tables differ: {sorted(differing)}")
    logs = sorted((options.logs or LOGS).glob("ve2e*.json"))
    statements = observations.Statements(tables)
    for path in logs:
        with path.open(errors="replace") as lines:
            statements.add(explained.runs(lines, tables))
    own = [each for each in statements.all.values() if not each.is_within]
    within = [each for each in statements.all.values() if each.is_within]
    for name, part in (("of the services", own), ("of triggers, functions and foreign keys", within)):
        crossing = [each for each in part if each.crosses]
        print(f"{len(part)} statements {name}: {len(part) - len(crossing)} touch one key or none, {len(crossing)} several")
    if options.write:
        crossings.write(statements, crossings.read())
    if len(own) < STATEMENTS_MIN:
        faults.append(f"only {len(own)} statements were seen of at least {STATEMENTS_MIN}")
    faults += crossings.faults(statements, crossings.read())
    for fault in faults:
        print(f"FAILED {fault}")
    print(f"{len(own) + len(within)} passed, {len(faults)} failed")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
