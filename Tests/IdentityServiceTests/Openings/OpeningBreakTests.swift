import API
import AccountImport
import IdentityDomain
import Models
import Postgres
import RPC
import ServiceModels
import TestWaits
import Testing

@testable import IdentityService

/// An opening that is interrupted, or races with something else, reaches one end.
struct OpeningBreakTests {
    /// As if the process were killed at that point: another process continues the work.
    @Test(arguments: [
        "before invites.closeIfEmpty", "after invites.closeIfEmpty", "before profile.closeIfEmpty",
        "after profile.closeIfEmpty",
    ])
    func `A sign-in must be retried while the opening isn't decided, and its credentials stay good`(point: String)
        async throws
    {
        try await ImportedPerson.run { person in
            let service = person.service
            _ = service.others.absorptions { $0.lost = [point] }
            let token = try person.token()
            for _ in 0..<2 {
                await expectFailure(.unavailable, "ACCOUNT_HELD") { _ = try await service.signIn(token: token) }
            }
            // New credentials with the number get the same error, and use up nothing either.
            let other = try person.token()
            await expectFailure(.unavailable, "ACCOUNT_HELD") { _ = try await service.signIn(token: other) }
            #expect(try await service.count("sign_ins") == 0)
            #expect(try await service.count("sessions WHERE revoked_at IS NULL") == 0)
            service.pass(seconds: 11)
            await service.parts.methods.absorber.round()
            let answer = try await service.signIn(token: token)
            #expect(answer.tokens.userID == person.old && !answer.isNewUser)
            try await person.settle()
            try await person.expectOpen()
            #expect(try await service.phoneEvents() == ["phone_proven \(person.old) {\"proof\": \"provider\"}"])
            #expect(try await person.openings().count == 2)
        }
    }

