import Testing

@testable import IdentityDomain

/// Who may call the operators' methods, and by which name.
struct OperatorCallersTests {
    private let callers = OperatorCallers(operators: .named(["operator"]), consoles: .named(["console"]))

    private func name(_ names: [String], _ claimed: String?, _ callers: OperatorCallers? = nil) -> String? {
        (try? (callers ?? self.callers).name(certificateNames: names, claimed: claimed)) ?? nil
    }

    @Test func `A console names the operator, and an operator is the one of the certificate`() {
        #expect(name(["console"], "ana") == "ana" && name(["x", "console"], "ana@example.com") == "ana@example.com")
        #expect(name(["operator"], nil) == "operator" && name(["operator"], "ana") == "operator")
        for names in [["console"], ["console", "operator"]] {
            for claimed in [nil, "", "a b", "a/b", "máría", "operator", String(repeating: "a", count: 65)] {
                #expect(throws: IdentityError.operation(.notAnOperator)) {
                    _ = try callers.name(certificateNames: names, claimed: claimed)
                }
            }
        }
        for names in [[], ["gateway"]] {
            #expect(throws: IdentityError.operation(.notAnOperator)) {
                _ = try callers.name(certificateNames: names, claimed: "ana")
            }
        }
    }

    @Test func `On a machine of one's own a name is believed and none is needed; nobody else is`() throws {
        let development = OperatorCallers(operators: .everybody, consoles: .everybody)
        #expect(try development.name(certificateNames: [], claimed: nil) == nil)
        #expect(name([], "ana", development) == "ana")
        #expect(throws: IdentityError.self) { _ = try development.name(certificateNames: [], claimed: "a b") }
        let closed = OperatorCallers(operators: .nobody, consoles: .nobody)
        #expect(throws: IdentityError.self) { _ = try closed.name(certificateNames: ["operator"], claimed: "ana") }
    }

    @Test func `A search's hash depends on its kind, its text and the key`() {
        let key = [UInt8](repeating: 1, count: 32)
        let hash = SearchTerm(kind: "email", text: "a@example.com").hash(key: key)
        #expect(hash.count == 32 && hash.allSatisfy(\.isHexDigit))
        #expect(SearchTerm(kind: "email", text: "a@example.com").hash(key: key) == hash)
        let others = [
            SearchTerm(kind: "username", text: "a@example.com").hash(key: key),
            SearchTerm(kind: "email", text: "b@example.com").hash(key: key),
            SearchTerm(kind: "email", text: "a@example.com").hash(key: [UInt8](repeating: 2, count: 32)),
            SearchTerm(kind: "emaila", text: "@example.com").hash(key: key),
        ]
        #expect(Set(others).count == 4 && !others.contains(hash))
    }
}
