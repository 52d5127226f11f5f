"""Each rule for one file fires on what it forbids and is silent on what it allows."""

import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import c_rules  # noqa: E402
import decoder_rules  # noqa: E402
import error_rules  # noqa: E402
import file_rules  # noqa: E402
import import_rules  # noqa: E402
import proto_rules  # noqa: E402
import swift_rules  # noqa: E402
import tidy  # noqa: E402
from source_text import SourceFile  # noqa: E402


def messages(rule, path, text, *more):
    return [fault.message for fault in rule(SourceFile(path, text), *more)]


class ErrorRulesTests(unittest.TestCase):
    ROW = 'ERROR_REASON_PHONE_TAKEN = 1\n      [(options.v1.http) = 409, (options.v1.grpc) = "ALREADY_EXISTS", (options.v1.action) = A];'

    def errors(self, line, path="Sources/ProfileService/ProfileErrorMap.swift"):
        return [str(fault) for fault in error_rules.check([SourceFile(path, line)], self.ROW)]

    def test_every_error_code_is_in_the_table(self):
        good = '.domain(\n    .alreadyExists,\n    reason: "PHONE_TAKEN", message: "")'
        self.assertEqual(self.errors(good), [])
        self.assertEqual(self.errors('Problem(.conflict, code: "PHONE_TAKEN")', "Sources/GatewayService/A.swift"), [])
        for line in ('case .taken: "PHONE_LOST"', 'reason: "PHONE_LOST"', 'static let lostReason = "PHONE_LOST"'):
            self.assertIn("PHONE_LOST is not in", self.errors(good + line)[0], line)
        self.assertIn("PHONE_LOST", self.errors(good + 'input.addError("a", code: "PHONE_LOST")')[0])
        self.assertEqual(self.errors(good + 'code: "INVALID"', "Sources/ProviderSimulator/A.swift")[0],
                         f"{error_rules.TABLE}: nothing answers PHONE_TAKEN")

    def test_an_error_code_has_the_status_of_the_table(self):
        for line in ('.domain(.aborted, reason: "PHONE_TAKEN")', 'Problem(.badRequest, code: "PHONE_TAKEN")',
                     'case .a: .invalid("PHONE_TAKEN", field: "a", "")', '.unauthenticated(\n"PHONE_TAKEN", "")'):
            self.assertIn("says otherwise", self.errors(line)[0], line)

    def test_an_error_code_has_the_status_that_the_gateway_answers(self):
        plain = '.domain(.invalidArgument, reason: "A_B", message: "field: (")\nlet a = b(field: c)'
        by_field = '.domain(.invalidArgument, reason: "A_B", message: m(1), field: "a")'
        for call, status in ((plain, 400), (by_field, 422), ('.domain(.notFound, reason: "A_B")', 404)):
            code = "NOT_FOUND" if status == 404 else "INVALID_ARGUMENT"
            for http in (400, 404, 422):
                row = f'ERROR_REASON_A_B = 1\n [(options.v1.http) = {http}, (options.v1.grpc) = "{code}", (options.v1.action) = A];'
                faults = list(error_rules.check([SourceFile("Sources/ProfileService/ProfileErrorMap.swift", call)], row))
                self.assertEqual(len(faults), 0 if http == status else 1, call)


class SourceTextTests(unittest.TestCase):
    def split(self, path, text):
        file = SourceFile(path, text)
        for part in file.parts:
            self.assertEqual(len(part), len(text))
        return file

    def test_comments_and_strings_are_no_code(self):
        file = self.split("a.swift", 'let a = "try! // x" // try!\n/* /* as! */ as! */ let b = 1')
        self.assertNotIn("try!", file.code)
        self.assertNotIn("as!", file.code)
        self.assertIn("let b = 1", file.code)
        self.assertIn("try! // x", file.strings)
        self.assertEqual(file.comments.count("as!"), 2)

    def test_comments_of_c_do_not_nest(self):
        self.assertIn("int b;", self.split("a.c", "/* /* */ int b;").code)

    def test_swift_literals(self):
        file = self.split("a.swift", 'f("a\\(g("b", (1)))c", #"\\d" \\("#, """\n "x" as!\n""") as! B')
        self.assertEqual(file.code.count("as!"), 1)
        self.assertIn("g(", file.code)
        self.assertNotIn("\\d", file.code)

    def test_raw_identifiers_are_code(self):
        file = SourceFile("a.swift", 'func `A "name" /* is`() { "s" }')
        self.assertIn('`A "name" /* is`', file.code)
        self.assertEqual(file.strings.strip(), '"s"')

    def test_quote_characters_of_c(self):
        file = self.split("a.c", "char q = '\"'; gets(q); char e = '\\''; atoi(e);")
        self.assertIn("gets", file.code)
        self.assertIn("atoi", file.code)


