import API
import IdentityDomain
import JOSE
import RPC
import Testing

@testable import IdentityService

/// Facebook's Limited Login gives an ID token: one more OpenID provider, beside the access tokens of the same app.
struct LimitedLoginTests {
    @Test func `Limited Login signs in by configuration alone, as the person of the access token`() async throws {
        try await ExchangeBench.run { bench in
            let token = try bench.provider.appleToken(
                subject: "1001",
                at: bench.clock,
                [
                    "iss": "https://www.facebook.com", "aud": "1234567890", "jti": "one", "name": "A Person",
                    "email": "person@example.com", "c_hash": nil, "nonce_supported": nil, "email_verified": nil,
                    "is_private_email": nil,
                ]
            )
            var request = IdentityV1.SignInRequest()
            request.provider = "facebook"
            request.idToken = token
            request.nonce = TestProvider.rawNonce
            let limited = try await bench.methods.signIn(request, context: ExchangeBench.context("SignIn"))
            #expect(limited.proof == .nonce)
            #expect(limited.suggestedDisplayName == "A Person")
            #expect(bench.http.requests.isEmpty)
            request.nonce = "another"
            await expectFailure(.unauthenticated, "TOKEN_NONCE_MISMATCH") {
                _ = try await bench.methods.signIn(request, context: ExchangeBench.context("SignIn"))
            }
            AccessTokenCheckTests.answerAsFacebook(bench)
            var classic = IdentityV1.SignInRequest()
            classic.provider = "facebook"
            classic.accessToken = "a-token"
            classic.clientID = "1234567890"
            let known = try await bench.methods.signIn(classic, context: ExchangeBench.context("SignIn"))
            #expect(known.tokens.userID == limited.tokens.userID)
            #expect(known.proof == .accessToken)
        }
    }
}
