"""Accounts of another backend are imported: a user who signs in finds the old account, however often the import is killed."""

import csv
import json
import signal
import subprocess
import uuid

import pytest

import account_command
import process_table
import tokens
from app import App, Person
from stack import new_stack, program

SECONDS = 60
NAMESPACE = uuid.UUID("9b1f6c02-5d3e-4f0a-8e47-a1c370d2b96e")
ALL_IN, SOMETHING_REJECTED = 0, 3
MADE_AT = "2021-03-04T05:06:07Z"


@pytest.fixture(scope="module")
def own_stack():
    with new_stack(VESTIBULE_LOG_LEVEL="trace") as stack:
        stack.start()
        yield stack
        assert stack.stop() == 0, stack.output
        stack.expect_no_confidences()


def environment(stack):
    """The configurations of identity and profile."""
    return process_table.environment(stack.process_of("profile")) | process_table.environment(stack.process_of("identity"))


def command(folder, *arguments):
    return [program("vestibule"), "import", *map(str, arguments), "--rejects", str(folder / "rejects.csv"),
            "--unreachable", str(folder / "unreachable.csv")]


def run(stack, folder, *arguments, status=ALL_IN):
    result = subprocess.run(
        command(folder, *arguments), env=environment(stack), capture_output=True, text=True, stdin=subprocess.DEVNULL,
        timeout=300, cwd=folder)
    assert result.returncode == status, (result.stdout, result.stderr)
    for secret in stack.confidential:
        assert secret not in result.stdout + result.stderr
    return result


def told(folder, name):
    with open(folder / f"{name}.csv", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == {"rejects": ["line", "id", "reason"], "unreachable": ["line", "id", "ways"]}[name]
    return rows


def write(path, header, rows):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)
    return path


def phone_codes(path, people, first=0):
    return write(path, ["id", "phone", "name", "created_at"],
                 [[f"{first + number}", person.phone, person.name, MADE_AT] for number, person in enumerate(people)])


def new_id(source, old):
    return str(uuid.uuid5(NAMESPACE, f"{source}:{old}"))


def people(stack, count):
    found = [Person() for _ in range(count)]
    for person in found:
        stack.confidential |= person.confidential
    return found


def holder(stack, person):
    return stack.sql(f"SELECT user_id || ' ' || coalesce(proof, '') FROM profile.phones WHERE phone = '63{person.digits}'")


def me(app):
    return app.get("/me").expect(200)


def subject_of(stack, app, provider):
    """The user's subject at the simulated provider."""
    request = app.ask_apple() if provider == "apple" else app.ask_google()
    subject = tokens.parts(request.get("identity_token") or request["id_token"])[1]["sub"]
    stack.confidential.add(subject)
    return subject


