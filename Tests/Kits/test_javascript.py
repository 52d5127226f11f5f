"""The JavaScript kit: its modules as files, and in Node against a running server."""

import gzip
import os
import pathlib
import re
import subprocess

import pytest

import driver
import event_loop
from app import App
from browser import Browser
from page_site import KIT, ROOT

HERE = pathlib.Path(__file__).resolve().parent
PICTURE = ROOT / "Tests/ImagesTests/Files/rgb.png"
#: Bytes, compressed by gzip.
SIZES = {"vestibule.js": 14_000, "vestibule-session.js": 6_000}
LOADS = """
const before = process._getActiveHandles().length;
const names = ["vestibule", "vestibule-session", "vestibule-texts", "vestibule-node"];
globalThis.fetch = globalThis.setTimeout = globalThis.setInterval = () => { throw new Error("work at import"); };
for (const name of names) await import(`${process.argv[1]}/${name}.js`);
if (process._getActiveHandles().length !== before) throw new Error("something was opened at import");
"""


@pytest.mark.parametrize("name", SIZES)
def test_a_module_is_small(name):
    size = len(gzip.compress((KIT / name).read_bytes(), 9))
    assert size < SIZES[name], f"{name} has {size} bytes"


def test_the_modules_are_fresh():
    checked = subprocess.run([KIT / "bundle.sh", "--check"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr


def test_the_types_fit():
    compiled = subprocess.run(
        ["tsc", "--noEmit", "--strict", "--target", "es2022", "--module", "esnext", "--moduleResolution", "node", "--lib",
         "es2022,dom,esnext.asynciterable", HERE / "javascript/types.ts"], capture_output=True, text=True)
    assert compiled.returncode == 0, compiled.stdout


def test_nothing_happens_at_import():
    loaded = subprocess.run(["node", "--input-type=module", "-e", LOADS, KIT], capture_output=True, text=True, timeout=30)
    assert loaded.returncode == 0, loaded.stderr


def test_no_module_but_that_for_node_imports_anything():
    for file in KIT.glob("*.js"):
        text = file.read_text()
        imports = re.search(r"\bimport\s*[{*\"(]|\bfrom\s*\"", text) is not None
        assert imports == (file.name == "vestibule-node.js"), file.name


def test_parts_by_themselves():
    ran = subprocess.run(["node", "--test", HERE / "javascript/units.mjs"], capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stdout


def test_an_apps_story_in_node(kit_stack, tmp_path):
    environment = os.environ | {
        "GATEWAY": f"http://{kit_stack.addresses['gateway']}", "SIMULATOR": f"http://{kit_stack.addresses['simulator']}",
        "STORE": str(tmp_path / "store"), "PICTURE": str(PICTURE)}
    told = subprocess.run(["node", HERE / "javascript/story.mjs"], env=environment, capture_output=True, text=True, timeout=90)
    assert told.returncode == 0, told.stdout + told.stderr
    record, = (tmp_path / "store").glob("*.json")
    assert record.stat().st_mode & 0o077 == 0, "others can read the session"


def test_the_hosted_page_in_node(kit_stack, tmp_path):
    """By PKCE, with a browser that follows links and forms."""
    person = App(kit_stack).person
    browser = Browser(kit_stack.addresses["gateway"], kit_stack.addresses["simulator"])

    async def story():
        started = await driver.Driver.start(driver.command("javascript"))
        try:
            async def ask(op, **members):
                answer = await started.ask(op, client="a", **members)
                assert "ok" in answer, answer
                return answer["ok"]

            await ask("open", url=f"http://{kit_stack.addresses['gateway']}", store=str(tmp_path / "store"), clientId="demo")
            url = (await ask("beginHosted", redirectUri="http://127.0.0.1:51123/callback"))["url"]
            assert browser.open(url) is None
            assert browser.follow("/sign-in/apple") is None
            assert browser.submit(action="continue", **person.simulated) is None
            user = (await ask("finishHosted", url=browser.submit()))["userId"]
            await ask("refresh")
            profile = (await ask("call", method="AccountService/GetMe", request={}))["profile"]
            assert profile["userId"] == user
            await ask("signOut")
            answer = await started.ask("token", client="a")
            assert answer["error"]["code"] == "SIGNED_OUT"
        finally:
            await started.close()

    event_loop.run(story())
