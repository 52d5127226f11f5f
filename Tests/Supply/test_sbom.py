"""sbom.py tells every package once, and nothing that is not there."""

import io
import tarfile
import unittest

import sbom

STATUS = """\
Package: libc6
Status: install ok installed
Architecture: amd64
Version: 2.36-9+deb12u10
Description: GNU C Library
 Version: of the description

Package: gone
Status: deinstall ok config-files
Architecture: amd64
Version: 1.0

Package: libssl3
Status: install ok installed
Architecture: amd64
Version: 3.0.17-1~deb12u2
"""
COLLECTED = "Package: libicu72\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1:72.1-3\n"


def archive(files):
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as out:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            out.addfile(entry, io.BytesIO(text.encode()))
    made.seek(0)
    return made


def package(name, version, *dependencies, url=None):
    return {"url": url or f"https://github.com/apple/{name}.git", "version": version, "dependencies": list(dependencies)}


IMAGE = {
    "./var/lib/dpkg/status": STATUS, "./var/lib/dpkg/status.d/libicu72": COLLECTED, "./etc/passwd": "Package: no\nVersion: 1\n",
    "./usr/lib/os-release": 'NAME="Debian"\nVERSION_ID="12"\n'}
LOG = package("swift-log", "1.6.0")
GRAPH = package("vestibule", "unspecified", LOG, package("swift-nio", "2.101.2", LOG, url="git@github.com:apple/swift-nio"))


class BillTests(unittest.TestCase):
    def bill(self, image=None, graph=None):
        made = sbom.bill("profile", "1.0", "6.3.1", sbom.debian(archive(image or IMAGE)) + sbom.swift(graph or GRAPH))
        sbom.check(made)
        return made

    def test_every_package_is_told_once(self):
        self.assertEqual([part["purl"] for part in self.bill()["components"]], [
            "pkg:deb/debian/libc6@2.36-9%2Bdeb12u10?arch=amd64&distro=debian-12",
            "pkg:deb/debian/libicu72@1:72.1-3?arch=amd64&distro=debian-12",
            "pkg:deb/debian/libssl3@3.0.17-1~deb12u2?arch=amd64&distro=debian-12",
            "pkg:swift/github.com/apple/swift-log@1.6.0", "pkg:swift/github.com/apple/swift-nio@2.101.2",
            "pkg:github/swiftlang/swift@swift-6.3.1-RELEASE"])

    def test_the_same_content_gives_the_same_bill(self):
        self.assertEqual(self.bill(), self.bill())
        self.assertNotEqual(self.bill()["serialNumber"], self.bill(graph=package("vestibule", "", LOG))["serialNumber"])

    def test_all_hangs_on_the_image(self):
        made = self.bill()
        self.assertEqual(made["metadata"]["component"]["name"], "vestibule/profile")
        self.assertEqual(made["dependencies"][0]["dependsOn"], [part["bom-ref"] for part in made["components"]])

    def test_what_is_no_bill_is_refused(self):
        for image, graph in (
                ({**IMAGE, "./var/lib/dpkg/status": "", "./var/lib/dpkg/status.d/libicu72": ""}, None),
                ({name: text for name, text in IMAGE.items() if "os-release" not in name}, None),
                (None, package("vestibule", "", package("swift-log", "unspecified"))),
                (None, package("vestibule", ""))):
            with self.subTest(image=image, graph=graph), self.assertRaises(ValueError):
                self.bill(image, graph)


if __name__ == "__main__":
    unittest.main()