def test_phone_code_accounts_are_imported_once_and_join_their_groups(own_stack, tmp_path):
    stack = own_stack
    maria, jose, ana, pedro = people(stack, 4)
    owner = App(stack)
    owner.sign_in()
    owner.complete()
    group = owner.create_group()
    owner.invite(maria, group)
    # Another user typed Jose's number, which loses against a proof.
    squatter = App(stack, Person(digits=jose.digits))
    squatter.sign_in()
    squatter.complete()
    file = phone_codes(tmp_path / "old.csv", [maria, jose, ana])
    with open(file, "a") as more:
        more.write(f"3,12,{pedro.name},\n4,{maria.phone},Somebody Else,\n")

    before = stack.sql("SELECT (SELECT count(*) FROM identity.accounts), (SELECT count(*) FROM profile.profiles)")
    dry = run(stack, tmp_path, "phone-codes", file, "--dry-run", status=SOMETHING_REJECTED)
    assert "identity: 5 rows: 4 accounts would be made, 0 there already, 1 unreachable" in dry.stderr
    rejected = [["5", "3", "phone_invalid"], ["6", "4", "phone_taken"]]
    assert told(tmp_path, "rejects") == rejected and told(tmp_path, "unreachable") == [["5", "3", "nothing"]]
    assert stack.sql("SELECT (SELECT count(*) FROM identity.accounts), (SELECT count(*) FROM profile.profiles)") == before

    first = run(stack, tmp_path, "phone-codes", file, "--ids", tmp_path / "ids.csv", status=SOMETHING_REJECTED)
    assert "4 accounts made" in first.stderr and "3 profiles have what came for them" in first.stdout
    assert told(tmp_path, "rejects") == rejected
    for number, person in enumerate([maria, jose, ana]):
        assert holder(stack, person) == f"{new_id('phone-codes', number)} import"
    user = new_id("phone-codes", 0)
    with open(tmp_path / "ids.csv", newline="") as ids:
        assert ["0", user] in list(csv.reader(ids))
    assert stack.sql(f"SELECT created_at AT TIME ZONE 'UTC' FROM identity.accounts WHERE user_id = '{user}'") == (
        "2021-03-04 05:06:07")
    assert stack.sql(f"SELECT display_name FROM profile.profiles WHERE user_id = '{user}'") == maria.name
    assert me(squatter)["phone_number"] is None
    seat = f"SELECT count(*) FROM invites.members WHERE group_id = '{group}' AND user_id = '{user}'"
    process_table.wait_until(lambda: stack.sql(seat) == "1", SECONDS, "the seat")

    # Again: nothing is created, and rejected rows are reported again.
    count = "SELECT count(*) FROM profile.work WHERE queue = 'phone_events'"
    again = run(stack, tmp_path, "phone-codes", file, status=SOMETHING_REJECTED)
    assert "0 accounts made, 4 there already" in again.stderr
    assert told(tmp_path, "rejects") == rejected
    process_table.wait_until(lambda: stack.sql(count) == "0", SECONDS, "the events")
    export = json.loads(account_command.account(stack, "export", user).stdout)
    assert export["identity"]["imported_ids"] == [{"source": "phone-codes", "old_id": "0", "user_id": user}]
    assert export["identity"]["account"]["imported_at"]
    assert account_command.trace(stack, user)["identity"]["held"]["imported_ids"] == 1
    for old, status in [("phone-codes:0", 0), ("phone-codes:nobody", 1), ("other:0", 1)]:
        found = subprocess.run(
            [program("vestibule"), "account", "find", "--imported", old], env=stack.environment, capture_output=True, text=True,
            stdin=subprocess.DEVNULL, timeout=60)
        assert found.returncode == status and (user in found.stdout) == (status == 0), found


def test_supabase_users_are_found_by_their_subjects(own_stack, tmp_path):
    stack = own_stack
    apps = [App(stack) for _ in range(4)]
    apple, google, taken, both = [str(uuid.uuid4()) for _ in apps]
    # This user has signed up here meanwhile.
    native = apps[2].sign_in("google")["user_id"]
    subjects = [subject_of(stack, app, provider) for app, provider in zip(apps, ["apple", "google", "google", "google"])]
    password, anonymous = str(uuid.uuid4()), str(uuid.uuid4())
    users = write(
        tmp_path / "users.csv",
        ["id", "email", "phone", "phone_confirmed_at", "raw_user_meta_data", "created_at", "is_anonymous"],
        [[user, app.person.email, "", "", json.dumps({"full_name": app.person.name}), "2021-03-04 05:06:07+00", "f"]
         for user, app in zip([apple, google, taken], apps)]
        + [[both, "", apps[3].person.phone[1:], "2021-03-04 05:06:07+00", "", "2021-03-04 05:06:07+00", "f"],
           [password, "p@example.com", "", "", "", "", "f"], [anonymous, "", "", "", "", "", "t"]])
    identities = write(
        tmp_path / "identities.csv", ["provider_id", "user_id", "identity_data", "provider", "last_sign_in_at", "created_at"],
        # In another order.
        [[subject, user, json.dumps({"sub": subject, "email": app.person.email, "email_verified": True}), provider, "", ""]
         for subject, user, app, provider in reversed(
             list(zip(subjects, [apple, google, taken, both], apps, ["apple", "google", "google", "google"])))]
        + [["p@example.com", password, "{}", "email", "", ""], ["7", both, "{}", "github", "", ""]])
    result = run(stack, tmp_path, "supabase", users, identities, status=SOMETHING_REJECTED)
    assert "3 accounts made" in result.stderr
    assert told(tmp_path, "rejects") == [["4", taken, "subject_taken google"], ["5", both, "provider_unknown github"]]
    assert told(tmp_path, "unreachable") == [["4", taken, "email"], ["6", password, "email"], ["7", anonymous, "anonymous"]]
    for app, user, provider in zip(apps, [apple, google, native, both], ["apple", "google", "google", "google"]):
        answer = app.sign_in(provider)
        assert answer["user_id"] == user and not answer["is_new_user"]
    profile = me(apps[0])
    assert profile["display_name"] == apps[0].person.name
    assert me(apps[3])["phone_proven"] and me(apps[3])["phone_number"] == apps[3].person.phone
    # What the user chose since stays, and a deleted user doesn't come back.
    apps[1].complete()
    chosen = me(apps[1])
    apps[0].delete()
    again = run(stack, tmp_path, "supabase", users, identities, status=SOMETHING_REJECTED)
    assert "0 accounts made, 2 there already" in again.stderr
    assert [row for row in told(tmp_path, "rejects") if row[1] == apple] == [["2", apple, "account_closed"]]
    assert me(apps[1]) == chosen


