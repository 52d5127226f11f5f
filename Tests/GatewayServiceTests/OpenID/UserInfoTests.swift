import API
import APIDoubles
import HTTPTypes
import JOSE
import RPC
import SwiftProtobuf
import Testing

@testable import GatewayService

/// What clients may know of the user.
struct UserInfoTests {
    private static let path = "/oauth2/userinfo"
    private static let bearer: HTTPFields = [.authorization: "Bearer \(StubServices.accessToken)"]

    /// A gateway whose token was granted scopes.
    private static func stage(_ scope: String, isProven: Bool = true) throws -> OpenIDStage {
        let stage = try OpenIDStage()
        stage.gateway.stubs.identity.set { answers in
            let check = answers.checkSession
            answers.checkSession = { request, context in
                var session = try await check(request, context)
                session.scope = scope
                return session
            }
            answers.getAccount = { _, _ in
                .with {
                    $0.account.identities = [
                        .with { ($0.email, $0.lastSignInAtMs) = ("typed@example.com", 9) },
                        .with { ($0.email, $0.emailVerified, $0.lastSignInAtMs) = ("maria@example.com", true, 7) },
                        .with { $0.emailVerified = true },
                    ]
                }
            }
        }
        stage.gateway.stubs.profile.set { answers in
            answers.getProfile = { _, _ in
                .with {
                    ($0.profile.displayName, $0.profile.username) = ("Maria", "maria_s")
                    ($0.profile.phoneNumber, $0.profile.phoneProven) = ("+639171234567", isProven)
                    $0.profile.avatar = "https://example.com/maria.png"
                }
            }
        }
        return stage
    }

    @Test func `Each scope has its claims, and no other`() async throws {
        let cases: [(String, JSONObject, [String])] = [
            ("openid", ["sub": .string(StubServices.userID)], []),
            (
                "openid profile",
                [
                    "sub": .string(StubServices.userID), "name": "Maria", "preferred_username": "maria_s",
                    "picture": "https://example.com/maria.png",
                ], ["GetProfile"]
            ),
            (
                "email openid",
                ["sub": .string(StubServices.userID), "email": "maria@example.com", "email_verified": true],
                ["GetAccount"]
            ),
            (
                "openid phone offline_access",
                ["sub": .string(StubServices.userID), "phone_number": "+639171234567", "phone_number_verified": true],
                ["GetProfile"]
            ),
        ]
        for (scope, claims, calls) in cases {
            let stage = try Self.stage(scope)
            let answer = try await stage.get(Self.path, headers: Self.bearer)
            #expect(answer.status == 200 && answer.headers[.cacheControl] == "no-store")
            #expect(try answer.json == claims, "\(scope)")
            #expect(stage.gateway.stubs.calls == ["CheckSession"] + calls)
        }
    }

    @Test func `A number that the user typed is not verified`() async throws {
        let stage = try Self.stage("openid phone", isProven: false)
        let answer = try await stage.get(Self.path, headers: Self.bearer)
        #expect(try answer.json["phone_number_verified"] == false)
    }

    @Test func `What isn't known is absent`() async throws {
        let stage = try Self.stage("openid profile phone email")
        stage.gateway.stubs.profile.set { $0.getProfile = { _, _ in .init() } }
        stage.gateway.stubs.identity.set { $0.getAccount = { _, _ in .init() } }
        let answer = try await stage.get(Self.path, headers: Self.bearer)
        #expect(try answer.json == ["sub": .string(StubServices.userID)])
    }

    @Test(arguments: ["", "profile", "openidx"])
    func `A token without openid is refused`(scope: String) async throws {
        let answer = try await Self.stage(scope).get(Self.path, headers: Self.bearer)
        #expect(answer.status == 403)
        #expect(
            answer.headers[.wwwAuthenticate]
                == #"Bearer realm="vestibule", error="insufficient_scope", scope="openid""#
        )
    }

    @Test func `A form may have the token, but not beside the header`() async throws {
        let stage = try Self.stage("openid")
        let token = "access_token=\(StubServices.accessToken)"
        #expect(try await stage.post(Self.path, token).status == 200)
        #expect(try await stage.post(Self.path, "a=b", headers: Self.bearer).status == 200)
        #expect(try await stage.send(.post, Self.path, headers: Self.bearer).status == 200)
        for (form, headers) in [(token, Self.bearer), ("\(token)&\(token)", [:])] {
            let answer = try await stage.post(Self.path, form, headers: headers)
            #expect(answer.status == 400)
            #expect(answer.headers[.wwwAuthenticate]?.contains("invalid_request") == true)
        }
        #expect(try await stage.get("\(Self.path)?\(token)").status == 401, "a query has none")
    }

    @Test func `Without a good token it is 401`() async throws {
        let stage = try Self.stage("openid")
        let none = try await stage.get(Self.path, cookie: OpenIDStage.session)
        #expect(none.status == 401 && none.headers[.wwwAuthenticate] == Authentication.challenge)
        for form in ["access_token=", "access_token=a%20b", "access_token=\(String(repeating: "a", count: 8193))"] {
            #expect(try await stage.post(Self.path, form).status == 401)
        }
        let expired = try await stage.get(Self.path, headers: [.authorization: "Bearer old"])
        #expect(expired.status == 401 && expired.headers[.wwwAuthenticate]?.contains("invalid_token") == true)
    }
}
