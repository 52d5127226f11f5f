"""Recovery codes from outside: made, counted, used once for a passkey, and worth nothing else."""

import concurrent.futures
import re

import pytest

from guests import new_guest
from passkey_phone import SETTINGS, Phone
from soft_authenticator import SoftAuthenticator
from stack import new_stack
from test_linking import age, unlink
from test_operators import done

PAGE = "https://app.example.com"
CODE = re.compile(r"(?:[0-9A-HJKMNP-TV-Z]{4}-){5}[0-9A-HJKMNP-TV-Z]{4}")


@pytest.fixture(scope="module")
def stack():
    with new_stack(
            VESTIBULE_LOG_LEVEL="trace", VESTIBULE_GATEWAY_AUTH_PER_SECOND="1000000", VESTIBULE_GATEWAY_AUTH_BURST="1000000",
            # For public addresses: private ones are not counted.
            VESTIBULE_GATEWAY_TRUSTED_PROXIES="127.0.0.0/8", VESTIBULE_GATEWAY_ORIGINS=PAGE, **SETTINGS) as stack:
        stack.start()
        yield stack
        assert stack.stop() == 0, stack.output
        stack.expect_no_confidences()


class Owner(Phone):
    """A phone whose person has recovery codes, and another one after it is lost."""

    def make_codes(self):
        codes = self.post("/auth/recovery-codes").expect(200)["codes"]
        for code in codes:
            # A secret, wherever it is logged, and its rest without the locator, too.
            self._keep(code)
            self._keep(code.replace("-", ""))
        return codes

    def left(self):
        return self.get("/auth/recovery-codes").expect(200)

    def lost(self):
        """The next phone of the person, which has nothing but the codes."""
        return Owner(self.stack, self.person, SoftAuthenticator())

    def recovery(self, code, address=None):
        headers = {"X-Forwarded-For": address} if address else {}
        return self.gateway.post("/auth/recovery/challenge", {"code": code}, headers=headers)

    def recover(self, code, credential, name=None):
        return self.gateway.post("/auth/recovery", {"code": code, "credential": credential} | ({"name": name} if name else {}))

    def recovered(self, code):
        return self.recover(code, self.authenticator.create(self._options(self.recovery(code)))).expect(200)


@pytest.fixture
def owner(stack):
    owner = Owner(stack)
    owner.sign_in()
    return owner


def test_a_code_adds_a_passkey_on_a_new_phone_and_nothing_else(stack, owner):
    assert owner.left() == {"remaining": 0, "created_at": None}
    codes = owner.make_codes()
    assert len(set(codes)) == 10 and all(CODE.fullmatch(code) for code in codes)
    assert owner.left()["remaining"] == 10 and owner.left()["created_at"]

    phone = owner.lost()
    late = SoftAuthenticator().create(phone._options(phone.recovery(codes[3])))
    # As a user writes it off a sheet of paper.
    sloppy = codes[3].lower().replace("-", " ").replace("0", "o").replace("1", "l")
    options = phone._options(phone.recovery(sloppy))
    credential = phone.authenticator.create(options)
    added = phone.recover(sloppy, credential, "New phone").expect(200)
    assert set(added) == {"id", "name", "created_at", "last_used_at", "backed_up"} and added["name"] == "New phone"
    # The response was lost: the same again.
    assert phone.recover(codes[3], credential).expect(200)["id"] == added["id"]
    assert owner.left()["remaining"] == 9
    assert [passkey["id"] for passkey in owner.passkeys()] == [added["id"]]

    phone.sign_in_by_passkey()
    assert phone.user_id == owner.user_id
    # Used up: neither another passkey, whose challenge came before, nor a challenge.
    for credential in (late, "nonsense"):
        phone.recover(codes[3], credential).problem(401, "RECOVERY_CODE_INVALID")
    phone.recovery(codes[3]).problem(401, "RECOVERY_CODE_INVALID")
    # A code's challenge is for that code.
    other = SoftAuthenticator().create(phone._options(phone.recovery(codes[4])))
    phone.recover(codes[5], other).problem(400, "PASSKEY_REJECTED")
    assert owner.left()["remaining"] == 9


