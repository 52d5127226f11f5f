import API
import IdentityDomain
import JOSE
import Models
import Postgres
import RPC
import ServiceModels
import Testing

@testable import IdentityService

/// Which notices of providers are accepted, stored and refused, and their effects.
struct AcceptNoticeTests {
    private func isSessionAlive(_ service: TestService, _ session: IdentityV1.SignInResponse) async throws -> Bool {
        do {
            _ = try await service.refresh(session.tokens.refreshToken)
            return true
        } catch let error as RPCError where error.reason == "SESSION_REVOKED" {
            return false
        }
    }

    @Test(arguments: ["consent-revoked", "account-delete", "account-deleted"])
    func `A user who left the app at Apple is signed out, and can sign in again`(type: String) async throws {
        try await TestService.run { service in
            let session = try await service.signIn()
            let other = try await service.signIn(subject: "001.other")
            service.pass(seconds: 5)
            let notice = TestNotice(type: type, atSeconds: service.clock.nowSeconds)
            // Issued before the person left: it must not sign them in again.
            let before = try service.provider.appleToken(
                at: service.clock,
                ["iat": .integer(service.clock.nowSeconds - 1)]
            )
            #expect(try await service.accept(notice) == false)
            await service.notices.applyDue()
            await expectFailure(.unauthenticated, "SESSION_REVOKED") {
                _ = try await service.refresh(session.tokens.refreshToken)
            }
            #expect(try await isSessionAlive(service, other))
            await expectFailure(.unauthenticated, "TOKEN_EXPIRED") { _ = try await service.signIn(token: before) }
            service.pass(seconds: 1)
            let again = try await service.signIn()
            #expect(!again.isNewUser && again.tokens.userID == session.tokens.userID)
            let reasons = try await service.database.query(
                "SELECT revoke_reason FROM sessions WHERE revoked_at IS NOT NULL"
            )
            #expect(try reasons.map { try $0.decode(0, as: String.self) } == ["provider"])
            let event = try await service.database.query(
                """
                SELECT user_id, details->>'notice', details->>'sessions' FROM security_events WHERE kind = 'provider_notice'
                """
            )
            let (userID, kind, sessions) = try #require(event.first).decode(PostgresUUID.self, String.self, String.self)
            #expect(UserID(userID).description == session.tokens.userID && sessions == "1")
            #expect(kind == (type == "consent-revoked" ? "consent_revoked" : "account_deleted"))
        }
    }

