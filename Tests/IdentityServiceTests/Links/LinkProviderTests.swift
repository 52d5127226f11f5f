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

/// Links another provider to an account.
struct LinkProviderTests {
    @Test func `A linked provider signs in to the account, and the audit log has the link`() async throws {
        try await TestService.run { service in
            let session = try await service.signInAnew()
            let account = try await service.linkGoogle(session.accessToken, token: service.googleToken())
            #expect(account.userID == session.userID)
            #expect(account.identities.map(\.provider) == ["apple", "google"])
            #expect(account.identities[1].email == "maria@example.com" && account.identities[1].emailVerified)
            #expect(try await service.account(session.userID) == account)
            // The session that made the request stays valid.
            _ = try await service.check(session.accessToken)

            let again = try await service.signIn(token: service.googleToken(), provider: "google")
            #expect(again.tokens.userID == session.userID && !again.isNewUser)
            #expect(try await service.count("accounts") == 1)
            let events = try await service.words(
                """
                SELECT concat_ws(' ', session_id, details->>'provider', details->>'client_id', details->>'proof')
                FROM security_events WHERE kind = 'provider_linked'
                """
            )
            #expect(events == ["\(session.sessionID) google example.apps.googleusercontent.com nonce"])
        }
    }

    @Test func `An equal e-mail links nothing`() async throws {
        try await TestService.run { service in
            let apple = try await service.signIn(changes: [
                "email": "maria@example.com", "is_private_email": "false",
            ]).tokens
            let google = try await service.signInByGoogle()
            #expect(apple.userID != google.userID)
        }
    }

    @Test func `Linking again succeeds, and changes nothing`() async throws {
        try await TestService.run { service in
            let session = try await service.signInAnew()
            let token = try service.googleToken()
            let first = try await service.linkGoogle(session.accessToken, token: token)
            service.pass(seconds: 1)
            // With the same credentials, as after a lost answer, and with others.
            for text in [token, try service.googleToken(), try service.googleToken("77", ["email": "new@example.com"])]
            {
                #expect(try await service.linkGoogle(session.accessToken, token: text) == first)
            }
            #expect(try await service.count("security_events WHERE kind = 'provider_linked'") == 1)
        }
    }

    @Test func `On request, the linking credentials open a session of the account, once`() async throws {
        try await TestService.run { service in
            let session = try await service.signInAnew()
            let token = try service.googleToken()
            func link(_ opensSession: Bool = true) async throws -> IdentityV1.LinkProviderResponse {
                try await service.client.linkProvider(
                    .with {
                        ($0.accessToken, $0.opensSession) = (session.accessToken, opensSession)
                        ($0.credentials.provider, $0.credentials.idToken) = ("google", token)
                        $0.credentials.nonce = TestProvider.rawNonce
                    }
                )
            }
            let linked = try await link()
            #expect(linked.tokens.userID == session.userID && linked.tokens.sessionID != session.sessionID)
            #expect(try await service.check(linked.tokens.accessToken).userID == session.userID)
            _ = try await service.check(session.accessToken)
            #expect(try await link().tokens.sessionID == linked.tokens.sessionID, "a retry gets the same one")
            #expect(try await !link(false).hasTokens)
            service.pass(seconds: 61)
            await expectFailure(.unauthenticated, "TOKEN_REPLAYED") { _ = try await link() }
            await expectFailure(.unauthenticated, "TOKEN_REPLAYED") {
                _ = try await service.signIn(token: token, provider: "google")
            }
            let opened = try await (service.count("accounts"), service.count("sessions"))
            #expect(opened == (1, 2))
        }
    }