def test_a_session_hears_of_codes_and_of_their_use(stack, owner):
    codes = owner.make_codes()
    phone = owner.lost()
    added = phone.recovered(codes[0])
    changes = owner.get("/auth/sessions").expect(200)["recent_changes"]
    told = [(each["kind"], each["provider"], each["session_id"]) for each in changes]
    # Two of one moment.
    assert sorted(told[:2], key=str) == [("provider_linked", "passkey", None), ("recovery_code_used", None, None)]
    assert told[2:] == [("recovery_codes_created", None, owner.session["session_id"])]
    assert stack.sql(
        "SELECT kind || ' ' || (details ->> 'passkey_id') || ' ' || (details ->> 'remaining') FROM identity.security_events "
        f"WHERE user_id = '{owner.user_id}' AND kind = 'recovery_code_used'").strip() == f"recovery_code_used {added['id']} 9"


def test_new_codes_replace_the_old_ones(owner):
    old, new = owner.make_codes(), owner.make_codes()
    assert not set(old) & set(new) and owner.left()["remaining"] == 10
    phone = owner.lost()
    phone.recovery(old[0]).problem(401, "RECOVERY_CODE_INVALID")
    phone.recovered(new[0])


def test_a_code_is_used_once_by_ten_at_the_same_time(owner):
    code = owner.make_codes()[0]
    phones = [owner.lost() for _ in range(10)]
    credentials = [phone.authenticator.create(phone._options(phone.recovery(code))) for phone in phones]
    with concurrent.futures.ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(lambda each: each[0].recover(code, each[1]), zip(phones, credentials)))
    assert sorted(answer.status for answer in answers) == [200] + [401] * 9
    assert len(owner.passkeys()) == 1 and owner.left()["remaining"] == 9


def test_codes_need_a_recent_proven_sign_in_and_no_guest_gets_any(stack, owner):
    codes = owner.make_codes()
    age(stack, owner, 700)
    refused = owner.post("/auth/recovery-codes")
    refused.problem(403, "RECENT_SIGN_IN_REQUIRED")
    # What would be enough, also for clients that know nothing of our codes (RFC 9470 section 3).
    assert refused.json["max_age"] == 600
    assert refused.json["acr_values"] == ["urn:vestibule:acr:provider", "urn:vestibule:acr:passkey"]
    assert refused.headers["www-authenticate"] == (
        'Bearer realm="vestibule", error="insufficient_user_authentication", '
        'acr_values="urn:vestibule:acr:provider urn:vestibule:acr:passkey", max_age="600"')
    # They are what they were.
    assert owner.left()["remaining"] == 10
    owner.lost().recovered(codes[0])
    guest = new_guest(stack)
    stack.client().post("/auth/recovery-codes", token=guest["access_token"]).problem(403, "GUEST_NOT_ALLOWED")


def test_who_found_a_code_takes_nothing_away_that_day(stack, owner):
    codes = owner.make_codes()
    thief = owner.lost()
    added = thief.recovered(codes[0])
    thief.sign_in_by_passkey()
    unlink(thief, "apple").problem(403, "PROVIDER_LINKED_TOO_RECENTLY")
    # Codes of the thief's would be good after the owner has removed the passkey.
    thief.post("/auth/recovery-codes").problem(403, "PROVIDER_LINKED_TOO_RECENTLY")
    assert owner.left()["remaining"] == 9
    # Nor is the account deleted at once: it is scheduled, and the owner cancels it.
    assert thief.gateway.send("DELETE", "/me", token=thief.access_token).status == 202
    owner.gateway.send("DELETE", "/me/deletion", token=owner.access_token).expect(204)
    owner.remove(added["id"]).expect(204)
    owner.get("/me").expect(200)
    owner.sign_in()
    assert set(owner.make_codes()).isdisjoint(codes)


def test_codes_end_with_the_way_in_by_which_they_were_made(stack, owner):
    passkey = owner.register()
    owner.sign_in_by_passkey()
    owner.post("/auth/recovery-codes").problem(403, "PROVIDER_LINKED_TOO_RECENTLY")
    # Two days later.
    age(stack, owner, 2 * 86_400)
    stack.sql(f"UPDATE identity.passkeys SET created_at = created_at - interval '2 days' WHERE subject = '{owner.user_id}'")
    owner.sign_in_by_passkey()
    by_passkey = owner.make_codes()
    owner.sign_in()
    owner.remove(passkey["id"]).expect(204)
    assert owner.left()["remaining"] == 0
    owner.lost().recovery(by_passkey[0]).problem(401, "RECOVERY_CODE_INVALID")
    # Those of another way in stay.
    codes = owner.make_codes()
    other = owner.register(on=SoftAuthenticator())
    owner.remove(other["id"]).expect(204)
    owner.lost().recovered(codes[0])


