"""The repository as a dependency of an app's package: by path, and by a URL of git with a version, a branch and a revision.

The app pins other versions of packages that the server pins. They are stand-ins, as are the places that they come from: SwiftPM's
mirrors lead to folders of this test.
"""

import json
import os
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERSION = "1.2.3"
#: Packages of the server's, each with its library and a version that the server can't be built with.
STAND_INS = {"swift-log": ("Logging", "1.4.0"), "swift-protobuf": ("SwiftProtobuf", "1.20.0")}

PROGRAM = """import Foundation
import Logging
import SwiftProtobuf
import VestibuleClient

let vestibule = Vestibule(url: URL(string: "https://api.example.com")!, store: MemoryStore())
print(Logging.version, SwiftProtobuf.version, try await vestibule.state)
"""
OUTPUT = "1.4.0 1.20.0 signedOut(reason: nil)"


def run(*command, folder, expected=0):
    # The environment may make warnings errors, or name a folder of modules.
    environment = {name: value for name, value in os.environ.items() if name not in ("WARNINGS_ARE_ERRORS", "TOOLCHAINS")}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=900)
    assert done.returncode == expected, f"{' '.join(map(str, command))}:\n{done.stdout}\n{done.stderr}"
    return done.stdout


def commit(folder, *tags):
    run("git", "init", "--quiet", "--initial-branch=main", folder=folder)
    run("git", "add", "--all", folder=folder)
    run("git", "-c", "user.name=Test", "-c", "user.email=test@example.com", "commit", "--quiet", "--message=Test", folder=folder)
    for tag in tags:
        run("git", "tag", tag, folder=folder)
    return run("git", "rev-parse", "HEAD", folder=folder).strip()


@pytest.fixture(scope="module")
def repositories(tmp_path_factory):
    """The tree as it is, in a repository with a version, and the stand-ins."""
    folder = tmp_path_factory.mktemp("repositories")
    vestibule = folder / "vestibule"
    for name in run("git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", folder=ROOT).split("\0"):
        if name and (ROOT / name).is_file():
            (vestibule / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, vestibule / name)
    # A folder of its own: SwiftPM keeps what it has read of a manifest by the package's place.
    shutil.copytree(vestibule, folder / "plain/vestibule")
    revision = commit(vestibule, VERSION)
    for name, (library, version) in STAND_INS.items():
        sources = folder / name / "Sources" / library
        sources.mkdir(parents=True)
        (sources / "Version.swift").write_text(f'public let version = "{version}"\n')
        (folder / name / "Package.swift").write_text(
            "// swift-tools-version: 5.9\nimport PackageDescription\n"
            f'let package = Package(name: "{name}", products: [.library(name: "{library}", targets: ["{library}"])], '
            f'targets: [.target(name: "{library}")])\n')
        commit(folder / name, version)
    return folder, revision


@pytest.fixture(scope="module")
def app(repositories, tmp_path_factory):
    """The app's package, without its dependencies."""
    app = tmp_path_factory.mktemp("app")
    (app / "Sources/app").mkdir(parents=True)
    (app / "Sources/app/main.swift").write_text(PROGRAM)
    mirrors = [{"original": f"https://github.com/apple/{name}", "mirror": f"file://{repositories[0] / name}"} for name in STAND_INS]
    configuration = app / ".swiftpm/configuration"
    configuration.mkdir(parents=True)
    (configuration / "mirrors.json").write_text(json.dumps({"object": mirrors, "version": 1}))
    return app


def depend(app, vestibule):
    others = "\n".join(f'        .package(url: "https://github.com/apple/{name}", exact: "{version}"),'
                       for name, (_, version) in STAND_INS.items())
    products = "\n".join(f'            .product(name: "{library}", package: "{name}"),' for name, (library, _) in STAND_INS.items())
    (app / "Package.swift").write_text(f"""// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "app",
    platforms: [.iOS(.v16), .macOS(.v13)],
    dependencies: [
{others}
        {vestibule},
    ],
    targets: [
        .executableTarget(name: "app", dependencies: [
{products}
            .product(name: "VestibuleClient", package: "vestibule"),
        ])
    ]
)
""")


def built(app):
    """Builds the app without a cache of repositories, and returns the packages that it needs."""
    (app / "Package.resolved").unlink(missing_ok=True)
    run("swift", "build", "--disable-dependency-cache", folder=app)
    assert run(app / ".build/debug/app", folder=app).strip() == OUTPUT
    return {each["identity"] for each in json.loads((app / "Package.resolved").read_text())["pins"]}


def test_an_app_depends_on_a_folder(app, repositories):
    depend(app, f'.package(path: "{repositories[0] / "plain/vestibule"}", traits: [])')
    assert built(app) == set(STAND_INS)


@pytest.mark.parametrize("requirement", ["exact", "branch", "revision"])
def test_an_app_depends_on_a_repository(app, repositories, requirement):
    folder, revision = repositories
    value = {"exact": VERSION, "branch": "main", "revision": revision}[requirement]
    depend(app, f'.package(url: "file://{folder / "vestibule"}", {requirement}: "{value}")')
    assert built(app) == {*STAND_INS, "vestibule"}
