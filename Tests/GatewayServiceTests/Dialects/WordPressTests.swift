import API
import APIDoubles
import HTTPTypes
import JOSE
import RPC
import SwiftProtobuf
import Testing

@testable import GatewayService

/// `/wp-json/…`: the nine answers, member by member, and the errors on the way.
struct WordPressTests {
    static let loginPath = "/wp-json/gread/v1/auth/apple/login"
    static let registerPath = "/wp-json/gread/v1/auth/apple/register"
    static let login = #"{"appleUserID":"001234.abcdef.0001","identityToken":"t","nonce":"n"}"#
    static let register =
        #"{"appleUserID":"001234.abcdef.0001","email":"m@example.com","username":"maria_2","fullName":"Maria Santos","identityToken":"t"}"#

    /// A gateway for a person without an account, or without a username.
    static func forNewcomer(hasAccount: Bool = false, emailIsTaken: Bool = false) -> TestGateway {
        let gateway = TestGateway.speaking(.wordpress)
        gateway.stubs.identity.set { answers in
            answers.findAccount = { _, _ in
                .with {
                    $0.userID = hasAccount ? StubServices.userID : ""
                    if hasAccount { $0.callerProofs = StubServices.proofs }
                    $0.emailIsTaken = emailIsTaken
                }
            }
        }
        gateway.stubs.profile.set { $0.getProfile = { _, _ in .with { $0.profile.userID = StubServices.userID } } }
        return gateway
    }

    static func error(_ status: Int64, _ code: JSONValue, _ message: JSONValue) -> JSONObject {
        ["code": code, "message": message, "data": ["status": .integer(status)]]
    }

