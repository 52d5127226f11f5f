"""`/me`: what people tell about themselves, its rules, and that no two share a number or a username."""

import concurrent.futures
import re
import unicodedata

import pytest
from google.rpc import error_details_pb2

from app import PROFILE_MEMBERS, Person, letters
from app_clients import WAYS, Refused, client_of

PHONE_TAKEN = "This phone number is already associated with another account."
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def test_a_profile_from_empty_to_complete(app):
    empty = app.get("/me").expect(200)
    assert set(empty) == PROFILE_MEMBERS
    assert empty == {
        "user_id": app.user_id, "display_name": None, "username": None, "phone_number": None,
        "missing_fields": ["display_name", "phone_number"], "updated_at": None, "revision": 0, "avatar_url": None,
        "phone_proven": False, "phone_taken_at": None, "is_guest": False}

    named = app.save(display_name=f"  {app.person.name} ").expect(200)
    assert (named["display_name"], named["missing_fields"]) == (app.person.name, ["phone_number"])
    assert TIME.fullmatch(named["updated_at"])

    username = letters(12)
    done = app.save(phone_number=app.person.phone, username=username).expect(200)
    assert (done["phone_number"], done["username"]) == (app.person.phone, username)
    assert done["missing_fields"] == []
    assert app.get("/me").expect(200) == done


def test_an_empty_change_changes_nothing(member):
    before = member.get("/me").expect(200)
    assert member.save().expect(200) == before
    member.save(something_new="x", display_name="Not Saved").problem(
        400, "REQUEST_INVALID", [("something_new", "UNKNOWN_FIELD")])
    assert member.get("/me").expect(200) == before


@pytest.mark.parametrize("name", [
    "Jo", "x" * 50, "李雷", "Añá O’Brien-Smith", "👩‍👩‍👧‍👦" * 50, "النور", "e\u0301e\u0301"], ids=range(7))
def test_good_display_names(app, name):
    assert app.save(display_name=name).expect(200)["display_name"] == unicodedata.normalize("NFC", name)


def test_what_cannot_be_seen_is_left_out_of_a_name(app):
    assert app.save(display_name="\u200bAnn\u00ad \u200fLee").expect(200)["display_name"] == "Ann Lee"


@pytest.mark.parametrize("name", [
    "", "x", "  x  ", "x" * 51, "👩‍👩‍👧‍👦" * 51, "two\nlines", "tab\there", "nul\0", "\u202ereversed", "\u200b\u200b\u200b",
    "\u0420\u0430ypal", "q" + "\u0301\u0302\u0303\u0304\u0306" + "q"], ids=range(12))
def test_bad_display_names(app, name):
    app.save(display_name=name).problem(422, "DISPLAY_NAME_INVALID", [("display_name", "DISPLAY_NAME_INVALID")])
    assert app.get("/me").expect(200)["display_name"] is None


@pytest.mark.parametrize("name", ["ab", "x" * 21, "with space", "with-hyphen", "ñandú", "a.b.c", " abc", "abc\n"])
def test_bad_usernames(app, name):
    app.save(username=name).problem(422, "USERNAME_INVALID", [("username", "USERNAME_INVALID")])


def test_a_username_is_unique_without_case_and_can_be_given_up(app, new_app):
    other = new_app()
    other.sign_in()
    name = f"User_{letters(9)}"
    assert app.save(username=name).expect(200)["username"] == name
    body = other.save(username=name.upper()).problem(
        409, "USERNAME_TAKEN", [("username", "USERNAME_TAKEN")], more={"suggestions"})
    assert body["detail"] == "This username is already taken."
    assert len(set(body["suggestions"])) == 3
    assert other.save(username=body["suggestions"][0]).expect(200)["username"] == body["suggestions"][0]
    # Its owner may write it otherwise.
    assert app.save(username=name.lower()).expect(200)["username"] == name.lower()
    assert app.save(username=None).expect(200)["username"] is None
    assert other.save(username=name).expect(200)["username"] == name


