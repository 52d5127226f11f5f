"""The OpenAPI document against the gateway, by a suite that we did not write: schemathesis sends what the document allows
and what it forbids, and holds every answer against it."""

import json
import re
import subprocess
import sys

import pytest

from other_gateway import another_gateway

# So that a failure can be had again.
SEED = 20261122
EXAMPLES = 25
SECONDS = 240
CHECKS = (
    "not_a_server_error", "status_code_conformance", "content_type_conformance", "response_headers_conformance",
    "response_schema_conformance", "negative_data_rejection", "positive_data_acceptance", "missing_required_header",
    "unsupported_method", "allow_header_conformance", "ignored_auth")
# What the suite may be answered where it keeps to the document: a name that has 51 characters as people count them or a
# number of no plan (422) no schema can tell; a token (401), a group (404) or an app's user (403) it cannot invent.
ACCEPTED = ["2xx", "401", "403", "404", "409", "422"]
# What a browser visits: one redirects to the provider's page, the other answers pages for people.
VISITED = ("--exclude-operation-id", "beginAppleByWeb", "--exclude-operation-id", "finishAppleByWeb")
# What a provider sends: only what it has signed is taken, as test_provider_notices.py tests.
SIGNED = ("--exclude-operation-id", "receiveAppleNotice", "--exclude-operation-id", "receiveGoogleNotice")
DIALECTS = "single-token,wordpress,supabase"
OF_DIALECTS = "^/(api/auth|wp-json|auth/v1)/"
# It doesn't end: test_watching.py reads it.
STREAM = ("--exclude-operation-id", "watchGroups")
# They end the session that all else needs, and are tried by themselves.
SIGNING_OUT = ["signOut", "signOutEverywhere", "deleteMe", "singleTokenSignOut", "wordPressLogout", "supabaseLogout"]
# Supabase answers 400 to credentials that are refused as well as to a wrong form.
REFUSING_BY_400 = "supabaseToken"


@pytest.fixture(scope="module")
def unlimited(stack):
    """Another gateway to the same services, which lets one address sign in as often as it likes."""
    with another_gateway(
            stack, AUTH_PER_SECOND="1000000", AUTH_BURST="1000000", DIALECTS=DIALECTS) as gateway:
        yield gateway


def schemas_of_requests(document):
    """The names of the schemas that bodies of requests have."""
    found, rest = set(), [document["components"]["requestBodies"]]
    rest += [operation.get("requestBody") for path in document["paths"].values() for operation in path.values()
             if isinstance(operation, dict)]
    while rest:
        value = rest.pop()
        name = value.get("$ref", "").rpartition("/schemas/")[2] if isinstance(value, dict) else ""
        if name and name not in found and "/schemas/" in value["$ref"]:
            found.add(name)
            rest.append(document["components"]["schemas"][name])
        rest += value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return found

OF_GUESTS = ["signInAsGuest", "absorbGuest"]
# A page for browsers, and paths that say to other methods what isn't served there.
SAYING_MORE = ["supabaseSignUp", "supabaseCallback", "supabaseAuthorizeIdentity"]


@pytest.fixture(scope="module")
def document(unlimited):
    """The document, stricter than it is for clients: answers have no member that it does not name."""
    document = unlimited.get("/openapi.json").expect(200)
    requests = schemas_of_requests(document)
    for name, schema in document["components"]["schemas"].items():
        if name not in requests | {"Description"}:
            schema["additionalProperties"] = False
    return document


def run(folder, document, gateway, token, *arguments, parameters="", accepted=ACCEPTED):
    """Runs the suite; returns how many cases it made and found good."""
    (folder / "openapi.json").write_text(json.dumps(document))
    (folder / "schemathesis.toml").write_text(
        f"[checks.positive_data_acceptance]\nexpected-statuses = {json.dumps(accepted)}\n{parameters}")
    result = subprocess.run(
        [sys.executable, "-m", "schemathesis.cli", "--config-file", str(folder / "schemathesis.toml"), "run",
         str(folder / "openapi.json"), "--url", f"http://{gateway.address}", "--seed", str(SEED),
         "--checks", ",".join(CHECKS), "--max-examples", str(EXAMPLES),
         "--phases", "examples,coverage,fuzzing", "--continue-on-failure",
         "--header", f"Authorization: Bearer {token}", "--request-timeout", "10", "--no-color", "--warnings", "off",
         "--report", "ndjson", "--report-ndjson-path", str(folder / "events"), *arguments],
        cwd=folder, capture_output=True, text=True, timeout=SECONDS)
    assert result.returncode == 0, (result.stdout + result.stderr).replace(token, "[token]")[-20000:]
    return int(re.search(r"(\d+) generated, \1 passed", result.stdout)[1])


def test_every_operation(unlimited, document, member, tmp_path):
    assert run(
        tmp_path, document, unlimited, member.access_token, "--exclude-operation-id", "signOut",
        "--exclude-operation-id", "signOutEverywhere", "--exclude-operation-id", "deleteMe", "--exclude-operation-id", "signInAsGuest",
        "--exclude-operation-id", "absorbGuest", "--exclude-path-regex", OF_DIALECTS, *VISITED, *SIGNED, *STREAM) > 300


def test_every_operation_of_dialects(unlimited, document, member, tmp_path):
    excluded = [argument for name in [*SIGNING_OUT, REFUSING_BY_400, *SAYING_MORE] for argument in ("--exclude-operation-id", name)]
    assert run(
        tmp_path, document, unlimited, member.access_token, "--include-path-regex", OF_DIALECTS, *excluded) > 200


def test_guests(unlimited, document, member, tmp_path):
    """A proof of work or a guest's token that is none is 400."""
    included = [argument for name in OF_GUESTS for argument in ("--include-operation-id", name)]
    assert run(tmp_path, document, unlimited, member.access_token, *included, accepted=[*ACCEPTED, "400"]) > 20


def test_supabase_tokens(unlimited, document, member, tmp_path):
    assert run(
        tmp_path, document, unlimited, member.access_token, "--include-operation-id", REFUSING_BY_400,
        accepted=[*ACCEPTED, "400"]) > 20


def test_a_group_that_exists(unlimited, document, member, tmp_path):
    group = member.create_group()
    assert run(
        tmp_path, document, unlimited, member.access_token, "--include-path", "/groups/{group_id}/members",
        parameters=f'[parameters]\n"path.id" = "{group}"\n') > 60


@pytest.mark.parametrize("operation", SIGNING_OUT)
def test_signing_out(unlimited, document, app, tmp_path, operation):
    """By itself: it ends the session that all else needs."""
    # Which credentials go together no schema says: those that don't are 400.
    accepted = [*ACCEPTED, "400"] if operation == "deleteMe" else ACCEPTED
    cases = run(
        tmp_path, document, unlimited, app.access_token, "--include-operation-id", operation, accepted=accepted)
    assert cases > (20 if operation in ("signOut", "signOutEverywhere") else 3)