class DecoderRuleTests(unittest.TestCase):
    PATH = "Sources/InvitesService/Background/Place.swift"
    HEAD = "struct Place: CursorPayload, Hashable {\n init(from reader: inout ByteReader<CursorError>) {}\n"

    def faults(self, line, path=PATH, head=HEAD):
        return messages(decoder_rules.check, path, f"{head}{line}\n}}\n")

    def test_what_traps_on_a_decoded_number(self):
        for line in ("now - madeAt < kept", "(now) * 1000", "count += 1", "let a = high << 8", "Int(madeAt)", "UInt32(upper)",
                     "items[count - 1]"):
            self.assertEqual(len(self.faults(line)), 1, line)

    def test_what_does_not(self):
        for line in ("(Checked(now) - madeAt).value", "Checked(horizon) + UInt64(try reader.integer(UInt32.self))", "a &- b",
                     "Int(clamping: a)", "UInt64(exactly: a)", "bytes += id.bytes", "func f() -> Int { -1 }", "-kept < age"):
            self.assertEqual(self.faults(line), [], line)
        self.assertEqual(self.faults("now - madeAt", head="struct Place: Hashable {\n"), [])
        self.assertEqual(self.faults("now - madeAt", path="Tests/InvitesServiceTests/Place.swift"), [])

    def test_a_payload_is_read_by_the_reader(self):
        self.assertEqual(len(self.faults("", head="struct Place: CursorPayload {\n")), 1)

    def test_bytes_read_by_hand(self):
        line = "bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }"
        self.assertEqual(len(self.faults(line, head="struct A {\n")), 1)
        self.assertEqual(self.faults(line, path="Sources/Bytes/ByteReader.swift", head="struct A {\n"), [])
        self.assertEqual(self.faults(line, path=next(iter(decoder_rules.READ_BY_HAND)), head="struct A {\n"), [])

    def test_a_cursor_is_taken_through_the_seal(self):
        head = "struct A {\n"
        self.assertEqual(len(self.faults("let id = EventID(request.pageToken)", head=head)), 1)
        self.assertEqual(len(self.faults("GroupPosition(begin.position)", head=head)), 1)
        self.assertEqual(self.faults("try tokens.page(size: 1, token: request.pageToken)", head=head), [])
        self.assertEqual(self.faults("call.pageToken = request.pageToken", "Sources/GatewayService/A.swift", head), [])

    def test_every_payload_is_in_the_fuzzer(self):
        place = SourceFile(self.PATH, self.HEAD + "}\n")
        fuzzer = SourceFile("Tests/DecoderFuzzTests/CursorFuzzTests.swift", "try fuzz(Place(1))")
        self.assertEqual(list(decoder_rules.check_fuzzer([place, fuzzer])), [])
        self.assertEqual(len(list(decoder_rules.check_fuzzer([place]))), 1)