    @Test func `A login succeeds`() async throws {
        let gateway = TestGateway.speaking(.wordpress)
        let asked = Asked<IdentityV1.SignInRequest>()
        let searched = Asked<IdentityV1.FindAccountRequest>()
        gateway.stubs.identity.set { answers in
            let (signIn, findAccount) = (answers.signIn, answers.findAccount)
            answers.signIn = { request, context in
                asked.add(request)
                return try await signIn(request, context)
            }
            answers.findAccount = { request, context in
                searched.add(request)
                return try await findAccount(request, context)
            }
        }
        let answer = try await gateway.send(.post, Self.loginPath, Self.login)
        #expect(answer.status == 200)
        #expect(
            answer.body == [
                "success": true, "message": "Login successful", "user_id": 4711, "username": "Maria_1",
                "email": "maria@example.com", "token": "single.token.one", "display_name": "Maria",
            ]
        )
        #expect(gateway.stubs.calls.first == "FindAccount" && gateway.stubs.calls.last == "SignIn")
        let call = try #require(asked.all.first)
        #expect(searched.all.map(\.credentials) == [call])
        #expect(call.provider == "apple" && call.idToken == "t" && call.nonce == "n")
        #expect(call.expectedSubject == Maria.subject && !call.hasUnproven)
        #expect(call.hasCreate && !call.create && call.tokenStyle == .singleForSession)
    }

    @Test func `A login without a token is unproven`() async throws {
        let gateway = TestGateway.speaking(.wordpress)
        let asked = Asked<IdentityV1.FindAccountRequest>()
        gateway.stubs.identity.set { answers in
            answers.findAccount = { request, _ in
                asked.add(request)
                throw RPCError.refusal("PROOF_REQUIRED", "This sign-in needs a proof.")
            }
        }
        for body in [#"{"appleUserID":"x"}"#, #"{"appleUserID":"x","identityToken":null,"nonce":"n"}"#] {
            let answer = try await gateway.send(.post, Self.loginPath, body)
            #expect(answer.status == 401)
            #expect(answer.body == Self.error(401, "invalid_token", "This sign-in needs a proof."))
        }
        for call in asked.all.map(\.credentials) {
            #expect(call.unproven.dialect == "wordpress" && call.unproven.subject == "x")
            #expect(call.idToken.isEmpty && call.nonce.isEmpty && call.expectedSubject.isEmpty)
        }
        #expect(asked.all.count == 2 && !gateway.stubs.calls.contains("SignIn"))
    }

    @Test(arguments: ["{}", "", #"{"appleUserID":null}"#, #"{"appleUserID":""}"#, #"{"appleUserID":7}"#])
    func `A login without an id is invalid`(body: String) async throws {
        let gateway = TestGateway.speaking(.wordpress)
        let answer = try await gateway.send(.post, Self.loginPath, body)
        #expect(answer.status == 400)
        #expect(answer.body == Self.error(400, "invalid_request", "Missing Apple User ID"))
        #expect(gateway.stubs.calls.isEmpty)
    }

    @Test(arguments: [false, true])
    func `A person without an account or a username is not registered`(hasAccount: Bool) async throws {
        let gateway = Self.forNewcomer(hasAccount: hasAccount)
        let answer = try await gateway.send(.post, Self.loginPath, Self.login)
        #expect(answer.status == 404)
        let words: JSONValue = "No account found with this Apple ID. Please register first."
        #expect(answer.body == Self.error(404, "user_not_found", words))
        #expect(!gateway.stubs.calls.contains("SignIn"), "the lookup uses up nothing")
    }

    @Test func `A person whose account is deleted during the login is not registered`() async throws {
        let gateway = TestGateway.speaking(.wordpress)
        gateway.stubs.identity.set {
            $0.signIn = { _, _ in
                throw RPCError.domain(.notFound, reason: "ACCOUNT_NOT_FOUND", message: "There is no such account.")
            }
        }
        let answer = try await gateway.send(.post, Self.loginPath, Self.login)
        #expect(answer.status == 404 && answer.code == "user_not_found")
    }

    @Test func `A login whose answer can't be built opens no session`() async throws {
        let gateway = TestGateway.speaking(.wordpress)
        gateway.stubs.profile.set { $0.getProfile = { _, _ in throw RPCError(.unavailable, "down") } }
        let answer = try await gateway.send(.post, Self.loginPath, Self.login)
        #expect(answer.status == 503)
        #expect(answer.body["data"] == ["status": 503])
        #expect(answer.headers[.retryAfter] == "1")
        #expect(!gateway.stubs.calls.contains("SignIn"))
    }

    @Test func `A registration succeeds`() async throws {
        let gateway = Self.forNewcomer()
        let asked = Asked<IdentityV1.SignInRequest>()
        let kept = Asked<IdentityV1.UpdateUserMetadataRequest>()
        let named = Asked<ProfileV1.UpdateProfileRequest>()
        gateway.stubs.identity.set { answers in
            let (signIn, update) = (answers.signIn, answers.updateUserMetadata)
            answers.signIn = { request, context in
                asked.add(request)
                return try await signIn(request, context)
            }
            answers.updateUserMetadata = { request, context in
                kept.add(request)
                return try await update(request, context)
            }
        }
        gateway.stubs.profile.set { answers in
            let usual = answers.updateProfile
            answers.updateProfile = { request, context in
                named.add(request)
                return try await usual(request, context)
            }
        }
        let answer = try await gateway.send(.post, Self.registerPath, Self.register)
        #expect(answer.status == 200)
        #expect(
            answer.body == [
                "success": true, "message": "Registration successful", "user_id": 4711, "username": "maria_2",
                "email": "m@example.com", "token": "single.token.one", "display_name": "Maria Santos",
            ]
        )
        #expect(
            gateway.stubs.calls == ["FindAccount", "CheckUsername", "SignIn", "UpdateUserMetadata", "UpdateProfile"],
            "the username, which makes somebody registered, comes last"
        )
        let call = try #require(asked.all.first)
        #expect(call.emailReservation.dialect == "wordpress" && call.emailReservation.email == "m@example.com")
        #expect(call.expectedSubject == Maria.subject && !call.hasUnproven && !call.hasCreate)
        #expect(call.email == "m@example.com" && call.fullName == "Maria Santos")
        #expect(kept.all.map(\.changesJson) == [#"{"wordpress_email":"m@example.com"}"#])
        #expect(named.all.map(\.username) == ["maria_2"])
    }

    @Test func `An interrupted registration can be repeated`() async throws {
        let gateway = Self.forNewcomer(hasAccount: true)
        gateway.stubs.profile.set { answers in
            answers.getProfile = { _, _ in .with { $0.profile.displayName = "Maria" } }
        }
        let body = #"{"appleUserID":"a","email":"m@example.com","username":"maria_2","fullName":null}"#
        let answer = try await gateway.send(.post, Self.registerPath, body)
        #expect(answer.status == 200)
        #expect(answer.body["display_name"] == "Maria", "a name that is there stays")
    }

    @Test func `Without a full name no name is saved that the user hasn't seen`() async throws {
        let gateway = Self.forNewcomer()
        let named = Asked<ProfileV1.UpdateProfileRequest>()
        gateway.stubs.profile.set { answers in
            answers.updateProfile = { request, _ in
                named.add(request)
                return .with { $0.profile.username = request.username }
            }
        }
        let body = #"{"appleUserID":"a","email":"m@example.com","username":"maria_2"}"#
        let answer = try await gateway.send(.post, Self.registerPath, body)
        #expect(answer.status == 200 && answer.body["display_name"] == "")
        #expect(named.all.map(\.hasDisplayName) == [false], "identity suggests one")
    }

    @Test func `An invalid name doesn't prevent a registration`() async throws {
        let gateway = Self.forNewcomer()
        gateway.stubs.profile.set { answers in
            answers.updateProfile = { request, _ in
                if request.hasDisplayName { throw Self.invalid("display_name", "DISPLAY_NAME_INVALID") }
                return .with { $0.profile.username = request.username }
            }
        }
        let answer = try await gateway.send(.post, Self.registerPath, Self.register)
        #expect(answer.status == 200)
        #expect(answer.body["username"] == "maria_2" && answer.body["display_name"] == "")
    }

    private static func invalid(_ field: String, _ reason: String) -> RPCError {
        RPCError.domain(
            .invalidArgument,
            reason: "FIELDS_INVALID",
            message: "Some fields are not valid.",
            fields: [FieldViolation(field: field, description: "It is not valid.", reason: reason)]
        )
    }

    @Test(arguments: [
        "{}", "", #"{"appleUserID":"a","email":"e@x"}"#, #"{"appleUserID":"a","username":"abc"}"#,
        #"{"email":"e@x","username":"abc"}"#, #"{"appleUserID":"","email":"e@x","username":"abc"}"#,
        #"{"appleUserID":"a","email":null,"username":"abc"}"#, #"{"appleUserID":"a","email":["e"],"username":"abc"}"#,
    ])
    func `A registration needs its members`(body: String) async throws {
        let gateway = Self.forNewcomer()
        let answer = try await gateway.send(.post, Self.registerPath, body)
        #expect(answer.status == 400)
        #expect(answer.body == Self.error(400, "invalid_request", "Missing required fields"))
        #expect(gateway.stubs.calls.isEmpty)
    }

    @Test(arguments: ["ab", "a", "abcdefghij_abcdefghijk"])
    func `A username has its length`(username: String) async throws {
        let gateway = Self.forNewcomer()
        let body = #"{"appleUserID":"a","email":"m@example.com","username":"\#(username)"}"#
        let answer = try await gateway.send(.post, Self.registerPath, body)
        #expect(answer.status == 400)
        #expect(answer.body == Self.error(400, "invalid_username", "Username must be 3 to 20 characters long"))
        #expect(gateway.stubs.calls.isEmpty)
    }

    @Test func `Too many lookups of addresses are rejected as rate limited`() async throws {
        let gateway = Self.forNewcomer()
        gateway.stubs.identity.set {
            $0.findAccount = { _, _ in
                throw RPCError.domain(
                    .resourceExhausted,
                    reason: "RATE_LIMITED",
                    message: "Too many e-mail addresses were tried.",
                    retryAfter: .seconds(60)
                )
            }
        }
        let answer = try await gateway.send(.post, Self.registerPath, Self.register)
        #expect(answer.status == 429 && answer.headers[.retryAfter] == "60")
        #expect(answer.body == Self.error(429, "rate_limited", "Too many e-mail addresses were tried."))
    }

    @Test(arguments: ["a!", "maria santos", "maría", "a-b-c", " abc", "abc\\u0000"])
    func `A username has its form`(username: String) async throws {
        let gateway = Self.forNewcomer()
        let body = #"{"appleUserID":"a","email":"m@example.com","username":"\#(username)"}"#
        let answer = try await gateway.send(.post, Self.registerPath, body)
        #expect(answer.status == 400)
        let words: JSONValue = "Username can only contain letters, numbers, and underscores"
        #expect(answer.body == Self.error(400, "invalid_username", words))
        #expect(gateway.stubs.calls.isEmpty)
    }

    @Test func `A username that profile refuses is invalid`() async throws {
        let gateway = Self.forNewcomer()
        gateway.stubs.profile.set { $0.checkUsername = { _, _ in throw Self.invalid("username", "USERNAME_INVALID") } }
        let answer = try await gateway.send(.post, Self.registerPath, Self.register)
        #expect(answer.status == 400 && answer.code == "invalid_username")
    }

    @Test func `A username is taken`() async throws {
        let gateway = Self.forNewcomer()
        gateway.stubs.profile.set { $0.checkUsername = { _, _ in .with { $0.isFree = false } } }
        let answer = try await gateway.send(.post, Self.registerPath, Self.register)
        #expect(answer.status == 409)
        #expect(answer.body == Self.error(409, "username_exists", "Username already exists"))
        #expect(!gateway.stubs.calls.contains("SignIn"), "no account is opened for it")
    }

    @Test func `A username is taken by a concurrent registration`() async throws {
        let gateway = Self.forNewcomer()
        gateway.stubs.profile.set {
            $0.updateProfile = { _, _ in
                throw RPCError.domain(.alreadyExists, reason: "USERNAME_TAKEN", message: "Somebody else has it.")
            }
        }
        let answer = try await gateway.send(.post, Self.registerPath, Self.register)
        #expect(answer.status == 409)
        #expect(answer.body == Self.error(409, "username_exists", "Username already exists"))
    }

    @Test(arguments: [true, false])
    func `An address is in use, before or during the registration`(isKnown: Bool) async throws {
        let gateway = Self.forNewcomer(emailIsTaken: isKnown)
        gateway.stubs.identity.set {
            $0.signIn = { _, _ in
                throw RPCError.domain(.alreadyExists, reason: "EMAIL_TAKEN", message: "Somebody else has it.")
            }
        }
        let answer = try await gateway.send(.post, Self.registerPath, Self.register)
        #expect(answer.status == 409)
        #expect(answer.body == Self.error(409, "email_exists", "An account with this email already exists"))
        #expect(gateway.stubs.calls.contains("SignIn") != isKnown)
    }

    @Test func `An address that its owner claims during the registration is in use`() async throws {
        let gateway = Self.forNewcomer()
        gateway.stubs.identity.set {
            $0.updateUserMetadata = { _, _ in
                throw RPCError.domain(.alreadyExists, reason: "EMAIL_TAKEN", message: "Somebody else has it.")
            }
        }
        let answer = try await gateway.send(.post, Self.registerPath, Self.register)
        #expect(answer.body == Self.error(409, "email_exists", "An account with this email already exists"))
    }

    @Test func `A registered person gets a conflict`() async throws {
        let gateway = TestGateway.speaking(.wordpress)
        let answer = try await gateway.send(.post, Self.registerPath, Self.register)
        #expect(answer.status == 409)
        #expect(answer.body == Self.error(409, "apple_id_exists", "This Apple ID is already registered"))
        #expect(!gateway.stubs.calls.contains("SignIn"))
    }
}
