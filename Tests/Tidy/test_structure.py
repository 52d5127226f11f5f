"""The rules about how files stand to each other fire on what they forbid and are silent on what they allow."""

import os
import sys
import unittest
import unittest.mock

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import include_rules  # noqa: E402
import page_rules  # noqa: E402
import service_rules  # noqa: E402
from source_text import SourceFile  # noqa: E402


class PageRulesTests(unittest.TestCase):
    PAGE = "Sources/A/A.docc/Life.md"
    FILES = {"Sources/A/One.swift": "let one = 1\n", "Tests/B/Two.swift": "let two = 2\n"}

    def check(self, text, path=PAGE):
        faults = page_rules.check(SourceFile(path, text), list(self.FILES), self.FILES.get)
        return [fault.message for fault in faults]

    def test_files_that_a_page_names_exist(self):
        self.assertEqual(self.check("`Sources/A/One.swift`, `A/One.swift`, `Two.swift` and `three`"), [])
        self.assertEqual(len(self.check("`ne.swift` `Sources/A/Two.swift` `Three.swift`")), 3)
        self.assertEqual(self.check("`Three.swift`", path="README.md"), [])
        self.assertEqual(self.check("`Sources/A/Three.swift`, new: to be written"), [])

    def test_code_that_a_page_quotes_is_the_file(self):
        self.assertEqual(self.check("`Tests/B/Two.swift`:\n\n```swift\nlet two = 2\n```\n"), [])
        self.assertEqual(len(self.check("`Tests/B/Two.swift`:\n\n```swift\nlet two = 3\n```\n")), 1)
        self.assertEqual(self.check("So:\n\n```swift\nlet two = 3\n```\n"), [])


class ServiceTests(unittest.TestCase):
    PROTO = "proto/vestibule/invites/v1/invites.proto"
    GOOD = [PROTO, "Sources/InvitesService/Methods/AddMember.swift"] + [
        "Sources/InvitesService/" + file.replace("Name", "Invites") for file in service_rules.FILES]

    def check(self, paths):
        return list(service_rules.check(paths, lambda _: "service InvitesService {\n  rpc AddMember(A) returns (B);\n}"))

    def test_whole(self):
        self.assertEqual(self.check(self.GOOD), [])
        self.assertEqual(self.check([]), [])

    def test_each_file_is_needed(self):
        for path in self.GOOD[1:]:
            faults = self.check([other for other in self.GOOD if other != path])
            self.assertEqual(len(faults), 1)
            self.assertTrue(faults[0].startswith(path + ": is missing"), faults)

    def test_a_folder_that_no_other_service_has(self):
        self.assertEqual(len(self.check(self.GOOD + ["Sources/InvitesService/Helpers/A.swift"])), 1)
        self.assertEqual(self.check(self.GOOD + ["Sources/InvitesService/Store/A.swift"]), [])
        self.assertEqual(self.check(self.GOOD + ["Sources/InvitesService/InvitesService.docc/A.md"]), [])


class ForwardedServiceTests(unittest.TestCase):
    TEXT = """service GroupService {
  option (vestibule.options.v1.forwarded) = true;
  rpc AddMember(A) returns (B) {
    option idempotency_level = IDEMPOTENT;
  }
  rpc GetGroup(A) returns (B);
  rpc ListMembers(A) returns (B) {
    option (vestibule.options.v1.gateway) = GATEWAY_ROLE_ADDS;
  }
  rpc WatchGroups(A) returns (stream B) {
    option (vestibule.options.v1.gateway) = GATEWAY_ROLE_ANSWERS;
  }
}
"""

    def test_what_the_gateway_has_code_for(self):
        self.assertEqual(service_rules.of_gateway(self.TEXT), ["ListMembers", "WatchGroups"])
        self.assertEqual(len(service_rules.of_gateway(self.TEXT.replace("= true", "= false"))), 4)

    def test_what_its_program_implements(self):
        self.assertEqual(service_rules.implemented(self.TEXT), ["AddMember", "GetGroup", "ListMembers"])


class AppMethodTests(unittest.TestCase):
    PROTO = "proto/vestibule/app/v1/group.proto"
    METHOD = "Sources/GatewayService/Methods/AddMember.swift"

    def check(self, *paths):
        return list(service_rules.check(paths, lambda _: "service GroupService {\n  rpc AddMember(A) returns (B);\n}"))

    def test_each_method_has_a_file(self):
        self.assertEqual(self.check(self.PROTO, self.METHOD), [])
        faults = self.check(self.PROTO, "Sources/GatewayService/Routes/AddMember.swift")
        self.assertEqual(len(faults), 1)
        self.assertTrue(faults[0].startswith(self.METHOD + ": is missing"), faults)


