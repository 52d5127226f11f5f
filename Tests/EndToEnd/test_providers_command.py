"""`vestibule providers`: the providers file, tried against the simulated providers and a small OpenID provider of this test."""

import contextlib
import http.server
import json
import os
import shutil
import signal
import stat
import subprocess
import threading
import urllib.parse

import pytest

from stack import clean_environment, free_ports, program, run_vestibule
from terminal import Terminal

SIMULATED = {"VESTIBULE_IDENTITY_SIMULATED_PROVIDERS": "true"}
GOOGLE = "example.apps.googleusercontent.com"
FACEBOOK = "1234567890"
SECRET = "hunter2hunter2"
CALLS_MAX = 40


def providers(*arguments, folder, environment=None, **more):
    return run_vestibule(
        "providers", *arguments, "--file", str(folder / "providers.json"),
        environment={**SIMULATED, **(environment or {})}, **more)


def entries(folder):
    return json.loads((folder / "providers.json").read_text())["providers"]


def private_key(path):
    subprocess.run(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", path], check=True)
    return path


@pytest.fixture
def simulated(stack, tmp_path):
    """The options for each provider of the stack's simulator, with its right credentials, in the folder `secrets`."""
    shutil.copytree(stack.folder / "secrets", tmp_path / "secrets")
    base = f"http://{stack.addresses['simulator']}"

    def urls(**members):
        return [word for name, path in members.items() for word in ("--set", f"{name}={base}{path}")]

    return {
        "apple": ["--bundle-id", "com.example.app", "--services-id", "com.example.services", "--team-id", "DEVTEAM001",
                  "--key-id", "DEVKEY0001", "--private-key-file", str(tmp_path / "secrets/apple-key-1.p8"),
                  *urls(keys_url="/apple/auth/keys", token_url="/apple/auth/token")],
        "google": ["--web-client-id", GOOGLE, "--native-client-id", f"ios.{GOOGLE}",
                   "--client-secret-file", str(tmp_path / "secrets/google-client-secret"),
                   *urls(keys_url="/google/oauth2/v3/certs", token_url="/google/token")],
        "facebook": ["--app-id", FACEBOOK, "--app-secret-file", str(tmp_path / "secrets/facebook-client-secret"),
                     *urls(keys_url="/facebook/.well-known/oauth/openid/jwks/", debug_token_url="/facebook/debug_token")],
    }


RIGHT = {
    "apple": "apple: the credentials of com.example.services are right: to a made-up code its answer is invalid_grant, and with a "
             "wrong secret invalid_client",
    "google": f"google: the credentials of {GOOGLE} are right: to a made-up code its answer is invalid_grant, and with a wrong secret "
              "invalid_client",
    "facebook": f"facebook: the credentials of {FACEBOOK} are right: to a made-up token its answer is that the token is not valid, and "
                "with a wrong secret error 1",
}
WRONG = {
    "apple": "apple: the credentials of com.example.app are wrong: its answer to them is invalid_client",
    "google": f"google: the credentials of {GOOGLE} are wrong: its answer to them is invalid_client",
    "facebook": f"facebook: the credentials of {FACEBOOK} are wrong: its answer to them is error 1",
}


@pytest.mark.parametrize("provider", RIGHT)
def test_right_credentials_are_taken_and_wrong_ones_are_not_written(simulated, tmp_path, provider):
    wrong = private_key(tmp_path / "wrong") if provider == "apple" else tmp_path / "wrong"
    if provider != "apple":
        wrong.write_text(SECRET)
    arguments = simulated[provider]
    place = next(index for index, word in enumerate(arguments) if word.endswith("-file")) + 1
    bad = [*arguments[:place], str(wrong), *arguments[place + 1:]]
    result = providers("add", provider, *bad, folder=tmp_path)
    assert result.returncode == 1 and WRONG[provider] in result.stderr and "nothing was changed" in result.stderr
    assert not (tmp_path / "providers.json").exists()

    result = providers("add", provider, *arguments, folder=tmp_path)
    assert result.returncode == 0, result.stderr
    assert RIGHT[provider] in result.stdout and f"{provider}: its key set at http" in result.stdout
    (entry,) = entries(tmp_path)
    assert entry["name"] == provider
    # Relative, so that the folder can be mounted elsewhere.
    assert '"secrets/' in json.dumps(entry) and str(tmp_path) not in json.dumps(entry)
    secret = (tmp_path / "secrets" / f"{provider}-client-secret")
    assert not secret.exists() or secret.read_text() not in result.stdout + result.stderr
    assert stat.S_IMODE((tmp_path / "providers.json").stat().st_mode) == 0o640

    # Written untried, if that is asked for; and found wrong by a check.
    result = providers("add", provider, *bad, "--replace", "--offline", folder=tmp_path)
    assert result.returncode == 0 and "was not asked" in result.stderr and result.stdout == ""
    checked = providers("check", folder=tmp_path)
    assert checked.returncode == 1 and WRONG[provider] in checked.stderr
    assert providers("check", "--offline", folder=tmp_path).returncode == 0


def test_all_of_them_are_one_file(simulated, tmp_path):
    for provider, arguments in simulated.items():
        result = providers("add", provider, *arguments, folder=tmp_path)
        assert result.returncode == 0, result.stderr
    before = entries(tmp_path)
    result = providers("add", "google", *simulated["google"], folder=tmp_path)
    assert result.returncode == 1 and "has google already: --replace" in result.stderr and entries(tmp_path) == before
    listed = providers("list", folder=tmp_path)
    assert listed.returncode == 0
    assert [line.split()[0] for line in listed.stdout.splitlines()] == [
        "provider", "apple", "com.example.services", "facebook", "google", f"ios.{GOOGLE}"]
    assert "key DEVKEY0001 of team DEVTEAM001" in listed.stdout
    checked = providers("check", folder=tmp_path)
    assert checked.returncode == 0 and all(sentence in checked.stdout for sentence in RIGHT.values()), checked.stderr
    # identity starts with it.
    alone = run_vestibule("check", "--providers", str(tmp_path / "providers.json"), environment=SIMULATED)
    assert alone.returncode == 0 and "providers in order 3, audiences 5, faults 0" in alone.stdout, alone.stderr


def test_a_provider_that_does_not_answer_is_not_written(simulated, tmp_path):
    port = free_ports(1)[0]
    arguments = [word.replace("=http://", f"=http://127.0.0.1:{port}/") for word in simulated["google"]]
    result = providers("add", "google", *arguments, folder=tmp_path)
    assert result.returncode == 1 and "can't be fetched: no connection" in result.stderr and "couldn't be tried" in result.stderr
    assert "with --offline" in result.stderr and not (tmp_path / "providers.json").exists()


@pytest.mark.parametrize("changes, sentence", [
    ({"--team-id": "short"}, '"team_id" must be 10 capital letters and digits'),
    ({"--private-key-file": "/nonexistent/a.p8"}, '"private_key_file" names the file /nonexistent/a.p8, which cannot be opened'),
    ({"--bundle-id": "com.example.services"}, "is there twice"),
])
def test_identity_judges_the_entry_before_anything_is_asked(simulated, tmp_path, changes, sentence):
    arguments = list(simulated["apple"])
    for option, value in changes.items():
        arguments[arguments.index(option) + 1] = value
    result = providers("add", "apple", *arguments, folder=tmp_path)
    assert result.returncode == 1 and sentence in result.stderr, result.stderr
    assert not (tmp_path / "providers.json").exists()


def test_placeholders_and_http_are_for_simulated_providers_only(simulated, tmp_path):
    result = providers("add", "apple", *simulated["apple"], folder=tmp_path,
                       environment={"VESTIBULE_IDENTITY_SIMULATED_PROVIDERS": "false"})
    assert result.returncode == 1
    for sentence in ('"keys_url" must be an https URL', "is a placeholder out of an example"):
        assert sentence in result.stderr


def test_what_is_missing_is_said_together(tmp_path):
    for words, missing in [
            (["apple"], "--bundle-id or --services-id, --team-id, --key-id, --private-key-file"),
            (["google"], "--web-client-id or --native-client-id"), (["google", "--web-client-id", "x"], "--client-secret-file"),
            (["facebook"], "--app-id, --app-secret-file"), (["oidc"], "NAME, --issuer, --client-id")]:
        result = providers("add", *words, folder=tmp_path)
        assert result.returncode == 64 and f"missing: {missing} (in a terminal" in result.stderr, result.stderr
    result = providers("add", "oidc", "apple", "--issuer", "https://a.acme.org", "--client-id", "x", folder=tmp_path)
    assert result.returncode == 64 and '"name" must not be apple' in result.stderr


# Any other provider, by its discovery document.

class OpenIDProvider(http.server.BaseHTTPRequestHandler):
    """A provider whose document and token endpoint a test changes."""

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.server.paths.append(self.path)
        document = self.server.documents.get(self.path)
        self._answer(*((200, document) if document is not None else (404, {})))

    def do_POST(self):
        form = dict(urllib.parse.parse_qsl(self.rfile.read(int(self.headers["Content-Length"])).decode()))
        self.server.forms.append(form)
        self._answer(*self.server.token(form))

    def _answer(self, status, body):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.wfile.write(body)


@pytest.fixture
def provider():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), OpenIDProvider)
    server.issuer = f"http://127.0.0.1:{server.server_port}/realms/app"
    server.document = {
        "issuer": server.issuer, "jwks_uri": f"{server.issuer}/certs", "token_endpoint": f"{server.issuer}/token",
        "authorization_endpoint": f"{server.issuer}/auth", "id_token_signing_alg_values_supported": ["HS256", "ES256", "RS256"]}
    key = {"kty": "EC", "crv": "P-256", "kid": "1", "alg": "ES256", "use": "sig",
           "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}
    server.documents = {
        "/realms/app/.well-known/openid-configuration": server.document, "/realms/app/certs": {"keys": [key]}}
    server.paths, server.forms = [], []
    server.token = lambda form: (
        (400, {"error": "invalid_grant"}) if form.get("client_secret") == SECRET else (401, {"error": "invalid_client"}))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def add_oidc(provider, folder, *more, secret=SECRET, **options):
    (folder / "secret").write_text(secret)
    return providers("add", "oidc", "keycloak", "--issuer", provider.issuer, "--client-id", "app",
                     "--client-secret-file", str(folder / "secret"), *more, folder=folder, **options)


def test_a_discovery_document_becomes_an_entry(provider, tmp_path):
    result = add_oidc(provider, tmp_path, "--set", "phone_trusted=true")
    assert result.returncode == 0, result.stderr
    assert "keycloak: the credentials of app are right: to a made-up code its answer is invalid_grant" in result.stdout
    assert entries(tmp_path) == [{
        "name": "keycloak", "keys_url": f"{provider.issuer}/certs", "authorization_url": f"{provider.issuer}/auth",
        "token_url": f"{provider.issuer}/token", "algorithms": ["RS256", "ES256"], "issuers": [provider.issuer],
        "audiences": [{"id": "app", "kind": "web", "client_secret_file": "secret"}], "phone_trusted": True}]
    first, second = provider.forms
    assert first["client_secret"] == SECRET != second["client_secret"] and len(first["code"]) > 40
    assert first["redirect_uri"].endswith("/sign-in/keycloak/callback") and first["grant_type"] == "authorization_code"


def test_what_is_left_to_do_is_said(provider, tmp_path):
    provider.document["token_endpoint_auth_methods_supported"] = ["client_secret_basic"]
    result = add_oidc(provider, tmp_path, environment={
        "VESTIBULE_IDENTITY_ISSUER": "http://id.acme.test", "VESTIBULE_IDENTITY_PROVIDERS": "apple"})
    assert result.returncode == 0, result.stderr
    assert "register http://id.acme.test/sign-in/keycloak/callback as a redirect URI" in result.stderr
    assert provider.forms[0]["redirect_uri"] == "http://id.acme.test/sign-in/keycloak/callback"
    assert "it is off, since VESTIBULE_IDENTITY_PROVIDERS doesn't name it" in result.stderr
    assert "its document doesn't name client_secret_post" in result.stdout


def test_a_public_client_has_nothing_to_try(provider, tmp_path):
    result = providers("add", "oidc", "keycloak", "--issuer", provider.issuer, "--client-id", "app", folder=tmp_path)
    assert result.returncode == 0 and "credentials" not in result.stdout and provider.forms == []


def test_wrong_credentials_are_not_written(provider, tmp_path):
    result = add_oidc(provider, tmp_path, secret="another-secret")
    assert result.returncode == 1 and "the credentials of app are wrong: its answer to them is invalid_client" in result.stderr
    assert not (tmp_path / "providers.json").exists() and "another-secret" not in result.stderr


def test_a_provider_that_looks_at_the_code_first_proves_nothing_and_is_said_so(provider, tmp_path):
    provider.token = lambda form: (400, {"error": "invalid_grant"})
    result = add_oidc(provider, tmp_path)
    assert result.returncode == 0
    assert ("the credentials of app could NOT be proven: its answer is invalid_grant with them, and invalid_grant with a wrong secret"
            in result.stdout)


@pytest.mark.parametrize("answer, sentence", [
    ((503, {}), "couldn't be tried: it is not available now"), ((200, {}), "couldn't be tried: its answer makes no sense"),
    ((404, b"<h1>no"), "are wrong: its answer to them is status 404"),
    ((400, {"error": "unauthorized_client\x1b[31m"}), "are wrong: its answer to them is status 400"),
    ((400, b"x" * 100_000), "couldn't be tried: the response is too long")])
def test_an_odd_token_endpoint_is_not_written(provider, tmp_path, answer, sentence):
    provider.token = lambda form: answer
    result = add_oidc(provider, tmp_path)
    assert result.returncode == 1 and sentence in result.stderr and "\x1b" not in result.stderr, result.stderr
    assert not (tmp_path / "providers.json").exists()


@pytest.mark.parametrize("change, sentence", [
    ({"issuer": "https://other.acme.org"}, 'says that its issuer is "https://other.acme.org", and not'),
    ({"issuer": 1}, 'says that its issuer is "", and not'),
    ({"jwks_uri": "http://keys.acme.org/"}, '"keys_url" must'), ({"jwks_uri": "file:///etc/passwd"}, '"keys_url" must'),
    ({"token_endpoint": "https://user@acme.org/"}, '"token_url" must'), ({"jwks_uri": None}, '"keys_url" is required'),
    ({"id_token_signing_alg_values_supported": ["HS256", "none"]}, "names no algorithm of ID tokens that identity verifies"),
])
def test_a_hostile_discovery_document_is_not_written(provider, tmp_path, change, sentence):
    provider.document.update(change)
    result = add_oidc(provider, tmp_path)
    assert result.returncode == 1 and sentence in result.stderr, result.stderr
    assert not (tmp_path / "providers.json").exists() and provider.forms == [], "secrets are sent to nobody who is not judged"


@pytest.mark.parametrize("document, sentence", [
    (None, "answered with status 404"), (b"<html>", "holds no JSON object"), (b"{" + b" " * 70_000, "the response is too long"),
    (b"[" * 1000, "holds no JSON object: it is nested deeper")])
def test_what_is_no_discovery_document_is_not_written(provider, tmp_path, document, sentence):
    provider.documents = {"/realms/app/.well-known/openid-configuration": document}
    result = add_oidc(provider, tmp_path)
    assert result.returncode == 1 and sentence in result.stderr, result.stderr


def test_a_key_set_without_a_usable_key_is_not_written(provider, tmp_path):
    provider.documents["/realms/app/certs"] = {"keys": []}
    result = add_oidc(provider, tmp_path)
    assert result.returncode == 1 and "keycloak: " in result.stderr and "/certs" in result.stderr, result.stderr


def test_offline_needs_what_discovery_would_say(provider, tmp_path):
    result = add_oidc(provider, tmp_path, "--offline")
    assert result.returncode == 1 and '"keys_url" is required' in result.stderr and provider.paths == []
    result = add_oidc(provider, tmp_path, "--offline", "--set", f"keys_url={provider.issuer}/certs",
                      "--set", 'algorithms=["ES256"]')
    assert result.returncode == 0 and provider.paths == [] and entries(tmp_path)[0]["algorithms"] == ["ES256"]


def test_a_person_types_the_secret_which_goes_to_a_file_of_its_own(provider, tmp_path):
    command = [program("vestibule"), "providers", "add", "oidc", "--file", "providers.json"]
    with Terminal(command, {**clean_environment(), **SIMULATED}, cwd=tmp_path) as terminal:
        terminal.answer("Name, in lowercase letters", "Key Cloak")
        terminal.expect('"name" must be up to 32 lowercase letters')
        terminal.answer("Name, in lowercase letters", "keycloak")
        terminal.answer("Issuer, such as", provider.issuer)
        terminal.answer("Client id", "app")
        terminal.answer("client secret [empty to type it]", "missing-file")
        terminal.expect('"client_secret_file" names the file')
        terminal.answer("client secret [empty to type it]", "")
        terminal.expect("The secret [empty for none] (not shown): ")
        assert not terminal.has_echo
        terminal.type(f"{SECRET}\n")
        status, output = terminal.wait()
        assert terminal.has_echo
    assert status == 0, terminal.shown
    assert "are right" in output and SECRET not in terminal.shown + output
    assert entries(tmp_path)[0]["audiences"] == [{"id": "app", "kind": "web", "client_secret_file": "keycloak-client-secret"}]
    secret = tmp_path / "keycloak-client-secret"
    assert secret.read_text() == SECRET and stat.S_IMODE(secret.stat().st_mode) == 0o600
    assert sorted(os.listdir(tmp_path)) == ["keycloak-client-secret", "providers.json"]


def test_a_typed_secret_that_is_wrong_leaves_nothing(provider, tmp_path):
    command = [program("vestibule"), "providers", "add", "oidc", "keycloak", "--issuer", provider.issuer, "--file",
               str(tmp_path / "providers.json")]
    with Terminal(command, {**clean_environment(), **SIMULATED}) as terminal:
        terminal.answer("Client id", "app")
        terminal.answer("client secret [empty to type it]", "")
        terminal.expect("(not shown): ")
        terminal.type("wrong-secret\n")
        status, _ = terminal.wait()
    assert status == 1 and "are wrong" in terminal.shown and "wrong-secret" not in terminal.shown
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_person_who_leaves_while_typing_a_secret_has_the_echo_back(tmp_path, number):
    command = [program("vestibule"), "providers", "add", "facebook", "--app-id", "24680", "--file", str(tmp_path / "providers.json")]
    with Terminal(command, clean_environment()) as terminal:
        terminal.answer("app secret [empty to type it]", "")
        terminal.expect("(not shown): ")
        assert not terminal.has_echo
        if number == signal.SIGINT:
            terminal.type("\x03")
        else:
            terminal.process.send_signal(number)
        assert terminal.process.wait(timeout=20) == -number
        assert terminal.has_echo
    assert os.listdir(tmp_path) == []


def test_a_run_that_is_killed_anywhere_leaves_a_whole_file(killer, provider, tmp_path):
    (tmp_path / "providers.json").write_text('{"providers": []}')
    seen = set()
    for calls in range(1, CALLS_MAX):
        killed = add_oidc(provider, tmp_path, "--replace", environment={
            "LD_PRELOAD": str(killer), "KILLER_FOLDER": f"{tmp_path}/", "KILLER_AFTER": str(calls)})
        assert killed.returncode in (0, -signal.SIGKILL), killed
        seen.add(len(entries(tmp_path)))
        if killed.returncode == 0:
            break
    assert killed.returncode == 0 and calls > 4 and seen == {0, 1}, (calls, seen)
    assert sorted(os.listdir(tmp_path)) == ["providers.json", "secret"]