    @Test func `Credentials that had signed the account in open no second session by linking`() async throws {
        try await TestService.run { service in
            let used = try service.provider.appleToken(at: service.clock, ["jti": "used"])
            let session = try await service.signIn(token: used).tokens
            func link(_ token: String, _ opensSession: Bool) async throws -> IdentityV1.LinkProviderResponse {
                try await service.client.linkProvider(
                    .with {
                        ($0.accessToken, $0.opensSession) = (session.accessToken, opensSession)
                        ($0.credentials.provider, $0.credentials.idToken) = ("apple", token)
                        $0.credentials.nonce = TestProvider.rawNonce
                    }
                )
            }
            service.pass(seconds: 120)
            await expectFailure(.unauthenticated, "TOKEN_REPLAYED") { _ = try await link(used, true) }
            #expect(try await !link(used, false).hasTokens)
            #expect(try await service.count("sessions") == 1)
            // Fresh credentials do, once.
            let fresh = try service.provider.appleToken(at: service.clock, ["jti": "fresh"])
            let opened = try await link(fresh, true).tokens
            #expect(try await link(fresh, true).tokens.sessionID == opened.sessionID)
            #expect(try await service.count("sessions") == 2)
        }
    }

    @Test func `Credentials used for linking open no session, here or in another account`() async throws {
        try await TestService.run { service in
            let session = try await service.signInAnew()
            let token = try service.googleToken()
            try await service.linkGoogle(session.accessToken, token: token)
            await expectFailure(.unauthenticated, "TOKEN_REPLAYED") {
                _ = try await service.signIn(token: token, provider: "google")
            }
            await expectFailure(.unauthenticated, "TOKEN_REPLAYED") {
                _ = try await service.signIn {
                    ($0.provider, $0.idToken, $0.nonce, $0.create) = ("google", token, TestProvider.rawNonce, false)
                }
            }
            // They don't link another account either, even after they are unlinked.
            try await service.unlink(session.accessToken, "google")
            let other = try await service.signInAnew(subject: "002.person")
            await expectFailure(.unauthenticated, "TOKEN_REPLAYED") {
                try await service.linkGoogle(other.accessToken, token: token)
            }
            // Credentials that signed in link nothing.
            let used = try service.googleToken("78")
            let stranger = try await service.signIn(token: used, provider: "google").tokens
            try await service.delete(stranger.accessToken)
            await expectFailure(.unauthenticated, "TOKEN_REPLAYED") {
                try await service.linkGoogle(other.accessToken, token: used)
            }
            #expect(try await service.count("provider_identities") == 2)
        }
    }

    @Test func `Another account's identity is refused, and its credentials stay good`() async throws {
        // Recent enough to link, and too old for an absorption.
        var limits = SessionLimits()
        limits.deletionSignInSeconds = 0
        try await TestService.run(limits: limits) { service in
            let session = try await service.signInAnew()
            let other = try await service.signInByGoogle()
            service.pass(seconds: 700)
            let token = try service.googleToken()
            let refreshed = try await service.refresh(session.refreshToken).tokens
            await expectFailure(.alreadyExists, "IDENTITY_TAKEN") {
                try await service.linkGoogle(refreshed.accessToken, token: token)
            }
            let again = try await service.signIn(token: token, provider: "google")
            #expect(again.tokens.userID == other.userID)
            #expect(try await service.account(session.userID).identities.count == 1)
            #expect(try await service.count("security_events WHERE kind = 'provider_linked'") == 0)
        }
    }

    @Test func `An account has one identity per provider`() async throws {
        try await TestService.run { service in
            let session = try await service.signInAnew()
            try await service.linkGoogle(session.accessToken, token: service.googleToken("77"))
            await expectFailure(.alreadyExists, "PROVIDER_ALREADY_LINKED") {
                try await service.linkGoogle(session.accessToken, token: service.googleToken("78"))
            }
            let other = try await service.signInByGoogle("79")
            await expectFailure(.alreadyExists, "PROVIDER_ALREADY_LINKED") {
                try await service.link(other.accessToken) {
                    ($0.provider, $0.idToken) = ("google", try service.googleToken("77"))
                }
            }
            #expect(try await service.count("provider_identities") == 3)
        }
    }