def test_firebase_and_cognito_users_are_imported(own_stack, tmp_path):
    stack = own_stack
    apps = [App(stack) for _ in range(3)]
    subjects = [subject_of(stack, app, provider) for app, provider in zip(apps, ["google", "apple", "google"])]
    (tmp_path / "users.json").write_text(json.dumps({"users": [
        {"localId": "fire1", "email": apps[0].person.email, "emailVerified": True, "displayName": apps[0].person.name,
         "createdAt": "1614834367000", "phoneNumber": apps[0].person.phone, "providerUserInfo": [
             {"providerId": "google.com", "rawId": subjects[0], "email": apps[0].person.email}]},
        {"localId": "fire2", "createdAt": "1614834367000", "providerUserInfo": [
            {"providerId": "apple.com", "rawId": subjects[1]}]},
        {"localId": "fire3", "passwordHash": "eA==", "createdAt": "1614834367000"},
    ]}, indent=2))
    result = run(stack, tmp_path, "firebase", tmp_path / "users.json")
    assert "2 accounts made" in result.stderr and told(tmp_path, "rejects") == []
    assert told(tmp_path, "unreachable") == [["3", "fire3", "password"]]
    for app, old, provider in [(apps[0], "fire1", "google"), (apps[1], "fire2", "apple")]:
        answer = app.sign_in(provider)
        assert answer["user_id"] == new_id("firebase", old) and not answer["is_new_user"]
    blocked = str(uuid.uuid4())
    cognito = {"Users": [{"Username": "Google_x", "Enabled": False, "UserCreateDate": 1614834367.5, "Attributes": [
        {"Name": "sub", "Value": blocked}, {"Name": "email", "Value": apps[2].person.email},
        {"Name": "identities", "Value": json.dumps([{"userId": subjects[2], "providerName": "Google"}])}]}]}
    (tmp_path / "cognito.json").write_text(json.dumps(cognito))
    run(stack, tmp_path, "cognito", tmp_path / "cognito.json")
    answer = apps[2].present("google", apps[2].ask_google())
    assert answer.status == 403 and answer.json["code"] == "ACCOUNT_BLOCKED", "kept out there, kept out here"


def test_a_killed_import_continues(own_stack, tmp_path):
    stack = own_stack
    count = 24_000
    # Numbers of a separate block, one for each person.
    rows = [[f"k{number}", f"+63918{number:07}", f"Person {number}", ""] for number in range(count)]
    rows[100][1] = "12"
    rows[-100][1] = "13"
    file = write(tmp_path / "old.csv", ["id", "phone", "name", "created_at"], rows)
    landed = "SELECT count(*) FROM profile.phones WHERE proof = 'import' AND phone LIKE '63918%'"
    kills = 0
    while kills < 3:
        at = int(stack.sql(landed))
        process = subprocess.Popen(
            command(tmp_path, "phone-codes", file, "--source-name", "killed"), env=environment(stack),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        try:
            process_table.wait_until(
                lambda: process.poll() is not None or int(stack.sql(landed)) >= at + 2000, SECONDS, "the next batch")
            if process.poll() is not None:
                break
            process.send_signal(signal.SIGKILL)
        finally:
            process.kill()
            process.wait()
        kills += 1
    assert kills >= 1 and int(stack.sql(landed)) < count
    # The programs it started end with it, and not within a batch.
    process_table.wait_until(
        lambda: stack.sql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'vestibule-identity' "
                          "AND query LIKE '%imported_ids%' AND state <> 'idle'") == "0", SECONDS, "its end")
    result = run(stack, tmp_path, "phone-codes", file, "--source-name", "killed", status=SOMETHING_REJECTED)
    assert "continues at line" in result.stdout
    assert stack.sql(landed) == str(count - 2)
    assert told(tmp_path, "rejects") == [["102", "k100", "phone_invalid"], [f"{count - 98}", f"k{count - 100}", "phone_invalid"]]
    assert stack.sql("SELECT count(*) FROM identity.imported_ids WHERE source = 'killed'") == str(count - 2)
    assert stack.sql("SELECT count(*) FROM profile.account_imports") == "0"
    assert stack.sql(
        "SELECT count(*) FROM profile.profiles WHERE phone LIKE '63918%' AND imported_at IS NOT NULL "
        "AND display_name LIKE 'Person %'") == str(count - 2)
    process_table.wait_until(
        lambda: stack.sql("SELECT count(*) FROM profile.work WHERE queue = 'phone_events'") == "0", SECONDS, "that invites knows the numbers")
    registered = "SELECT count(*) FROM invites.phones WHERE phone LIKE '63918%' AND user_id IS NOT NULL"
    assert stack.sql(registered) == str(count - 2)