@pytest.mark.parametrize("phone", [
    "12", "not a number", "+63 917", "+63917123456789", "call 09171234567 now", "+1 555 0100", "0917-FLOWERS", "+", "٠",
    "00000000000", "+63 2 8123 4567", "+65 9123 4567"])
def test_no_phone_number(app, phone):
    answer = app.save(phone_number=phone)
    # Well-formed numbers of kinds and countries that the configuration does not take have a code of their own.
    code = "PHONE_NOT_ALLOWED" if phone in ("+63 2 8123 4567", "+65 9123 4567") else "PHONE_INVALID"
    answer.problem(422, code, [("phone_number", code)])
    assert app.get("/me").expect(200)["phone_number"] is None


def notations(digits):
    start, middle, end = digits[:3], digits[3:6], digits[6:]
    return [
        f"0{digits}", digits, f"63{digits}", f"+63{digits}", f"+63 {start} {middle} {end}", f"0063{digits}",
        f"(0{start}) {middle}-{end}", f"+63-{start}-{middle}-{end}", f"0{start}.{middle}.{end}"]


def test_all_notations_are_one_number(app, new_app):
    other = new_app()
    other.sign_in()
    for notation in notations(app.person.digits):
        assert app.save(phone_number=notation).expect(200)["phone_number"] == app.person.phone
    for notation in notations(app.person.digits):
        body = other.save(phone_number=notation).problem(409, "PHONE_TAKEN", [("phone_number", "PHONE_TAKEN")])
        assert body["detail"] == PHONE_TAKEN == body["fields"][0]["detail"]
    assert other.get("/me").expect(200)["phone_number"] is None


def test_a_number_that_was_given_up_can_be_taken(member, new_app):
    old, new = member.person.phone, Person()
    other = new_app()
    other.sign_in()
    other.save(phone_number=old).problem(409, "PHONE_TAKEN", [("phone_number", "PHONE_TAKEN")])
    assert member.save(phone_number=new.phone).expect(200)["phone_number"] == new.phone
    assert other.save(phone_number=old).expect(200)["phone_number"] == old
    # And the way back is closed.
    member.save(phone_number=old).problem(409, "PHONE_TAKEN", [("phone_number", "PHONE_TAKEN")])


def test_a_number_is_taken_by_one_of_many_at_the_same_moment(new_app):
    apps = [new_app() for _ in range(6)]
    for app in apps:
        app.sign_in()
    phone = Person().phone
    with concurrent.futures.ThreadPoolExecutor(len(apps)) as pool:
        answers = list(pool.map(lambda app: app.save(phone_number=phone), apps))
    assert sorted(answer.status for answer in answers) == [200] + [409] * 5
    for answer in answers:
        assert answer.status == 200 or answer.code == "PHONE_TAKEN"


def test_all_or_nothing(member, new_app):
    app = new_app()
    app.sign_in()
    app.save(display_name="Someone Else", phone_number=member.person.phone).problem(
        409, "PHONE_TAKEN", [("phone_number", "PHONE_TAKEN")])
    app.save(display_name="Someone Else", username="no good").problem(
        422, "USERNAME_INVALID", [("username", "USERNAME_INVALID")])
    assert app.get("/me").expect(200)["display_name"] is None


def test_all_errors_are_reported_together(app):
    app.save(display_name="x", phone_number="12", username="-").problem(422, "DISPLAY_NAME_INVALID", [
        ("display_name", "DISPLAY_NAME_INVALID"), ("phone_number", "PHONE_INVALID"), ("username", "USERNAME_INVALID")])


@pytest.mark.parametrize("value", [None, 5, True, ["x"], {"x": 1}], ids=repr)
def test_wrong_types(app, value):
    app.save(display_name=value, phone_number=value).problem(400, "REQUEST_INVALID", [
        ("display_name", "WRONG_TYPE"), ("phone_number", "WRONG_TYPE")])
    if value is not None:
        app.save(username=value).problem(400, "REQUEST_INVALID", [("username", "WRONG_TYPE")])


