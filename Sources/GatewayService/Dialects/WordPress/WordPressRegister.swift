import API
import HTTPJSON
import HTTPTypes
import JOSE
import RPC

/// `POST /wp-json/gread/v1/auth/apple/register`: opens an account with a username, and a session.
///
/// In this order: look, open the account and reserve the e-mail address (one transaction of identity), note the address,
/// take the username. The username is what makes somebody registered: if anything breaks off before it, or somebody else
/// takes it at the same moment, the account is there without one, and registering again goes on with it. If only the answer
/// is lost, registering again responds that the person is registered, and logging in, which apps try first, lets them in.
enum WordPressRegister {
    static let operation = OpenAPI.Operation(
        .post,
        "/wp-json/gread/v1/auth/apple/register",
        id: "wordPressRegister",
        tag: .auth,
        summary: "Opens an account with a username, and a session",
        caller: .anyone,
        body: .required(.wordPressRegistration),
        answers: [200: .wordPressSession],
        problems: [.refused, .forbidden, .conflict],
        errors: .wordPress
    )

    static func endpoint(_ parts: DialectParts) -> Endpoint {
        Endpoint(operation) { request, context in
            var input = try await context.optionalJSON(request) ?? JSONInput([:])
            let registration = try Registration(&input)
            try input.finish()
            let options = parts.authentication.callOptionsWithAddress(.route(request, context))
            let isKnown = try await checkIsNew(registration, parts, options, context)
            let signIn = try await open(registration, isKnown: isKnown, parts, options)
            let person = try await register(registration, signIn.callerProofs, parts, options)
            return .json(person.session(signIn.tokens, message: "Registration successful"))
        }
    }

    /// Finds what stands in the way, and changes nothing.
    ///
    /// - Returns: whether there is an account of the person's, which has no username.
    private static func checkIsNew(
        _ registration: Registration,
        _ parts: DialectParts,
        _ options: CallOptions,
        _ context: RouteContext
    ) async throws -> Bool {
        var search = IdentityV1.FindAccountRequest()
        search.credentials = registration.call
        let found: IdentityV1.FindAccountResponse
        do {
            found = try await parts.backends.identity.findAccount(search, options: options)
        } catch {
            if error.reason == "EMAIL_INVALID" { throw emailInvalid }
            throw error
        }
        if !found.userID.isEmpty {
            guard found.hasCallerProofs || !registration.call.hasUnproven else { throw WordPress.proofRequired }
            let known = try await parts.people.profile(found.callerProofs, context.callOptions())
            guard known.username.isEmpty else { throw appleIDExists }
        }
        guard !found.emailIsTaken else { throw emailExists }
        var question = ProfileV1.CheckUsernameRequest()
        question.username = registration.username
        do {
            let asking = options.proving(found.callerProofs.profile)
            let answer = try await parts.backends.profile.checkUsername(question, options: asking)
            guard answer.isFree else { throw usernameExists }
        } catch let error as RPCError {
            throw refusal(ofUsername: error)
        }
        return !found.userID.isEmpty
    }

    /// Opens the account and the session, and reserves the e-mail address.
    ///
    /// - Parameter isKnown: whether there is an account. Without proof, one is not opened by what makes a new one.
    private static func open(
        _ registration: Registration,
        isKnown: Bool,
        _ parts: DialectParts,
        _ options: CallOptions
    ) async throws -> IdentityV1.SignInResponse {
        var call = registration.call
        if call.hasUnproven { call.create = !isKnown }
        do {
            return try await parts.backends.identity.signIn(call, options: options)
        } catch {
            switch error.reason {
            case "EMAIL_TAKEN": throw emailExists
            // Somebody registers the same person at the same moment.
            case "ACCOUNT_EXISTS": throw appleIDExists
            case "ACCOUNT_NOT_FOUND": throw WordPress.proofRequired
            default: throw error
            }
        }
    }

