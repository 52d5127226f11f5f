import API
import IdentityDomain
import Models
import Postgres
import ServiceModels
import TestWaits
import Testing

@testable import IdentityService

struct GrantResealTests {
    private static func rotated() throws -> VaultKeys {
        try #require(VaultKeys(current: GrantBench.newKey, retired: [GrantBench.oldKey]))
    }

    private static func keyIDs(_ bench: GrantBench) async throws -> [String] {
        let rows = try await bench.store.database.query("SELECT key_id FROM provider_grants ORDER BY grant_id")
        return try rows.map { try $0.decode(0, as: String.self) }
    }

    @Test func `Everything sealed under a retired key is sealed again, and the old key isn't needed any more`()
        async throws
    {
        try await GrantBench.run { bench in
            let people = try await bench.keepTokens(5)
            await bench.grants.resealer.pass()
            #expect(try await Self.keyIDs(bench) == .init(repeating: "old", count: 5), "nothing is retired")
            try bench.use(Self.rotated())
            await bench.grants.look()
            #expect(bench.metric(#"vestibule_identity_provider_tokens_not_current{key="retired"}"#) == "5")
            await bench.grants.resealer.pass()
            await bench.grants.look()
            #expect(try await Self.keyIDs(bench) == .init(repeating: "new", count: 5))
            #expect(bench.metric(#"vestibule_identity_provider_tokens_not_current{key="retired"}"#) == "0")
            #expect(bench.metric("vestibule_identity_provider_tokens_resealed_total") == "5")
            try bench.use(#require(VaultKeys(current: GrantBench.newKey)))
            for person in people { try await bench.abandon(person.tokens.userID) }
            await bench.grants.revoker.round()
            #expect(bench.apple.revoked.sorted() == ["r0", "r1", "r2", "r3", "r4"])
        }
    }

    /// A batch is a transaction: a process that is killed has sealed whole batches.
    @Test(arguments: 0...3)
    func `A pass that was killed after a batch is continued by the next one`(batches: Int) async throws {
        try await GrantBench.run(replicas: 2) { bench in
            let people = try await bench.keepTokens(5)
            let keys = try Self.rotated()
            try bench.use(keys)
            var after: PostgresUUID?
            for _ in 0..<batches {
                after = try await bench.grants.resealer.reseal(keys, after: after, limit: 2).last
            }
            #expect(try await Self.keyIDs(bench).count { $0 == "new" } == min(5, batches * 2))
            // A replica that hasn't read its folder since the switch leaves the rows alone, and can open both.
            let published = try #require(VaultKeys(current: GrantBench.oldKey, next: GrantBench.newKey))
            try bench.use(published, replica: 1)
            await bench.bench.replicas[1].grants.resealer.pass()
            #expect(try await Self.keyIDs(bench).count { $0 == "new" } == min(5, batches * 2))
            for person in people.prefix(2) { try await bench.abandon(person.tokens.userID) }
            await bench.bench.replicas[1].grants.revoker.round()
            #expect(bench.apple.revoked.count == 2)
            try bench.use(keys, replica: 1)
            await bench.bench.replicas[1].grants.resealer.pass()
            #expect(try await Self.keyIDs(bench) == ["new", "new", "new"])
        }
    }

    @Test func `A batch that is rolled back has changed nothing`() async throws {
        struct Killed: Error {}
        try await GrantBench.run { bench in
            _ = try await bench.keepTokens(2)
            let keys = try Self.rotated()
            await #expect(throws: (any Error).self) {
                try await bench.store.reseal(under: keys.retiredIDs, after: nil, limit: 10) { grant in
                    // More bytes than a row may have: the statement fails after both were sealed.
                    SealedToken(keyID: "new\0", bytes: grant.sealed.bytes)
                }
            }
            #expect(try await Self.keyIDs(bench) == ["old", "old"])
            #expect(try await bench.rows("kept") == 2)
        }
    }

    @Test func `Two concurrent passes seal each row once, while new tokens arrive`() async throws {
        try await GrantBench.run(replicas: 2) { bench in
            _ = try await bench.keepTokens(30)
            for replica in [0, 1] { try bench.use(Self.rotated(), replica: replica) }
            bench.bench.clock.advance(seconds: 1)
            async let first: Void = bench.bench.replicas[0].grants.resealer.pass()
            async let second: Void = bench.bench.replicas[1].grants.resealer.pass()
            try await bench.signIn("000.person", code: "new", refreshToken: "r.new")
            _ = await (first, second)
            await bench.grants.resealer.pass()
            try await eventually("the newer token") { try await bench.metricKept() == "31" }
            #expect(try await Self.keyIDs(bench) == .init(repeating: "new", count: 30))
            let total = try [0, 1].reduce(0) { sum, replica in
                let name = "vestibule_identity_provider_tokens_resealed_total"
                return sum + (Int(try #require(bench.metric(name, replica: replica))) ?? 0)
            }
            #expect((29...30).contains(total), "the newer token may have come first")
        }
    }

    @Test func `A row that was tampered with stays as it is, and doesn't delay the others`() async throws {
        try await GrantBench.run { bench in
            let people = try await bench.keepTokens(3)
            try await bench.store.database.execute(
                """
                UPDATE provider_grants SET sealed_token = set_byte(sealed_token, 20, get_byte(sealed_token, 20) # 1)
                WHERE user_id = \(try #require(UserID(people[1].tokens.userID)).uuid)
                """
            )
            try bench.use(Self.rotated())
            await bench.grants.resealer.pass()
            #expect(try await Self.keyIDs(bench).sorted() == ["new", "new", "old"])
            #expect(bench.bench.log.text.contains("error tokens can't be opened and stay under a retired key"))
        }
    }
}