    @Test func `Credentials are verified as for a sign-in`() async throws {
        try await TestService.run { service in
            let session = try await service.signInAnew()
            let forged = try SigningKey.generateP256()
            let refusals: [(String, [String: JSONValue?], SigningKey?)] = [
                ("TOKEN_NONCE_MISMATCH", ["nonce": "another"], nil),
                ("TOKEN_AUDIENCE", ["aud": "com.example.foreign"], nil),
                ("TOKEN_EXPIRED", ["exp": .integer(service.clock.nowSeconds - 3600)], nil),
                ("TOKEN_ISSUER", ["iss": "https://example.com"], nil), ("TOKEN_KEY_UNKNOWN", [:], forged),
            ]
            for (reason, changes, key) in refusals {
                var claims: [String: JSONValue?] = [
                    "iss": "https://accounts.google.com", "aud": "example.apps.googleusercontent.com",
                    "c_hash": nil as JSONValue?,
                ]
                for (name, value) in changes { claims[name] = value }
                let token = try service.provider.appleToken(subject: "77", at: service.clock, claims, key: key)
                await expectFailure(.unauthenticated, reason) {
                    try await service.linkGoogle(session.accessToken, token: token)
                }
            }
            await expectFailure(.notFound, "PROVIDER_UNKNOWN") {
                try await service.link(session.accessToken) { ($0.provider, $0.idToken) = ("unknown", "x") }
            }
            await expectFailure(.invalidArgument, "CREDENTIALS_MISSING") {
                try await service.link(session.accessToken) { $0.provider = "google" }
            }
            // A token from before the end of all sessions.
            let old = try service.googleToken()
            service.pass(seconds: 2)
            try await service.endAllSessions()
            service.pass(seconds: 2)
            let fresh = try await service.signInAnew()
            await expectFailure(.unauthenticated, "TOKEN_EXPIRED") {
                try await service.linkGoogle(fresh.accessToken, token: old)
            }
            #expect(try await service.count("provider_identities") == 1)
        }
    }

    @Test func `A code is spent once, and a repeated request gets the same answer`() async throws {
        try await TestService.runWithAudiences { service in
            let session = try await service.signInByGoogle()
            service.pass(seconds: 1)
            let token = try service.provider.bareToken("com.example.coded", at: service.clock)
            try service.exchange.answer(token, for: "the code", service: service)
            for _ in 0..<2 {
                let account = try await service.link(session.accessToken) {
                    ($0.provider, $0.authorizationCode, $0.clientID) = ("apple", "the code", "com.example.coded")
                }
                #expect(account.identities.map(\.provider) == ["google", "apple"])
            }
            let other = try await service.signInByGoogle("78")
            await expectFailure(.unauthenticated, "CODE_SPENT") {
                try await service.link(other.accessToken) {
                    ($0.provider, $0.authorizationCode, $0.clientID) = ("apple", "the code", "com.example.coded")
                }
            }
        }
    }

    @Test func `Linking needs proof`() async throws {
        try await TestService.runWithAudiences(unprovenDialects: ["wordpress"]) { service in
            let session = try await service.signInByGoogle()
            await expectFailure(.unauthenticated, "PROOF_REQUIRED") {
                try await service.link(session.accessToken) {
                    $0.provider = "apple"
                    ($0.unproven.dialect, $0.unproven.subject) = ("wordpress", "001.person")
                }
            }
            // A session without proof links nothing.
            let unproven = try await service.signIn { request in
                (request.unproven.dialect, request.unproven.subject) = ("wordpress", "002.person")
                request.tokenStyle = .singleForSession
            }
            await expectFailure(.unauthenticated, "SESSION_UNPROVEN") {
                try await service.linkGoogle(unproven.tokens.singleToken, token: service.googleToken())
            }
            await expectFailure(.unauthenticated, "SESSION_UNPROVEN") {
                try await service.unlink(unproven.tokens.singleToken, "apple")
            }
        }
    }

