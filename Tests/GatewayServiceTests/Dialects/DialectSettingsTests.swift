import Glibc
import IdentityDomain
import JOSE
import ServiceKit
import Testing

@testable import GatewayService

/// The configuration of dialects.
struct DialectSettingsTests {
    private static let key = "0123456789abcdef0123456789ABC-._"

    private static func configuration(_ values: [String: String]) throws -> Configuration {
        let addresses = [
            "VESTIBULE_IDENTITY_ADDRESS": "127.0.0.1:1", "VESTIBULE_PROFILE_ADDRESS": "127.0.0.1:1",
            "VESTIBULE_INVITES_ADDRESS": "127.0.0.1:1",
        ]
        return try Configuration.testing(
            keys: GatewayServer.configurationKeys,
            program: GatewayServer.programName,
            addresses.merging(values) { $1 }
        )
    }

    @Test func `Identity's dialects without proof are dialects of the gateway`() {
        #expect(UnprovenSignIn.dialects == [Dialect.wordpress.rawValue])
    }

    @Test func `Dialects are named with commas between`() throws {
        #expect(try GatewaySettings(Self.configuration([:])).dialects.dialects.isEmpty)
        let empty = [
            "VESTIBULE_GATEWAY_DIALECTS": "", "VESTIBULE_GATEWAY_SUPABASE_SERVICE_KEY_FILE": "",
        ]
        let none = try GatewaySettings(Self.configuration(empty)).dialects
        #expect(none.dialects.isEmpty && none.supabaseServiceKey == nil, "as compose hands on what isn't set")
        let some = try Self.configuration(["VESTIBULE_GATEWAY_DIALECTS": "single-token, supabase"])
        #expect(try GatewaySettings(some).dialects.dialects == [.singleToken, .supabase])
    }

    @Test(arguments: ["firebase", "supabase,", "supabase,supabase", "Supabase", "single-token wordpress"])
    func `A dialect that is none keeps it from starting`(text: String) {
        let error = #expect(throws: ConfigurationErrors.self) {
            try Self.configuration(["VESTIBULE_GATEWAY_DIALECTS": text])
        }
        #expect(error?.faults.map(\.key) == ["VESTIBULE_GATEWAY_DIALECTS"])
    }

    /// Settings with a service key's file that holds `content`.
    private static func settings(keyFile content: String) throws -> GatewaySettings {
        let path = "/tmp/vestibule-service-key-\(Hex.encode(SecureRandom.bytes(8)))"
        _ = try FileBytes.create(path, mode: 0o600) { Array(content.utf8) }
        defer { unlink(path) }
        return try GatewaySettings(configuration(["VESTIBULE_GATEWAY_SUPABASE_SERVICE_KEY_FILE": path]))
    }

    @Test func `A service key may end with a line end`() throws {
        for content in [Self.key, Self.key + "\n", Self.key + "\r\n"] {
            #expect(try Self.settings(keyFile: content).dialects.supabaseServiceKey?.text == Self.key)
        }
    }

    @Test(arguments: ["short", "\n", "0123456789abcdef 0123456789abcdef", "0123456789abcdef0123456789abcdé"])
    func `A service key that can be guessed or not be sent keeps it from starting`(content: String) {
        let error = #expect(throws: ConfigurationErrors.self) { try Self.settings(keyFile: content) }
        #expect(error?.faults.map(\.key) == ["VESTIBULE_GATEWAY_SUPABASE_SERVICE_KEY_FILE"])
        #expect(error?.description.contains("0123456789") == false, "a fault says nothing of what the file holds")
    }
}
