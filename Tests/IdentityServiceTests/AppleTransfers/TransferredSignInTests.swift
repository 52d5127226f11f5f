import API
import IdentityDomain
import JOSE
import Models
import OutgoingHTTP
import Postgres
import RPC
import ServiceModels
import TestDatabases
import TestWaits
import Testing

@testable import IdentityService

/// Sign-ins and deletions while an app goes to another team.
struct TransferredSignInTests {
    @Test func `A user who signs in before the import finds their account, and the import skips them`() async throws {
        try await TransferBench.run { bench in
            let people = try await bench.bench.keepTokens(3)
            try await bench.export()
            let again = try await bench.signInAfter("001.person", createsAccount: false)
            #expect(again.tokens.userID == people[1].tokens.userID && !again.isNewUser)
            #expect(try await bench.subjects() == ["000.person", "002.person", "new-001.person"])
            #expect(try await bench.bench.rows("kept") == 2)
            #expect(try await bench.transfers() == [2, 1])
            #expect(try await bench.takeOver() == AppleTransferProgress(total: 2, done: 2))
            // The same claim stands in tokens for 60 days.
            bench.bench.bench.clock.advance(seconds: 5)
            #expect(try await bench.signInAfter("001.person").tokens.userID == people[1].tokens.userID)
        }
    }

    @Test func `A user who links before the import is found by the former identity`() async throws {
        try await TransferBench.run { bench in
            let people = try await bench.bench.keepTokens(2)
            try await bench.export()
            var request = IdentityV1.LinkProviderRequest()
            request.accessToken = people[0].tokens.accessToken
            request.credentials = try bench.credentialsAfter("001.person")
            do {
                _ = try await bench.bench.bench.methods.linkProvider(
                    request,
                    context: ExchangeBench.context("LinkProvider")
                )
                Issue.record("the account has another identity of Apple's")
            } catch let error as RPCError {
                #expect(error.reason == "PROVIDER_ALREADY_LINKED")
            }
            #expect(try await bench.subjects() == ["000.person", "new-001.person"])
            #expect(try await bench.signInAfter("001.person").tokens.userID == people[1].tokens.userID)
        }
    }

    @Test func `Of many concurrent sign-ins and commands one moves a user, and all find the account`() async throws {
        try await TransferBench.run { bench in
            for round in 0..<8 {
                let name = "\(round).person"
                let account = try await bench.bench.signIn(name, code: "c\(round)").tokens.userID
                try await bench.bench.waitForTokens(1)
                try await bench.export()
                try await withThrowingTaskGroup(of: Void.self) { tasks in
                    for index in 0..<6 {
                        tasks.addTask {
                            if index % 3 == 2 {
                                let progress = try await bench.takeOver()
                                #expect(progress.rejected == 0)
                            } else {
                                let jti: JSONValue = .string("\(round) \(index)")
                                var request = IdentityV1.SignInRequest()
                                (request.provider, request.nonce) = ("apple", TestProvider.rawNonce)
                                request.idToken = try bench.bench.bench.provider.appleToken(
                                    subject: MigratingApple.newSubject(name),
                                    at: bench.bench.bench.clock,
                                    TransferBench.arrival(name).merging(["jti": jti]) { $1 }
                                )
                                let response = try await bench.bench.bench.methods.signIn(
                                    request,
                                    context: ExchangeBench.context("SignIn")
                                )
                                #expect(response.tokens.userID == account)
                            }
                        }
                    }
                    try await tasks.waitForAll()
                }
                #expect(try await bench.transfers() == [0, Int64(round + 1)])
                #expect(try await bench.bench.rows("kept") == 0)
            }
        }
    }

    @Test func `A user who was not exported is new, and an import doesn't change them`() async throws {
        try await TransferBench.run { bench in
            let people = try await bench.bench.keepTokens(1)
            let new = try await bench.signInAfter("000.person")
            #expect(new.isNewUser)
            // Asked in the name of the former team, which doesn't know the new name.
            bench.apple.forget("new-000.person")
            #expect(try await bench.export() == AppleTransferProgress(total: 2, done: 1, rejected: 1))
            let progress = try await bench.takeOver { news in
                guard case .rejected(let userID, let reason) = news else { return }
                #expect(userID == people[0].tokens.userID && reason == "subject_taken by \(new.tokens.userID)")
            }
            #expect(progress == AppleTransferProgress(total: 1, rejected: 1))
            bench.bench.bench.clock.advance(seconds: 5)
            #expect(try await bench.signInAfter("000.person").tokens.userID == new.tokens.userID)
            #expect(try await bench.subjects() == ["000.person", "new-000.person"])
        }
    }