    /// Notes the address and takes the username, with the name of the registration itself. A name from an earlier response isn't
    /// saved, since the person hasn't seen it here.
    private static func register(
        _ registration: Registration,
        _ proofs: IdentityV1.CallerProofs,
        _ parts: DialectParts,
        _ options: CallOptions
    ) async throws -> WordPressPerson {
        let change: JSONObject = [WordPress.emailMember: .string(registration.email)]
        var metadata = IdentityV1.UpdateUserMetadataRequest()
        metadata.changesJson = String(decoding: change.serialized(), as: UTF8.self)
        let noting = options.proving(proofs.identity)
        do {
            _ = try await parts.backends.identity.updateUserMetadata(metadata, options: noting)
        } catch {
            // Its provider verified it for somebody else at this moment.
            if error.reason == "EMAIL_TAKEN" { throw emailExists }
            throw error
        }
        var update = ProfileV1.UpdateProfileRequest()
        update.username = registration.username
        if !registration.fullName.isEmpty { update.displayName = registration.fullName }
        do {
            let profile = try await take(update, parts.backends.profile, options.proving(proofs.profile))
            return WordPressPerson(email: registration.email, profile: profile)
        } catch {
            throw refusal(ofUsername: error)
        }
    }

    /// Takes the username with the name, or without it if it can be none: nobody is kept out for how they are called.
    private static func take(
        _ update: ProfileV1.UpdateProfileRequest,
        _ profile: ProfileServiceClient,
        _ options: CallOptions
    ) async throws(RPCError) -> ProfileV1.Profile {
        do {
            return try await profile.updateProfile(update, options: options).profile
        } catch {
            guard error.code == .invalidArgument, update.hasDisplayName,
                error.fieldViolations.contains(where: { $0.field == "display_name" })
            else { throw error }
            var update = update
            update.clearDisplayName()
            return try await profile.updateProfile(update, options: options).profile
        }
    }

    private static func refusal(ofUsername error: RPCError) -> any Error {
        if error.reason == "USERNAME_TAKEN" { return usernameExists }
        let isAtFault = error.reason == "USERNAME_INVALID" || error.fieldViolations.contains { $0.field == "username" }
        return error.code == .invalidArgument && isAtFault ? Registration.usernameInvalid : error
    }

    private static let usernameExists = WordPress.refusal(
        "USERNAME_EXISTS",
        "Username already exists",
        isConflict: true
    )
    private static let appleIDExists = WordPress.refusal(
        "APPLE_ID_EXISTS",
        "This Apple ID is already registered",
        isConflict: true
    )
    private static let emailInvalid = WordPress.refusal("INVALID_REQUEST", "The email address is not valid")
    private static let emailExists = WordPress.refusal(
        "EMAIL_EXISTS",
        "An account with this email already exists",
        isConflict: true
    )
}

/// What a registration says.
private struct Registration {
    let username: String
    let email: String
    let fullName: String
    let call: IdentityV1.SignInRequest

    /// Reads a body.
    ///
    /// - Throws: 400 for members that are missing, and for a text that can be no username.
    init(_ input: inout JSONInput) throws(Problem) {
        let appleUserID = input.optionalString("appleUserID") ?? ""
        email = input.optionalString("email") ?? ""
        username = input.optionalString("username") ?? ""
        guard !appleUserID.isEmpty, !email.isEmpty, !username.isEmpty else {
            throw WordPress.refusal("INVALID_REQUEST", "Missing required fields")
        }
        guard username.utf8.allSatisfy(Self.isUsernameByte) else { throw Self.usernameInvalid }
        guard 3...20 ~= username.utf8.count else {
            throw WordPress.refusal("INVALID_USERNAME", "Username must be 3 to 20 characters long")
        }
        fullName = input.optionalString("fullName") ?? ""
        var call = WordPress.credentials(appleUserID: appleUserID, &input)
        call.email = email
        call.fullName = fullName
        call.emailReservation.dialect = Dialect.wordpress.rawValue
        call.emailReservation.email = email
        self.call = call
    }

    static let usernameInvalid = WordPress.refusal(
        "INVALID_USERNAME",
        "Username can only contain letters, numbers, and underscores"
    )

    private static func isUsernameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

extension OpenAPI.Schema {
    fileprivate static let wordPressRegistration = object([
        .required("appleUserID", .appleUserID),
        .required("email", .text(minLength: 3, maxLength: 254, pattern: "^[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+$")),
        .required("username", .text(minLength: 3, maxLength: 20, pattern: "^[A-Za-z0-9_]+$")),
        .optional("fullName", .text(orNull: true)),
        .optional("identityToken", .wordPressIdentityToken),
        .optional("nonce", .text("The raw nonce.", orNull: true)),
        .optional("authorizationCode", .text(orNull: true)),
        .optional("deviceName", .text(orNull: true)),
    ]).named("WordPressRegistration")
}
