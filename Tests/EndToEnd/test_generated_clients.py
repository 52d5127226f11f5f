"""Clients that other vendors' generators make from the OpenAPI document: they are complete and work.

Python: openapi-python-client. TypeScript: openapi-generator, Debian's tsc, and node.
"""

import io
import json
import os
import pathlib
import subprocess
import sys

import pytest
from PIL import Image

SECONDS = 240
# Media types that Python's generator knows only by another name.
SETTINGS = """
project_name_override: vestibule-client
package_name_override: vestibule_client
post_hooks: []
content_type_overrides:
  application/secevent+jwt: application/octet-stream
  image/*: application/octet-stream
"""

PYTHON = """
import io, json, os
from vestibule_client import Client, AuthenticatedClient, models
from vestibule_client.api.auth import create_challenge, receive_google_notice, sign_in_with_apple
from vestibule_client.api.groups import add_member, create_group
from vestibule_client.api.profile import get_me, set_avatar, update_me
from vestibule_client.types import File

url, asked = os.environ["GATEWAY"], json.loads(os.environ["ASKED"])
client = Client(base_url=url)
challenge = create_challenge.sync(client=client, body=models.SignInToCome(provider="apple", client_id="com.example.app"))
assert len(challenge.nonce) >= 43, challenge
session = sign_in_with_apple.sync(client=client, body=models.AppleSignInType0.from_dict(asked))
assert isinstance(session, models.Session), session
print(json.dumps([session.access_token, session.refresh_token]))

client = AuthenticatedClient(base_url=url, token=session.access_token)
change = models.ProfileChange(display_name=os.environ["NAME"], phone_number=os.environ["PHONE"])
assert update_me.sync(client=client, body=change).display_name == os.environ["NAME"]
assert get_me.sync(client=client).user_id == session.user_id
group = create_group.sync(client=client, body=models.NewGroup(name="Trip"))
person = models.NewMember(phone_number="09171234567", display_name="Ana")
statuses = [add_member.sync_detailed(group.id, client=client, body=person).status_code for _ in range(2)]
assert statuses == [201, 200], statuses
picture = File(payload=io.BytesIO(bytes.fromhex(os.environ["PICTURE"])))
assert set_avatar.sync(client=client, body=picture).avatar_url
assert callable(receive_google_notice.sync_detailed)

problem = update_me.sync(client=client, body=models.ProfileChange(display_name="x"))
assert isinstance(problem, models.Problem), problem
assert problem.status == 422 and problem.code is models.ErrorCode.DISPLAY_NAME_INVALID, problem
assert problem.fields[0].field == "display_name" and problem.fields[0].code is models.ErrorCode.DISPLAY_NAME_INVALID
refused = get_me.sync(client=AuthenticatedClient(base_url=url, token="nonsense"))
assert refused.status == 401 and refused.code is models.ErrorCode.ACCESS_TOKEN_INVALID, refused
"""

TYPESCRIPT = """
import * as api from "./client";

declare const process: any;
declare const Buffer: any;

async function main(): Promise<void> {
  const basePath = process.env.GATEWAY as string;
  const apple = JSON.parse(process.env.ASKED as string);
  const auth = new api.AuthApi(new api.Configuration({ basePath }));
  const session: api.Session = await auth.signInWithApple({ appleSignIn: api.AppleSignInFromJSON(apple) });
  console.log(JSON.stringify([session.accessToken, session.refreshToken]));
  const configuration = new api.Configuration({ basePath, accessToken: session.accessToken });
  const profile = new api.ProfileApi(configuration);
  const changed = await profile.updateMe({
    profileChange: { displayName: process.env.NAME, phoneNumber: process.env.PHONE } as api.ProfileChange });
  if (changed.displayName !== process.env.NAME) throw new Error(JSON.stringify(changed));
  if ((await profile.getMe()).userId !== session.userId) throw new Error("another user");
  const picture = new Blob([Buffer.from(process.env.PICTURE as string, "hex")], { type: "image/png" });
  const shown = await profile.setAvatar({ body: picture });
  if (!shown.avatarUrl) throw new Error(JSON.stringify(shown));
  try {
    await profile.updateMe({ profileChange: { displayName: "x" } as api.ProfileChange });
    throw new Error("it was taken");
  } catch (error) {
    if (!(error instanceof api.ResponseError)) throw error;
    const problem: api.Problem = api.ProblemFromJSON(await error.response.json());
    if (problem.status !== 422 || problem.code !== api.ErrorCode.DisplayNameInvalid) throw new Error(JSON.stringify(problem));
    if (problem.fields?.[0].field !== "display_name") throw new Error(JSON.stringify(problem));
  }
}

main().catch((error) => { console.error(error); process.exit(1); });
"""