def test_a_full_list_of_passkeys_keeps_nobody_out(stack, owner):
    for _ in range(20):
        owner.register(on=SoftAuthenticator())
    codes = owner.make_codes()
    phone = owner.lost()
    phone.recovered(codes[0])
    phone.sign_in_by_passkey()
    assert len(phone.passkeys()) == 21
    owner.post("/auth/passkeys/challenge").problem(400, "TOO_MANY_PASSKEYS")


def test_an_account_gets_codes_five_times_a_day(owner):
    for _ in range(5):
        codes = owner.make_codes()
    owner.post("/auth/recovery-codes").problem(429, "TOO_MANY_ATTEMPTS")
    owner.lost().recovered(codes[0])


def test_wrong_codes_are_refused_alike_and_counted_and_right_ones_pass(stack, owner):
    codes = owner.make_codes()
    stranger, address = owner.lost(), "203.0.113.7"
    wrong = codes[0][:-1] + ("0" if codes[0][-1] != "0" else "1")
    refused = [stranger.recovery(text, address) for text in (wrong, "0" * 24, "U" * 24, "A", codes[0] + "0", "é" * 24)]
    for answer in refused:
        answer.problem(401, "RECOVERY_CODE_INVALID")
    assert len({answer.json["detail"] for answer in refused}) == 1
    tries = len(refused)
    while (answer := stranger.recovery(wrong, address)).status == 401 and tries < 60:
        tries += 1
    assert tries == 50
    answer.problem(429, "TOO_MANY_ATTEMPTS")
    assert int(answer.headers["retry-after"]) > 3600
    # Others may share the address, and a private one may be everybody's.
    stranger.recovery(codes[0], address).expect(200)
    stranger.recovery(wrong, "203.0.113.8").problem(401, "RECOVERY_CODE_INVALID")
    for _ in range(55):
        stranger.recovery(wrong).problem(401, "RECOVERY_CODE_INVALID")


def test_pages_of_other_origins_read_what_would_be_enough(stack, owner):
    age(stack, owner, 700)
    refused = owner.gateway.post("/auth/recovery-codes", token=owner.access_token, headers={"Origin": PAGE})
    refused.problem(403, "RECENT_SIGN_IN_REQUIRED")
    assert "www-authenticate" in refused.headers["access-control-expose-headers"].split(", ")


def test_a_block_by_an_operator_ends_the_codes(stack, owner):
    codes = owner.make_codes()
    done(stack, "block", owner.user_id, "--reason", "abuse", "--confirm")
    done(stack, "unblock", owner.user_id)
    owner.lost().recovery(codes[0]).problem(401, "RECOVERY_CODE_INVALID")


def test_a_blocked_account_is_not_recovered(stack, owner):
    codes = owner.make_codes()
    phone = owner.lost()
    credential = phone.authenticator.create(phone._options(phone.recovery(codes[0])))
    stack.sql(f"UPDATE identity.accounts SET blocked_at = now(), block_reason = 'abuse' WHERE user_id = '{owner.user_id}'")
    phone.recover(codes[0], credential).problem(403, "ACCOUNT_BLOCKED")
    phone.recovery(codes[1]).problem(403, "ACCOUNT_BLOCKED")
    assert stack.sql(f"SELECT count(*) FROM identity.recovery_codes WHERE user_id = '{owner.user_id}' AND used_at IS NOT NULL").strip() == "0"


def test_a_deleted_account_has_no_codes(stack, owner):
    codes = owner.make_codes()
    owner.gateway.send("DELETE", "/me", token=owner.access_token).expect(204)
    owner.lost().recovery(codes[0]).problem(401, "RECOVERY_CODE_INVALID")
    assert stack.sql(f"SELECT count(*) FROM identity.recovery_codes WHERE user_id = '{owner.user_id}'").strip() == "0"


def test_the_database_has_no_code(stack, owner):
    codes = owner.make_codes()
    rows = stack.sql(
        f"SELECT encode(locator, 'hex') || encode(hash, 'hex') FROM identity.recovery_codes WHERE user_id = '{owner.user_id}'").split()
    assert len(rows) == 10 and len(set(rows)) == 10
    assert all(len(row) == 2 * (5 + 32) for row in rows)
    assert not any(code.replace("-", "").lower() in "".join(rows) for code in codes)
