"""The sample in React without a build step, in Chromium, as docs/apps/kit-javascript.md tells people to make it; and the one for Vite, parsed."""

import json
import pathlib
import re
import shutil
import subprocess
import time

import pytest

from app import App
from page_site import KIT, ROOT, serving
from stack import run_vestibule

SAMPLES = ROOT / "Sources/Kits/Samples"
#: Of Debian's packages.
REACT = ("/usr/share/nodejs/react/umd/react.production.min.js", "/usr/share/nodejs/react-dom/umd/react-dom.production.min.js")
MILLISECONDS = 20_000
#: The clients file is read again every five seconds.
READ_SECONDS = 6


@pytest.fixture
def folder(tmp_path, kit_stack):
    """The sample's folder with what its README has people copy, and the address of the running system in the settings."""
    folder = shutil.copytree(SAMPLES / "React", tmp_path / "page")
    for name in ("vestibule.js", "vestibule-texts.js"):
        shutil.copy(KIT / name, folder)
    (folder / "react").mkdir()
    for file in REACT:
        assert pathlib.Path(file).exists(), f"there is no {file}: Sources/install-dependencies.sh test"
        shutil.copy(file, folder / "react")
    settings = folder / "settings.js"
    settings.write_text(settings.read_text().replace("http://127.0.0.1:8080", f"http://{kit_stack.addresses['gateway']}"))
    return folder


def test_a_person_uses_the_page(browser, folder, kit_stack):
    person = App(kit_stack).person
    with serving(kit_stack.page_port, folder / "index.html", {"kit": KIT}) as origin:
        added = run_vestibule(
            "clients", "add", "groups-page", "--public", "--name", "Groups", "--redirect-uri", f"{origin}/",
            "--file", str(kit_stack.folder / "clients.json"))
        assert added.returncode == 0, added.stderr
        time.sleep(READ_SECONDS)
        context = browser.new_context()
        page, other = context.new_page(), context.new_page()
        complaints = []
        for each in (page, other):
            each.set_default_timeout(MILLISECONDS)
            each.on("pageerror", lambda error: complaints.append(str(error)))
            each.goto(f"{origin}/")
        page.get_by_role("button", name="Sign in").click()
        page.get_by_role("link", name=re.compile("Apple")).click()
        for name, value in person.simulated.items():
            page.locator(f"[name={name}]").fill(value)
        page.locator("button[value=continue]").first.click()
        page.get_by_role("button", name="Sign out").wait_for()
        assert page.url == f"{origin}/"
        # The other tab is signed in without a reload.
        other.get_by_role("button", name="Sign out").wait_for()
        page.get_by_label("Your name").fill("M")
        page.get_by_role("button", name="Save").click()
        assert page.get_by_role("alert").inner_text()
        page.get_by_label("Your name").fill("Maria Santos")
        page.get_by_role("button", name="Save").click()
        page.get_by_role("alert").wait_for(state="detached")
        # A group that one tab creates comes to both by the stream of events.
        page.get_by_label("New group").fill("Trip to Siargao")
        page.get_by_role("button", name="Create").click()
        for each in (page, other):
            each.get_by_role("listitem").filter(has_text="Trip to Siargao").wait_for()
        other.get_by_role("button", name="Sign out").click()
        for each in (page, other):
            each.get_by_role("button", name="Sign in").wait_for()
        # A guest's groups come along to the account of a sign-in.
        page.get_by_role("button", name="Continue as guest").click()
        page.get_by_label("New group").fill("Lunch")
        page.get_by_role("button", name="Create").click()
        page.get_by_role("listitem").filter(has_text="Lunch").wait_for()
        # The browser remembers the user who has signed in a moment ago.
        page.get_by_role("button", name="Sign in").click()
        page.get_by_role("button", name="Take my groups with me").click()
        for name in ("Lunch", "Trip to Siargao"):
            page.get_by_role("listitem").filter(has_text=name).wait_for()
        page.get_by_role("button", name="Take my groups with me").wait_for(state="detached")
        assert not complaints, complaints
        context.close()


def test_the_sample_for_vite_can_be_parsed(tmp_path):
    folder = shutil.copytree(SAMPLES / "Vite", tmp_path / "vite")
    (folder / "vestibule").mkdir()
    for name in ("vestibule.js", "vestibule-texts.js"):
        shutil.copy(KIT / name, folder / "vestibule")
    json.loads((folder / "package.json").read_text())
    for source in ("src/main.jsx", "vite.config.js"):
        parsed = subprocess.run(
            ["esbuild", source, "--bundle", "--format=esm", "--external:react", "--external:react-dom", "--external:react-dom/client",
             "--external:vite", "--external:@vitejs/plugin-react", "--outfile=/dev/null"],
            cwd=folder, capture_output=True, text=True)
        assert parsed.returncode == 0, parsed.stderr