def test_tries_of_other_peoples_numbers_are_limited(member, new_app):
    """"Taken" tells who is a user, so nobody may ask about a whole phone book."""
    curious = new_app()
    curious.sign_in()
    for _ in range(10):
        curious.save(phone_number=member.person.phone).problem(409, "PHONE_TAKEN", [("phone_number", "PHONE_TAKEN")])
    curious.save(phone_number=member.person.phone).problem(
        429, "TOO_MANY_ATTEMPTS", [("phone_number", "TOO_MANY_ATTEMPTS")])
    # Everything else still works for them, and numbers for everybody else.
    curious.save(display_name="Curious One").expect(200)
    member.save(phone_number=Person().phone).expect(200)


@pytest.mark.parametrize("way", WAYS)
def test_a_username_is_looked_at_before_it_is_saved(member, new_app, gateway, way):
    name = letters(12)
    app = new_app()
    app.sign_in()
    assert app.get(f"/usernames/{name}").expect(200) == {"is_free": True, "suggestions": []}
    member.save(username=name).expect(200)
    assert member.get(f"/usernames/{name}").expect(200) == {"is_free": True, "suggestions": []}, "their own"
    told = app.get(f"/usernames/{name.upper()}").expect(200)
    assert told["is_free"] is False and len(set(told["suggestions"])) == 3
    for suggestion in told["suggestions"]:
        assert app.get(f"/usernames/{suggestion}").expect(200)["is_free"]
    with client_of(app.stack.addresses["gateway"], way) as client:
        check = client.call("AccountService/CheckUsername", app.access_token, username=name)
        assert not check.is_free and len(check.suggestions) == 3
        with pytest.raises(Refused) as refused:
            client.call("AccountService/UpdateMe", app.access_token, username=name)
        # That client tells no details.
        if way != "grpc-web-pyease":
            info = error_details_pb2.ErrorInfo.FromString(refused.value.details["google.rpc.ErrorInfo"])
            assert info.reason == "USERNAME_TAKEN" and len(info.metadata["suggestions"].split(",")) == 3
    app.get("/usernames/ab").problem(422, "USERNAME_INVALID", [("username", "USERNAME_INVALID")])
    assert gateway.get(f"/usernames/{name}").status == 401


def test_two_phones_of_one_person_do_not_undo_each_other(app):
    seen = app.get("/me").expect(200)["revision"]
    first = app.save(display_name="Maria One", expected_revision=seen).expect(200)
    assert first["revision"] == seen + 1
    body = app.save(username=letters(12), expected_revision=seen).problem(409, "REVISION_MISMATCH", more={"revision"})
    assert body["revision"] == first["revision"]
    assert app.get("/me").expect(200) == first
    # An answer that was lost: the same save again is none that undoes something.
    assert app.save(display_name="Maria One", expected_revision=seen).expect(200) == first
    assert app.save(username=None, display_name="Maria Two", expected_revision=body["revision"]).expect(200)["revision"] == seen + 2


@pytest.mark.parametrize("url", ["http://example.com/x", "https://10.0.0.1/x", "https://u:p@example.com/", "javascript:1", "x" * 600])
def test_no_picture(app, url):
    app.save(avatar_url=url).problem(422, "AVATAR_URL_INVALID", [("avatar_url", "AVATAR_URL_INVALID")])


def test_a_picture_of_somewhere_else(app):
    url = "https://pictures.example.com/maria.png?size=96"
    assert app.save(avatar_url=url).expect(200)["avatar_url"] == url
    assert app.save(display_name="Maria").expect(200)["avatar_url"] == url
    assert app.save(avatar_url=None).expect(200)["avatar_url"] is None