class FileRuleTests(unittest.TestCase):
    def test_length(self):
        self.assertEqual(messages(file_rules.check_text, "a.swift", "x\n" * 400), [])
        self.assertEqual(len(messages(file_rules.check_text, "a.swift", "x\n" * 401)), 1)
        self.assertEqual(messages(file_rules.check_text, "a.swift", "// Long because of a table.\n" + "x\n" * 401), [])
        self.assertEqual(len(messages(file_rules.check_text, "a.swift", "// Long because\n" + "x\n" * 401)), 1)
        self.assertEqual(messages(file_rules.check_text, "a.c", "x\n" * 600), [])
        self.assertEqual(len(messages(file_rules.check_text, "a.h", "x\n" * 601)), 1)
        self.assertEqual(messages(file_rules.check_text, "API/Generated/a.swift", "x\n" * 900), [])

    def test_case(self):
        self.assertEqual(list(file_rules.check_paths(["a/b.c", "a/c.c"])), [])
        self.assertEqual(len(list(file_rules.check_paths(["a/b.c", "a/B.c"]))), 1)
        self.assertEqual(len(list(file_rules.check_paths(["a/b.c", "A/c.c"]))), 1)
        self.assertEqual(len(list(file_rules.check_paths(["a b.c"]))), 1)

    def test_unfinished(self):
        self.assertEqual(len(messages(file_rules.check_text, "a.c", "// TODO: later")), 1)
        self.assertEqual(len(messages(file_rules.check_text, "a.sh", "# FIXME")), 1)
        self.assertEqual(messages(file_rules.check_text, "a.c", "TODOS"), [])

    def test_home_paths(self):
        for path in ("/home/ann/x", "/Users/ann/x", "/root/x"):
            self.assertEqual(len(messages(file_rules.check_text, "a.md", f"see {path}")), 1, path)
        for path in ("https://a.example/home/x/", "chroot/x", "/home/", "/opt/root/x"):
            self.assertEqual(messages(file_rules.check_text, "a.md", f"see {path}"), [], path)

    def test_vague_names(self):
        self.assertEqual(len(messages(file_rules.check_text, "Sources/A/StringUtils.swift", "")), 1)
        self.assertEqual(messages(file_rules.check_text, "Sources/A/Utility.swift", ""), [])

    def test_links(self):
        with tempfile.TemporaryDirectory() as root:
            with open(os.path.join(root, "b.md"), "w") as page:
                page.write("# A `b` (c)\n\n## A b c\n")
            with open(os.path.join(root, "README.md"), "w") as page:
                page.write("# Top\n")

            def check(link):
                return messages(file_rules.check_links, "README.md", f"# Top\n[x]({link})", root)

            for good in ("b.md", "./b.md", "b.md#a-b-c", "b.md#a-b-c-1", "#top", "https://a.example/nothing"):
                self.assertEqual(check(good), [], good)
            for bad in ("c.md", "b.md#d", "#bottom", "../b.md"):
                self.assertEqual(len(check(bad)), 1, bad)
            self.assertEqual(messages(file_rules.check_links, "README.md", "```\n[x](c.md)\n```", root), [])


class CRuleTests(unittest.TestCase):
    def test_banned_calls(self):
        for name in c_rules.BANNED:
            self.assertEqual(len(messages(c_rules.check, "a.c", f"int f(void) {{ {name} (x); }}")), 1, name)
        self.assertEqual(messages(c_rules.check, "a.c", "int f(void) { my_atoi(x); snprintf(x); s->system(x); }"), [])
        self.assertEqual(messages(c_rules.check, "a.c", '/* gets(x) */ const char *s = "gets(x)";'), [])

    def test_banned_calls_in_swift(self):
        self.assertEqual(len(messages(c_rules.check, "a.swift", "strcpy(a, b)")), 1)
        self.assertEqual(messages(c_rules.check, "a.swift", "x.system(a); func system() {}; case system(a)"), [])

    def test_function_length(self):
        def body(lines):
            return "static int\nf(int a)\n{\n" + "a++;\n" * (lines - 4) + "}\n"
        self.assertEqual(messages(c_rules.check, "a.c", body(70)), [])
        self.assertEqual(messages(c_rules.check, "a.c", body(71)), ["f has 71 lines; a function has at most 70"])
        self.assertEqual(messages(c_rules.check, "a.c", "// Long because of its table.\n" + body(71)), [])

    def test_what_is_a_function(self):
        text = """
#define X(a) { a }
struct s { int (*call)(int); };
static const struct s table[] = { { f(1) }, };
enum e { A, B };
extern "C" {
int one(int a) { if (a) { while (a) { a--; } } return 0; }
}
namespace n {
class C { int two() const { return 1; } };
C::C(int a) : b(a) { }
}
"""
        self.assertEqual([f[0] for f in c_rules.functions(SourceFile("a.cc", text))], ["one", "two", "C::C"])

    def test_public_header(self):
        text = "#include <nghttp2/nghttp2.h>\n#include <stdint.h>\n"
        self.assertEqual(len(messages(c_rules.check, "Sources/CRPC/include/crpc.h", text)), 1)
        self.assertEqual(messages(c_rules.check, "Sources/CRPC/session.h", text), [])


