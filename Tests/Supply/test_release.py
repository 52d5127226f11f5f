"""A release refuses what would make it a wrong one, leaves no tag if it fails, and what it signs is verified as its page says."""

import hashlib
import io
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[2]
RELEASE = ROOT / "docker/release"
PROGRAMS = ("identity", "profile", "invites", "gateway", "simulator", "vestibule")
IS_BOOKWORM = "VERSION_CODENAME=bookworm" in pathlib.Path("/etc/os-release").read_text()
ARCHITECTURE = {"aarch64": "arm64"}.get(platform.machine(), "amd64")
VERSION_FILE = "Sources/ServiceKit/Metrics/ProgramVersion.swift"
sys.path.insert(0, str(RELEASE))
sys.dont_write_bytecode = True

import oci_archive  # noqa: E402


def run(*command, folder, check=True, **environment):
    names = ("PATH", "HOME", "TMPDIR")
    base = {name: os.environ[name] for name in names if name in os.environ} | {
        f"GIT_{who}_{what}": "test" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    done = subprocess.run([str(word) for word in command], cwd=folder, env=base | environment, capture_output=True, text=True)
    if check and done.returncode != 0:
        raise AssertionError(f"{command}: {done.stderr}{done.stdout}")
    return done


def tar_of(files):
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as out:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            if isinstance(content, pathlib.PurePath):
                entry.type, entry.linkname = tarfile.SYMTYPE, str(content)
                out.addfile(entry)
            else:
                entry.size = len(content)
                out.addfile(entry, io.BytesIO(content))
    return made.getvalue()


def saved_images(version, architecture=ARCHITECTURE, names=PROGRAMS):
    """What `docker save` of Docker 20 writes: a layer that all share, once as a link, and one of each image's own."""
    base, files, images = tar_of({"etc/os-release": b"Debian"}), {}, []
    for name in names:
        own = tar_of({"usr/local/bin/vestibule-program": name.encode() * 1000})
        config = json.dumps({"os": "linux", "architecture": architecture, "rootfs": {
            "type": "layers", "diff_ids": [oci_archive.digest(layer) for layer in (base, own)]}}).encode()
        files |= {
            f"{name}-base/layer.tar": pathlib.PurePath(f"../{names[0]}-base/layer.tar") if name != names[0] else base,
            f"{name}-own/layer.tar": own, f"{name}.json": config}
        images.append({"Config": f"{name}.json", "RepoTags": [f"vestibule/{name}:{version}"],
                       "Layers": [f"{name}-base/layer.tar", f"{name}-own/layer.tar"]})
    return tar_of(files | {"manifest.json": json.dumps(images).encode()})


class Scratch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, path, text, mode=0o644):
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(mode)


class ArchiveTests(Scratch):
    def written(self, **how):
        (self.folder / "saved.tar").write_bytes(saved_images("1.2.3", **how))
        return oci_archive.write(self.folder / "saved.tar", self.folder, ARCHITECTURE)

    def test_each_image_is_a_whole_layout_of_its_own(self):
        files = self.written()
        self.assertEqual([file.name for file in files], [f"image-{name}-1.2.3-linux-{ARCHITECTURE}.oci.tar" for name in PROGRAMS])
        self.assertEqual([oci_archive.verify(file) for file in files], [f"vestibule/{name}:1.2.3" for name in PROGRAMS])
        # Nothing else is left in the folder.
        self.assertEqual(len(list(self.folder.iterdir())), 1 + len(PROGRAMS))

    def test_the_same_images_give_the_same_bytes(self):
        first = [file.read_bytes() for file in self.written()]
        self.assertEqual([file.read_bytes() for file in self.written()], first)

    def test_an_image_for_another_machine_is_refused(self):
        with self.assertRaisesRegex(ValueError, "linux/s390x"):
            self.written(architecture="s390x")

    def test_a_changed_byte_is_found_wherever_it_is(self):
        file = self.written(names=("identity",))[0]
        whole = file.read_bytes()
        with tarfile.open(file) as archive:
            places = {entry.name: entry.offset_data + entry.size // 2 for entry in archive if entry.isfile()}
        self.assertEqual(len(places), 3 + 4)
        for name, place in places.items():
            with self.subTest(name=name):
                file.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1:])
                with self.assertRaises((ValueError, KeyError, OSError)):
                    oci_archive.verify(file)

    def test_what_belongs_to_no_image_is_found(self):
        file = self.written(names=("identity",))[0]
        with tarfile.open(file, "a") as archive:
            archive.addfile(tarfile.TarInfo("blobs/sha256/" + "0" * 64), io.BytesIO())
        with self.assertRaisesRegex(ValueError, "belong to no image"):
            oci_archive.verify(file)


