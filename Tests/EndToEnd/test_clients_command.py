"""`vestibule clients`: the file of the apps that sign users in by OpenID Connect."""

import concurrent.futures
import hashlib
import json
import os
import re
import signal
import stat
import subprocess

import pytest
import requests

import process_table
from stack import clean_environment, new_stack, program, run_vestibule
from terminal import Terminal

REDIRECT = "https://shop.acme.org/callback"
OTHER = {"id": "other", "name": "Ünder \U0001f6d2", "access_token_seconds": 300, "scopes": ["openid"],
         "redirect_uris": ["com.acme.other:/callback"]}
# More changes of files than any command makes: such a run isn't killed, and the steps are counted.
CALLS_MAX = 40
WRITERS = 8
# Longer than the pause between identity's reads of the file.
READ_SECONDS = 20


def clients(*arguments, file=None, **environment):
    return run_vestibule("clients", *arguments, *(["--file", str(file)] if file else []), environment=environment)


def add(file, *arguments, identifier="shop", **environment):
    return clients("add", identifier, "--name", "Shop", "--redirect-uri", REDIRECT, *arguments, file=file, **environment)


def entries(file):
    return json.loads(file.read_text())["clients"]


def printed(output):
    return dict(line.split("=", 1) for line in output.splitlines())


@pytest.fixture
def file(tmp_path):
    """A file with one client, as a person wrote it."""
    path = tmp_path / "clients.json"
    path.write_text(json.dumps({"clients": [OTHER]}, ensure_ascii=True))
    return path


def test_a_confidential_client_gets_a_secret_of_which_the_file_has_the_hash(tmp_path):
    file = tmp_path / "new.json"
    result = add(file, "--secret", "--post-logout-redirect-uri", "https://shop.acme.org/", "--scopes", "openid, email",
                 "--set", "access_token_seconds=60")
    assert result.returncode == 0, result.stderr
    told = printed(result.stdout)
    assert set(told) == {"client_id", "client_secret"} and re.fullmatch("[0-9a-f]{64}", told["client_secret"])
    assert entries(file) == [{
        "id": "shop", "name": "Shop", "secret_sha256": [hashlib.sha256(told["client_secret"].encode()).hexdigest()],
        "redirect_uris": [REDIRECT], "post_logout_redirect_uris": ["https://shop.acme.org/"],
        "scopes": ["openid", "email"], "access_token_seconds": 60}]
    assert told["client_secret"] not in file.read_text() + result.stderr
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["new.json"]


def test_a_public_client_joins_others_that_stay_as_they_are(file):
    result = add(file, "--public")
    assert (result.returncode, result.stdout) == (0, "client_id=shop\n")
    assert entries(file) == [OTHER, {"id": "shop", "name": "Shop", "redirect_uris": [REDIRECT]}]
    assert list(entries(file)[0]) == list(OTHER)


def test_the_file_may_be_the_configured_one(file, tmp_path):
    configuration = tmp_path / "vestibule.env"
    configuration.write_text(f"VESTIBULE_IDENTITY_CLIENTS_FILE={file}\n")
    assert add(None, "--public", VESTIBULE_IDENTITY_CLIENTS_FILE=str(file)).returncode == 0
    assert add(None, "--public", "--config", str(configuration), identifier="again").returncode == 0
    assert [entry["id"] for entry in entries(file)] == ["other", "shop", "again"]
    result = clients("list")
    assert result.returncode == 64 and "--file, or in the configuration by VESTIBULE_IDENTITY_CLIENTS_FILE" in result.stderr


def test_what_is_missing_is_said_together(tmp_path):
    result = clients("add", file=tmp_path / "new.json")
    assert result.returncode == 64
    assert "missing: ID, --name, --secret or --public, --redirect-uri" in result.stderr
    assert add(tmp_path / "new.json", "--secret", "--public").returncode == 64
    assert add(tmp_path / "new.json", "--public", "--set", "id=x").returncode == 64
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("arguments, sentence", [
    (("--redirect-uri", "http://shop.acme.org/"), "which is of http; only http://127.0.0.1"),
    (("--redirect-uri", "javascript:alert(1)"), "which has a scheme that isn't https"),
    (("--scopes", "openid everything"), '"scopes" must name some of'),
    (("--set", "colour_of_money=green"), 'has an unknown member "colour_of_money"'),
    (("--set", "access_token_seconds=1"), '"access_token_seconds" must be a whole number from 30 to 3600'),
])
def test_identity_judges_the_file_before_it_is_written(file, arguments, sentence):
    before = file.read_bytes()
    result = add(file, "--public", *arguments)
    assert (result.returncode, result.stdout) == (1, "") and sentence in result.stderr, result.stderr
    assert file.read_bytes() == before