class SwiftRuleTests(unittest.TestCase):
    def test_needs_reason(self):
        for code in ("try! f()", "a as! B", "final class C: @unchecked Sendable {", "nonisolated(unsafe) var a = 1",
                     "Task.detached { }"):
            self.assertEqual(len(messages(swift_rules.check, "Sources/RPC/A.swift", code)), 1, code)
            self.assertEqual(len(messages(swift_rules.check, "Sources/RPC/A.swift", f"/// A thing.\n{code}")), 1, code)
            for comment in ("// Only the loop touches it.", "/// Sound because it is immutable."):
                self.assertEqual(messages(swift_rules.check, "Sources/RPC/A.swift", f"{comment}\n\n{code}"), [], code)
            far = "// Only the loop touches it.\n\n\n\n" + code
            self.assertEqual(len(messages(swift_rules.check, "Sources/RPC/A.swift", far)), 1, code)
        self.assertEqual(messages(swift_rules.check, "Sources/RPC/A.swift", "try? f(); a as? B; // try!"), [])

    def test_system_branches(self):
        branch = "#if canImport(Darwin)\nimport Darwin\n#else\nimport Glibc\n#endif\n"
        self.assertEqual(messages(swift_rules.check, "Sources/Models/A.swift", branch), [])
        for path in ("Sources/Postgres/A.swift", "Tests/RPCTests/A.swift"):
            self.assertEqual(len(messages(swift_rules.check, path, branch)), 1)
        self.assertEqual(len(messages(swift_rules.check, "Sources/JOSE/A.swift", "#if os(Linux)\n#endif\n")), 1)
        self.assertEqual(messages(swift_rules.check, "Sources/JOSE/A.swift", "#if DEBUG\n#endif\n"), [])

    def test_environment(self):
        code = 'getenv("A")'
        self.assertEqual(len(messages(swift_rules.check, "Sources/JOSE/A.swift", code)), 1)
        self.assertEqual(messages(swift_rules.check, "Sources/ServiceKit/A.swift", code), [])
        self.assertEqual(messages(swift_rules.check, "Tests/JOSETests/A.swift", code), [])

    def test_sql(self):
        for sql in ("SELECT a FROM b", "INSERT INTO a VALUES (1)", "UPDATE a SET b = 1", "DELETE FROM a",
                    "CREATE TABLE a ()", "CREATE UNIQUE INDEX a ON b (c)"):
            code = f'let q: Query = """\n{sql}\n"""'
            self.assertEqual(len(messages(swift_rules.check, "Sources/InvitesService/Methods/A.swift", code)), 1, sql)
            for folder in ("InvitesService/Store", "InvitesService/Migrations", "Postgres"):
                self.assertEqual(messages(swift_rules.check, f"Sources/{folder}/A.swift", code), [], sql)
        self.assertEqual(
            messages(swift_rules.check, "Sources/InvitesService/A.swift", '// SELECT a FROM b\nlet a = "Update it"'), [])

    def test_error_map(self):
        code = "switch e { case .a: b\ndefault: c }"
        self.assertEqual(len(messages(swift_rules.check, "Sources/InvitesService/InvitesErrorMap.swift", code)), 1)
        self.assertEqual(messages(swift_rules.check, "Sources/InvitesService/Other.swift", code), [])
        by_type = "switch e { case let f as Fault: g { }\ndefault: c }"
        self.assertEqual(messages(swift_rules.check, "Sources/InvitesService/InvitesErrorMap.swift", by_type), [])

    def test_names_of_tests(self):
        for code in (
                "@Test func `Calls that end late are counted`() {}",
                "@Test(arguments: [1])\n    func `A call ends`(_ a: Int) {}",
                "@Test(.timeLimit(.minutes(1))) func `run() ends with its group`() {}",
                '@Test func `A "name" // is kept`() {}\n@Test func `And the next`() {}',
                "@Suite(.serialized) struct A {}", 'let text = "@Test func f()"', '// @Test("a")', "func `any`() {}"):
            self.assertEqual(messages(swift_rules.check, "Tests/A/B.swift", code), [], code)
        for code in (
                "@Test func callsEnd() {}", "@Test func `calls end`() {}", "@Test func `Calls`() {}",
                "@Test func `Calls end.`() {}", "@Test(arguments: [1]) func callsEnd(_ a: Int) {}",
                '@Test("calls end") func `Calls end`() {}', "@Suite struct A {}", '@Suite("Calls") struct A {}',
                '@Suite(\n    "Calls", .serialized) struct A {}'):
            self.assertEqual(len(messages(swift_rules.check, "Tests/A/B.swift", code)), 1, code)


class ImportRuleTests(unittest.TestCase):
    def check(self, path, code):
        return messages(import_rules.check, path, code)

    def test_direction(self):
        self.assertEqual(self.check("Sources/API/A.swift", "import RPC\nimport SwiftProtobuf"), [])
        self.assertEqual(len(self.check("Sources/RPC/A.swift", "import API")), 1)
        self.assertEqual(len(self.check("Sources/InvitesService/A.swift", "import ProfileService")), 1)
        self.assertEqual(len(self.check("Sources/Postgres/A.swift", "public import struct API.Thing")), 1)
        self.assertEqual(len(self.check("Sources/ServiceKit/A.swift", "@preconcurrency import CRPC")), 1)
        self.assertEqual(self.check("Sources/RPC/A.swift", '// import API\nlet a = "import API"'), [])

    def test_executables_and_tests(self):
        self.assertEqual(self.check("Sources/Executables/profile/A.swift", "import ProfileService"), [])
        self.assertEqual(len(self.check("Sources/Executables/profile/A.swift", "import InvitesService")), 1)
        self.assertEqual(self.check("Tests/RPCTests/A.swift", "import API"), [])

    def test_purity(self):
        self.assertEqual(self.check("Sources/InvitesDomain/A.swift", "import Foundation\nimport Models"), [])
        self.assertEqual(len(self.check("Sources/InvitesDomain/A.swift", "import Logging")), 1)
        self.assertEqual(self.check("Sources/GatewayService/A.swift", "import HTTPJSON"), [])

    def test_unknown_module(self):
        self.assertEqual(len(self.check("Sources/New/A.swift", "")), 1)


