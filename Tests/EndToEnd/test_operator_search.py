"""How operators find and list accounts by `vestibule account`: by username, name, device and provider, with filters; sessions and groups."""

import json
import uuid

from app import App, Person
from test_operators import account, done, events


def lines(stack, *arguments):
    return [json.loads(line) for line in done(stack, *arguments, "--json").splitlines()]


def ids(stack, *arguments):
    return [each["user_id"] for each in lines(stack, *arguments)]


def test_an_account_is_found_by_username_name_and_identity(stack, member):
    name = f"Zoë {member.person.digits}"
    username = f"zoe_{member.person.digits[-8:]}"
    member.save(display_name=name, username=username).expect(200)
    assert ids(stack, "find", "--username", username.upper()) == [member.user_id]
    assert ids(stack, "find", "--name", name[:-1].upper()) == [member.user_id]
    subject = lines(stack, "find", member.user_id)[0]["identities"][0]["subject"]
    assert ids(stack, "find", "--provider", f"apple:{subject}") == [member.user_id]
    for none in (("--username", "nobody_here"), ("--name", f"Nobody {uuid.uuid4()}"[:40]), ("--provider", f"google:{subject}")):
        result = account(stack, "find", *none)
        assert (result.returncode, result.stderr) == (1, "vestibule account find: there is no such account\n"), none


def test_an_account_is_found_by_its_device_and_its_session(stack, new_app):
    app = new_app()
    app.sign_in()
    session = app.get("/auth/sessions").expect(200)["sessions"][0]["id"]
    device = f"Phone {app.person.digits}"
    app.gateway.patch(f"/auth/sessions/{session}", {"device_name": device}, token=app.access_token).expect(200)
    assert ids(stack, "find", "--device", device.lower()) == [app.user_id]
    assert ids(stack, "find", "--device", session) == [app.user_id]
    told = lines(stack, "sessions", app.user_id)
    assert [(each["session_id"], each["device_name"], each["is_live"]) for each in told] == [(session, device, True)]
    done(stack, "end-sessions", app.user_id)
    again = App(stack, app.person)
    again.sign_in()
    told = lines(stack, "sessions", app.user_id)
    assert [each.get("end_reason") for each in told] == [None, "operator"]
    assert "ended:operator" in done(stack, "sessions", app.user_id)


def test_wrong_searches_are_refused(stack):
    for arguments in ((), ("--username", "a_b", "--name", "a"), ("x@example.com", "--name", "a"), ("--provider", "apple"), ("--provider", ":1")):
        assert account(stack, "find", *arguments).returncode == 64, arguments
    refused = account(stack, "find", "--name", "a" * 51)
    assert refused.returncode == 1 and "DISPLAY_NAME_INVALID" in refused.stderr
    refused = account(stack, "find", "--name", "a", "--reason", "No word")
    assert refused.returncode == 1 and "BLOCK_REASON_INVALID" in refused.stderr
    assert account(stack, "list", "--since", "yesterday").returncode == 64
    missing = account(stack, "sessions", str(uuid.uuid4()))
    assert missing.returncode == 1 and "ACCOUNT_NOT_FOUND" in missing.stderr


def test_accounts_are_listed_newest_first_with_filters(stack, new_app):
    apps = [new_app() for _ in range(3)]
    for app in apps:
        app.sign_in()
    newest = [app.user_id for app in reversed(apps)]
    listed = [each for each in lines(stack, "list", "--limit", "50") if each["user_id"] in newest]
    assert [each["user_id"] for each in listed] == newest
    assert all(each["providers"] == ["apple"] for each in listed)
    done(stack, "block", newest[1], "--reason", "abuse", "--confirm")
    assert newest[1] in ids(stack, "list", "--blocked", "--limit", "200")
    assert newest[1] not in ids(stack, "list", "--no-blocked", "--limit", "50")
    assert not set(newest) & set(ids(stack, "list", "--provider", "google", "--limit", "200"))
    assert not ids(stack, "list", "--until", "2020-01-01")
    assert set(newest) <= set(ids(stack, "list", "--since", "2020-01-01T00:00:00Z", "--until", "2100-01-01", "--limit", "200"))
    assert not set(newest) & set(ids(stack, "list", "--guest", "--limit", "200"))
    # More than a page, each account once.
    many = ids(stack, "list", "--limit", "300")
    assert len(many) == len(set(many))


def test_groups_are_listed(stack, member):
    group = member.create_group()
    told = lines(stack, "groups", member.user_id)
    assert [(each["group_id"], each["role"]) for each in told] == [(group, "owner")]
    assert group in done(stack, "groups", member.user_id)


def test_searches_are_audited_by_a_hash_of_what_was_looked_for(stack, member):
    first = account(stack, "find", member.person.email, "--json", "--reason", "ticket")
    again = account(stack, "find", member.person.email.upper(), "--json")
    assert first.stderr == again.stderr and first.stderr.startswith("in the audit log, the term is ")
    term = first.stderr.split()[7]
    told = [json.loads(event["details_json"]) for event in events(stack, member.user_id)]
    searches = [each for each in told if each.get("term") == term]
    assert [(each["by"], each.get("reason")) for each in searches] == [("email", None), ("email", "ticket")]
    nobody = Person()
    assert account(stack, "find", nobody.email).returncode == 1
    text = stack.sql("SELECT details FROM identity.security_events WHERE kind = 'account_found'")
    assert not any(each in text for each in (*member.person.confidential, *nobody.confidential))
