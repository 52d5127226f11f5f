"""The other implementations: how each is built and started. One that can't be had is named, with the reason."""

import dataclasses
import os
import shutil

from processes import BenchError, run

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Peers")
SWIFT_PACKAGE = os.path.join(FOLDER, "swift")
GO_PATH = "/usr/share/gocode"  # where Debian puts Go's packages
BUILD_SECONDS_MAX = 3600
FILE_BYTES = 63


@dataclasses.dataclass
class Peer:
    """A server to compare with. It prints `listening on PORT` first, or listens on `port`."""
    name: str
    command: list
    environment: dict | None = None
    port: int | None = None
    is_grpc: bool = True


def swift_build(options, package, *what):
    """Builds for release what the options --product or --target in `what` name, and gives the folder that it is in.

    With the options of `make build`, so that neither has to link again what the other linked.
    """
    options.say(f"building {what[-1]}")
    command = [
        os.path.join(options.root, "Sources/build.sh"), "--configuration", "release", "--static-swift-stdlib",
        "--disable-local-rpath", "--package-path", package, "--jobs", str(options.jobs)]
    run([*command, *what], timeout_seconds=BUILD_SECONDS_MAX)
    return run([*command, "--show-bin-path"]).strip()


def _grpc_swift(options, _):
    folder = options.peer_binaries or swift_build(options, SWIFT_PACKAGE, "--product", "echo-peer")
    return Peer("grpc-swift-2", [f"{folder}/echo-peer"])


def _grpc_cpp(_, scratch):
    plugin = shutil.which("grpc_cpp_plugin")
    if plugin is None or shutil.which("protoc") is None:
        raise BenchError("install the packages libgrpc++-dev, protobuf-compiler-grpc and protobuf-compiler")
    run([
        "protoc", f"--proto_path={FOLDER}/proto", f"--cpp_out={scratch}", f"--grpc_out={scratch}",
        f"--plugin=protoc-gen-grpc={plugin}", "bench.proto"])
    program = os.path.join(scratch, "echo-peer-cpp")
    flags = run(["pkg-config", "--cflags", "--libs", "grpc++", "protobuf"]).split()
    run([
        "g++", "-O2", "-std=c++17", f"-I{scratch}", f"{FOLDER}/cpp/echo_peer.cc", f"{scratch}/bench.pb.cc",
        f"{scratch}/bench.grpc.pb.cc", "-o", program, *flags])
    return Peer("gRPC C++", [program])


def _grpc_go(_, scratch):
    if shutil.which("go") is None or not os.path.isdir(f"{GO_PATH}/src/google.golang.org/grpc"):
        raise BenchError("install the packages golang-go and golang-google-grpc-dev")
    program = os.path.join(scratch, "echo-peer-go")
    environment = {**os.environ, "GO111MODULE": "off", "GOPATH": GO_PATH, "GOCACHE": os.path.join(scratch, "go-cache")}
    run(["go", "build", "-o", program, f"{FOLDER}/go/echo_peer.go"], timeout_seconds=600, env=environment)
    return Peer("grpc-go", [program], {**os.environ, "GOMAXPROCS": "1"})


def nghttpd(options, scratch):
    """A file server over HTTP/2, and a small file. Throws BenchError where it can't be had."""
    if shutil.which("nghttpd") is None:
        raise BenchError("install the package nghttp2-server")
    folder = os.path.join(scratch, "files")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "small"), "wb") as file:
        file.write(b"s" * FILE_BYTES)
    command = ["nghttpd", "--no-tls", "--address=127.0.0.1", f"--htdocs={folder}", str(options.nghttpd_port)]
    return Peer("nghttpd", command, port=options.nghttpd_port, is_grpc=False)


def available(options, scratch):
    """The peers that there are, and for the others why not: (peers, lines)."""
    found, missing = [], []
    for name, make in (
            ("grpc-swift-2", _grpc_swift), ("gRPC C++", _grpc_cpp), ("grpc-go", _grpc_go), ("nghttpd", nghttpd)):
        try:
            found.append(make(options, scratch))
        except BenchError as error:
            missing.append(f"Missing peer {name}: {error}")
    return found, missing
