#!/usr/bin/env python3
"""Makes of what `docker save` wrote an OCI archive for each image, which any engine and any registry's tool reads: an image layout
(https://github.com/opencontainers/image-spec/blob/v1.1.0/image-layout.md) with compressed layers. It has Docker's own manifest.json
as well, since `docker load` reads nothing else before Docker 25. The same image gives the same bytes.
"""

import argparse
import gzip
import hashlib
import io
import json
import pathlib
import sys
import tarfile
import tempfile

CONFIG = "application/vnd.oci.image.config.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"
LAYOUT = {"imageLayoutVersion": "1.0.0"}
READ_BYTES = 1 << 20
#: Manifests and configurations are a few kilobytes.
JSON_BYTES_MAX = 4 << 20


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def encoded(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def descriptor(media_type, data):
    return {"mediaType": media_type, "digest": digest(data), "size": len(data)}


def blob_path(of):
    return "blobs/" + of.replace(":", "/")


def chunks(file):
    return iter(lambda: file.read(READ_BYTES), b"")


class Layers:
    """Layers, compressed once each, though several images share them."""

    def __init__(self, saved, folder):
        self._saved = saved
        self._folder = pathlib.Path(folder)
        self._made = {}

    def compressed(self, path, diff_id):
        """The descriptor of the layer and the file that it is in. Docker keeps some layers as links to others."""
        if diff_id not in self._made:
            file = self._folder / diff_id.replace(":", "-")
            with self._saved.extractfile(path) as layer, open(file, "wb") as out:
                is_compressed = layer.read(2) == b"\x1f\x8b"
                layer.seek(0)
                plain = gzip.GzipFile(fileobj=layer) if is_compressed else layer
                found = hashlib.sha256()
                # Neither a name nor a time goes into it.
                with gzip.GzipFile("", "wb", compresslevel=6, fileobj=out, mtime=0) as packed:
                    for chunk in chunks(plain):
                        found.update(chunk)
                        packed.write(chunk)
            if f"sha256:{found.hexdigest()}" != diff_id:
                raise ValueError(f"the layer {path} is not {diff_id}")
            with open(file, "rb") as written:
                packed = hashlib.file_digest(written, "sha256").hexdigest()
            self._made[diff_id] = ({"mediaType": LAYER, "digest": f"sha256:{packed}", "size": file.stat().st_size}, file)
        return self._made[diff_id]


def write(saved, folder, architecture):
    """Writes image-NAME-TAG-linux-ARCHITECTURE.oci.tar for each image of Docker's archive; gives the files."""
    written = []
    with tarfile.open(saved) as archive, tempfile.TemporaryDirectory(dir=folder) as scratch:
        layers = Layers(archive, scratch)
        for image in json.load(archive.extractfile("manifest.json")):
            config = archive.extractfile(image["Config"]).read()
            parsed = json.loads(config)
            if (parsed["os"], parsed["architecture"]) != ("linux", architecture):
                raise ValueError(f"{image['RepoTags']} is for {parsed['os']}/{parsed['architecture']}, not linux/{architecture}")
            diff_ids = parsed["rootfs"]["diff_ids"]
            if len(diff_ids) != len(image["Layers"]):
                raise ValueError(f"{image['RepoTags']} has {len(image['Layers'])} layers and {len(diff_ids)} digests of layers")
            made = [layers.compressed(path, diff_id) for path, diff_id in zip(image["Layers"], diff_ids)]
            reference, = image["RepoTags"]
            repository, tag = reference.rsplit(":", 1)
            file = pathlib.Path(folder) / f"image-{repository.rsplit('/', 1)[-1]}-{tag}-linux-{architecture}.oci.tar"
            _write_layout(file, reference, config, parsed, made)
            written.append(file)
    return written


def _write_layout(file, reference, config, parsed, layers):
    manifest = encoded({
        "schemaVersion": 2, "mediaType": MANIFEST, "config": descriptor(CONFIG, config),
        "layers": [layer for layer, _ in layers]})
    # The names by which containerd and Docker list what they load.
    annotations = {
        "io.containerd.image.name": f"docker.io/{reference}", "org.opencontainers.image.ref.name": reference.rsplit(":", 1)[1]}
    platform = {"os": parsed["os"], "architecture": parsed["architecture"]}
    index = {"schemaVersion": 2, "mediaType": INDEX, "manifests": [
        descriptor(MANIFEST, manifest) | {"annotations": annotations, "platform": platform}]}
    for_docker = [{
        "Config": blob_path(digest(config)), "RepoTags": [reference],
        "Layers": [blob_path(layer["digest"]) for layer, _ in layers]}]
    blobs = {blob_path(digest(data)): data for data in (config, manifest)}
    blobs |= {blob_path(layer["digest"]): path for layer, path in layers}
    with tarfile.open(file, "w", format=tarfile.GNU_FORMAT) as out:
        for name, value in (("oci-layout", LAYOUT), ("index.json", index), ("manifest.json", for_docker)):
            _add(out, name, encoded(value))
        for name in ("blobs", "blobs/sha256"):
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            out.addfile(entry)
        for name, data in sorted(blobs.items()):
            _add(out, name, data)


def _add(out, name, data):
    entry = tarfile.TarInfo(name)
    if isinstance(data, bytes):
        entry.size = len(data)
        out.addfile(entry, io.BytesIO(data))
    else:
        entry.size = data.stat().st_size
        with open(data, "rb") as content:
            out.addfile(entry, content)


def verify(file):
    """Reads an archive back: each digest and size, and that it has nothing else. Raises ValueError; gives the image's name."""
    with tarfile.open(file) as archive:
        sizes = {entry.name: entry.size for entry in archive if entry.isfile()}
        named = {"oci-layout", "index.json", "manifest.json"}

        def text(name):
            if sizes.get(name, JSON_BYTES_MAX) >= JSON_BYTES_MAX:
                raise ValueError(f"{file} has no {name}")
            return archive.extractfile(name).read()

        def checked(of):
            """The path of a blob that is what its descriptor says."""
            name = blob_path(of["digest"])
            if sizes.get(name) != of["size"]:
                raise ValueError(f"{file} has no {name} of {of['size']} bytes")
            if "sha256:" + hashlib.file_digest(archive.extractfile(name), "sha256").hexdigest() != of["digest"]:
                raise ValueError(f"{name} in {file} is not what its name says")
            named.add(name)
            return name

        if json.loads(text("oci-layout")) != LAYOUT:
            raise ValueError(f"{file} is no OCI image layout")
        one, = json.loads(text("index.json"))["manifests"]
        manifest = json.loads(text(checked(one)))
        config = checked(manifest["config"])
        layers = [checked(layer) for layer in manifest["layers"]]
        diff_ids = json.loads(text(config))["rootfs"]["diff_ids"]
        for name, diff_id in zip(layers, diff_ids, strict=True):
            plain = gzip.GzipFile(fileobj=archive.extractfile(name))
            if "sha256:" + hashlib.file_digest(plain, "sha256").hexdigest() != diff_id:
                raise ValueError(f"{name} in {file} is not {diff_id}")
        image, = json.loads(text("manifest.json"))
        if (image["Config"], image["Layers"]) != (config, layers):
            raise ValueError(f"Docker's manifest.json in {file} names another image")
        if set(sizes) != named:
            raise ValueError(f"{file} has files that belong to no image: {sorted(set(sizes) - named)}")
        reference, = image["RepoTags"]
        return reference


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    writing = commands.add_parser("write", help="writes an archive for each image")
    writing.add_argument("saved", help="what `docker save` wrote")
    writing.add_argument("folder", help="where the archives are written")
    writing.add_argument("architecture", help="what the images must be for, such as amd64")
    reading = commands.add_parser("verify", help="reads archives back, and fails at the first that isn't whole")
    reading.add_argument("file", nargs="+")
    given = parser.parse_args()
    try:
        if given.command == "write":
            for file in write(given.saved, given.folder, given.architecture):
                print(f"{file.name}  {file.stat().st_size / 1e6:.0f} MB")
        else:
            for file in given.file:
                verify(file)
    except (ValueError, KeyError, OSError, EOFError, tarfile.TarError) as error:
        sys.exit(f"oci_archive: {error}")


if __name__ == "__main__":
    main()
