import IdentityDomain
import ServiceKit
import Testing

@testable import IdentityService

/// The file of webhook targets.
struct WebhooksFileTests {
    private static let key = "VESTIBULE_IDENTITY_WEBHOOKS_FILE"
    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    private func settings(_ content: String) throws -> IdentitySettings {
        try SettingsFixture().settings(
            [Self.key: "etc/webhooks.json"],
            files: [
                "etc/webhooks.json": Array(content.utf8), "etc/crm": Array("\(Self.secret)\n".utf8),
                "etc/bad": Array("whsec_hunter2".utf8),
            ]
        )
    }

    private func problems(_ content: String) throws -> [String] {
        do {
            _ = try settings(content)
            return []
        } catch let faults as ConfigurationErrors {
            return faults.faults.map(\.description)
        }
    }

    /// A valid target, except for the changes.
    private static func target(_ changes: [String: String?] = [:]) -> String {
        let members = [
            "name": #""crm""#, "url": #""https://crm.example.com/hooks?token=hunter2""#, "secrets": "[\"\(secret)\"]",
            "types": #"["account.created"]"#,
        ]
        .merging(changes.compactMapValues { $0 }) { _, new in new }
        .filter { name, _ in !(changes.keys.contains(name) && changes[name] == .some(nil)) }
        return
            "{\"targets\": [{\(members.sorted { $0.key < $1.key }.map { "\"\($0)\": \($1)" }.joined(separator: ", "))}]}"
    }

    @Test func `Targets are read with their secrets, from the file and from other files`() throws {
        let types = [
            "account.created", "session.ended", "account.deleted", "account.deletion_scheduled",
            "account.deletion_cancelled", "provider.linked", "provider.unlinked", "profile.completed", "phone.changed",
            "group.joined",
        ]
        let listed = types.map { "\"\($0)\"" }.joined(separator: ", ")
        let content = Self.target(["secret_files": #"["crm"]"#, "types": "[\(listed)]"])
        let target = try #require(try settings(content).webhooks.first)
        #expect(target.name == "crm" && target.url == "https://crm.example.com/hooks?token=hunter2")
        #expect(target.place == "https://crm.example.com:443" && !target.mayBePrivate && target.secrets.count == 2)
        #expect(target.types == Set(WebhookType.allCases))
        #expect(try settings(#"{"targets": []}"#).webhooks.isEmpty)
    }

    @Test(arguments: [
        "http://127.0.0.1:8080/x", "http://crm.internal/x", "https://10.0.0.7/", "https://[fd00::1]:8443/",
        "https://localhost/",
    ])
    func `A private target may have a private address, without TLS too`(url: String) throws {
        let content = Self.target(["url": "\"\(url)\"", "private_addresses": "true"])
        #expect(try settings(content).webhooks.first?.mayBePrivate == true)
        #expect(try problems(Self.target(["url": "\"\(url)\""])).count == (url.hasPrefix("http://1") ? 2 : 1))
    }

    @Test(arguments: [
        "ftp://crm.example.com/", "https://", "https:///x", "crm.example.com", "https://user@crm.example.com/",
        "https://user:hunter2@crm.example.com/", "https://crm.example.com/#x", "https://crm.example.com:0x1/",
        "https://crm.example.com:70000/", "https://crm .example.com/", "https://crm.example.com/\\u000a",
        "javascript:1",
    ])
    func `An invalid URL is refused`(url: String) throws {
        let problems = try problems(Self.target(["url": "\"\(url)\""]))
        #expect(problems.count == 1 && problems[0].contains("target \"crm\""), "\(problems)")
        #expect(!"\(problems)".contains("hunter2"))
    }

    /// Addresses that libcurl reads as this machine.
    @Test(arguments: [
        "127.1", "2130706433", "0x7f.1", "0177.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "[64:ff9b::10.0.0.1]",
        "169.254.169.254",
        "0.0.0.0", "a.localhost", "LOCALHOST",
    ])
    func `A private address is refused however it is written`(host: String) throws {
        let problems = try problems(Self.target(["url": "\"https://\(host)/\""]))
        #expect(problems.count == 1 && problems[0].contains("private_addresses"), "\(problems)")
    }

    @Test(arguments: [
        ["secrets": nil], ["secrets": "[]"], ["secrets": #"["whsec_hunter2"]"#], ["secrets": #""hunter2""#],
        ["secrets": "[1]"],
        ["secret_files": #"["bad"]"#], ["secret_files": #"["nowhere"]"#], ["types": nil], ["types": "[]"],
        ["types": #"["account.renamed"]"#], ["types": #""account.created""#], ["name": #""CRM""#], ["name": nil],
        ["url": nil],
        ["private_addresses": "1"], ["private_adresses": "true"], ["headers": "{}"],
    ])
    func `Any other error is reported without a secret`(changes: [String: String?]) throws {
        let problems = try problems(Self.target(changes))
        #expect(problems.count == 1, "\(problems)")
        #expect(problems.allSatisfy { $0.hasPrefix(Self.key) })
        #expect(!"\(problems)".contains("hunter2") && !"\(problems)".contains("MfKQ"))
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"targets": {}}"#, #"{"targets": [1]}"#, #"{"targets": [], "more": 1}"#, #"{"targets": [],}"#,
    ])
    func `A malformed file is refused`(content: String) throws {
        #expect(try problems(content).count >= 1)
    }

    @Test func `Two targets of one name, and more than there may be, are refused`() throws {
        let one = Self.target().dropFirst(#"{"targets": ["#.count).dropLast(2)
        #expect(try problems("{\"targets\": [\(one), \(one)]}").count == 1)
        let many = (0...WebhookTarget.countMax).map { one.replacing("\"crm\"", with: "\"crm\($0)\"") }
        #expect(try problems("{\"targets\": [\(many.joined(separator: ","))]}").count == 1)
        #expect(try settings("{\"targets\": [\(many.dropLast().joined(separator: ","))]}").webhooks.count == 16)
    }
}
