"""An app's own decoders, compiled for this machine and fed with real answers."""

import json
import subprocess


class SwiftProgram:
    """A Swift file of one app, compiled. It takes a decoder's name and a body, and answers what it understood as JSON."""

    def __init__(self, source, folder):
        self._executable = folder / source.stem
        compiled = subprocess.run(
            ["swiftc", "-Onone", "-warnings-as-errors", "-swift-version", "6", str(source), "-o", str(self._executable)],
            capture_output=True, text=True, cwd=folder)
        assert compiled.returncode == 0, compiled.stderr

    def decode(self, decoder, content):
        """What a decoder makes of an answer's body; fails as it would."""
        result = self._run(decoder, content)
        assert result.returncode == 0, f"{decoder} refuses {content[:400]!r}: {result.stderr.decode()}"
        return json.loads(result.stdout)

    def refuses(self, decoder, content):
        """Whether a decoder throws: a test that a decoder can't fail would prove nothing."""
        result = self._run(decoder, content)
        assert result.returncode in (0, 1), result.stderr
        return result.returncode == 1

    def _run(self, decoder, content):
        return subprocess.run([str(self._executable), decoder], input=content, capture_output=True, timeout=60)
