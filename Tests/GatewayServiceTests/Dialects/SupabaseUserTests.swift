import API
import APIDoubles
import HTTPTypes
import JOSE
import RPC
import SwiftProtobuf
import Testing

@testable import GatewayService

/// `/auth/v1/user`, `/auth/v1/admin/users/{id}` and the other routes of Supabase Auth.
struct SupabaseUserTests {
    private static let user = "/auth/v1/user"
    private static let admin = "/auth/v1/admin/users/\(StubServices.userID)"
    private static let serviceKey = "service-key-of-32-bytes-or-more-1"

    @Test func `A user has all members of Supabase Auth`() async throws {
        let gateway = TestGateway.speaking(.supabase)
        let answer = try await gateway.sendAsUser(.get, Self.user)
        #expect(answer.status == 200)
        let told: JSONObject = [
            "email": "maria@example.com", "email_verified": true, "phone_verified": false, "full_name": "Maria Santos",
            "name": "Maria Santos", "iss": "https://appleid.apple.com", "sub": .string(Maria.subject),
            "provider_id": .string(Maria.subject),
        ]
        var metadata = told
        metadata["full_name"] = "Maria S."
        metadata["theme"] = ["dark": true]
        #expect(
            answer.body == [
                "id": .string(StubServices.userID), "aud": "authenticated", "role": "authenticated",
                "email": "maria@example.com", "phone": "639171234567",
                "email_confirmed_at": "2026-01-31T22:53:20.000Z", "confirmed_at": "2026-01-31T22:53:20.000Z",
                "last_sign_in_at": "2026-01-31T23:53:20.000Z",
                "app_metadata": ["provider": "apple", "providers": ["apple"]],
                "user_metadata": .object(metadata),
                "identities": [
                    [
                        "identity_id": .string(SupabaseUser.identityID(Maria.account.identities[0])),
                        "id": .string(Maria.subject), "user_id": .string(StubServices.userID),
                        "identity_data": .object(told), "provider": "apple",
                        "last_sign_in_at": "2026-01-31T23:53:20.000Z", "created_at": "2026-01-31T22:53:20.000Z",
                        "updated_at": "2026-01-31T23:53:20.000Z", "email": "maria@example.com",
                    ]
                ],
                "created_at": "2026-01-31T22:53:20.000Z", "updated_at": "2026-01-31T23:59:59.123Z",
                "is_anonymous": false,
            ]
        )
    }

    @Test func `A user with little data has every member that clients need`() {
        let account = IdentityV1.Account.with {
            $0.userID = StubServices.userID
            $0.createdAtMs = 1000
            $0.metadataJson = #"{"wordpress_email":"own@example.com"}"#
            $0.identities = [
                .with {
                    $0.provider = "keycloak"
                    $0.subject = "s"
                }
            ]
        }
        let json = SupabaseUser(account: account, profile: nil).json
        #expect(json["email"] == "" && json["phone"] == "")
        #expect(json["email_confirmed_at"] == nil && json["last_sign_in_at"] == nil)
        #expect(json["created_at"] == "1970-01-01T00:00:01.000Z" && json["updated_at"] == json["created_at"])
        let told: JSONValue = [
            "email_verified": false, "phone_verified": false, "sub": "s", "provider_id": "s",
        ]
        #expect(json["user_metadata"] == told)
        let identity = json["identities"]?.array?.first?.object
        #expect(identity?["created_at"] == "1970-01-01T00:00:01.000Z")
        #expect(identity?["last_sign_in_at"] == "1970-01-01T00:00:01.000Z")
        #expect(json["app_metadata"] == ["provider": "keycloak", "providers": ["keycloak"]])
    }

    @Test func `Values verified by the provider are returned as verified, whatever an app wrote`() async throws {
        var account = Maria.account
        account.metadataJson =
            #"{"email":"ceo@example.com","email_verified":true,"phone_verified":true,"sub":"s","iss":"i","provider_id":"p","a":1}"#
        account.identities[0].email = ""
        account.identities[0].emailVerified = false
        let metadata = SupabaseUser(account: account, profile: nil).json["user_metadata"]?.object
        #expect(metadata?["email"] == nil && metadata?["email_verified"] == false)
        #expect(metadata?["phone_verified"] == false && metadata?["iss"] == "https://appleid.apple.com")
        #expect(metadata?["sub"] == .string(Maria.subject) && metadata?["provider_id"] == .string(Maria.subject))
        #expect(metadata?["a"] == 1)

        let gateway = TestGateway.speaking(.supabase)
        let kept = Asked<IdentityV1.UpdateUserMetadataRequest>()
        gateway.stubs.identity.set { answers in
            answers.updateUserMetadata = { request, _ in
                kept.add(request)
                return .init()
            }
        }
        // As clients send back what they have read.
        let whole = #"{"data":{"email":"x","email_verified":true,"sub":null,"iss":1,"provider_id":"p","theme":"dark"}}"#
        #expect(try await gateway.sendAsUser(.put, Self.user, whole).status == 200)
        #expect(try await gateway.sendAsUser(.put, Self.user, #"{"data":{"phone_verified":true}}"#).status == 200)
        #expect(kept.all.map(\.changesJson) == [#"{"theme":"dark"}"#])
    }

    @Test func `An identity's id is a UUID that never changes`() throws {
        let first = Maria.account.identities[0]
        var second = first
        second.email = "new@example.com"
        #expect(SupabaseUser.identityID(first) == SupabaseUser.identityID(second))
        second.subject = "another"
        #expect(SupabaseUser.identityID(first) != SupabaseUser.identityID(second))
        let pattern = #/[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/#
        #expect(try pattern.wholeMatch(in: SupabaseUser.identityID(first)) != nil)
    }

    @Test(arguments: [
        ("ACCESS_TOKEN_EXPIRED", "bad_jwt"), ("ACCESS_TOKEN_INVALID", "bad_jwt"),
        ("SESSION_REVOKED", "session_not_found"), ("SESSION_INVALID", "session_not_found"),
        ("SESSION_UNPROVEN", "session_not_found"),
    ])
    func `A refused token has gotrue's error`(reason: String, code: String) async throws {
        let gateway = TestGateway.speaking(.supabase)
        gateway.stubs.identity.set { $0.checkSession = { _, _ in throw RPCError.refusal(reason) } }
        let answer = try await gateway.sendAsUser(.get, Self.user)
        #expect(answer.status == 403)
        #expect(answer.body["code"] == 403 && answer.body["error_code"] == .string(code))
        let garbage = try await gateway.send(.get, Self.user, token: "b@d")
        #expect(garbage.status == 403 && garbage.body["error_code"] == "bad_jwt")
        let without = try await gateway.send(.get, Self.user)
        #expect(without.status == 401 && without.body["error_code"] == "no_authorization")
    }

    @Test func `If profile is down the answer is an error, not an empty phone number`() async throws {
        let gateway = TestGateway.speaking(.supabase)
        gateway.stubs.profile.set { $0.getProfile = { _, _ in throw RPCError(.unavailable, "down") } }
        #expect(try await gateway.sendAsUser(.get, Self.user).status == 503)
    }

    @Test func `An update changes the metadata and the number`() async throws {
        let gateway = TestGateway.speaking(.supabase)
        let kept = Asked<IdentityV1.UpdateUserMetadataRequest>()
        let changed = Asked<ProfileV1.UpdateProfileRequest>()
        gateway.stubs.identity.set { answers in
            answers.updateUserMetadata = { request, _ in
                kept.add(request)
                return .init()
            }
        }
        gateway.stubs.profile.set { answers in
            answers.updateProfile = { request, _ in
                changed.add(request)
                return .with { $0.profile = Maria.profile }
            }
        }
        let names = #"{"data":{"full_name":"María","given_name":null,"n":1.50},"phone":null,"email":""}"#
        let named = try await gateway.sendAsUser(.put, Self.user, names)
        #expect(named.status == 200 && named.body["id"]?.string == StubServices.userID)
        #expect(kept.all.map(\.changesJson) == [#"{"full_name":"María","given_name":null,"n":1.50}"#])
        #expect(changed.all.isEmpty)
        let numbered = try await gateway.sendAsUser(.put, Self.user, #"{"data":{},"phone":"+639171234567"}"#)
        #expect(numbered.status == 200)
        #expect(changed.all.map(\.phoneNumber) == ["+639171234567"] && kept.all.count == 1)
        #expect(changed.all.allSatisfy { !$0.hasDisplayName && !$0.hasUsername })
    }

    @Test func `An update with a number in use changes nothing`() async throws {
        let gateway = TestGateway.speaking(.supabase)
        gateway.stubs.profile.set {
            $0.updateProfile = { _, _ in
                throw RPCError.domain(.alreadyExists, reason: "PHONE_TAKEN", message: "Somebody has it.")
            }
        }
        let answer = try await gateway.sendAsUser(.put, Self.user, #"{"data":{"a":1},"phone":"09171234567"}"#)
        #expect(answer.status == 422)
        #expect(
            answer.body == [
                "code": 422, "error_code": "phone_exists",
                "msg": "This phone number is already associated with another account.",
            ]
        )
        #expect(!gateway.stubs.calls.contains("UpdateUserMetadata"))
    }

    @Test(arguments: [
        (#"{"phone":"+63917"}"#, "phone_number", "The phone number is too short."),
        (#"{"data":{"a":1}}"#, "changes_json", "An account's metadata has 16 KiB of JSON at most."),
    ])
    func `An invalid value is reported with its message`(body: String, field: String, words: String) async throws {
        let gateway = TestGateway.speaking(.supabase)
        let error = RPCError.domain(
            .invalidArgument,
            reason: "INVALID",
            message: "Some fields are not valid.",
            fields: [FieldViolation(field: field, description: words, reason: "INVALID")]
        )
        gateway.stubs.profile.set { $0.updateProfile = { _, _ in throw error } }
        gateway.stubs.identity.set { $0.updateUserMetadata = { _, _ in throw error } }
        let answer = try await gateway.sendAsUser(.put, Self.user, body)
        #expect(answer.status == 422)
        #expect(answer.body == ["code": 422, "error_code": "validation_failed", "msg": .string(words)])
    }

    @Test(arguments: [
        #"{"email":"new@example.com"}"#, #"{"password":"p"}"#, #"{"data":[]}"#, #"{"data":"x"}"#, #"{"phone":63917}"#,
        // Another dialect keeps the address of the registration there, and returns it.
        #"{"data":{"wordpress_email":"victim@example.com"}}"#, #"{"data":{"a":1,"wordpress_email":null}}"#,
    ])
    func `A member that can't be changed is refused`(body: String) async throws {
        let gateway = TestGateway.speaking(.supabase)
        let answer = try await gateway.sendAsUser(.put, Self.user, body)
        #expect(answer.status == 400 && answer.body["error_code"] == "validation_failed")
        #expect(Set(gateway.stubs.calls).isSubset(of: ["CheckSession", "GetAccount"]), "no change was requested")
    }

    @Test func `Sending the account's own e-mail address changes nothing`() async throws {
        let gateway = TestGateway.speaking(.supabase)
        gateway.stubs.identity.set { $0.updateUserMetadata = { _, _ in .init() } }
        let body = #"{"email":"Maria@Example.com","data":{"a":1}}"#
        let answer = try await gateway.sendAsUser(.put, Self.user, body)
        #expect(answer.status == 200)
        #expect(gateway.stubs.calls.contains("UpdateUserMetadata"))
    }

    @Test func `The service key reads any user`() async throws {
        let gateway = TestGateway.speaking(.supabase, serviceKey: Self.serviceKey)
        let apikey = try #require(HTTPField.Name("apikey"))
        let byBearer = try await gateway.send(.get, Self.admin, token: Self.serviceKey, headers: [apikey: "anon"])
        #expect(byBearer.status == 200 && byBearer.body["email"] == "maria@example.com")
        let byField = try await gateway.send(.get, Self.admin, headers: [apikey: Self.serviceKey])
        #expect(byField.status == 200)
        #expect(Set(gateway.stubs.calls) == ["LookUpAccount", "LookUpProfile"], "nobody is there to prove")
    }

    @Test func `No other key reads any user`() async throws {
        let gateway = TestGateway.speaking(.supabase, serviceKey: Self.serviceKey)
        let apikey = try #require(HTTPField.Name("apikey"))
        func status(_ token: String?, _ key: String?) async throws -> Int {
            let headers: HTTPFields = key.map { [apikey: $0] } ?? [:]
            return try await gateway.send(.get, Self.admin, token: token, headers: headers).status
        }
        #expect(try await status(nil, nil) == 401)
        #expect(try await status(StubServices.accessToken, nil) == 403)
        #expect(try await status(StubServices.accessToken, Self.serviceKey) == 403, "the bearer token decides")
        #expect(try await status(nil, String(Self.serviceKey.dropLast())) == 403)
        #expect(try await status(Self.serviceKey + "x", nil) == 403)
        #expect(try await status("", nil) == 403)
        #expect(gateway.stubs.calls.isEmpty)
    }

    @Test func `Without a service key there are no such routes`() async throws {
        let gateway = TestGateway.speaking(.supabase)
        let answer = try await gateway.send(.get, Self.admin, token: "")
        #expect(answer.status == 422 && answer.body["error_code"] == "not_supported")
    }

    @Test(arguments: [
        RPCError.domain(.notFound, reason: "ACCOUNT_NOT_FOUND", message: "There is none."),
        RPCError.domain(.invalidArgument, reason: "USER_ID_INVALID", message: "It is no UUID."),
    ])
    func `An unknown user has gotrue's error`(error: RPCError) async throws {
        let gateway = TestGateway.speaking(.supabase, serviceKey: Self.serviceKey)
        gateway.stubs.identity.set { $0.lookUpAccount = { _, _ in throw error } }
        let answer = try await gateway.send(.get, "/auth/v1/admin/users/x", token: Self.serviceKey)
        #expect(answer.status == 404)
        #expect(answer.body == ["code": 404, "error_code": "user_not_found", "msg": "User not found"])
    }

    @Test func `The settings list the providers that identity has`() async throws {
        let gateway = TestGateway.speaking(.supabase)
        gateway.stubs.identity.set {
            $0.findAccount = { request, _ in
                switch request.credentials.provider {
                case "apple": throw RPCError.refusal("TOKEN_MALFORMED")
                case "google": throw RPCError.domain(.invalidArgument, reason: "TOKEN_MALFORMED", message: "m")
                default: throw RPCError.domain(.notFound, reason: "PROVIDER_UNKNOWN", message: "m")
                }
            }
        }
        gateway.stubs.identity.set { answers in
            answers.createGuestChallenge = { _, _ in
                throw RPCError.domain(.failedPrecondition, reason: "GUESTS_NOT_ENABLED", message: "m")
            }
        }
        let answer = try await gateway.send(.get, "/auth/v1/settings")
        #expect(answer.status == 200)
        #expect(
            answer.body["external"] == [
                "anonymous_users": false, "email": false, "phone": false, "apple": true, "google": true,
                "facebook": false, "keycloak": false,
            ]
        )
        #expect(answer.body["disable_signup"] == false && answer.body["saml_enabled"] == false)
        // An allow-list of identity's that doesn't name the method yet.
        gateway.stubs.identity.set { $0.createGuestChallenge = { _, _ in throw RPCError(.permissionDenied, "no") } }
        let before = try await gateway.send(.get, "/auth/v1/settings")
        #expect(before.status == 200 && before.body["external"] == answer.body["external"])
        gateway.stubs.identity.set { $0.createGuestChallenge = { _, _ in .init() } }
        let withGuests = try await gateway.send(.get, "/auth/v1/settings")
        #expect(withGuests.body["external"]?.object?["anonymous_users"] == true)
        gateway.stubs.identity.set { $0.findAccount = { _, _ in throw RPCError(.unavailable, "down") } }
        #expect(try await gateway.send(.get, "/auth/v1/settings").status == 503)
    }

    @Test func `Health and keys are served`() async throws {
        let gateway = TestGateway.speaking(.supabase)
        #expect(try await gateway.send(.get, "/auth/v1/health").body["name"] == "Vestibule")
        #expect(gateway.stubs.calls.isEmpty)
        #expect(try await gateway.send(.get, "/auth/v1/.well-known/jwks.json").body == ["keys": []])
    }
}