@pytest.fixture(scope="module")
def document(stack, tmp_path_factory):
    path = tmp_path_factory.mktemp("openapi") / "openapi.json"
    path.write_bytes(stack.client().get("/openapi.json").content)
    return path


def run(command, **options):
    """Runs a program that must succeed, and returns its output."""
    done = subprocess.run(
        [str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SECONDS, **options)
    assert done.returncode == 0, f"{command[0]}: {done.stdout[-4000:]}"
    return done.stdout


def tool(name):
    return pathlib.Path(sys.executable).parent / name


def picture():
    file = io.BytesIO()
    Image.new("RGB", (8, 8), "red").save(file, "PNG")
    return file.getvalue()


def environment(app, stack, **more):
    """The programs' environment, with a sign-in that the simulated Apple has signed."""
    return {
        **os.environ, "GATEWAY": f"http://{stack.addresses['gateway']}", "ASKED": json.dumps(app.ask_apple()),
        "NAME": app.person.name, "PHONE": app.person.phone, "PICTURE": picture().hex(), **more}


def keep_tokens(stack, said):
    """The first line of output contains the tokens, which must not be logged."""
    stack.confidential |= set(json.loads(said.splitlines()[0]))


def test_python(stack, new_app, document, tmp_path):
    settings = tmp_path / "settings.yaml"
    settings.write_text(SETTINGS)
    package = tmp_path / "vestibule_client"
    said = run([
        tool("openapi-python-client"), "generate", "--path", document, "--config", settings, "--meta", "none",
        "--output-path", package, "--fail-on-warning"])
    assert "Warning" not in said and "cannot parse" not in said.lower(), said
    operations = [
        operation for path in json.loads(document.read_text())["paths"].values() for method, operation in path.items()
        if method in ("get", "put", "post", "patch", "delete")]
    modules = [path for path in package.glob("api/*/*.py") if path.name != "__init__.py"]
    assert len(modules) == len(operations) > 60
    keep_tokens(stack, run(
        [sys.executable, "-c", PYTHON], env=environment(new_app(), stack, PYTHONPATH=str(tmp_path))))


def test_typescript(stack, new_app, document, tmp_path):
    said = run([
        tool("openapi-generator-cli"), "generate", "--generator-name", "typescript-fetch", "--input-spec", document,
        "--output", tmp_path / "client", "--global-property", "apiTests=false,modelTests=false,apiDocs=false,modelDocs=false"])
    assert "[error]" not in said.lower() and " ERROR " not in said, said
    (tmp_path / "main.ts").write_text(TYPESCRIPT)
    # Strict, except for code that the generator writes for compilers after 4.9 (Debian has 4.8), which narrow by `in`.
    run(["tsc", "--target", "es2020", "--module", "commonjs", "--lib", "es2020,dom", "--strict", "--noImplicitAny", "false",
         "--outDir", tmp_path / "built", tmp_path / "main.ts"])
    keep_tokens(stack, run(["node", tmp_path / "built/main.js"], env=environment(new_app(), stack)))
