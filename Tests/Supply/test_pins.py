"""What is built from is named exactly, and in all places alike."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).parents[2]


def text(path):
    return (ROOT / path).read_text()


class PinTests(unittest.TestCase):
    def test_packages_have_exact_versions(self):
        manifest = text("Package.swift")
        found = re.findall(r"^ +dependency\((.*)\),?$", manifest, re.MULTILINE)
        self.assertGreater(len(found), 5)
        for package in found:
            self.assertRegex(package, r'^"https://github\.com/[\w./-]+", "\d+\.\d+\.\d+"$')
        # Only for packages that depend on this one they are the least.
        self.assertEqual(re.findall(r"^.*\.package\(.*$", manifest, re.MULTILINE),
                         ["    isFetched ? .package(url: url, from: version) : .package(url: url, exact: version)"])

    def test_the_compiler_is_the_same_everywhere(self):
        version = text(".swift-version").strip()
        self.assertRegex(version, r"^\d+\.\d+\.\d+$")
        for path in ("docker/Dockerfile", "docker/compose.yaml"):
            self.assertEqual(set(re.findall(r"swift:(\d[\w.]*)-bookworm", text(path))), {version}, path)

    def test_every_image_is_an_argument(self):
        for line in re.findall(r"^FROM .*", text("docker/Dockerfile"), re.MULTILINE):
            self.assertRegex(line, r"^FROM (\$\{(SWIFT_IMAGE|BASE_IMAGE|PROGRAMS)\}|scratch) AS \w+$")
        ours = r"\$\{VESTIBULE_IMAGE_PREFIX:-vestibule\}/\w+:\$\{VESTIBULE_TAG:-local\}"
        others = r'"?\$\{VESTIBULE_(POSTGRES|CADDY|PROMETHEUS|ALERTMANAGER|GRAFANA)_IMAGE:-[\w/]+:v?\d[\w.-]*\}"?'
        for image in re.findall(r"^\s*image: (?:&\S+ )?(.*)$", text("docker/compose.yaml"), re.MULTILINE):
            self.assertRegex(image, rf"^({ours}|{others}|\*caddy-image)$")

    def test_images_are_named_alike(self):
        arguments = dict(re.findall(r"^ARG (\w+_IMAGE)=(.*)$", text("docker/Dockerfile"), re.MULTILINE))
        self.assertEqual(len(arguments), 2)
        for name, image in arguments.items():
            self.assertIn(f"{name}: ${{VESTIBULE_{name}:-{image}}}", text("docker/compose.yaml"))


if __name__ == "__main__":
    unittest.main()