class AllowListTests(unittest.TestCase):
    PROTO = "proto/vestibule/identity/v1/identity.proto"
    TEXT = "package vestibule.identity.v1;\nservice IdentityService {\n  rpc SignIn(A) returns (B);\n  rpc GetAccount(A) returns (B) {\n  }\n}\n"
    RULE = "        spiffe://vestibule/gateway vestibule.identity.v1.IdentityService/"
    MORE: dict = {}
    HEALTH = "        spiffe://vestibule/gateway grpc.health.v1.Health/Check\n"

    def check(self, *rules, key="VESTIBULE_IDENTITY_TLS_ALLOW"):
        compose = f"    environment:\n      {key}: |\n" + "".join(rules) + "    secrets: [ca]\n" + self.RULE + "SignIn\n"
        texts = {self.PROTO: self.TEXT, service_rules.COMPOSE: compose, **self.MORE}
        with unittest.mock.patch.object(service_rules, "UNCALLED", {"vestibule.identity.v1.IdentityService/GetAccount"}):
            faults = list(service_rules.check(list(texts), texts.get))
        return [fault for fault in faults if fault.startswith(service_rules.COMPOSE)]

    def test_every_called_method_is_in_the_list(self):
        self.assertEqual(self.check(self.HEALTH, "        # By people:\n", self.RULE + "SignIn\n"), [])

    def test_a_method_without_a_line(self):
        for rules in ((), (self.HEALTH,), ("        # " + self.RULE.strip() + "SignIn\n",)):
            faults = self.check(*rules)
            self.assertEqual(len(faults), 1, faults)
            self.assertIn("lets nobody call vestibule.identity.v1.IdentityService/SignIn", faults[0])

    def test_a_line_under_a_condition_counts(self):
        self.assertEqual(self.check("        ${KEY:+" + self.RULE.strip() + "SignIn}\n"), [])
        self.assertEqual(len(self.check("        ${KEY:+" + self.RULE.strip() + "NoSuch}\n")), 2)

    def test_a_line_for_who_does_not_call_it(self):
        source = "Sources/GatewayService/Methods/SignIn.swift"
        for call, count in (("identity.signIn(call)", 0), ("identity.signInLater(call)", 1)):
            with unittest.mock.patch.dict(self.MORE, {source: call}):
                faults = self.check(self.RULE + "SignIn\n")
            self.assertEqual(len(faults), count, faults)

    def test_the_list_of_another_service_does_not_count(self):
        self.assertEqual(len(self.check(self.RULE + "SignIn\n", key="VESTIBULE_INVITES_TLS_ALLOW")), 1)

    def test_methods_that_a_service_serves_too(self):
        proto, line = "proto/vestibule/operator/v1/operator.proto", "spiffe://vestibule/operator vestibule.operator.v1.OperatorService/"
        with unittest.mock.patch.dict(self.MORE, {proto: "package vestibule.operator.v1;\nservice OperatorService {\n  rpc Block(A) returns (B);\n}\n"}):
            self.assertEqual(self.check(self.RULE + "SignIn\n", f"        {line}Block\n"), [])
            self.assertIn("lets nobody call vestibule.operator.v1.OperatorService/Block", self.check(self.RULE + "SignIn\n")[0])
            self.assertEqual(len(self.check(self.RULE + "SignIn\n", f"        {line}Block\n", f"        {line}Find\n")), 1)

    def test_a_line_for_all_methods_of_a_service(self):
        text = self.TEXT.replace("SignIn", "SignUp")
        with unittest.mock.patch.dict(self.MORE, {self.PROTO: text}):
            self.assertEqual(self.check(self.RULE + "SignUp\n"), [])
            self.assertEqual([fault for fault in self.check(self.RULE + "*\n") if "calls uncalled" not in fault], [])

    def test_an_exception_that_is_none_any_more(self):
        faults = self.check(self.RULE + "SignIn\n", self.RULE + "GetAccount\n")
        self.assertEqual(len(faults), 1, faults)
        self.assertIn("lets somebody call", faults[0])

    def test_a_line_for_a_method_that_is_gone(self):
        faults = self.check(self.RULE + "SignIn\n", self.RULE + "LogIn\n")
        self.assertEqual(len(faults), 1, faults)
        self.assertIn("which is no RPC", faults[0])