    @Test func `A look finds whom a sign-in would, and moves nobody`() async throws {
        try await TransferBench.run { bench in
            let people = try await bench.bench.keepTokens(1)
            try await bench.export()
            var request = IdentityV1.FindAccountRequest()
            request.credentials.provider = "apple"
            request.credentials.nonce = TestProvider.rawNonce
            request.credentials.idToken = try bench.bench.bench.provider.appleToken(
                subject: MigratingApple.newSubject("000.person"),
                at: bench.bench.bench.clock,
                TransferBench.arrival("000.person")
            )
            let found = try await bench.bench.bench.methods.findAccount(
                request,
                context: ExchangeBench.context("FindAccount")
            )
            #expect(found.userID == people[0].tokens.userID)
            #expect(try await bench.transfers() == [1, 0])
            #expect(try await bench.subjects() == ["000.person"])
        }
    }

    @Test func `Another provider's token moves nobody, whatever it says`() async throws {
        try await TestService.run { service in
            let mine = try await service.signIn()
            try await service.database.execute(
                """
                INSERT INTO apple_transfers (provider, subject, from_team, to_team, transfer_sub, exported_at)
                VALUES ('apple', '001.person', 'OLDTEAM001', 'NEWTEAM001', 't-1', now())
                """
            )
            let changes: [String: JSONValue?] = [
                "iss": "https://accounts.google.com", "aud": "example.apps.googleusercontent.com",
                "transfer_sub": "t-1",
                "c_hash": nil as JSONValue?,
            ]
            let token = try service.provider.appleToken(subject: "77", at: service.clock, changes)
            let other = try await service.signIn(token: token, provider: "google")
            #expect(other.isNewUser && other.tokens.userID != mine.tokens.userID)
            #expect(try await service.count("apple_transfers WHERE imported_at IS NULL") == 1)
        }
    }

    @Test func `With an account goes what it was to be handed over by`() async throws {
        try await TransferBench.run { bench in
            let people = try await bench.bench.keepTokens(2)
            try await bench.export()
            let user = try #require(UserID(people[0].tokens.userID))
            let identifiers = bench.bench.bench.methods.identifiers
            let closing = try await bench.store.closeAccount(
                user,
                why: .byOperator,
                eventIDs: (identifiers.make(), identifiers.make()),
                nowMilliseconds: bench.now,
                deadline: nil
            )
            #expect(closing.isNew)
            #expect(try await bench.transfers() == [1, 0])
            #expect(try await bench.takeOver() == AppleTransferProgress(total: 1, done: 1))
            let new = try await bench.signInAfter("000.person")
            #expect(new.isNewUser)
        }
    }

    /// A token of the former team whose row is being written while its person is moved is none of the new team's.
    @Test(.waitsByLocksAlone) func `A token that is being stored during a move is removed with the rest`() async throws
    {
        try await TransferBench.run { bench in
            let person = try await bench.bench.signIn("000.person", refreshToken: "r")
            try await bench.bench.waitForTokens(1)
            try await bench.export()
            try await bench.store.database.execute("DELETE FROM provider_grants")
            let store = bench.store
            let user = try #require(UserID(person.tokens.userID)).uuid
            let moving = try await store.database.withTransaction { transaction in
                try await transaction.query(
                    "SELECT FROM provider_identities WHERE subject = '000.person' FOR KEY SHARE"
                )
                let moving = Task {
                    try await store.moveSubject(
                        transferredBy: MigratingApple.transferSubject("000.person"),
                        to: "new",
                        nowMilliseconds: 1,
                        deadline: nil
                    )
                }
                try await store.database.waitForLockWaits()
                try await transaction.execute(
                    """
                    INSERT INTO provider_grants (
                        grant_id, user_id, provider, client_id, person, key_id, sealed_token, state, granted_at, next_at)
                    VALUES (gen_random_uuid(), \(user), 'apple', 'com.example.app', decode(repeat('00', 32), 'hex'), 'old', '',
                        'kept', now(), now())
                    """
                )
                return moving
            }
            #expect(try await moving.value == .moved)
            #expect(try await bench.bench.rows("kept") == 0)
        }
    }
}
