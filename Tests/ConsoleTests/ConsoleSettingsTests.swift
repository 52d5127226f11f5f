import Foundation
import HTTPJSON
import RPCTransport
import ServiceKit
import Testing

@testable import Console

/// What the configuration makes of the console.
struct ConsoleSettingsTests {
    @Test func `No connection lasts, so that certificates are verified again`() throws {
        let path = FileManager.default.temporaryDirectory.path + "/operators-\(UUID().uuidString).json"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data("{}".utf8).write(to: URL(fileURLWithPath: path))
        let configuration = try Configuration.testing(
            keys: ConsoleKeys.all,
            program: ConsoleKeys.program,
            [
                ConsoleKeys.operators.name: path, ConsoleKeys.issuer.name: "https://idp.example",
                ConsoleKeys.clientID.name: "console",
            ]
        )
        let settings = try ConsoleSettings(configuration)
        #expect(settings.edge.transport.limits.connectionAgeMax == .seconds(60))
        #expect(settings.provider?.isAuthTimeOptional == false)
    }
}
