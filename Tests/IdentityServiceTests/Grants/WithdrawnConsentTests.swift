import API
import IdentityDomain
import JOSE
import Models
import Postgres
import ServiceModels
import TestWaits
import Testing

@testable import IdentityService

/// A provider's grant ends with the consent, and does not affect a later consent.
struct WithdrawnConsentTests {
    private func tell(_ bench: GrantBench, _ notice: TestNotice) async throws {
        var request = IdentityV1.AcceptNoticeRequest()
        request.provider = notice.sender.rawValue
        request.notice = try notice.text(bench.bench.provider.key)
        _ = try await bench.bench.methods.acceptNotice(request, context: ExchangeBench.context("AcceptNotice"))
        await bench.bench.methods.notices.applyDue()
    }

    /// Signs in by an ID token alone, without a code, so that no new token arrives.
    private func signInWithoutCode(_ bench: GrantBench, _ id: String) async throws -> IdentityV1.SignInResponse {
        var request = IdentityV1.SignInRequest()
        (request.provider, request.nonce) = ("apple", TestProvider.rawNonce)
        request.idToken = try bench.bench.provider.appleToken(
            at: bench.bench.clock,
            ["c_hash": nil, "jti": .string(id)]
        )
        return try await bench.bench.methods.signIn(request, context: ExchangeBench.context("SignIn"))
    }

    @Test(arguments: ["consent-revoked", "account-deleted"])
    func `A user who consents again isn't signed out by the earlier token`(type: String) async throws {
        try await GrantBench.run { bench in
            let first = try await bench.signIn(refreshToken: "r.before")
            try await bench.waitForTokens(1)
            bench.bench.clock.advance(seconds: 60)
            bench.apple.refuse("r.before")
            try await tell(bench, TestNotice(type: type, atSeconds: bench.bench.clock.nowSeconds))
            #expect(try await bench.sessions(first.tokens.userID, "provider") == 1)
            bench.bench.clock.advance(seconds: 60)
            let second = try await signInWithoutCode(bench, "second")
            #expect(second.tokens.userID == first.tokens.userID)
            bench.bench.clock.advance(seconds: 27 * 3_600)
            await bench.grants.checker.round()
            #expect(try await bench.sessions(first.tokens.userID, nil) == 1, "the session of the new consent goes on")
            #expect(bench.apple.checked == ["r.before"])
            #expect(try await bench.rows("kept") == 0, "the dead token is forgotten")
        }
    }

    /// The token's consent was given after the withdrawal that the notice reports.
    @Test func `A refused token that is newer than a withdrawal notice signs its user out`() async throws {
        try await GrantBench.run { bench in
            let person = try await bench.signIn(refreshToken: "r.old")
            try await bench.waitForTokens(1)
            let told = bench.bench.clock.nowSeconds + 10
            bench.bench.clock.advance(seconds: 20)
            try await bench.signIn(code: "again", refreshToken: "r.new")
            try await eventually("the newer token") { try await bench.onlyToken() == "r.new" }
            // A notice that arrives late.
            try await tell(bench, TestNotice(atSeconds: told))
            #expect(try await bench.sessions(person.tokens.userID, "provider") == 2)
            bench.bench.clock.advance(seconds: 20)
            _ = try await signInWithoutCode(bench, "third")
            bench.apple.refuse("r.new")
            bench.bench.clock.advance(seconds: 27 * 3_600)
            await bench.grants.checker.round()
            #expect(try await bench.sessions(person.tokens.userID, "provider") == 3)
        }
    }
}