    @Test(arguments: ["after invites.closeIfEmpty", "before profile.closeIfEmpty", "after profile.closeIfEmpty"])
    func `An assertion is accepted while the opening isn't decided`(point: String) async throws {
        try await ImportedPerson.run { person in
            let service = person.service
            let session = try await service.signIn()
            _ = service.others.absorptions { $0.lost = [point] }
            let text = try person.assertion(of: session)
            for _ in 0..<2 { #expect(try await service.prove(text, by: session).isPending) }
            try await person.settle()
            try await person.expectOpen()
            #expect(try await service.count("sessions WHERE session_id = '\(session.tokens.sessionID)'") == 0)
            #expect(try await person.openings().count == 2)
        }
    }

    @Test
    func `While profile is down the user has a new account, which is merged into the old one later`() async throws {
        try await ImportedPerson.run { person in
            let service = person.service
            service.others.fail("profile", .unavailable)
            let session = try await service.signIn(token: person.token())
            #expect(session.tokens.userID != person.old)
            service.others.fail("profile", nil)
            try await person.settle()
            try await person.expectOpen()
            #expect(try await service.count("sessions WHERE session_id = '\(session.tokens.sessionID)'") == 0)
            #expect(try await service.signIn(token: person.token()).tokens.userID == person.old)
        }
    }

    @Test func `The move fails, and profile gets the number for the old account once the move is done`() async throws {
        try await ImportedPerson.run { person in
            let service = person.service
            try await service.database.execute(
                "ALTER TABLE account_closings ADD CONSTRAINT broken CHECK (false) NOT VALID"
            )
            let token = try person.token()
            await expectFailure(.unavailable, "ACCOUNT_HELD") { _ = try await service.signIn(token: token) }
            #expect(try await service.words("SELECT state FROM absorptions") == ["moving"])
            // The relay delivers for an account that profile has closed, and waits.
            try await service.relayingProofs {
                try await eventually("it waits") {
                    try await service.count("work WHERE queue = 'phone_proofs' AND failure IS NOT NULL") == 1
                }
                try await service.database.execute("ALTER TABLE account_closings DROP CONSTRAINT broken")
                try await person.settleRelayed()
            }
            try await person.expectOpen()
            #expect(try await service.signIn(token: token).tokens.userID == person.old)
            #expect(service.others.proofs.last?.userID == person.old)
        }
    }

    @Test func `An idle opening is given up before the point of no return, and decided again`() async throws {
        try await ImportedPerson.run { person in
            let service = person.service
            let session = try await service.signIn()
            let claimant = session.tokens.userID
            // The state left by a process that was killed, or that waited long for invites.
            func begin() async throws {
                _ = try await service.parts.methods.store.beginOpening(
                    service.parts.methods.identifiers.make(),
                    of: try #require(UserID(person.old)),
                    for: try #require(UserID(claimant)),
                    .proof("assertion", isSignInProven: true),
                    nowMilliseconds: service.clock.nowMilliseconds,
                    deadline: nil
                )
            }
            try await begin()
            service.pass(seconds: 30)
            await service.parts.methods.absorber.round()
            #expect(try await service.count("absorptions") == 0)
            #expect(try await service.count("accounts") == 2)
            let known = service.others.absorptions()
            #expect(known.held.isEmpty && known.closed.isEmpty)
            // Nor after the account was blocked, or belongs to another.
            for hindrance in [OpeningTests.Hindrance.blocked, .hasProvider] {
                try await begin()
                try await hindrance.apply(person, claimant)
                service.pass(seconds: 11)
                await service.parts.methods.absorber.round()
                #expect(try await service.count("absorptions") == 0)
                #expect(try await service.count("account_closings") == 0)
                #expect(service.others.absorptions().held.isEmpty)
                if hindrance == .blocked { try await service.unblock(person.old) }
            }
        }
    }

    /// What happens to one of the two accounts before the decision, and the expected result.
    enum Meanwhile: String, CaseIterable, Sendable {
        case oldDeleted, oldBlocked, ownDeleted, ownBlocked
    }

    @Test(arguments: Meanwhile.allCases, ["after invites.closeIfEmpty", "after profile.closeIfEmpty"])
    func `A concurrent change of either account lets no unauthorized person in`(
        meanwhile: Meanwhile,
        point: String
    ) async throws {
        try await ImportedPerson.run { person in
            let service = person.service
            let own = try await service.signIn().tokens.userID
            service.pass(seconds: 1)
            _ = service.others.absorptions { $0.lost = [point] }
            let token = try person.token()
            await expectFailure(.unavailable, "ACCOUNT_HELD") { _ = try await service.signIn(token: token) }
            switch meanwhile {
            case .oldDeleted: try await service.remove(person.old)
            case .ownDeleted: try await service.remove(own)
            case .oldBlocked: try await service.block(person.old)
            case .ownBlocked: try await service.block(own)
            }
            try await person.settle()
            try await person.expectNothingUnderWay()
            let accounts = try await service.words("SELECT user_id::text FROM accounts ORDER BY 1")
            let isDecided = point == "after profile.closeIfEmpty"
            switch meanwhile {
            case .oldDeleted:
                #expect(accounts == (isDecided ? [] : [own]))
                #expect(try await service.signIn(token: token).tokens.userID != person.old)
            case .ownDeleted:
                #expect(accounts == [person.old])
                #expect(try await service.identities().isEmpty)
                #expect(
                    try await service.words("SELECT kind FROM security_events WHERE kind = 'account_opened'").isEmpty
                )
            case .oldBlocked, .ownBlocked:
                // Past the point of no return the account is the person's, and closed; before it there are still two.
                #expect(accounts == (isDecided ? [person.old] : [own, person.old].sorted()))
                if isDecided || meanwhile == .ownBlocked {
                    await expectFailure(.permissionDenied, "ACCOUNT_BLOCKED") {
                        _ = try await service.signIn(token: token)
                    }
                } else {
                    #expect(try await service.signIn(token: token).tokens.userID == own)
                }
            }
            #expect(service.others.absorptions().held.keys.allSatisfy { $0 == own && !accounts.contains(own) })
        }
    }

