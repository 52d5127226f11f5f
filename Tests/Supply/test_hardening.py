"""hardening.py finds each thing that is missing, by itself."""

import contextlib
import io
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import hardening

# A buffer whose size the compiler knows at run time only, so that there is something to protect.
SOURCE = """
#include <stdio.h>
#include <string.h>
int main(int count, char **words) { char text[32]; strcpy(text, words[count - 1]); return puts(text) < 0; }
"""
GOOD = ["-O2", "-fPIE", "-pie", "-fstack-protector-strong", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2",
        "-Wl,-z,relro,-z,now", "-Wl,-z,noexecstack"]


@unittest.skipUnless(shutil.which("gcc") and shutil.which("readelf"), "needs gcc and readelf")
class HardeningTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        said = contextlib.redirect_stdout(io.StringIO())
        said.__enter__()
        self.addCleanup(said.__exit__, None, None, None)
        self.program = pathlib.Path(folder.name) / "program"
        self.source = self.program.with_suffix(".c")
        self.source.write_text(SOURCE)

    def faults(self, *more, without=()):
        flags = [flag for flag in GOOD if flag not in without]
        subprocess.run(["gcc", *flags, *more, "-o", self.program, self.source], check=True, capture_output=True)
        return hardening.faults(self.program)

    def test_a_hardened_program_has_no_faults(self):
        self.assertEqual(self.faults(), [])
        self.assertEqual(hardening.main([self.program]), 0)

    def test_each_lack_is_found_alone(self):
        for flags, word in (
                (["-no-pie"], "-pie"),
                (["-Wl,-z,norelro"], "-z relro"),
                (["-Wl,-z,lazy"], "-z now"),
                (["-Wl,-z,execstack"], "-z noexecstack"),
                (["-Wl,--enable-new-dtags,-rpath,$ORIGIN"], "$ORIGIN"),
                (["-fno-stack-protector"], "-fstack-protector-strong"),
                (["-U_FORTIFY_SOURCE"], "-D_FORTIFY_SOURCE=3")):
            with self.subTest(flags=flags):
                found = self.faults(*flags)
                self.assertEqual(len(found), 1, found)
                self.assertIn(word, found[0])
                self.assertEqual(hardening.main([self.program]), 1)

    def test_no_programs_are_no_success(self):
        self.assertEqual(hardening.main([]), 1)


if __name__ == "__main__":
    unittest.main()