def test_an_audience_of_a_provider_is_no_client(file):
    result = add(file, "--public", identifier="com.acme.app", VESTIBULE_IDENTITY_APPLE_AUDIENCES="com.acme.app")
    assert result.returncode == 1 and "is an audience of a provider" in result.stderr


def test_a_client_is_replaced_only_on_request(file):
    before = file.read_bytes()
    result = add(file, "--public", identifier="other")
    assert result.returncode == 1 and "--replace" in result.stderr and "add-secret" in result.stderr
    assert file.read_bytes() == before
    assert add(file, "--public", "--replace", identifier="other").returncode == 0
    assert entries(file) == [{"id": "other", "name": "Shop", "redirect_uris": [REDIRECT]}]


def test_a_secret_is_replaced_in_two_steps(file):
    first = printed(add(file, "--secret").stdout)["client_secret"]
    result = clients("add-secret", "shop", file=file)
    second = printed(result.stdout)["client_secret"]
    digests = [hashlib.sha256(secret.encode()).hexdigest() for secret in (first, second)]
    assert entries(file)[1]["secret_sha256"] == digests
    checked = clients("check", file=file)
    assert checked.returncode == 0 and 'hint: client "shop": it has 2 secrets' in checked.stdout
    assert clients("remove-secret", "shop", file=file).returncode == 0
    assert entries(file)[1]["secret_sha256"] == digests[1:]
    last = clients("remove-secret", "shop", file=file)
    assert last.returncode == 1 and "has one secret" in last.stderr
    for _ in range(3):
        assert clients("add-secret", "shop", file=file).returncode == 0
    full = clients("add-secret", "shop", file=file)
    assert full.returncode == 1 and "has 4 secrets, the most" in full.stderr and full.stdout == ""
    public = clients("add-secret", "other", file=file)
    assert public.returncode == 1 and "is public" in public.stderr


def test_a_client_is_removed(file):
    add(file, "--public")
    assert clients("remove", "other", file=file).returncode == 0
    assert [entry["id"] for entry in entries(file)] == ["shop"]
    assert clients("remove", "shop", file=file).returncode == 0 and entries(file) == []
    missing = clients("remove", "shop", file=file)
    assert missing.returncode == 1 and "has no client shop" in missing.stderr


def test_the_list_shows_no_hash_and_leaves_the_terminal_alone(file):
    add(file, "--secret", "--redirect-uri", "http://127.0.0.1/callback")
    add(file, "--public", "--set", "name=\x1b]0;owned\x07\x9b31m\u202eevil", identifier="evil")
    result = clients("list", file=file)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[0].split() == ["id", "name", "kind", "redirect", "URIs", "scopes"]
    assert [line.split()[0] for line in result.stdout.splitlines()[1:]] == ["other", "shop", "http://127.0.0.1/callback", "evil"]
    assert "confidential" in result.stdout and entries(file)[1]["secret_sha256"][0] not in result.stdout
    checked = clients("check", file=file)
    assert checked.returncode == 0 and f"{file}: clients 3, faults 0" in checked.stdout
    for text in (result.stdout, checked.stdout):
        assert not set(text) & set("\x1b\x07\x9b\u202e")


def test_check_tells_all_faults(file):
    file.write_text(json.dumps({"clients": [{**OTHER, "redirect_uris": []}, {"id": "a b"}, OTHER, OTHER], "client": []}))
    result = clients("check", file=file)
    assert result.returncode == 1 and result.stdout == ""
    for sentence in ('has an unknown member "client"', '"redirect_uris" must be an array of 1 to', 'client 2: "id" must be',
                     'client "other": is there twice'):
        assert sentence in result.stderr, result.stderr
    # A file that is at fault already is left to its owner.
    before = file.read_bytes()
    result = add(file, "--public")
    assert result.returncode == 1 and "is at fault already" in result.stderr and file.read_bytes() == before


@pytest.mark.parametrize("content, sentence", [
    (b'\xef\xbb\xbf{"clients": []}', "byte order mark"), (b'{"clients": [],\n"clients": []}', "a member twice"),
    (b'{"clients": [\n{"id" "x"}]}', "line 2 is not as RFC 8259 has it"), (b"", "line 1 is not"), (b"[]", "something else"),
    (b"\x00" * 300_000, "is longer than 262144 bytes"), (b'{"clients": {}}', 'must hold an array "clients"')])
def test_what_is_no_such_file_stays_as_it_is(file, content, sentence):
    file.write_bytes(content)
    for arguments in (("add", "shop", "--name", "Shop", "--public", "--redirect-uri", REDIRECT), ("check",), ("remove", "x")):
        result = clients(*arguments, file=file)
        assert result.returncode == 1 and sentence in result.stderr, result.stderr
    assert file.read_bytes() == content