def piped(stack, folder, *arguments):
    """The command line for containers: each program with its own configuration only. Returns the exit codes, and profile's output."""
    rejects = str(folder / "rejects.csv")
    identity = subprocess.Popen(
        [program("identity"), "import", *map(str, arguments), "--rejects", rejects, "--unreachable", str(folder / "unreachable.csv")],
        env=process_table.environment(stack.process_of("identity")), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, cwd=folder)
    with identity:
        profile = subprocess.run(
            [program("profile"), "import", "--rejects", rejects], env=process_table.environment(stack.process_of("profile")),
            stdin=identity.stdout, capture_output=True, text=True, timeout=300, cwd=folder)
        identity.stdout.close()
    return identity.wait(SECONDS), profile.returncode, profile.stdout + profile.stderr


def test_two_programs_with_a_pipe_do_the_same(own_stack, tmp_path):
    stack = own_stack
    maria, jose, ana = people(stack, 3)
    arguments = ["phone-codes", phone_codes(tmp_path / "old.csv", [maria, jose, ana]), "--source-name", "piped"]
    with open(arguments[1], "a") as more:
        # Profile knows a number's user, identity knows that a row was imported before.
        more.write(f"4,{maria.phone},Somebody Else,\n1,{jose.phone},{jose.name},\n")
    for run_number in range(2):
        dry = ["--dry-run"] if run_number == 0 else []
        assert piped(stack, tmp_path, *arguments, *dry)[:2] == (SOMETHING_REJECTED, SOMETHING_REJECTED)
        assert sorted(told(tmp_path, "rejects")) == [["5", "4", "phone_taken"], ["6", "1", "row_repeated"]]
        assert told(tmp_path, "unreachable") == []
        made = stack.sql("SELECT count(*) FROM identity.imported_ids WHERE source = 'piped'")
        assert made == ("0" if dry else "4")
    for number, person in enumerate([maria, jose, ana]):
        assert holder(stack, person) == f"{new_id('piped', number)} import"
    assert stack.sql("SELECT count(*) FROM profile.account_imports") == "0"
    # If identity fails the import is not done.
    first, second, says = piped(stack, tmp_path, "phone-codes", "none.csv")
    assert (first, second) == (1, 1) and "identity import" in says


@pytest.mark.parametrize("arguments, says", [
    (["elsewhere", "x.csv"], '"elsewhere" is not a source; expected phone-codes, supabase, firebase, cognito'),
    (["phone-codes", "none.csv"], "none.csv: No such file or directory"),
    (["phone-codes", "empty.csv"], "empty.csv: the file is empty"),
    (["phone-codes", "other.csv"], 'other.csv, line 1: there is no column "id"; there are "a", "b"'),
    (["phone-codes", "cut.csv"], "cut.csv, line 2: a quoted field has no end"),
    (["firebase", "other.csv"], "other.csv: this is not JSON: export with `--format=json`"),
])
def test_unreadable_input_is_reported(own_stack, tmp_path, arguments, says):
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    (tmp_path / "cut.csv").write_text('id,phone,name,created_at\n1,"2\n')
    result = run(own_stack, tmp_path, *arguments, status=1 if arguments[0] != "elsewhere" else 1)
    assert says in result.stderr