    @Test func `A notice is stored once, before the answer, and its subject is deleted when it is applied`()
        async throws
    {
        try await TestService.run { service in
            _ = try await service.signIn()
            let notice = TestNotice(atSeconds: service.clock.nowSeconds)
            #expect(try await service.accept(notice) == false)
            let subjects = "SELECT count(*) FROM provider_notices WHERE subject IS NOT NULL AND applied_at IS NULL"
            #expect(try await service.database.query("\(unsafeSQL: subjects)").first?.decode(0, as: Int64.self) == 1)
            #expect(try await service.accept(notice) == true)
            await service.notices.applyDue()
            #expect(try await service.accept(notice) == true)
            #expect(try await service.count("provider_notices WHERE subject IS NOT NULL OR applied_at IS NULL") == 0)
            #expect(try await service.count("provider_notices") == 1)
            await service.notices.applyDue()
            #expect(try await service.count("security_events WHERE kind = 'provider_notice'") == 1)
            #expect(
                service.noticeCounts == [
                    #"notices_total{provider="apple",outcome="stored"} 1"#,
                    #"notices_total{provider="apple",outcome="repeated"} 2"#,
                    #"notices_applied_total{notice="consent_revoked",person="known"} 1"#,
                ]
            )
            // Neither a person's address nor anything else from the notice.
            let text = try await service.database.query("SELECT string_agg(n::text, ' ') FROM provider_notices n")
            #expect(try #require(text.first).decode(0, as: String.self).contains("privaterelay") == false)
        }
    }

    @Test func `Forged and foreign notices are refused and counted, and leave nothing`() async throws {
        try await TestService.run { service in
            let session = try await service.signIn()
            let now = service.clock.nowSeconds
            let notice = TestNotice(atSeconds: now)
            let faults: [([String: JSONValue?], String)] = [
                (["aud": "com.other.app"], "NOTICE_AUDIENCE"), (["iss": "https://evil.example"], "NOTICE_ISSUER"),
                (["exp": .integer(now - 100)], "NOTICE_EXPIRED"), (["iat": .integer(now + 100)], "NOTICE_EARLY"),
                (["events": nil], "NOTICE_MALFORMED"),
            ]
            for (changes, reason) in faults {
                await expectFailure(.invalidArgument, reason) { try await service.accept(notice, changes) }
            }
            let forger = try SigningKey.generateP256(keyID: service.provider.key.keyID)
            await expectFailure(.invalidArgument, "NOTICE_SIGNATURE") { try await service.accept(notice, key: forger) }
            let stranger = try SigningKey.generateP256()
            await expectFailure(.invalidArgument, "NOTICE_KEY_UNKNOWN") {
                try await service.accept(notice, key: stranger)
            }
            for provider in ["facebook", "", "nobody"] {
                await expectFailure(.notFound, "PROVIDER_UNKNOWN") {
                    var request = IdentityV1.AcceptNoticeRequest()
                    (request.provider, request.notice) = (provider, try notice.text(service.provider.key))
                    _ = try await service.client.acceptNotice(request)
                }
            }
            #expect(try await service.count("provider_notices") == 0)
            await service.notices.applyDue()
            #expect(try await isSessionAlive(service, session))
            #expect(
                service.noticeCounts == [
                    #"notices_total{provider="apple",outcome="notice_audience"} 1"#,
                    #"notices_total{provider="apple",outcome="notice_issuer"} 1"#,
                    #"notices_total{provider="apple",outcome="notice_expired"} 1"#,
                    #"notices_total{provider="apple",outcome="notice_early"} 1"#,
                    #"notices_total{provider="apple",outcome="notice_malformed"} 1"#,
                    #"notices_total{provider="apple",outcome="notice_signature"} 1"#,
                    #"notices_total{provider="apple",outcome="notice_key_unknown"} 1"#,
                ]
            )
        }
    }

    @Test func `Notices with unknown keys fetch keys no more often than sign-ins do`() async throws {
        try await TestService.run { service in
            _ = try await service.signIn()
            let fetches = service.provider.fetchCount
            for number in 0..<50 {
                let stranger = try SigningKey.generateP256()
                let notice = TestNotice(identifier: "j-\(number)", atSeconds: service.clock.nowSeconds)
                await expectFailure(.invalidArgument, "NOTICE_KEY_UNKNOWN") {
                    try await service.accept(notice, key: stranger)
                }
            }
            #expect(service.provider.fetchCount <= fetches + 1)
        }
    }

    @Test func `If the keys can't be fetched, the sender must retry the notice`() async throws {
        try await TestService.run { service in
            service.provider.setDown(true)
            let notice = TestNotice(atSeconds: service.clock.nowSeconds)
            await expectFailure(.unavailable, "PROVIDER_UNAVAILABLE") { try await service.accept(notice) }
            let stored = try await service.count("provider_notices")
            #expect(stored == 0)
            service.provider.setDown(false)
            service.pass(seconds: 60)
            #expect(try await service.accept(notice) == false)
        }
    }

    @Test func `A hijacked account ends its sessions and can't sign in until it is enabled`() async throws {
        try await TestService.run { service in
            let session = try await service.signInWithGoogle()
            service.pass(seconds: 5)
            let disabled = TestNotice.google(
                "account-disabled",
                reason: "hijacking",
                id: "1",
                at: service.clock.nowSeconds
            )
            try await service.accept(disabled)
            await service.notices.applyDue()
            #expect(try await isSessionAlive(service, session) == false)
            service.pass(seconds: 5)
            await expectFailure(.unauthenticated, "PROVIDER_ACCOUNT_DISABLED") {
                _ = try await service.signInWithGoogle()
            }
            #expect(try await service.account(session.tokens.userID).identities.first?.disabled == true)
            // The refused sign-in uses up nothing.
            #expect(try await service.count("sign_ins") == 1)
            try await service.accept(.google("account-enabled", id: "2", at: service.clock.nowSeconds))
            await service.notices.applyDue()
            #expect(try await service.signInWithGoogle().tokens.userID == session.tokens.userID)
            #expect(try await service.account(session.tokens.userID).identities.first?.disabled == false)
        }
    }

    @Test(arguments: ["bulk-account", nil])
    func `An account disabled for another reason keeps its sessions and can't sign in`(reason: String?) async throws {
        try await TestService.run { service in
            let session = try await service.signInWithGoogle()
            service.pass(seconds: 5)
            try await service.accept(
                .google("account-disabled", reason: reason, id: "1", at: service.clock.nowSeconds)
            )
            await service.notices.applyDue()
            #expect(try await isSessionAlive(service, session))
            service.pass(seconds: 5)
            await expectFailure(.unauthenticated, "PROVIDER_ACCOUNT_DISABLED") {
                _ = try await service.signInWithGoogle()
            }
        }
    }

    @Test func `A lookup by credentials of a disabled account is refused like a sign-in`() async throws {
        try await TestService.run { service in
            _ = try await service.signInWithGoogle()
            service.pass(seconds: 5)
            var request = IdentityV1.FindAccountRequest()
            request.credentials.provider = "google"
            request.credentials.nonce = TestProvider.rawNonce
            request.credentials.idToken = try service.provider.key.signedToken(claims: [
                "iss": "https://accounts.google.com", "aud": "example.apps.googleusercontent.com", "sub": "77",
                "iat": .integer(service.clock.nowSeconds), "exp": .integer(service.clock.nowSeconds + 3600),
                "nonce": .string(TestProvider.rawNonce),
            ])
            #expect(try await service.client.findAccount(request).hasCallerProofs)
            try await service.accept(.google("account-disabled", id: "1", at: service.clock.nowSeconds))
            await service.notices.applyDue()
            await expectFailure(.unauthenticated, "PROVIDER_ACCOUNT_DISABLED") {
                _ = try await service.client.findAccount(request)
            }
            // Enabled again; tokens from before stay rejected.
            try await service.database.execute(
                "UPDATE provider_identities SET disabled_at = NULL, tokens_from = now() + interval '100 years'"
            )
            await expectFailure(.unauthenticated, "TOKEN_EXPIRED") {
                _ = try await service.client.findAccount(request)
            }
        }
    }

    @Test func `Events without a required action are recorded or logged and change nothing`() async throws {
        try await TestService.run { service in
            let session = try await service.signInWithGoogle()
            let now = service.clock.nowSeconds
            try await service.accept(.google("account-credential-change-required", id: "1", at: now))
            try await service.accept(.google("verification", id: "2", at: now))
            try await service.accept(.google("something-new", id: "3", at: now))
            await service.notices.applyDue()
            #expect(try await isSessionAlive(service, session))
            #expect(try await service.count("security_events WHERE kind = 'provider_notice'") == 1)
            #expect(
                service.noticeCounts.isSuperset(of: [
                    #"notices_applied_total{notice="credential_change_required",person="known"} 1"#,
                    #"notices_applied_total{notice="verification",person="unknown"} 1"#,
                    #"notices_applied_total{notice="other",person="unknown"} 1"#,
                ])
            )
        }
    }

    @Test func `A relay address is marked when its mail is disabled, and a new address is unmarked`() async throws {
        try await TestService.run { service in
            let session = try await service.signIn()
            func isUnreachable() async throws -> Bool? {
                try await service.account(session.tokens.userID).identities.first?.emailUnreachable
            }
            var notice = TestNotice(type: "email-disabled", atSeconds: service.clock.nowSeconds)
            try await service.accept(notice)
            await service.notices.applyDue()
            #expect(try await isUnreachable() == true)
            service.pass(seconds: 5)
            _ = try await service.signIn()
            #expect(try await isUnreachable() == true)
            (notice.type, notice.identifier, notice.atSeconds) = ("email-enabled", "j-2", service.clock.nowSeconds)
            try await service.accept(notice)
            await service.notices.applyDue()
            #expect(try await isUnreachable() == false)
            (notice.type, notice.identifier) = ("email-disabled", "j-3")
            try await service.accept(notice)
            await service.notices.applyDue()
            service.pass(seconds: 5)
            _ = try await service.signIn(changes: ["email": "other@example.com", "is_private_email": false])
            #expect(try await isUnreachable() == false)
        }
    }

    @Test func `Only the account itself can read its relay address and what Apple guesses about the user`()
        async throws
    {
        try await TestService.run { service in
            let session = try await service.signIn(changes: ["real_user_status": 2])
            let own = try #require(try await service.account(session.tokens.userID).identities.first)
            #expect(own.email == "person@privaterelay.appleid.com" && own.isPrivateEmail)
            #expect(own.realUserStatus == .likelyReal)
            var request = IdentityV1.LookUpAccountRequest()
            request.userID = session.tokens.userID
            let told = try #require(try await service.client.lookUpAccount(request).account.identities.first)
            #expect(told.email.isEmpty && told.isPrivateEmail && told.realUserStatus == .likelyReal)
        }
    }
}