    @Test func `Linking a provider that was registered without proof proves it`() async throws {
        try await TestService.run(unprovenDialects: ["wordpress"]) { service in
            try await service.signIn { request in
                (request.unproven.dialect, request.unproven.subject) = ("wordpress", "001.person")
                (request.tokenStyle, request.fullName) = (.singleForSession, "Somebody Else")
            }
            let session = try await service.signInByGoogle()
            // As if the account had both.
            let user = try #require(UserID(session.userID))
            try await service.database.execute("UPDATE provider_identities SET user_id = \(user.uuid)")
            let token = try service.provider.appleToken(at: service.clock)
            try await service.link(session.accessToken) {
                ($0.provider, $0.idToken, $0.fullName) = ("apple", token, "Maria")
            }
            let names = try await service.words("SELECT told_name FROM provider_identities WHERE provider = 'apple'")
            #expect(names == ["Maria"])
            #expect(try await service.count("provider_identities WHERE unproven_dialect IS NOT NULL") == 0)
        }
    }

    @Test func `A browser's tickets link once, and a repeated request gets the same answer`() async throws {
        try await TestService.run(providers: WebSignInTests.providers()) { service in
            let session = try await service.signInByGoogle()
            let other = try await service.signInByGoogle("78")
            service.pass(seconds: 1)
            let tickets = try await service.finish(service.begin())
            func link(_ tokens: IdentityV1.SessionTokens) async throws -> [String] {
                try await service.link(tokens.accessToken) {
                    ($0.provider, $0.nonce) = ("apple", "")
                    ($0.idToken, $0.authorizationCode) = (tickets.idTokenTicket, tickets.codeTicket)
                    $0.codeVerifier = WebSignInTests.verifier
                }.identities.map(\.provider)
            }
            #expect(try await link(session) == ["google", "apple"])
            #expect(try await link(session) == ["google", "apple"])
            await expectFailure(.unauthenticated, "TICKET_INVALID") { _ = try await link(other) }
            await expectFailure(.unauthenticated, "TICKET_INVALID") { _ = try await service.redeem(tickets) }
            try await service.unlink(session.accessToken, "apple")
            await expectFailure(.unauthenticated, "TICKET_INVALID") { _ = try await link(session) }
        }
    }

    @Test func `A name that was sent while the keys couldn't be fetched is kept`() async throws {
        try await TestService.run { service in
            let session = try await service.signInByGoogle()
            let token = try service.provider.appleToken(at: service.clock)
            service.provider.setDown(true)
            await expectFailure(.unavailable, "PROVIDER_UNAVAILABLE") {
                try await service.link(session.accessToken) {
                    ($0.provider, $0.idToken, $0.fullName) = ("apple", token, "Maria Santos")
                }
            }
            service.provider.setDown(false)
            service.pass(seconds: 60)
            let account = try await service.link(session.accessToken) { ($0.provider, $0.idToken) = ("apple", token) }
            #expect(account.identities[1].toldName == "Maria Santos")
        }
    }

    @Test func `A disabled identity can't be linked`() async throws {
        try await TestService.run { service in
            let session = try await service.signInAnew()
            try await service.linkGoogle(session.accessToken, token: service.googleToken())
            _ = try await service.signInByGoogle("78")
            try await service.database.execute(
                "UPDATE provider_identities SET disabled_at = now() WHERE subject = '78'"
            )
            await expectFailure(.unauthenticated, "PROVIDER_ACCOUNT_DISABLED") {
                try await service.linkGoogle(session.accessToken, token: service.googleToken("78"))
            }
        }
    }

    @Test func `A session that has ended links nothing`() async throws {
        try await TestService.run { service in
            let ended = try await service.signInAnew()
            let deleted = try await service.signInAnew(subject: "002.person")
            try await service.signOut(accessToken: ended.accessToken)
            try await service.delete(deleted.accessToken)
            await expectFailure(.unauthenticated, "SESSION_REVOKED") {
                try await service.linkGoogle(ended.accessToken, token: service.googleToken())
            }
            await expectFailure(.unauthenticated, "SESSION_INVALID") {
                try await service.linkGoogle(deleted.accessToken, token: service.googleToken())
            }
            #expect(try await service.count("provider_identities") == 1)
        }
    }
}
