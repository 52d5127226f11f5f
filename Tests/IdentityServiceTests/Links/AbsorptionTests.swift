import API
import IdentityDomain
import JOSE
import Models
import Postgres
import RPC
import ServiceModels
import SwiftProtobuf
import Testing

@testable import IdentityService

/// An empty account is absorbed by the person's other one.
struct AbsorptionTests {
    /// Two accounts of one person: the older by Apple, the younger by Google, both just signed in to.
    static func run(
        limits: SessionLimits = SessionLimits(),
        _ body: (TestService, _ apple: IdentityV1.SessionTokens, _ google: IdentityV1.SessionTokens) async throws ->
            Void
    ) async throws {
        try await TestService.run(limits: limits) { service in
            _ = service.others.absorptions()
            let apple = try await service.signInAnew()
            service.pass(seconds: 1)
            let google = try await service.signInByGoogle()
            service.pass(seconds: 1)
            try await body(service, apple, google)
        }
    }

    static func expectOnlyAccount(
        _ userID: String,
        without other: String,
        _ service: TestService,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        #expect(
            try await service.identities() == ["apple 001.person \(userID)", "google 77 \(userID)"],
            sourceLocation: sourceLocation
        )
        #expect(
            try await service.words("SELECT user_id::text FROM accounts") == [userID],
            sourceLocation: sourceLocation
        )
        let closings = try await service.words("SELECT user_id || ' ' || why FROM account_closings")
        #expect(closings == ["\(other) absorbed"], sourceLocation: sourceLocation)
        #expect(try await service.count("absorptions") == 0, sourceLocation: sourceLocation)
        #expect(try await service.count("work WHERE queue LIKE 'closings.%'") == 2, sourceLocation: sourceLocation)
    }

    @Test func `The session's account absorbs the other one, which is empty`() async throws {
        try await Self.run { service, apple, google in
            _ = service.others.absorptions { $0.withNumber = [apple.userID] }
            let response = try await service.linkResponse(apple.accessToken, token: service.googleToken())
            #expect(!response.hasTokens && response.account.userID == apple.userID)
            #expect(response.account.identities.map(\.provider) == ["apple", "google"])
            try await Self.expectOnlyAccount(apple.userID, without: google.userID, service)
            _ = try await service.check(apple.accessToken)
            await expectFailure(.unauthenticated, "SESSION_INVALID") { _ = try await service.check(google.accessToken) }
            let told = try await service.words("SELECT session_id::text FROM revocations")
            #expect(told == [google.sessionID])
            #expect(try await service.signInByGoogle().userID == apple.userID)
            let events = try await service.words(
                """
                SELECT kind || ' ' || user_id || ' ' || details FROM security_events
                WHERE kind IN ('provider_linked', 'account_closed') ORDER BY kind
                """
            )
            #expect(
                events == [
                    #"account_closed \#(google.userID) {"reason": "absorbed"}"#,
                    #"provider_linked \#(apple.userID) {"absorbed": "\#(google.userID)", "provider": "google"}"#,
                ]
            )
        }
    }

    @Test func `If the session's account is the empty one, the answer has a session of the other`() async throws {
        try await Self.run { service, apple, google in
            // The usual case: first by Google with a number, then by Apple on a new phone.
            _ = service.others.absorptions { ($0.withNumber, $0.inGroup) = ([google.userID], [google.userID]) }
            let token = try service.googleToken()
            let response = try await service.linkResponse(apple.accessToken, token: token)
            #expect(response.tokens.userID == google.userID && response.account.userID == google.userID)
            #expect(response.hasCallerProofs)
            try await Self.expectOnlyAccount(google.userID, without: apple.userID, service)
            _ = try await service.check(response.tokens.accessToken)
            _ = try await service.check(google.accessToken)
            await expectFailure(.unauthenticated, "SESSION_INVALID") { _ = try await service.check(apple.accessToken) }
            // The person still exists, whatever the app of the absorbed account requests.
            await expectFailure(.unauthenticated, "SESSION_INVALID") { try await service.delete(apple.accessToken) }
            #expect(try await service.signInAnew().userID == google.userID)
            // A client that lost the answer gets the same session by signing in with the same credentials.
            let again = try await service.signIn(token: token, provider: "google")
            #expect(again.tokens.sessionID == response.tokens.sessionID)
        }
    }

    @Test(arguments: [true, false])
    func `If both are empty the older absorbs the younger, whichever asks`(isOlder: Bool) async throws {
        try await Self.run { service, apple, google in
            let response: IdentityV1.LinkProviderResponse
            if isOlder {
                response = try await service.linkResponse(apple.accessToken, token: service.googleToken())
            } else {
                let token = try service.provider.appleToken(at: service.clock, ["jti": "link"])
                response = try await service.linkResponse(google.accessToken, token: token, provider: "apple")
            }
            #expect(response.hasTokens != isOlder && response.account.userID == apple.userID)
            try await Self.expectOnlyAccount(apple.userID, without: google.userID, service)
        }
    }

    @Test func `If neither is empty nothing changes, no account is held, and the credentials stay good`() async throws {
        try await Self.run { service, apple, google in
            for (withNumber, inGroup) in [
                (Set([apple.userID, google.userID]), Set<String>()), ([apple.userID], [google.userID]),
                ([], [apple.userID, google.userID]),
            ] {
                _ = service.others.absorptions { ($0.withNumber, $0.inGroup) = (withNumber, inGroup) }
                let token = try service.googleToken()
                await expectFailure(.alreadyExists, "IDENTITY_TAKEN") {
                    try await service.linkGoogle(apple.accessToken, token: token)
                }
                let known = service.others.absorptions()
                #expect(known.held.isEmpty && known.closed.isEmpty)
                #expect(try await service.count("absorptions") == 0)
                #expect(try await service.signIn(token: token, provider: "google").tokens.userID == google.userID)
            }
            #expect(try await service.count("account_closings") == 0)
        }
    }

    @Test func `Both accounts must be proven, and the session must be recent`() async throws {
        try await Self.run { service, apple, google in
            for proof in ["fresh", "access_token"] {
                try await service.setProof(proof, of: apple)
                await expectFailure(.permissionDenied, "PROOF_REQUIRED") {
                    try await service.linkGoogle(apple.accessToken, token: service.googleToken())
                }
            }
            try await service.setProof("nonce", of: apple)
            service.pass(seconds: 590)
            let refreshed = try await service.refresh(apple.refreshToken).tokens
            service.pass(seconds: 20)
            await expectFailure(.permissionDenied, "RECENT_SIGN_IN_REQUIRED") {
                try await service.linkGoogle(refreshed.accessToken, token: service.googleToken())
            }
            #expect(try await service.count("absorptions") == 0)
            #expect(service.others.absorptions().calls.isEmpty)
            _ = google
        }
    }

    @Test func `Accounts with a common provider stay two, and disabled ones are not moved`() async throws {
        try await Self.run { service, apple, google in
            let user = try #require(UserID(google.userID))
            try await service.database.execute(
                """
                INSERT INTO provider_identities (provider, subject, user_id, is_email_verified, is_private_email, created_at,
                    last_sign_in_at) VALUES ('apple', 'other', \(user.uuid), false, false, now(), now())
                """
            )
            await expectFailure(.alreadyExists, "IDENTITY_TAKEN") {
                try await service.linkGoogle(apple.accessToken, token: service.googleToken())
            }
            try await service.database.execute(
                "UPDATE provider_identities SET provider = 'third', disabled_at = now() WHERE subject = 'other'"
            )
            await expectFailure(.alreadyExists, "IDENTITY_TAKEN") {
                try await service.linkGoogle(apple.accessToken, token: service.googleToken())
            }
            #expect(service.others.absorptions().calls.isEmpty)
        }
    }

    @Test func `Metadata and reserved addresses are moved if the absorbing account has none`() async throws {
        try await Self.run { service, apple, google in
            let change = IdentityV1.UpdateUserMetadataRequest.with { $0.changesJson = #"{"colour":"blue"}"# }
            _ = try await service.client.updateUserMetadata(change, options: service.options(for: google.userID))
            let user = try #require(UserID(google.userID))
            try await service.database.execute(
                """
                INSERT INTO email_reservations (dialect, email, user_id, created_at)
                VALUES ('wordpress', 'maria@example.com', \(user.uuid), now())
                """
            )
            let account = try await service.linkGoogle(apple.accessToken, token: service.googleToken())
            #expect(account.metadataJson == #"{"colour":"blue"}"# && account.userID == apple.userID)
            #expect(try await service.words("SELECT user_id::text FROM email_reservations") == [apple.userID])
        }
    }

    @Test func `If a service doesn't know the method, both accounts stay`() async throws {
        try await TestService.run { service in
            let apple = try await service.signInAnew()
            _ = try await service.signInByGoogle()
            await expectFailure(.alreadyExists, "IDENTITY_TAKEN") {
                try await service.linkGoogle(apple.accessToken, token: service.googleToken())
            }
            #expect(try await service.count("absorptions") == 0)
        }
    }

    /// As if the process were killed at that point: another process continues the work.
    @Test(
        arguments: [
            "before invites.closeIfEmpty", "after invites.closeIfEmpty", "before profile.closeIfEmpty",
            "after profile.closeIfEmpty", "before invites.reopenAccount", "after invites.reopenAccount",
        ],
        [0, 1, 2]
    )
    func `An absorption that is interrupted is continued`(point: String, case number: Int) async throws {
        try await Self.run { service, apple, google in
            // Empty: both; the older, after profile's no to the younger; neither.
            let withNumber = [[], [google.userID], [apple.userID, google.userID]][number]
            _ = service.others.absorptions { ($0.withNumber, $0.lost) = (Set(withNumber), [point]) }
            let token = try service.googleToken()
            let isReached = number > 0 || !point.hasSuffix("reopenAccount")
            if isReached {
                await expectFailure(.unavailable, "ACCOUNT_HELD") {
                    try await service.linkGoogle(apple.accessToken, token: token)
                }
                #expect(try await service.count("absorptions") == 1)
                // The accounts are left alone until the lease ends, and nothing else happens to them.
                await service.parts.methods.absorber.round()
                await expectFailure(.unavailable, "ACCOUNT_HELD") {
                    try await service.linkGoogle(apple.accessToken, token: token)
                }
                await expectFailure(.unauthenticated, "TOKEN_REPLAYED") {
                    _ = try await service.signIn(token: token, provider: "google")
                }
                service.pass(seconds: 11)
                await service.parts.methods.absorber.round()
            } else {
                try await service.linkGoogle(apple.accessToken, token: token)
            }
            let known = service.others.absorptions()
            #expect(known.lost.isEmpty == isReached)
            switch number {
            case 0:
                try await Self.expectOnlyAccount(apple.userID, without: google.userID, service)
                if isReached { try await service.linkGoogle(apple.accessToken, token: token) }
            case 1:
                try await Self.expectOnlyAccount(google.userID, without: apple.userID, service)
                #expect(known.held[google.userID] == nil)
                let again = try await service.signIn(token: token, provider: "google")
                #expect(again.tokens.userID == google.userID)
            default:
                #expect(known.held.isEmpty && known.closed.isEmpty)
                #expect(try await service.count("accounts") == 2)
                #expect(try await service.count("absorptions") == 0)
                let again = try await service.signIn(token: token, provider: "google")
                #expect(again.tokens.userID == google.userID)
            }
        }
    }

    @Test(arguments: ["work", "account_closings", "revocations"])
    func `A move that fails changes nothing, and is retried later`(table: String) async throws {
        try await Self.run { service, apple, google in
            try await service.database.execute(
                "ALTER TABLE \(unsafeSQL: table) ADD CONSTRAINT broken CHECK (false) NOT VALID"
            )
            await expectFailure(.unavailable, "ACCOUNT_HELD") {
                try await service.linkGoogle(apple.accessToken, token: service.googleToken())
            }
            #expect(try await service.count("accounts") == 2)
            #expect(try await service.words("SELECT state FROM absorptions") == ["moving"])
            try await service.database.execute("ALTER TABLE \(unsafeSQL: table) DROP CONSTRAINT broken")
            service.pass(seconds: 11)
            await service.parts.methods.absorber.round()
            try await Self.expectOnlyAccount(apple.userID, without: google.userID, service)
        }
    }

    @Test(arguments: [true, false])
    func `One of the two is deleted during the absorption`(absorber: Bool) async throws {
        try await Self.run { service, apple, google in
            _ = service.others.absorptions { $0.lost = ["after invites.closeIfEmpty"] }
            await expectFailure(.unavailable, "ACCOUNT_HELD") {
                try await service.linkGoogle(apple.accessToken, token: service.googleToken())
            }
            try await service.delete(absorber ? apple.accessToken : google.accessToken)
            service.pass(seconds: 11)
            await service.parts.methods.absorber.round()
            #expect(try await service.count("absorptions") == 0)
            let left = absorber ? google : apple
            #expect(try await service.words("SELECT user_id::text FROM accounts") == [left.userID])
            _ = try await service.check(left.accessToken)
            // The account that is left is released.
            #expect(service.others.absorptions().held[left.userID] == nil)
        }
    }

    @Test func `A blocked account is not absorbed, and absorbs no other`() async throws {
        try await Self.run { service, apple, google in
            _ = try await service.block(google.userID)
            let token = try service.googleToken()
            await expectFailure(.permissionDenied, "ACCOUNT_BLOCKED") {
                try await service.linkGoogle(apple.accessToken, token: token)
            }
            #expect(try await service.count("accounts") == 2)
            #expect(try await service.count("absorptions") == 0)
            #expect(service.others.absorptions().calls.isEmpty)
        }
    }

    @Test(arguments: [true, false])
    func `An account that is blocked during the absorption is blocked afterwards`(absorber: Bool) async throws {
        try await Self.run { service, apple, google in
            _ = service.others.absorptions { $0.lost = ["after profile.closeIfEmpty"] }
            await expectFailure(.unavailable, "ACCOUNT_HELD") {
                try await service.linkGoogle(apple.accessToken, token: service.googleToken())
            }
            _ = try await service.block(absorber ? apple.userID : google.userID, reason: "spam")
            service.pass(seconds: 11)
            await service.parts.methods.absorber.round()
            try await Self.expectOnlyAccount(apple.userID, without: google.userID, service)
            #expect(try await service.words("SELECT block_reason FROM accounts") == ["spam"])
            await expectFailure(.unauthenticated, "SESSION_REVOKED") { _ = try await service.check(apple.accessToken) }
            await expectFailure(.permissionDenied, "ACCOUNT_BLOCKED") { _ = try await service.signInByGoogle() }
        }
    }

    @Test func `Neither account gains or loses a provider before the decision`() async throws {
        try await Self.run { service, apple, google in
            _ = service.others.absorptions { $0.lost = ["after invites.closeIfEmpty"] }
            await expectFailure(.unavailable, "ACCOUNT_HELD") {
                try await service.linkGoogle(apple.accessToken, token: service.googleToken())
            }
            let token = try service.provider.appleToken(subject: "002.person", at: service.clock)
            for tokens in [apple, google] {
                await expectFailure(.unavailable, "ACCOUNT_HELD") {
                    try await service.unlink(tokens.accessToken, tokens == apple ? "apple" : "google")
                }
            }
            await expectFailure(.unavailable, "ACCOUNT_HELD") {
                try await service.link(google.accessToken) { ($0.provider, $0.idToken) = ("apple", token) }
            }
            service.pass(seconds: 11)
            await service.parts.methods.absorber.round()
            try await Self.expectOnlyAccount(apple.userID, without: google.userID, service)
        }
    }

    @Test func `Each absorbs the other at the same time, and one account is left`() async throws {
        for _ in 0..<8 {
            try await Self.run { service, apple, google in
                let (appleToken, googleToken) = (
                    try service.provider.appleToken(at: service.clock, ["jti": "link"]), try service.googleToken()
                )
                await withTaskGroup(of: Void.self) { tasks in
                    tasks.addTask { _ = try? await service.linkGoogle(apple.accessToken, token: googleToken) }
                    tasks.addTask {
                        _ = try? await service.link(google.accessToken) {
                            ($0.provider, $0.idToken) = ("apple", appleToken)
                        }
                    }
                    tasks.addTask { _ = try? await service.signInByGoogle() }
                    tasks.addTask { _ = try? await service.signInAnew() }
                }
                service.pass(seconds: 11)
                await service.parts.methods.absorber.round()
                try await Self.expectOnlyAccount(apple.userID, without: google.userID, service)
                let foreign = "sessions WHERE user_id NOT IN (SELECT user_id FROM accounts)"
                #expect(try await service.count(foreign) == 0)
            }
        }
    }
}

extension TestService {
    func linkResponse(
        _ accessToken: String,
        token: String,
        provider: String = "google"
    ) async throws -> IdentityV1.LinkProviderResponse {
        var request = IdentityV1.LinkProviderRequest()
        request.accessToken = accessToken
        request.credentials.nonce = TestProvider.rawNonce
        (request.credentials.provider, request.credentials.idToken) = (provider, token)
        return try await client.linkProvider(request)
    }
}
