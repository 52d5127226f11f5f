"""The Swift kit against `vestibule run`: an app's whole story (swift-story/Story.swift), and the sample's part that every platform has.
What only Apple's platforms have is parsed."""

import pathlib
import subprocess

import pytest

import surroundings
from stack import new_stack

ROOT = pathlib.Path(__file__).resolve().parents[2]
STORY = ROOT / ".build/debug/kit-story"
IMAGE = ROOT / "Tests/ImagesTests/Files/rgb.png"
APPLE_ONLY = sorted([*(ROOT / "Sources/Kits/Swift/Apple").glob("*.swift"),
                     *(file for file in (ROOT / "Sources/Kits/Samples/SwiftUI").glob("*.swift") if file.name != "AppModel.swift")])
APPLE_ONLY_LINES_MAX = 150


@pytest.fixture(scope="module")
def stack():
    with new_stack(VESTIBULE_LOG_LEVEL="trace") as stack:
        stack.start()
        yield stack
        assert stack.stop() == 0, stack.output
        stack.expect_no_confidences()


def test_an_apps_whole_story(stack, tmp_path):
    assert STORY.is_file(), "swift build --product kit-story"
    command = [str(STORY), f"http://{stack.addresses['gateway']}", str(tmp_path / "store"), str(IMAGE)]
    surroundings.tell(command, surroundings.Surroundings(stack))
    # What was kept of sessions is the user's alone, and has nothing left of them.
    kept = list((tmp_path / "store").glob("*.json"))
    assert len(kept) == 1 and '"session":null' in kept[0].read_text()
    assert kept[0].stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("file", APPLE_ONLY, ids=lambda file: file.name)
def test_what_only_apples_platforms_have_is_short_and_parses(file):
    assert len(file.read_text().splitlines()) < APPLE_ONLY_LINES_MAX
    done = subprocess.run(["swiftc", "-frontend", "-parse", str(file)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
