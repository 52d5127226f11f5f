import IdentityDomain
import Logging
import RPCTransport
import ServiceKit
import Synchronization
import Testing

@testable import IdentityService

/// The clients file, read again while the program runs.
struct ClientsReaderTests {
    private static let key = "VESTIBULE_IDENTITY_CLIENTS_FILE"

    private static func file(_ id: String) -> [UInt8] {
        Array(#"{"clients": [{"id": "\#(id)", "name": "Hikers", "redirect_uris": ["https://app.example.com/"]}]}"#.utf8)
    }

    @Test func `A changed file is put to use, and a faulty or missing one is not`() async throws {
        let fixture = try SettingsFixture()
        let files = SettingsFixture.ChangingFiles(["etc/clients.json": Self.file("one")])
        let settings = try fixture.settings([Self.key: "etc/clients.json"], changing: files)
        let group = try EventLoopGroup(loopCount: 1, name: "test")
        let clients = ReplaceableValue(OAuthClients(settings.clients), group: group)
        let hasKey = Atomic(false)
        let reader = ClientsReader(
            try #require(settings.clientsFile),
            clients: clients,
            signsRS256: { hasKey.load(ordering: .relaxed) },
            logger: TestService.silentLogger
        )
        func ids() -> [String] { clients.current.byID.keys.sorted() }
        await reader.read()
        #expect(ids() == ["one"])
        files["etc/clients.json"] = Self.file("two")
        await reader.read()
        #expect(ids() == ["two"])
        for faulty in [Array("{".utf8), Self.file("a b"), nil] {
            files["etc/clients.json"] = faulty
            await reader.read()
            #expect(ids() == ["two"])
        }
        files["etc/clients.json"] = Self.file("three")
        await reader.read()
        #expect(ids() == ["three"])
        let rs256 = String(decoding: Self.file("four"), as: UTF8.self)
            .replacing(#""name""#, with: #""id_token_signed_response_alg": "RS256", "name""#)
        files["etc/clients.json"] = Array(rs256.utf8)
        await reader.read()
        #expect(ids() == ["three"], "without a key for it")
        hasKey.store(true, ordering: .relaxed)
        await reader.read()
        #expect(ids() == ["four"], "the key came while the program ran")
        var text = MetricsText()
        reader.write(to: &text)
        #expect(text.text.contains(#"clients_file_reads_total{outcome="changed"} 3"#), "\(text.text)")
        #expect(text.text.contains(#"clients_file_reads_total{outcome="failed"} 4"#))
        await group.shutdown()
    }
}