def test_what_is_no_regular_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "nowhere").symlink_to("missing")
    (tmp_path / "sparse").touch()
    os.truncate(tmp_path / "sparse", 1 << 30)
    for name, sentence in [("pipe", "is no regular file"), ("", "is no regular file"), ("nowhere", "leads nowhere"),
                           ("missing/clients.json", "cannot be opened"), ("sparse", "is longer than")]:
        result = add(tmp_path / name, "--public")
        assert result.returncode == 1 and sentence in result.stderr, result.stderr
    assert sorted(os.listdir(tmp_path)) == ["nowhere", "pipe", "sparse"]


def test_a_symbolic_link_stays_and_its_file_is_replaced(file, tmp_path):
    (tmp_path / "folder").mkdir()
    link = tmp_path / "folder/link.json"
    link.symlink_to(file)
    file.chmod(0o604)
    assert add(link, "--public").returncode == 0
    assert link.is_symlink() and len(entries(file)) == 2
    assert stat.S_IMODE(file.stat().st_mode) == 0o604 and os.listdir(tmp_path / "folder") == ["link.json"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_the_owner_of_the_file_stays(file):
    os.chown(file, 1234, 2345)
    file.chmod(0o600)
    assert add(file, "--public").returncode == 0
    now = file.stat()
    assert (now.st_uid, now.st_gid, stat.S_IMODE(now.st_mode)) == (1234, 2345, 0o600)


def test_a_run_that_is_killed_anywhere_has_done_all_or_nothing(killer, file):
    before = file.read_bytes()
    seen = set()
    for calls in range(1, CALLS_MAX):
        file.write_bytes(before)
        killed = add(file, "--secret", LD_PRELOAD=str(killer), KILLER_FOLDER=f"{file.parent}/", KILLER_AFTER=str(calls))
        assert killed.returncode in (0, -signal.SIGKILL), killed
        now = [entry["id"] for entry in entries(file)]
        assert now == ["other", "shop"] or file.read_bytes() == before, "half of a change"
        seen.add(len(now))
        if killed.returncode == 0:
            break
        # The next run clears away what that one left.
        assert add(file, "--public", "--replace").returncode == 0
        assert os.listdir(file.parent) == [file.name]
    assert killed.returncode == 0 and calls > 4 and seen == {1, 2}, (calls, seen)


def test_a_full_disk_changes_nothing(file):
    """A limit on the size of files fails a write in its midst, as a full disk does."""
    before = file.read_bytes()
    command = [program("vestibule"), "clients", "add", "shop", "--name", "Shop", "--public", "--redirect-uri", REDIRECT,
               "--file", str(file)]
    limited = f"trap '' XFSZ; ulimit -f 0; exec \"$@\""
    result = subprocess.run(["bash", "-c", limited, "_", *command], env=clean_environment(), capture_output=True, text=True)
    assert result.returncode == 1 and "cannot be written: File too large" in result.stderr, result
    assert file.read_bytes() == before and os.listdir(file.parent) == [file.name]


def test_a_secret_that_can_not_be_printed_is_no_success(tmp_path):
    command = [program("vestibule"), "clients", "add", "shop", "--name", "Shop", "--secret", "--redirect-uri", REDIRECT,
               "--file", str(tmp_path / "new.json")]
    with open("/dev/full", "w") as full:
        result = subprocess.run(command, env=clean_environment(), stdout=full, stderr=subprocess.PIPE, text=True)
    assert result.returncode == 1 and "standard output can't be written: No space left" in result.stderr


def test_many_at_once_lose_nothing(file):
    with concurrent.futures.ThreadPoolExecutor(WRITERS) as pool:
        results = list(pool.map(lambda number: add(file, "--public", identifier=f"app-{number}"), range(WRITERS)))
    assert [result.returncode for result in results] == [0] * WRITERS, [result.stderr for result in results]
    assert {entry["id"] for entry in entries(file)} == {"other"} | {f"app-{number}" for number in range(WRITERS)}
    with concurrent.futures.ThreadPoolExecutor(WRITERS) as pool:
        results = list(pool.map(lambda _: add(file, "--secret", identifier="one"), range(WRITERS)))
    assert sorted(result.returncode for result in results) == [0] + [1] * (WRITERS - 1)
    (made,) = [printed(result.stdout)["client_secret"] for result in results if result.returncode == 0]
    assert entries(file)[-1]["secret_sha256"] == [hashlib.sha256(made.encode()).hexdigest()]


def test_a_person_is_asked_for_what_is_missing(file):
    command = [program("vestibule"), "clients", "add", "--file", str(file)]
    with Terminal(command, clean_environment()) as terminal:
        terminal.answer("Client id", "a b")
        assert '"id" must be 1 to 128 letters' in terminal.expect("Client id")
        terminal.type("other\n")
        terminal.expect('"id" other is taken')
        terminal.answer("Client id", "shop")
        terminal.answer("Name, which users see", "")
        terminal.expect("an answer is needed")
        terminal.answer("Name, which users see", "  Shop ")
        terminal.answer("keep a secret [yes or no]", "perhaps")
        terminal.answer("keep a secret [yes or no]", "y")
        terminal.answer("Redirect URI", "http://shop.acme.org/")
        terminal.expect('"redirect_uris" has "http://shop.acme.org/", which is of http')
        terminal.answer("Redirect URI", REDIRECT)
        terminal.answer("Another one", "http://127.0.0.1/callback")
        terminal.answer("Another one", "ftp://x")
        terminal.expect("which has a scheme that isn't https")
        terminal.answer("Another one", "")
        terminal.answer("signing out [empty for none]", "")
        terminal.answer("Scopes [openid profile email phone offline_access]", "openid email")
        status, output = terminal.wait()
    assert status == 0, terminal.shown
    assert "added client shop" in terminal.shown and printed(output)["client_secret"] not in terminal.shown
    shop = entries(file)[1]
    del shop["secret_sha256"]
    assert shop == {"id": "shop", "name": "Shop", "redirect_uris": [REDIRECT, "http://127.0.0.1/callback"],
                    "scopes": ["openid", "email"]}


def test_a_person_who_leaves_changes_nothing(file):
    before = file.read_bytes()
    command = [program("vestibule"), "clients", "add", "shop", "--file", str(file)]
    with Terminal(command, clean_environment()) as terminal:
        terminal.expect("Name, which users see")
        terminal.type("\x04")
        status, output = terminal.wait()
    assert (status, output) == (1, "") and "nothing was changed" in terminal.shown
    with Terminal(command, clean_environment()) as terminal:
        terminal.expect("Name, which users see")
        terminal.type("\x03")
        assert terminal.wait()[0] == -signal.SIGINT
    assert file.read_bytes() == before


def test_a_client_that_it_adds_is_taken_by_identity_and_as_a_provider_too(tmp_path):
    """Two commands against each other: the client that one makes is the credential that the other tries."""
    file, providers = tmp_path / "clients.json", tmp_path / "providers.json"
    secret = printed(add(file, "--secret", identifier="upstream").stdout)["client_secret"]
    (tmp_path / "right").write_text(f"{secret}\n")
    (tmp_path / "wrong").write_text("0" * 64)
    with new_stack(VESTIBULE_IDENTITY_CLIENTS_FILE=str(file)) as stack:
        stack.start()
        issuer = f"http://{stack.addresses['gateway']}"

        def add_provider(secret_file):
            return run_vestibule(
                "providers", "add", "oidc", "upstream", "--issuer", issuer, "--client-id", "upstream",
                "--client-secret-file", str(tmp_path / secret_file), "--file", str(providers),
                environment={"VESTIBULE_IDENTITY_SIMULATED_PROVIDERS": "true"})

        result = add_provider("wrong")
        assert result.returncode == 1 and "the credentials of upstream are wrong: its answer to them is invalid_client" in result.stderr
        assert not providers.exists()
        result = add_provider("right")
        assert result.returncode == 0, result.stderr
        assert ("upstream: the credentials of upstream are right: to a made-up code its answer is invalid_grant, and with a wrong "
                "secret invalid_client") in result.stdout

        # A client that is added while identity runs counts within seconds.
        later = printed(add(file, "--secret", identifier="later").stdout)["client_secret"]
        form = {"grant_type": "authorization_code", "code": "x" * 43, "redirect_uri": REDIRECT, "client_id": "later",
                "client_secret": later}
        process_table.wait_until(
            lambda: requests.post(f"{issuer}/oauth2/token", data=form, timeout=15).json()["error"] == "invalid_grant", READ_SECONDS,
            "the new client to be known")
        algorithms = requests.get(f"{issuer}/.well-known/openid-configuration", timeout=15).json()[
            "id_token_signing_alg_values_supported"]
        assert stack.stop() == 0
    written = json.loads(providers.read_text())
    # In an order of its own.
    assert sorted(written["providers"][0].pop("algorithms")) == sorted(algorithms)
    assert written == {"providers": [{
        "name": "upstream", "keys_url": f"{issuer}/.well-known/jwks.json", "authorization_url": f"{issuer}/oauth2/authorize",
        "token_url": f"{issuer}/oauth2/token", "revocation_url": f"{issuer}/oauth2/revoke",
        "issuers": [issuer], "audiences": [{"id": "upstream", "kind": "web", "client_secret_file": "right"}]}]}