class ProtoRuleTests(unittest.TestCase):
    GOOD = """syntax = "proto3";

// A package.
package a.b.v1;

import "x.proto";

// S.
service ThingService {
  // R.
  rpc GetThing(GetThingRequest) returns (stream GetThingResponse) {
    option idempotency_level = NO_SIDE_EFFECTS;
  }
}

// M.
message GetThingRequest {
  reserved 4;
  reserved "old";
  // F.
  string some_name = 1 [deprecated = true];
  map<string, .a.B> by_name = 2;  // Behind it.
  // O.
  oneof choice {
    // C.
    bytes c_d2 = 3;
  }
}

// E.
enum HTTPThing {
  option allow_alias = true;
  // Z.
  HTTP_THING_UNSPECIFIED = 0;
}
"""

    def check(self, text, path="proto/a/b/v1/thing.proto"):
        return messages(proto_rules.check, path, text)

    def test_good(self):
        self.assertEqual(self.check(self.GOOD), [])
        names = [d.name for d in proto_rules.declarations(SourceFile("proto/a.proto", self.GOOD))]
        self.assertEqual(names, ["ThingService", "GetThing", "GetThingRequest", "some_name", "by_name", "choice", "c_d2",
                                 "HTTPThing", "HTTP_THING_UNSPECIFIED"])

    def test_comments(self):
        for comment in ("// S.", "// R.", "// M.", "// F.", "// Behind it.", "// O.", "// C.", "// E.", "// Z."):
            found = self.check(self.GOOD.replace(comment, ""))
            self.assertEqual(len(found), 1, comment)
            self.assertIn("has no comment", found[0])

    def test_names(self):
        for old, new in (("service ThingService", "service Things"), ("(GetThingRequest)", "(ThingRequest)"),
                         ("(stream GetThingResponse)", "(Thing)"), ("some_name", "someName"), ("choice", "Choice"),
                         ("message GetThingRequest", "message get_thing"), ("package a.b.v1", "package a.b.v2")):
            self.assertEqual(len(self.check(self.GOOD.replace(old, new))), 1, new)
        self.assertEqual(len(self.check(self.GOOD.replace("HTTP_THING_UNSPECIFIED", "HTTP_THING_NONE"))), 1)
        self.assertEqual(len(self.check(self.GOOD.replace("HTTP_THING_UNSPECIFIED = 0", "OTHER = 1"))), 1)
        self.assertEqual(len(self.check(self.GOOD, "proto/a/b/v1/someThing.proto")), 1)
        self.assertEqual(len(self.check(self.GOOD.replace("a.b.v1;", "a.b;"), "proto/a/b/thing.proto")), 1)
        self.assertEqual(len(self.check(self.GOOD.replace("proto3", "proto2"))), 1)

    def test_foreign(self):
        text = self.GOOD.replace("a.b.v1;", "google.rpc;").replace("ThingService", "Things")
        self.assertEqual(self.check(text, "proto/google/rpc/thing.proto"), [])


class ProgramTests(unittest.TestCase):
    def run_in(self, files):
        with tempfile.TemporaryDirectory() as root:
            subprocess.run(["git", "init", "-q", root], check=True)
            for path, text in files.items():
                os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
                with open(os.path.join(root, path), "w") as file:
                    file.write(text)
            return subprocess.run(
                [sys.executable, tidy.__file__, root], capture_output=True, text=True)

    def test_clean(self):
        done = self.run_in({"Sources/RPC/A.swift": "let a = 1\n"})
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_faults(self):
        done = self.run_in({"Sources/RPC/A.swift": "let a = 1\nlet b = try! c()\n", "x/ignored.c": "gets(a);",
                            ".gitignore": "x/\n"})
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, "Sources/RPC/A.swift:2: try! needs a comment beside it that says why it is right\n")


if __name__ == "__main__":
    unittest.main()
