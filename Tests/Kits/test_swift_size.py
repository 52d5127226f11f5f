"""What the Swift kit adds to a static program that uses all of it, against the same program with Foundation and URLSession and without
the kit. Functions that aren't used are left out, as Apple's linker does by itself."""

import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
BYTES_MAX = 910 * 1000
#: Each function can be left out, and none is there for others to load.
LEFT_OUT = ["-Xswiftc", "-Xfrontend", "-Xswiftc", "-function-sections", "-Xlinker", "--no-export-dynamic", "-Xlinker", "-s"]

#: What an app has anyway: a request by a delegate of URLSession, Codable JSON, files.
WITHOUT = """import Foundation
#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

struct Item: Codable { var name: String; var date: Date? }

final class Delegate: NSObject, URLSessionDataDelegate {
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) { print(data.count) }
}

let session = URLSession(configuration: .ephemeral, delegate: Delegate(), delegateQueue: nil)
session.dataTask(with: URLRequest(url: URL(string: CommandLine.arguments[1])!)).resume()
let items = try JSONDecoder().decode([Item].self, from: Data(contentsOf: URL(filePath: CommandLine.arguments[2])))
try JSONEncoder().encode(items).write(to: URL(filePath: CommandLine.arguments[2]))
try await Task.sleep(for: .seconds(1))
print(Locale.preferredLanguages, UUID(), items)
"""

#: All that the kit has.
WITH = WITHOUT + """
let vestibule = Vestibule(url: URL(string: CommandLine.arguments[1])!, clientID: "demo", store: FileStore(folder: URL(filePath: "/tmp/x")))
for await state in vestibule.states { print(state) }
do {
    print(try await vestibule.signIn(.apple(idToken: "", nonce: SignInNonce())))
    print(try await vestibule.beginSignIn(redirectURI: ""), try await vestibule.finishSignIn(callback: vestibule.url))
    for try await event in vestibule.events() { print(event) }
    print(try await vestibule.accessToken(), try await vestibule.state)
    print(try await vestibule.setAvatar(Data()) as Any, try await vestibule.deleteAccount())
    print(try await vestibule.linkProvider(.google(idToken: "")))
    print(try await vestibule.signInAsGuest(), try await vestibule.keptGuest as Any)
    try await vestibule.absorbGuest(.merge)
    try await vestibule.removeAvatar()
    try await vestibule.signOutEverywhere()
    try await vestibule.signOut()
%s
} catch let error as VestibuleError {
    print(error.text(), error.fields)
}
"""


def calls():
    """A call of each method, with what it needs."""
    source = (ROOT / "Sources/Kits/Swift/Generated/Calls.swift").read_text()
    lines = []
    for member, body in re.findall(r"public var (\w+): \w+ \{ \w+\(client: self\) \}(.*?)\n    \}\n\}", source, re.DOTALL):
        for name, parameters in re.findall(r"public func (\w+)\(\n(.*?)\n        \) async throws", body, re.DOTALL):
            needed = re.findall(r"^ +(\w+): ([\w\[\]]+),?$", parameters, re.MULTILINE)
            values = {"String": '""', "Int32": "0", "Int64": "0", "Bool": "false"}
            arguments = ", ".join(
                f"{label}: {values.get(kind) or ('[]' if kind.startswith('[') else '.unspecified')}" for label, kind in needed)
            lines.append(f"    print(try await vestibule.{member}.{name}({arguments}))")
    assert len(lines) > 30
    return "\n".join(lines)


def size(folder, name, program, dependencies):
    """The bytes of a program that is built as it is shipped."""
    (folder / f"Sources/{name}").mkdir(parents=True)
    (folder / f"Sources/{name}/main.swift").write_text(program)
    (folder / "Package.swift").write_text(f"""// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "{name}",
    platforms: [.macOS(.v13)],
    dependencies: [.package(path: "{ROOT}", traits: [])],
    targets: [.executableTarget(name: "{name}", dependencies: [{dependencies}])]
)
""")
    done = subprocess.run(["swift", "build", "-c", "release", "--static-swift-stdlib", *LEFT_OUT], cwd=folder,
                          capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    return (folder / f".build/release/{name}").stat().st_size


def test_what_the_kit_adds_to_a_program(tmp_path, record_property):
    without = size(tmp_path / "without", "without", WITHOUT, "")
    program = "import VestibuleClient\n" + WITH % calls()
    product = f'.product(name: "VestibuleClient", package: "{ROOT.name}")'
    added = size(tmp_path / "with", "with", program, product) - without
    print(f"\nThe Swift kit adds {added / 1000:.0f} kB to a static program of {without / 1e6:.1f} MB")
    record_property("bytes", added)
    assert added < BYTES_MAX
