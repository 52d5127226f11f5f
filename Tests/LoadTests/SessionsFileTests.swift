import FoundationEssentials
import Testing

@testable import Load

struct SessionsFileTests {
    private func accounts(_ content: String, countMin: Int = 1) throws -> [Account] {
        let path = FileManager.default.temporaryDirectory.appending(path: "sessions-\(UUID().uuidString)").path
        try Data(content.utf8).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try SessionsFile.accounts(path, countMin: countMin)
    }

    @Test func `A line is a session, with or without a refresh token`() throws {
        let accounts = try accounts("a.b.c vrt1_x\nd.e.f\n")
        #expect(accounts.map(\.accessToken) == ["a.b.c", "d.e.f"])
        #expect(accounts.map(\.refreshToken) == ["vrt1_x", ""])
    }

    @Test func `There must be one for each worker`() throws {
        #expect(try accounts("a b\nc d", countMin: 2).count == 2)
        let error = #expect(throws: LoadError.self) { _ = try accounts("secret b\nc d", countMin: 3) }
        #expect(error?.description.contains("secret") == false)
        #expect(throws: LoadError.self) { _ = try accounts("") }
        #expect(throws: LoadError.self) { _ = try SessionsFile.accounts("/nowhere/at all", countMin: 1) }
    }

    @Test func `Sessions of which only tokens are known can be checked and refreshed, and take numbers`() {
        #expect(Scenario.allCases.filter(\.takesSessions) == [.checkSession, .refresh, .refreshAndCheck, .claimPhone])
    }
}
