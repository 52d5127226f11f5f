#!/usr/bin/env python3
"""Writes what goes into an image, as CycloneDX 1.5 JSON: the Debian packages of which there are files, the Swift packages that
the program is built from, which may be more than it links, and the toolchain, whose library is linked into it.
"""

import argparse
import json
import pathlib
import re
import sys
import tarfile
import uuid

# More would be no list of packages.
STATUS_BYTES_MAX = 32 * 1024 * 1024


def debian(archive):
    """The packages of dpkg's status, and of the files that collect-libraries.sh puts beside it."""
    found = {}
    release = ""
    with tarfile.open(fileobj=archive, mode="r|*") as entries:
        for entry in entries:
            name = entry.name.removeprefix("./")
            is_status = name == "var/lib/dpkg/status" or name.startswith("var/lib/dpkg/status.d/")
            if not entry.isfile() or entry.size > STATUS_BYTES_MAX or not (is_status or name == "usr/lib/os-release"):
                continue
            text = entries.extractfile(entry).read().decode(errors="replace")
            if not is_status:
                release = re.search(r'^VERSION_ID="?([0-9.]+)', text, re.MULTILINE)[1]
                continue
            for paragraph in re.split(r"\n\s*\n", text):
                fields = dict(re.findall(r"^(Package|Version|Architecture|Status): (.*)$", paragraph, re.MULTILINE))
                if "Version" in fields and fields.get("Status", "ok installed").endswith("ok installed"):
                    found[fields["Package"]] = fields
    if not found or not release:
        raise ValueError("the archive is of no Debian image")
    return [
        component(
            "library", name, fields["Version"],
            f"pkg:deb/debian/{quoted(name)}@{quoted(fields['Version'])}"
            f"?arch={quoted(fields['Architecture'])}&distro=debian-{release}")
        for name, fields in sorted(found.items())]


def swift(dependencies):
    """Each package once, however many need it."""
    found = {}
    waiting = list(dependencies["dependencies"])
    while waiting:
        package = waiting.pop()
        waiting += package["dependencies"]
        place = re.sub(r"^(https?://|git@)|\.git$", "", package["url"]).replace(":", "/")
        found[place] = package
    return [
        component("library", place.rsplit("/", 1)[-1], package["version"], f"pkg:swift/{place}@{quoted(package['version'])}")
        for place, package in sorted(found.items())]


def component(kind, name, version, purl):
    return {"type": kind, "bom-ref": purl, "name": name, "version": version, "purl": purl}


def quoted(text):
    """Percent-encoded as package URLs are: `:` and what letters, digits, `.`, `-`, `_` and `~` are not, but not `:` itself."""
    return re.sub(r"[^A-Za-z0-9.\-_~:]", lambda found: f"%{ord(found[0]):02X}", text)


def bill(name, version, toolchain, packages):
    whole = component("container", f"vestibule/{name}", version, f"pkg:oci/{name}@{quoted(version)}")
    parts = packages + [component("framework", "swift", toolchain, f"pkg:github/swiftlang/swift@swift-{toolchain}-RELEASE")]
    # The same content has the same number, so that two builds can be compared by their bills.
    number = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps([whole, parts]))
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json", "bomFormat": "CycloneDX", "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{number}", "version": 1, "metadata": {"component": whole}, "components": parts,
        "dependencies": [{"ref": whole["bom-ref"], "dependsOn": [part["bom-ref"] for part in parts]}]}


def check(bill):
    """What a reader of bills relies on; raises ValueError."""
    parts = bill["components"]
    references = [part["bom-ref"] for part in parts]
    if len(set(references)) != len(references):
        raise ValueError("a component is listed twice")
    for part in parts:
        if not part["version"] or part["version"] == "unspecified":
            raise ValueError(f"{part['name']} has no version")
        if not re.fullmatch(r"pkg:(deb|swift|github)/[^\s@]+@[^\s@?]+(\?\S+)?", part["purl"]):
            raise ValueError(f"{part['purl']} is no package URL")
    kinds = {part["purl"].split("/")[0] for part in parts}
    if not {"pkg:deb", "pkg:swift", "pkg:github"} <= kinds:
        raise ValueError(f"only {sorted(kinds)} are listed")


def main(name, dependencies, version):
    toolchain = (pathlib.Path(__file__).parents[2] / ".swift-version").read_text().strip()
    packages = debian(sys.stdin.buffer) + swift(json.loads(pathlib.Path(dependencies).read_text()))
    made = bill(name, version, toolchain, packages)
    check(made)
    print(json.dumps(made, indent=1))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, epilog="Standard input is the image's files, as `docker export` gives them.")
    parser.add_argument("name", help="the program's, such as identity")
    parser.add_argument("dependencies", help="a file: what `swift package show-dependencies --format json` prints")
    parser.add_argument("version", help="the image's tag")
    main(**vars(parser.parse_args()))
