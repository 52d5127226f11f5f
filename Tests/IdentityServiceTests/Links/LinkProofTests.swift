import API
import IdentityDomain
import JOSE
import Models
import Postgres
import RPC
import Testing

@testable import IdentityService

/// A token alone, be it ours or a provider's, changes nothing about the ways into an account.
struct LinkProofTests {
    private static let day = ProviderRemoval.waitMilliseconds / 1000

    /// Signs in with a token that proves nothing but itself, as an app does that knows no nonce.
    private static func signInBare(_ service: TestService, subject: String = "001.person") async throws
        -> IdentityV1.SignInResponse
    {
        let token = try service.provider.bareToken(
            subject: subject,
            at: service.clock,
            ["jti": .string(Base64URL.encode(SecureRandom.bytes(12)))]
        )
        return try await service.signIn { $0.idToken = token }
    }

    @Test func `A token that was stolen links and unlinks nothing once the sign-in is old`() async throws {
        try await TestService.run { service in
            let owner = try await service.signInAnew()
            let single = try await service.signInSingle()
            try await service.linkGoogle(owner.accessToken, token: service.googleToken())
            service.clock.advance(seconds: 601)
            let stolen = try await service.refresh(owner.refreshToken).tokens.accessToken
            let renewed = try await service.renew(single.singleToken).singleToken
            for token in [stolen, single.singleToken, renewed] {
                await expectFailure(.permissionDenied, "RECENT_SIGN_IN_REQUIRED") {
                    try await service.unlink(token, "google")
                }
                await expectFailure(.permissionDenied, "RECENT_SIGN_IN_REQUIRED") {
                    try await service.link(token) {
                        ($0.provider, $0.idToken) = ("google", try service.googleToken("thief"))
                    }
                }
            }
            #expect(try await service.identities().count == 2)
            // The owner signs in again, and does both.
            let again = try await service.signInAnew().accessToken
            try await service.unlink(again, "google")
            try await service.linkGoogle(again, token: service.googleToken("78"))
        }
    }

    @Test func `Without a configured age any proven session is accepted`() async throws {
        var limits = SessionLimits()
        limits.deletionSignInSeconds = 0
        try await TestService.run(limits: limits) { service in
            let session = try await service.signInAnew()
            service.clock.advance(seconds: 5_000)
            let token = try await service.refresh(session.refreshToken).tokens.accessToken
            try await service.linkGoogle(token, token: service.googleToken())
            try await service.setProof("fresh", of: session)
            await expectFailure(.permissionDenied, "PROOF_REQUIRED") { try await service.unlink(token, "google") }
        }
    }

    @Test func `A session that a token alone opened changes nothing, and the credentials stay good`() async throws {
        try await TestService.run { service in
            let session = try await service.signInAnew()
            try await service.linkGoogle(session.accessToken, token: service.googleToken())
            for proof in ["fresh", "access_token"] {
                try await service.setProof(proof, of: session)
                await expectFailure(.permissionDenied, "PROOF_REQUIRED") {
                    try await service.unlink(session.accessToken, "google")
                }
                let token = try service.googleToken("thief \(proof)")
                await expectFailure(.permissionDenied, "PROOF_REQUIRED") {
                    try await service.linkGoogle(session.accessToken, token: token)
                }
                #expect(try await service.signIn(token: token, provider: "google").isNewUser)
            }
            #expect(try await service.count("security_events WHERE kind = 'provider_linked'") == 1)
            #expect(try await service.count("security_events WHERE kind = 'provider_unlinked'") == 0)
        }
    }

    @Test func `A leaked token of somebody who is new here binds them to no stranger's account`() async throws {
        try await TestService.runWithAudiences { service in
            let thief = try await service.signInByGoogle("thief")
            let leaked = try service.provider.bareToken(at: service.clock)
            await expectFailure(.permissionDenied, "PROOF_REQUIRED") {
                try await service.link(thief.accessToken) {
                    ($0.provider, $0.idToken, $0.nonce) = ("apple", leaked, "")
                }
            }
            // Nor by the provider's access token, about which the provider isn't even asked.
            try service.exchange.answer(leaked, for: "access", service: service)
            await expectFailure(.permissionDenied, "PROOF_REQUIRED") {
                try await service.link(thief.accessToken) {
                    ($0.provider, $0.accessToken, $0.clientID) = ("apple", "access", "com.example.bare")
                }
            }
            #expect(service.exchange.exchangeCount == 0)
            // The person comes later, with a nonce, and is new.
            let person = try await service.signIn()
            #expect(person.isNewUser && person.tokens.userID != thief.userID)
            #expect(try await service.account(thief.userID).identities.map(\.provider) == ["google"])
        }
    }

