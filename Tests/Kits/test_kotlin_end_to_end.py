"""The Kotlin kit on the JVM against `vestibule run`: an app's whole story (kotlin/tests/Story.kt)."""

import pathlib

import surroundings
from test_kotlin import built

IMAGE = pathlib.Path(__file__).resolve().parents[1] / "ImagesTests/Files/rgb.png"


def test_an_apps_whole_story(kit_stack, tmp_path):
    command = ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", built("tests"), "vestibule.tests.StoryKt", "tell",
               f"http://{kit_stack.addresses['gateway']}", str(tmp_path / "store"), str(IMAGE)]
    surroundings.tell(command, surroundings.Surroundings(kit_stack))
    # What was kept of sessions is the user's alone, and has nothing left of them.
    kept = list((tmp_path / "store").glob("*.json"))
    assert len(kept) == 1 and '"session":null' in kept[0].read_text()
    assert kept[0].stat().st_mode & 0o777 == 0o600
