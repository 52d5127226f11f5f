import Foundation
import IdentityDomain
import Logging
import ServiceKit
import Testing

@testable import Console

/// The operators file.
struct OperatorListTests {
    private func list(_ entries: String) throws(ConfigurationProblem) -> OperatorList {
        try OperatorList(Array("{\"operators\": [\(entries)]}".utf8))
    }

    private func problem(_ entries: String) -> String {
        do throws(ConfigurationProblem) {
            _ = try list(entries)
            return ""
        } catch {
            return error.text
        }
    }

    @Test func `Operators are known by certificate, or by issuer and subject together`() throws {
        let list = try list(
            """
            {"name": "ana", "role": "owner", "certificate": "spiffe://example.com/ana"},
            {"name": "ben@example.com", "role": "read", "issuer": "https://idp.example", "subject": "7"}
            """
        )
        let ana = list.operatorOf(certificateNames: ["x", "spiffe://example.com/ana"])
        #expect(ana?.name.value == "ana" && ana?.role == .owner)
        #expect(list.operatorOf(certificateNames: []) == nil && list.operatorOf(certificateNames: ["ana"]) == nil)
        let ben = ProviderSubject(issuer: "https://idp.example", subject: "7")
        #expect(list.operatorOf(ben)?.role == .read)
        #expect(list.operatorOf(ProviderSubject(issuer: "https://other.example", subject: "7")) == nil)
        #expect(list.operatorOf(ProviderSubject(issuer: "https://idp.example", subject: "8")) == nil)
    }

    @Test func `What can't be an operator is named`() {
        let ana = #"{"name": "ana", "role": "read", "certificate": "a"}"#
        let faults = [
            ("", "1 to 256"), ("1", "no object"), (#"{"role": "read", "certificate": "a"}"#, "name must be"),
            (#"{"name": "a b", "role": "read", "certificate": "a"}"#, "name must be"),
            (#"{"name": "ana", "role": "admin", "certificate": "a"}"#, "role must be"),
            (#"{"name": "ana", "role": "read"}"#, "needs certificate"),
            (#"{"name": "ana", "role": "read", "issuer": "https://idp.example"}"#, "go together"),
            (#"{"name": "ana", "role": "read", "email": "ana@example.com"}"#, "unknown member"),
            (#"{"name": "ana", "role": "read", "certificate": ""}"#, "certificate must be"),
            ("\(ana), \(ana)", "operator 2: its name"),
            (#"\#(ana), {"name": "ben", "role": "read", "certificate": "a"}"#, "certificate is another"),
        ]
        for (entries, words) in faults { #expect(problem(entries).contains(words), "\(entries)") }
        #expect(throws: ConfigurationProblem.self) { _ = try OperatorList(Array("[]".utf8)) }
        let many = (0...OperatorList.countMax).map { #"{"name": "n\#($0)", "role": "read", "certificate": "c\#($0)"}"# }
        #expect(problem(many.joined(separator: ",")).contains("1 to 256"))
    }

    @Test func `An operator who is taken out is out, also by a file that can't be read`() throws {
        let path = FileManager.default.temporaryDirectory.path + "/operators-\(UUID().uuidString).json"
        defer { try? FileManager.default.removeItem(atPath: path) }
        func write(_ text: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: path)) }
        try write(#"{"operators": [{"name": "ana", "role": "read", "certificate": "a"}]}"#)
        let configuration = try Configuration.load(
            keys: [ConsoleKeys.operators],
            program: ConsoleKeys.program,
            path: nil,
            environment: [ConsoleKeys.operators.name: path]
        )
        let file = try OperatorsFile(try #require(configuration[ConsoleKeys.operators]), logger: Logger(label: "test"))
        func isThere(at now: Int64) -> Bool { file.current(.at(now)).operatorOf(certificateNames: ["a"]) != nil }
        #expect(isThere(at: 100))
        try write("{")
        #expect(isThere(at: 105) && isThere(at: 165))
        #expect(!isThere(at: 166))
        try write(#"{"operators": [{"name": "ana", "role": "read", "certificate": "a"}]}"#)
        #expect(isThere(at: 171))
        try FileManager.default.removeItem(atPath: path)
        #expect(isThere(at: 176) && !isThere(at: 237))
        // A clock that is set back doesn't keep the list of before.
        try write(#"{"operators": [{"name": "ben", "role": "read", "certificate": "b"}]}"#)
        let setBack = ConsoleTime(wallSeconds: 10, runSeconds: 242)
        #expect(file.current(setBack).operatorOf(certificateNames: ["b"]) != nil && !isThere(at: 243))
    }
}
