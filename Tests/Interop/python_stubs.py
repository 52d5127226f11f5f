"""Python's messages and stubs of our protos, made when the tests start."""

import pathlib
import shutil

import grpc_tools.protoc

PROJECT = pathlib.Path(__file__).resolve().parents[2]
# grpcio owns the Python package `grpc`, so modules of grpc.testing get a folder of another name. Their proto package,
# which is all that is sent, stays.
RENAMED = ("grpc/testing/", "interop_protos/")


def generate(target):
    """Writes the modules to `target`, which must be on the path of the importing program."""
    sources = target / "protos"
    for proto in (PROJECT / "Tests/Interop/proto").rglob("*.proto"):
        name = proto.relative_to(PROJECT / "Tests/Interop/proto").as_posix().replace(*RENAMED)
        copy = sources / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(proto.read_text().replace(*RENAMED))
    shutil.copytree(PROJECT / "proto/vestibule", sources / "vestibule")
    protos = [str(path) for path in sorted(sources.rglob("*.proto"))]
    # What protobuf itself declares.
    included = pathlib.Path(grpc_tools.protoc.__file__).with_name("_proto")
    status = grpc_tools.protoc.main(
        ["protoc", f"--proto_path={sources}", f"--proto_path={included}", f"--python_out={target}", f"--grpc_python_out={target}", *protos])
    if status != 0:
        raise RuntimeError("protoc failed; its message is above")