    @Test(arguments: 1...6)
    func `Of two users who prove the number at the same moment one gets the old account`(round: Int) async throws {
        try await ImportedPerson.run { person in
            let service = person.service
            let subjects = ["001.person", "002.person"]
            let tokens = try subjects.map { try person.token(subject: $0) }
            try await service.relayingProofs {
                try await withThrowingTaskGroup { tasks in
                    for token in tokens {
                        tasks.addTask {
                            do { _ = try await service.signIn(token: token) } catch let error as RPCError {
                                #expect(error.reason == "ACCOUNT_HELD")
                            }
                        }
                    }
                    try await tasks.waitForAll()
                }
                try await person.settleRelayed()
            }
            let opened = try await service.words(
                "SELECT subject FROM provider_identities WHERE user_id = '\(person.old)'"
            )
            #expect(opened.count == 1)
            #expect(try await service.count("accounts") == 2)
            let kinds = try await service.phoneEvents().map { $0.split(separator: " ")[0] }
            #expect(kinds == ["phone_conflict", "phone_proven"])
            #expect(
                try await service.words("SELECT kind FROM security_events WHERE kind = 'account_opened'").count == 1
            )
            for subject in subjects {
                let answer = try await service.signIn(token: person.token(subject: subject))
                #expect((answer.tokens.userID == person.old) == (opened == [subject]))
            }
            try await person.expectNothingUnderWay()
        }
    }

    @Test(arguments: 1...6)
    func `Concurrent sign-ins, assertions and relays of one user give the old account once`(round: Int) async throws {
        try await ImportedPerson.run { person in
            let service = person.service
            let session = try await service.signIn()
            service.pass(seconds: 1)
            let (text, tokens) = (try person.assertion(of: session), try (0..<3).map { _ in try person.token() })
            try await service.relayingProofs {
                await withTaskGroup { tasks in
                    for token in tokens { tasks.addTask { _ = try? await service.signIn(token: token) } }
                    for _ in 0..<2 { tasks.addTask { _ = try? await service.prove(text, by: session) } }
                    // The import is repeated meanwhile.
                    tasks.addTask { _ = try? await service.importAccount("1001") }
                    tasks.addTask {
                        let identity = ImportedIdentity(provider: "apple", subject: "001.person")
                        _ = try? await service.importAccount("1002", [identity])
                    }
                }
                try await person.settleRelayed()
            }
            let identities = try await service.identities()
            #expect(identities == ["apple 001.person \(person.old)"])
            #expect(try await service.signIn(token: person.token()).tokens.userID == person.old)
            #expect(
                try await service.words("SELECT kind FROM security_events WHERE kind = 'account_opened'").count == 1
            )
            let foreign = "sessions WHERE user_id NOT IN (SELECT user_id FROM accounts)"
            #expect(try await service.count(foreign) == 0)
            try await person.expectNothingUnderWay()
        }
    }

    @Test func `If a third account absorbed the new one meanwhile and isn't empty, the number is in conflict`()
        async throws
    {
        try await ImportedPerson.run { person in
            let service = person.service
            let google = try await service.signIn(token: service.googleToken(), provider: "google").tokens
            _ = service.others.absorptions { $0.withNumber = [google.userID] }
            service.pass(seconds: 1)
            service.others.fail("profile", .unavailable)
            let own = try await service.signIn(token: person.token())
            // The proof waits while the account is absorbed.
            let token = try person.token()
            _ = try await service.linkResponse(google.accessToken, token: token, provider: "apple")
            service.others.fail("profile", nil)
            try await person.settle()
            #expect(try await service.count("accounts") == 2)
            #expect(try await service.phoneEvents() == ["phone_conflict \(google.userID) {\"proof\": \"provider\"}"])
            #expect(service.others.proofs.suffix(2).map(\.userID) == [google.userID, google.userID])
            #expect(own.tokens.userID != google.userID)
            try await person.expectNothingUnderWay()
        }
    }
}