    @Test func `A code beside a token without nonce proves it, where a sign-in would take the token alone`()
        async throws
    {
        try await TestService.runWithAudiences { service in
            let session = try await service.signInByGoogle()
            let token = try service.provider.bareToken(at: service.clock)
            func link(_ code: String) async throws {
                try await service.link(session.accessToken) {
                    ($0.provider, $0.idToken, $0.nonce, $0.authorizationCode) = ("apple", token, "", code)
                }
            }
            let foreign = try service.provider.bareToken(subject: "002.person", at: service.clock)
            try service.exchange.answer(foreign, for: "another's", service: service)
            await expectFailure(.unauthenticated, "CODE_FOREIGN") { try await link("another's") }
            await expectFailure(.unauthenticated, "CODE_SPENT") { try await link("made up") }
            #expect(try await service.identities().count == 1)
            let answered = try service.provider.bareToken(at: service.clock, ["jti": "from the exchange"])
            try service.exchange.answer(answered, for: "its own", service: service)
            try await link("its own")
            let proofs = try await service.words(
                "SELECT details->>'proof' FROM security_events WHERE kind = 'provider_linked'"
            )
            #expect(proofs == ["code"])
            // A sign-in takes the token alone still.
            #expect(try await Self.signInBare(service).tokens.userID == session.userID)
        }
    }

    @Test func `A provider that was linked today takes no older one away, whichever session asks`() async throws {
        try await TestService.run { service in
            _ = try await service.signInAnew()
            service.clock.advance(seconds: 5 * Self.day)
            let owner = try await service.signInAnew()
            try await service.linkGoogle(owner.accessToken, token: service.googleToken("thief"))
            let thief = try await service.signInByGoogle("thief")
            #expect(thief.userID == owner.userID)
            service.clock.advance(seconds: 60)
            for token in [thief.accessToken, owner.accessToken] {
                do {
                    try await service.unlink(token, "apple")
                    Issue.record("unlinked")
                } catch let error as RPCError {
                    #expect(error.code == .permissionDenied && error.reason == "PROVIDER_LINKED_TOO_RECENTLY")
                    #expect(error.retryAfter == .seconds(Self.day - 60))
                    #expect(error.message.contains("in 24 hours"))
                }
            }
            #expect(try await service.identities().count == 2)
            // The owner can still take the thief's away.
            try await service.unlink(owner.accessToken, "google")
            await expectFailure(.unauthenticated, "SESSION_REVOKED") { _ = try await service.check(thief.accessToken) }
            // One's own new provider stands for the old one a day later.
            try await service.linkGoogle(owner.accessToken, token: service.googleToken("own"))
            service.clock.advance(seconds: Self.day)
            let google = try await service.signInByGoogle("own")
            try await service.unlink(google.accessToken, "apple")
            #expect(try await service.identities() == ["google own \(owner.userID)"])
        }
    }

    @Test func `An account that began today may change its provider today`() async throws {
        try await TestService.run { service in
            let apple = try await service.signInAnew()
            service.clock.advance(seconds: 60)
            try await service.linkGoogle(apple.accessToken, token: service.googleToken())
            // Not by the new one's own session.
            let google = try await service.signInByGoogle()
            await expectFailure(.permissionDenied, "PROVIDER_LINKED_TOO_RECENTLY") {
                try await service.unlink(google.accessToken, "apple")
            }
            try await service.unlink(apple.accessToken, "apple")
        }
    }

    @Test func `An absorbed provider counts from its own link`() async throws {
        try await TestService.run { service in
            // The thief's own account is older than the one that they got into.
            _ = try await service.signInByGoogle("thief")
            service.clock.advance(seconds: 100 * Self.day)
            _ = try await service.signInAnew()
            service.clock.advance(seconds: 5 * Self.day)
            let owner = try await service.signInAnew()
            _ = service.others.absorptions { $0.withNumber = [owner.userID] }
            try await service.linkGoogle(owner.accessToken, token: service.googleToken("thief"))
            let thief = try await service.signInByGoogle("thief")
            #expect(thief.userID == owner.userID)
            for token in [thief.accessToken, owner.accessToken] {
                await expectFailure(.permissionDenied, "PROVIDER_LINKED_TOO_RECENTLY") {
                    try await service.unlink(token, "apple")
                }
            }
        }
    }
}