@unittest.skipUnless(shutil.which("openssl"), "needs openssl")
class SigningTests(Scratch):
    def setUp(self):
        super().setUp()
        self.write("release/a.tar", "a")
        self.write("release/b c.tar", "b")
        run("openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", "key.pem", folder=self.folder)
        run("openssl", "pkey", "-in", "key.pem", "-pubout", "-out", "release/vestibule.pub", folder=self.folder)

    def sign(self, *arguments, check=True, **environment):
        return run(RELEASE / "sign.sh", *arguments, folder=self.folder, check=check, **environment)

    def verifies(self, *tools):
        """Runs the commands of the page that use these tools."""
        page = (ROOT / "docs/run/releases.md").read_text()
        blocks = [block for block in re.findall(r"```\n(.*?)```", page[page.index("## Verify"):page.index("## Install")], re.DOTALL)
                  if block.split()[0] in tools]
        self.assertEqual(len(blocks), len(tools))
        return all(run("bash", "-ec", block, folder=self.folder / "release", check=False).returncode == 0 for block in blocks)

    def change(self, name):
        file = self.folder / "release" / name
        whole = bytearray(file.read_bytes())
        whole[len(whole) // 2] ^= 1
        file.write_bytes(whole)

    def test_a_signature_is_verified_as_the_page_says_and_a_changed_byte_is_refused(self):
        for changed in (None, "a.tar", "SHA256SUMS", "SHA256SUMS.sig"):
            with self.subTest(changed=changed):
                self.sign("release", "comment", RELEASE_KEY_FILE="key.pem")
                if changed:
                    self.change(changed)
                self.assertEqual(self.verifies("base64", "sha256sum"), changed is None)
                if changed:
                    (self.folder / "release/a.tar").write_text("a")

    def test_the_signature_is_base64_in_one_line(self):
        self.sign("release", "comment", RELEASE_KEY_FILE="key.pem")
        # DER of two numbers of 32 bytes or a little less.
        self.assertRegex((self.folder / "release/SHA256SUMS.sig").read_text(), r"\AM[A-Za-z0-9+/]{80,96}={0,2}\Z")

    def test_another_key_is_not_the_releases(self):
        self.sign("release", "comment", RELEASE_KEY_FILE="key.pem")
        run("openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", "other.pem", folder=self.folder)
        run("openssl", "pkey", "-in", "other.pem", "-pubout", "-out", "release/vestibule.pub", folder=self.folder)
        self.assertFalse(self.verifies("base64"))

    @unittest.skipUnless(shutil.which("minisign"), "needs minisign")
    def test_minisign_verifies_as_the_page_says(self):
        run("minisign", "-G", "-W", "-p", "release/minisign.pub", "-s", "minisign.key", folder=self.folder)
        self.sign("release", "comment", MINISIGN_KEY_FILE="minisign.key")
        self.assertTrue(self.verifies("minisign", "sha256sum"))
        self.change("SHA256SUMS")
        self.assertFalse(self.verifies("minisign"))

    def test_without_a_key_it_says_so(self):
        self.assertIn("UNSIGNED", self.sign("release", "comment").stderr)
        self.assertFalse((self.folder / "release/SHA256SUMS.sig").exists())
        self.assertTrue(self.verifies("sha256sum"))

    def test_a_key_of_another_kind_is_refused(self):
        run("openssl", "genpkey", "-algorithm", "ED25519", "-out", "ed25519.pem", folder=self.folder)
        run("openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384", "-out", "p384.pem", folder=self.folder)
        for key in ("ed25519.pem", "p384.pem", "release/a.tar", "none.pem"):
            with self.subTest(key=key):
                self.assertIn("RELEASE_KEY_FILE", self.sign("--check", RELEASE_KEY_FILE=key, check=False).stderr)


@unittest.skipUnless(IS_BOOKWORM, "releases are made on Debian 12")
class ReleaseTests(Scratch):
    """The script in a repository of its own, with stand-ins for what builds."""

    def setUp(self):
        super().setUp()
        shutil.copytree(ROOT / "docker", self.folder / "docker",
                        ignore=shutil.ignore_patterns("prebuilt", "secrets", "__pycache__"))
        self.write("CHANGELOG.md", "# Changelog\n\n## Unreleased\n\n## 1.2.3 - 2026-12-01\n\n## 1.0.0-rc.1 - 2026-11-01\n")
        self.write(VERSION_FILE, 'public static let current = "1.2.3"\n')
        self.write("LICENSE", "Apache-2.0\n")
        self.write(".gitignore", ".build/\n/release/\nsbom/\ndocker/prebuilt/\nPackage.resolved\n/tools/\n/log\n")
        self.write("docs/site/build.sh", "#!/bin/sh\nmkdir -p .build/site && echo page >.build/site/index.html\n", 0o755)
        self.write("Tests/Supply/sbom.sh",
                   f"#!/bin/sh\nmkdir -p sbom\nfor name in {' '.join(PROGRAMS)}; do echo {{}} >sbom/$name.cdx.json; done\n", 0o755)
        self.write("Package.resolved", "{}\n")
        (self.folder / "tools").mkdir()
        (self.folder / "tools/saved.tar").write_bytes(saved_images("1.2.3"))
        self.tool("make", 'echo "make $*" >>log')
        self.tool("strip", 'cp "$3" "$2"')
        self.tool("docker", f'echo "docker $*" >>{self.folder}/log\ncase "$1" in save) cp {self.folder}/tools/saved.tar "$3" ;; esac')
        self.programs("1.2.3")
        run("git", "init", "--quiet", folder=self.folder)
        self.commit()

    def tool(self, name, text):
        self.write(f"tools/{name}", f"#!/bin/bash\nset -e\n{text}\n", 0o755)

    def programs(self, version):
        for name in PROGRAMS:
            self.write(f".build/release/{name}", f'#!/bin/sh\necho "{name} {version} (release)"\n', 0o755)

    def commit(self):
        run("git", "add", "--all", folder=self.folder)
        run("git", "commit", "--quiet", "--message", "test", "--no-gpg-sign", folder=self.folder)

    def release(self, *arguments, **environment):
        return run(self.folder / "docker/release/release.sh", *arguments, folder=self.folder, check=False,
                   **({"PATH": f"{self.folder}/tools:{os.environ['PATH']}"} | environment))

    def refused(self, words, *arguments, **environment):
        done = self.release(*arguments, **environment)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(words, done.stderr)
        self.assertFalse((self.folder / "release/1.2.3").exists())
        return done

    def tags(self):
        return run("git", "tag", folder=self.folder).stdout.split()

    def files(self):
        return {file.name for file in (self.folder / "release/1.2.3").iterdir()}

    def test_a_release_has_its_files_and_an_annotated_tag(self):
        done = self.release("1.2.3")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.files(), {
            "SHA256SUMS", "Package.resolved", f"vestibule-1.2.3-linux-{ARCHITECTURE}.tar",
            *(f"image-{name}-1.2.3-linux-{ARCHITECTURE}.oci.tar" for name in PROGRAMS),
            *(f"sbom-{name}-1.2.3.cdx.json" for name in PROGRAMS)})
        self.assertEqual(run("git", "cat-file", "-t", "v1.2.3", folder=self.folder).stdout, "tag\n")
        self.assertEqual([path.name for path in (self.folder / "release").iterdir()], ["1.2.3"])
        log = (self.folder / "log").read_text()
        self.assertLess(log.index("make --no-print-directory build"), log.index("docker save"))
        self.assertIn("UNSIGNED", done.stderr)

    def test_the_bundle_is_the_same_each_time_and_starts_its_own_version(self):
        bundles = []
        for _ in range(2):
            self.release("1.2.3")
            bundles.append((self.folder / f"release/1.2.3/vestibule-1.2.3-linux-{ARCHITECTURE}.tar").read_bytes())
            run("git", "tag", "--delete", "v1.2.3", folder=self.folder)
        self.assertEqual(hashlib.sha256(bundles[0]).hexdigest(), hashlib.sha256(bundles[1]).hexdigest())
        with tarfile.open(fileobj=io.BytesIO(bundles[0])) as archive:
            names = archive.getnames()
            self.assertEqual({(entry.uid, entry.gid, entry.uname, entry.mode & 0o022) for entry in archive}, {(0, 0, "", 0)})
            self.assertEqual(len({entry.mtime for entry in archive}), 1)
            top = f"vestibule-1.2.3-linux-{ARCHITECTURE}"
            for path in ("start.sh", "README.md", "LICENSE", "CHANGELOG.md", "bin/vestibule", "docs/index.html", "docker/up.sh",
                         "docker/load.sh", "docker/compose.yaml", "docker/files/identity/.gitkeep"):
                self.assertIn(f"{top}/{path}", names)
            self.assertFalse([name for name in names if re.search(r"Dockerfile|prebuilt|docker/release|secrets|\.pem$", name)])
            scripts = [name for name in names if name.endswith((".sh", ".yaml"))]
            texts = "".join(archive.extractfile(name).read().decode() for name in scripts)
            self.assertNotIn("TAG:-local", texts)
            self.assertIn("${VESTIBULE_TAG:-1.2.3}", texts)
            self.assertNotIn("@", re.sub(r"\S+@\S+\.\S+", "", archive.extractfile(f"{top}/README.md").read().decode()))

    def test_a_bundle_without_its_images_says_how_to_load_them(self):
        self.release("1.2.3")
        with tarfile.open(self.folder / f"release/1.2.3/vestibule-1.2.3-linux-{ARCHITECTURE}.tar") as archive:
            archive.extractall(self.folder, filter="data")
        self.tool("docker", "exit 1")
        done = run(f"vestibule-1.2.3-linux-{ARCHITECTURE}/docker/up.sh", folder=self.folder, check=False,
                   PATH=f"{self.folder}/tools:{os.environ['PATH']}")
        self.assertEqual(done.stderr, "up: there is no image vestibule/vestibule:1.2.3; load.sh loads a release's images\n")

    def test_versions_that_are_none_are_refused(self):
        for version in ("", "1.2", "v1.2.3", "1.2.3.4", "01.2.3", "1.2.3-01", "1.2.3+build", "1.2.3-", "1.2.3 ", "../1.2.3", "unreleased"):
            with self.subTest(version=version):
                self.refused("is no semantic version", version)
        self.refused("expected a version")

    def test_a_tree_with_changes_is_refused(self):
        self.write("new.txt", "new")
        self.refused("new.txt", "1.2.3")

    def test_a_tag_that_exists_is_refused(self):
        run("git", "tag", "v1.2.3", folder=self.folder)
        self.refused("the tag v1.2.3 exists", "1.2.3")

    def test_a_changelog_without_the_version_is_refused(self):
        self.refused("CHANGELOG.md has no section '## 1.2.4 - ", "1.2.4")
        # A point is no wildcard.
        self.write("CHANGELOG.md", "## 1x2x3 - 2026-12-01\n")
        self.commit()
        self.refused("CHANGELOG.md has no section", "1.2.3")

    def test_sources_and_programs_of_another_version_are_refused(self):
        self.refused("doesn't say", "1.0.0-rc.1")
        self.programs("unreleased")
        self.refused("the program says 'identity unreleased (release)'", "1.2.3")
        self.assertEqual(self.tags(), [])

    def test_a_key_that_cannot_sign_is_refused_before_anything_is_built(self):
        self.refused("RELEASE_KEY_FILE", "1.2.3", RELEASE_KEY_FILE="none.pem")
        self.assertFalse((self.folder / "log").exists())

    def test_a_release_that_fails_leaves_no_tag_and_no_folder(self):
        self.tool("docker", 'case "$1" in save) echo broken >"$3" ;; esac')
        self.refused("oci_archive", "1.2.3")
        self.tool("docker", 'case "$1" in save) exit 1 ;; esac')
        self.refused("", "1.2.3")
        self.assertEqual((self.tags(), list((self.folder / "release").iterdir())), ([], []))

    def test_sources_that_change_meanwhile_are_not_tagged(self):
        self.write("Tests/Supply/sbom.sh", (self.folder / "Tests/Supply/sbom.sh").read_text() + "echo 1 >meanwhile\n", 0o755)
        self.commit()
        done = self.release("1.2.3")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("meanwhile", done.stderr)
        self.assertEqual(self.tags(), [])

    def test_a_rehearsal_takes_what_is_built_and_tags_nothing(self):
        self.programs("unreleased")
        self.write("new.txt", "new")
        done = self.release("--rehearse", "1.2.3")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("rehearsal", done.stdout)
        self.assertEqual(self.tags(), [])
        self.assertNotIn("make", (self.folder / "log").read_text())
        self.assertIn(f"vestibule-1.2.3-linux-{ARCHITECTURE}.tar", self.files())

    def test_only_archives_of_the_release_are_loaded(self):
        self.release("1.2.3")
        (self.folder / "log").unlink()
        folder = self.folder / "release/1.2.3"

        def load():
            return run("docker/load.sh", folder, folder=self.folder, check=False, VESTIBULE_TAG="1.2.3",
                       PATH=f"{self.folder}/tools:{os.environ['PATH']}")

        self.assertEqual(load().returncode, 0)
        self.assertEqual((self.folder / "log").read_text().count("docker load"), len(PROGRAMS))
        (self.folder / "log").unlink()
        archive = folder / f"image-vestibule-1.2.3-linux-{ARCHITECTURE}.oci.tar"
        archive.write_bytes(archive.read_bytes()[:-1] + b"x")
        self.assertIn("is not the one of the release", load().stderr)
        archive.unlink()
        self.assertNotEqual(load().returncode, 0)
        sums = (folder / "SHA256SUMS").read_text()
        (folder / "SHA256SUMS").write_text("".join(line for line in sums.splitlines(True) if "image-vestibule" not in line))
        self.assertIn("doesn't list image-vestibule", load().stderr)
        self.assertFalse((self.folder / "log").exists())


class PackageTests(unittest.TestCase):
    def test_packages_of_the_bundle_are_those_of_the_images(self):
        installed = re.search(r"--no-install-recommends \\\n\s+(ca-certificates [^\\\n]*)", (ROOT / "docker/Dockerfile").read_text())[1]
        start = (RELEASE / "bundle/start.sh").read_text()
        named = set(re.findall(r"\[lib\S+\]=([\w.+-]+)", start)) | {"ca-certificates"}
        self.assertEqual(named, set(installed.split()))
        readme = (RELEASE / "bundle/README.md").read_text()
        listed = readme[readme.index("`start.sh` names them"):readme.index("On a machine without a network")]
        self.assertEqual(set(re.findall(r"`([a-z][\w.+-]+)`", listed)) - {"start.sh"}, named | {"postgresql"})


if __name__ == "__main__":
    unittest.main()