class IncludeRuleTests(unittest.TestCase):
    # A small tree as it should be: each floor looks down or beside itself.
    GOOD = {
        "loop/link.h": "#include <stddef.h>",
        "loop/loop.c": '#include "loop/link.h"\n#include "crpc_error.h"',
        "include/crpc_error.h": "",
        "include/crpc_stream.h": "",
        "http2/guard.h": '#include "loop/link.h"',
        "http2/session.c": '#include "http2/guard.h"\n#include <nghttp2/nghttp2.h>',
        "grpc/call.h": '#include "crpc_stream.h"\n#include "http2/guard.h"',
        "tls/tls.c": "#include <openssl/ssl.h>",
        "transport/driver.c": '#include "grpc/call.h"',
    }

    def check(self, **changes):
        tree = {**self.GOOD, **changes}
        return [fault.message for fault in include_rules.check(
            {include_rules.LAYER + path: text for path, text in tree.items()})]

    def test_a_good_tree(self):
        self.assertEqual(self.check(), [])

    def test_an_arrow_upward(self):
        for path, included in (
                ("loop/loop.c", "http2/guard.h"), ("http2/guard.h", "grpc/call.h"), ("http2/guard.h", "crpc_stream.h"),
                ("include/crpc_error.h", "loop/link.h"), ("tls/tls.c", "http2/guard.h")):
            with self.subTest(path=path, included=included):
                found = self.check(**{path: f'#include "{included}"'})
                expected = 0 if path.startswith("include/") else 1  # down to its own floor
                self.assertEqual(len([message for message in found if "no floor below" in message]), expected, found)

    def test_a_public_header_has_a_floor(self):
        found = self.check(**{"include/crpc_error.h": '#include "crpc_stream.h"'})
        self.assertEqual(len(found), 1, found)
        self.assertEqual(len(self.check(**{"include/crpc_new.h": ""})), 1)
        self.assertEqual(len(self.check(**{"attic/old.c": ""})), 1)

    def test_a_circle(self):
        found = self.check(**{
            "http2/guard.h": '#include "http2/a.h"', "http2/a.h": '  #  include "b.h"',
            "http2/b.h": '#include "http2/guard.h"'})
        self.assertEqual(
            found, ["includes itself in a circle: http2/a.h → http2/b.h → http2/guard.h → http2/a.h"])

    def test_a_circle_of_calls(self):
        upper, lower = "int crpc_up(int a) {\n    return crpc_down(a);\n}", "int crpc_down(\n    int a) {\n    return a;\n}"
        self.assertEqual(self.check(**{"http2/up.c": upper, "http2/down.c": lower}), [])
        header = "static inline int crpc_inline(void) {\n    if (1) {\n    }\n    return crpc_up(0);\n}"
        table = "const crpc_role crpc_table = {crpc_up};"
        for text, more in (
                ("crpc_up(a)", {}), ("crpc_inline()", {"http2/up.h": header}), ("crpc_table.f(a)", {"http2/table.c": table})):
            with self.subTest(text=text):
                found = self.check(**{"http2/up.c": upper, "http2/down.c": lower.replace("return a", f"return {text}"), **more})
                way = "http2/down.c → http2/table.c → http2/up.c" if "http2/table.c" in more else "http2/down.c → http2/up.c"
                self.assertEqual(found, [f"calls itself in a circle: {way} → http2/down.c"])
        commented = lower.replace("return a;", 'return a; // crpc_up(a), and "crpc_up"')
        self.assertEqual(self.check(**{"http2/up.c": upper, "http2/down.c": commented}), [])

    def test_libraries_have_one_owner(self):
        for path, library in (
                ("http2/guard.h", "nghttp2/nghttp2.h"), ("grpc/call.h", "openssl/ssl.h"), ("grpc/call.h", "zlib.h")):
            with self.subTest(library=library):
                found = self.check(**{path: f"#include <{library}>"})
                self.assertEqual(len([message for message in found if "only" in message]), 1, found)

    def test_what_is_not_there(self):
        self.assertEqual(len(self.check(**{"http2/guard.h": '#include "http2/gone.h"'})), 1)


if __name__ == "__main__":
    unittest.main()
