import API
import IdentityDomain
import JOSE
import Models
import OutgoingHTTP
import Postgres
import RPC
import ServiceModels
import Synchronization
import Testing

@testable import IdentityService

/// The transfer command, run as the former and as the new team.
struct AppleTransferTests {
    @Test func `The export and the import keep everybody's account`() async throws {
        try await TransferBench.run { bench in
            let people = try await bench.bench.keepTokens(5)
            #expect(try await bench.export() == AppleTransferProgress(total: 5, done: 5))
            #expect(try await bench.transfers() == [5, 0])
            // Apple may refuse the former team's tokens from now on; that says nothing about anybody's consent.
            bench.bench.bench.clock.advance(seconds: 69 * 86_400)
            await bench.bench.grants.checker.round()
            #expect(bench.bench.apple.checked.isEmpty)
            #expect(try await bench.export() == AppleTransferProgress(total: 0), "all are known")

            #expect(try await bench.takeOver() == AppleTransferProgress(total: 5, done: 5))
            #expect(try await bench.transfers() == [0, 5])
            #expect(try await bench.subjects() == (0..<5).map { "new-00\($0).person" })
            for state in ["kept", "revoking"] { #expect(try await bench.bench.rows(state) == 0) }
            let kept = try await bench.store.database.query(
                """
                SELECT count(*) FILTER (WHERE email = 'new@privaterelay.appleid.com' AND is_private_email),
                    (SELECT count(*) FROM sessions WHERE revoked_at IS NULL),
                    (SELECT count(*) FROM security_events WHERE details @> '{"notice": "team_transfer", "provider": "apple",
                        "from_team": "OLDTEAM001", "to_team": "NEWTEAM001"}' AND kind = 'provider_notice')
                FROM provider_identities
                """
            ).first
            let (addresses, sessions, events) = try #require(kept).decode(Int64.self, Int64.self, Int64.self)
            #expect([addresses, sessions, events] == [5, 5, 5])
            for (index, person) in people.enumerated() {
                let again = try await bench.signInAfter("00\(index).person", tells: false)
                #expect(again.tokens.userID == person.tokens.userID && !again.isNewUser)
            }
        }
    }

    @Test func `A command that was killed at any moment continues where it stopped`() async throws {
        try await TransferBench.run { bench in
            struct Killed: Error {}
            var accounts: [String: String] = [:]
            // The first request is for the access token, the others are for users.
            for (round, question) in (1...5).enumerated() {
                let names = (0..<4).map { "\(round)-\($0)" }
                for name in names {
                    accounts[name] = try await bench.bench.signIn(name, code: name).tokens.userID
                }
                let before = bench.apple.asked.count
                for step in [AppleTransferOrder.Step.export(to: "NEWTEAM001"), .import(from: "OLDTEAM001")] {
                    // The process can end before an answer as well as after it.
                    bench.apple.setTrouble { number, _ in
                        number >= question ? MigratingApple.json(["error": "invalid_client"], status: 400) : nil
                    }
                    await #expect(throws: AppleTransferError.self) { try await bench.command(step).run { _ in } }
                    bench.apple.setTrouble { _, _ in nil }
                    let rest = try await bench.command(step).run { _ in }
                    #expect(rest.rejected == 0 && rest.gone == 0 && rest.done == rest.total)
                    if case .export = step { #expect(try await bench.transfers().first == 4) }
                }
                // Each step asked once about each user, except for those whose answers arrived as the process ended.
                #expect(bench.apple.asked.count - before <= 8 + 2 * AppleTransfer.atOnceMax)
                #expect(try await bench.transfers() == [0, Int64(4 * (round + 1))])
            }
            for (name, userID) in accounts {
                #expect(try await bench.signInAfter(name, tells: false).tokens.userID == userID)
            }
        }
    }

    @Test func `While Apple is down the command waits, and an expired access token is replaced`() async throws {
        try await TransferBench.run { bench in
            _ = try await bench.bench.keepTokens(4)
            for status in [429, 500, 503] {
                bench.apple.setTrouble { number, _ in
                    number % 2 == 1 ? OutgoingResponse(status: status, body: []) : nil
                }
                let pauses = Mutex<[Int64]>([])
                let progress = try await bench.export { news in
                    if case .waiting(let seconds) = news { pauses.withLock { $0.append(seconds) } }
                }
                #expect(progress.done == progress.total && progress.rejected == 0)
                #expect(!pauses.withLock { $0 }.isEmpty)
                try await bench.store.database.execute("DELETE FROM apple_transfers")
            }
            bench.apple.setTrouble { number, request in
                number == 3 ? MigratingApple.json(["error": "invalid_token"], status: 401) : nil
            }
            let tokens = bench.apple.tokens
            #expect(try await bench.export().done == 4)
            #expect(bench.apple.tokens == tokens + 2)
        }
    }

    @Test func `The command ends if Apple stays down or refuses the key`() async throws {
        try await TransferBench.run { bench in
            _ = try await bench.bench.keepTokens(2)
            bench.apple.setTrouble { _, request in
                request.field("grant_type") == nil ? OutgoingResponse(status: 503, body: []) : nil
            }
            await #expect(throws: AppleTransferError.unavailable) { try await bench.export() }
            bench.apple.setTrouble { _, _ in OutgoingResponse(status: 200, body: Array("no JSON".utf8)) }
            await #expect(throws: AppleTransferError.unavailable) { try await bench.export() }
            bench.apple.setTrouble { _, _ in MigratingApple.json(["error": "invalid_client"], status: 400) }
            await #expect(throws: AppleTransferError.refused("invalid_client")) { try await bench.export() }
            bench.apple.setTrouble { _, _ in MigratingApple.json(["error": "invalid_token"], status: 401) }
            await #expect(throws: AppleTransferError.refused("status 401")) { try await bench.export() }
            #expect(try await bench.transfers() == [0, 0])
        }
    }

    @Test func `A user whom Apple doesn't know is reported and skipped, and the next run asks again`() async throws {
        try await TransferBench.run { bench in
            let people = try await bench.bench.keepTokens(5)
            bench.apple.forget("002.person")
            let rejected = Mutex<[String]>([])
            let progress = try await bench.export { news in
                if case .rejected(let userID, let reason) = news {
                    rejected.withLock { $0.append("\(userID) \(reason)") }
                }
            }
            #expect(progress == AppleTransferProgress(total: 5, done: 4, rejected: 1))
            #expect(rejected.withLock { $0 } == ["\(people[2].tokens.userID) invalid_request"])
            #expect(try await bench.export() == AppleTransferProgress(total: 1, rejected: 1))
            #expect(try await bench.takeOver().done == 4)
        }
    }

    @Test func `If Apple knows none of the first users, the team is wrong`() async throws {
        try await TransferBench.run { bench in
            try await bench.store.database.execute(
                """
                WITH account AS (
                    INSERT INTO accounts (user_id, created_at) SELECT gen_random_uuid(), now() FROM generate_series(1, 60)
                    RETURNING user_id)
                INSERT INTO provider_identities (
                    provider, subject, user_id, is_email_verified, is_private_email, created_at, last_sign_in_at)
                SELECT 'apple', user_id::text, user_id, false, false, now(), now() FROM account
                """
            )
            bench.apple.setTrouble { _, request in request.field("sub") == nil ? nil : MigratingApple.refusal }
            await #expect(throws: AppleTransferError.allRejected(21)) { try await bench.export() }
        }
    }

    @Test func `A dry run asks for an access token and changes nothing`() async throws {
        try await TransferBench.run { bench in
            _ = try await bench.bench.keepTokens(3)
            let progress = try await bench.command(.export(to: "NEWTEAM001"), isDry: true).run { _ in }
            #expect(progress == AppleTransferProgress(total: 3))
            #expect(bench.apple.tokens == 1 && bench.apple.asked.isEmpty)
            #expect(try await bench.transfers() == [0, 0])
        }
    }

    @Test func `Users who move to a third team are exported again`() async throws {
        try await TransferBench.run { bench in
            _ = try await bench.bench.keepTokens(2)
            try await bench.export()
            try await bench.takeOver()
            #expect(try await bench.store.exportableCount(to: "NEWTEAM001") == 0)
            #expect(try await bench.store.exportableCount(to: "THIRDTEAM1") == 2)
            let next = TeamTransfer(from: "NEWTEAM001", to: "THIRDTEAM1")
            let isKept = try await bench.store.keepTransfer(
                of: "new-000.person",
                "t-1",
                next,
                nowMilliseconds: bench.now
            )
            #expect(isKept)
            #expect(try await bench.store.importableCount(next) == 1)
            #expect(try await bench.transfers() == [1, 1])
            let counts = try await bench.store.transferCounts()
            #expect(counts.people == 2 && counts.transfers.map(\.transfer) == [next, TransferBench.transfer])
        }
    }

    @Test func `A transfer is forgotten long after its end`() async throws {
        try await TransferBench.run { bench in
            _ = try await bench.bench.keepTokens(2)
            try await bench.export()
            let day: Int64 = 86_400_000
            #expect(try await bench.store.forgetTransfers(nowMilliseconds: bench.now + 179 * day, limit: 9) == 0)
            #expect(try await bench.store.forgetTransfers(nowMilliseconds: bench.now + 180 * day, limit: 1) == 1)
            #expect(try await bench.transfers() == [1, 0])
        }
    }

    @Test func `A command that doesn't fit the configuration is refused`() async throws {
        try await TransferBench.run { bench in
            func fault(_ step: AppleTransferOrder.Step) async -> AppleTransferError? {
                do {
                    _ = try await bench.command(step).run { _ in }
                    return nil
                } catch {
                    return error as? AppleTransferError
                }
            }
            #expect(await fault(.export(to: "OLDTEAM001")) == .sameTeam("OLDTEAM001"))
            #expect(await fault(.import(from: "NEWTEAM001")) == .sameTeam("NEWTEAM001"))
            for team in ["", "newteam001", "NEWTEAM0011", "NEWTEAM00!"] {
                #expect(await fault(.export(to: team)) == .teamInvalid)
            }
            #expect(bench.apple.tokens == 0)
        }
        let clock = TestClock().wallClock
        var apple = try TransferBench.provider(teamID: "OLDTEAM001", apps: ["com.example.b", "com.example.a"])
        func endpoint(_ clientID: String?) throws -> UserMigrationEndpoint {
            try UserMigrationEndpoint([.apple: apple], clientID: clientID, http: TestHTTP(), clock: clock)
        }
        #expect(try endpoint(nil).clientID == "com.example.a")
        #expect(try endpoint("com.example.b").teamID == "OLDTEAM001")
        #expect(throws: AppleTransferError.self) { try endpoint("com.example.c") }
        let other = try TransferBench.provider(teamID: "NEWTEAM001", apps: ["com.example.c"])
        apple = ProviderConfiguration(
            policy: apple.policy,
            endpoints: apple.endpoints,
            credentials: apple.credentials.merging(other.credentials) { first, _ in first }
        )
        #expect(throws: AppleTransferError.self) { try endpoint(nil) }
        #expect(try endpoint("com.example.c").teamID == "NEWTEAM001")
    }
}
