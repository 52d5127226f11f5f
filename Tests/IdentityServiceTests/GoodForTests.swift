import API
import IdentityDomain
import Models
import RPC
import ServiceKit
import ServiceModels
import Testing

@testable import IdentityService

/// For how long a gateway may use an answer about a token again.
struct GoodForTests {
    @Test func `An answer is good until its proofs are renewed, and never for longer than the token`() async throws {
        try await TestService.run { service in
            let tokens = try await service.signIn().tokens
            var renewals = 0
            while true {
                let answer = try await service.check(tokens.accessToken)
                let good = answer.goodForMilliseconds
                let now = service.clock.nowMilliseconds
                let end = answer.expiresAtSeconds * 1000
                #expect(0 < good && good <= 60_000 && now + good <= end)
                // Whole seconds pass here, and the clock may stand between two.
                service.clock.advance(seconds: (good - 1) / 1000)
                #expect(try await service.check(tokens.accessToken).callerProofs == answer.callerProofs)
                service.clock.advance(seconds: 1)
                guard service.clock.nowMilliseconds < end else { break }
                #expect(try await service.check(tokens.accessToken).callerProofs != answer.callerProofs)
                renewals += 1
            }
            #expect(renewals >= 9, "the token was valid for ten minutes")
            await expectFailure(.unauthenticated, "ACCESS_TOKEN_EXPIRED") {
                _ = try await service.check(tokens.accessToken)
            }
        }
    }

    @Test func `About single tokens identity is asked each time`() async throws {
        try await TestService.run { service in
            let signIn = try await service.signIn { request in
                request.idToken = try service.provider.appleToken(subject: "001.person", at: service.clock, [:])
                request.nonce = TestProvider.rawNonce
                request.tokenStyle = .single
            }
            let answer = try await service.check(signIn.tokens.singleToken)
            #expect(answer.hasCallerProofs && answer.goodForMilliseconds == 0)
        }
    }

    @Test func `Callers that are no gateways ask each time`() async throws {
        try await TestService.run(gateways: .named(["spiffe://example/gateway"])) { service in
            let tokens = try await service.signIn().tokens
            let answer = try await service.check(tokens.accessToken)
            #expect(!answer.hasCallerProofs && answer.goodForMilliseconds == 0)
        }
    }

    @Test func `A session ends before the proofs are renewed`() {
        func good(endsAt: Int64, proof: Proof = .nonce, dialect: String? = nil) -> Int64 {
            let state = SessionState(
                userID: UserID(high: 1, low: 1),
                isEnded: false,
                endsAtMilliseconds: endsAt,
                proof: proof,
                dialect: dialect
            )
            return state.goodForMilliseconds(nowMilliseconds: 1_000, untilMilliseconds: 5_000)
        }
        #expect(good(endsAt: 2_500) == 1_500)
        #expect(good(endsAt: 9_000) == 4_000)
        #expect(good(endsAt: 500) == 0)
        #expect(good(endsAt: 9_000, proof: .guest) == 4_000)
        #expect(good(endsAt: 9_000, proof: .unproven) == 0)
        #expect(good(endsAt: 9_000, dialect: "wordpress") == 0)
    }

    @Test(arguments: [0, 29_999, 30_000, 89_999, 90_000, 1_700_000_000_123] as [Int64])
    func `Proofs are renewed when their minute is another one`(now: Int64) {
        let renewed = CallerProof.renewedAtMilliseconds(madeAtMilliseconds: now)
        #expect(now < renewed && renewed - now <= 60_000 + 30_000)
        if now >= 30_000 {
            #expect(renewed - now <= 60_000)
            let minute = CallerProof.minute(madeAtMilliseconds: now)
            #expect(CallerProof.minute(madeAtMilliseconds: renewed - 1) == minute)
            #expect(CallerProof.minute(madeAtMilliseconds: renewed) == minute + 1)
        }
    }
}
