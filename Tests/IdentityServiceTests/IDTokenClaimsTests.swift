import API
import IdentityDomain
import JOSE
import Postgres
import RPC
import Testing

@testable import IdentityService

struct IDTokenClaimsTests {
    @Test func `Our ID token tells what is known, at once and after a refresh`() async throws {
        try await TestService.runWithAudiences { service in
            let token = try service.provider.appleToken(at: service.clock)
            let response = try await service.signIn(token: token, fullName: "Ana Cruz")
            let refreshed = try await service.refresh(response.tokens.refreshToken)
            let retried = try await service.signIn(subject: "002.other", fullName: "Bea")
            let again = try await service.signIn(subject: "002.other")
            for text in [response.tokens.idToken, refreshed.tokens.idToken] {
                let claims = try service.claims(ofIDToken: text)
                #expect(claims["sub"] == .string(response.tokens.userID))
                #expect(claims["aud"] == "com.example.app")
                #expect(claims["email"] == "person@privaterelay.appleid.com")
                #expect(claims["email_verified"] == true)
                #expect(claims["is_private_email"] == true)
                #expect(claims["name"] == "Ana Cruz")
            }
            #expect(again.tokens.sessionID == retried.tokens.sessionID)
            #expect(try service.claims(ofIDToken: again.tokens.idToken)["name"] == "Bea", "a retry tells it too")
        }
    }

    @Test func `Unknown values are absent, and the app's values are not verified`() async throws {
        try await TestService.runWithAudiences { service in
            let none: [String: JSONValue?] = ["email": nil as JSONValue?]
            let bare = try await service.signIn(token: service.provider.appleToken(at: service.clock, none))
            let claims = try service.claims(ofIDToken: bare.tokens.idToken)
            for name in ["email", "email_verified", "is_private_email", "name"] { #expect(claims[name] == nil) }
            service.clock.advance(seconds: 1)
            let token = try service.provider.appleToken(at: service.clock, none)
            let told = try await service.signIn(token: token, email: "ceo@victim.example")
            for text in [told.tokens.idToken, try await service.refresh(told.tokens.refreshToken).tokens.idToken] {
                let claims = try service.claims(ofIDToken: text)
                #expect(claims["email"] == "ceo@victim.example")
                #expect(claims["email_verified"] == false)
                #expect(claims["is_private_email"] == false)
            }
        }
    }

    @Test func `The e-mail is that of the session's provider`() async throws {
        try await TestService.runWithAudiences { service in
            let tokens = try await service.signIn(fullName: "Ana Cruz").tokens
            try await service.database.execute(
                """
                INSERT INTO provider_identities (provider, subject, user_id, email, is_email_verified, is_private_email,
                    created_at, last_sign_in_at)
                SELECT 'google', 'g', user_id, 'ana@gmail.example', true, false, '2020-01-01', now() FROM accounts
                """
            )
            let claims = try service.claims(ofIDToken: try await service.refresh(tokens.refreshToken).tokens.idToken)
            #expect(claims["email"] == "person@privaterelay.appleid.com")
            #expect(claims["name"] == "Ana Cruz")
        }
    }

    @Test func `Access tokens live as long as their audience says`() async throws {
        try await TestService.runWithAudiences { service in
            let token = try service.provider.appleToken(at: service.clock, ["aud": "com.example.long"])
            let long = try await service.signIn(token: token).tokens
            let short = try await service.signIn(subject: "002.other").tokens
            let refreshed = try await service.refresh(long.refreshToken).tokens
            let lifetimes: [(IdentityV1.SessionTokens, Int64)] = [(long, 3_600), (refreshed, 3_600), (short, 600)]
            for (tokens, seconds) in lifetimes {
                #expect(tokens.expiresInSeconds == seconds)
                let end = service.clock.nowSeconds + seconds
                #expect(try await service.check(tokens.accessToken).expiresAtSeconds == end)
                #expect(try service.claims(ofIDToken: tokens.idToken)["exp"] == .integer(end))
            }
        }
    }

    @Test func `An audience that wants no ID token gets none, at once and after a refresh`() async throws {
        try await TestService.runWithAudiences { service in
            let token = try service.provider.appleToken(at: service.clock, ["aud": "com.example.plain"])
            let response = try await service.signIn(token: token, fullName: "Ana Cruz")
            let refreshed = try await service.refresh(response.tokens.refreshToken)
            for tokens in [response.tokens, refreshed.tokens] {
                #expect(tokens.idToken.isEmpty)
                #expect(tokens.expiresInSeconds == 600)
                #expect(try await service.check(tokens.accessToken).userID == response.tokens.userID)
            }
            #expect(refreshed.suggestedDisplayName == "Ana Cruz")
            #expect(try await !service.signIn(subject: "002.other").tokens.idToken.isEmpty, "others get theirs")
        }
    }

    @Test func `No audience makes access tokens live for longer than an hour`() throws {
        let policy = try ProviderPolicy(
            name: .apple,
            issuers: ["https://appleid.apple.com"],
            audiences: [
                AudiencePolicy(id: "a", match: .sha256, accessTokenSeconds: 86_400),
                AudiencePolicy(id: "b", match: .sha256, accessTokenSeconds: 60),
                AudiencePolicy(id: "c", match: .sha256), AudiencePolicy(id: "d", match: .sha256, hasIDToken: false),
            ],
            keysURL: "https://keys.example"
        )
        #expect(
            SessionTokenMint.audienceTokens([ProviderConfiguration(policy: policy)]) == [
                .apple: [
                    "a": AudienceTokens(lifetimeSeconds: 3_600, hasIDToken: true),
                    "b": AudienceTokens(lifetimeSeconds: 60, hasIDToken: true),
                    "d": AudienceTokens(lifetimeSeconds: nil, hasIDToken: false),
                ]
            ]
        )
    }
}
