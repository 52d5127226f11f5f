/// Why a call failed.
///
/// It never has a token in it. A cancelled task gets `CancellationError` instead.
public struct VestibuleError: Error, Sendable, Hashable {
    /// What went wrong, for programs: a code of the server's, or one of the kit's own.
    public struct Code: RawRepresentable, ExpressibleByStringLiteral, Sendable, Hashable {
        /// The code as the server writes it, such as `PHONE_TAKEN`.
        public let rawValue: String

        /// A code by its text.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// A code by its text.
        public init(stringLiteral value: String) { rawValue = value }
    }

    /// What an app does about an error. Later versions may have more of them: an app does as for ``show`` then.
    public struct Action: RawRepresentable, Sendable, Hashable {
        /// The action as the server's documentation names it, such as `sign_in_again`.
        public let rawValue: String

        /// An action by its word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Nothing: the kit has refreshed the session, and the call failed again.
        public static let refresh = Self(rawValue: "refresh")
        /// It has the user sign in.
        public static let signInAgain = Self(rawValue: "sign_in_again")
        /// It tries again after ``VestibuleError/retryAfter``, or after a second.
        public static let wait = Self(rawValue: "wait")
        /// It shows ``VestibuleError/text(languages:)``: the user can change something, or has to know.
        public static let show = Self(rawValue: "show")
        /// Nothing at run time: the same call fails each time.
        public static let fixRequest = Self(rawValue: "fix_request")
        /// It tries again a few times at most.
        public static let retry = Self(rawValue: "retry")
    }

    /// What is wrong with a field of a request.
    public struct FieldFault: Sendable, Hashable {
        /// What is wrong, for programs.
        public let code: Code
        /// The server's sentence.
        public let message: String
    }

    /// What went wrong.
    public let code: Code
    /// What the app does about it.
    public let action: Action
    /// The fields of the request that are at fault, by their names in JSON, such as `displayName`.
    public internal(set) var fields: [String: FieldFault] = [:]
    /// After how long the same call may succeed; nil if the server doesn't say.
    public internal(set) var retryAfter: Duration?
    /// The HTTP status; nil if there was no response.
    public internal(set) var status: Int?
    /// The server's sentence, in the language of the request where the server has it; or the kit's in English.
    public let message: String
    /// What the server says besides, such as `suggestions` for a username that is taken.
    public internal(set) var metadata: [String: String] = [:]

    init(_ code: Code, _ message: String, action: Action? = nil, status: Int? = nil) {
        self.code = code
        self.message = message
        self.status = status
        self.action = action ?? ErrorTable.action(of: code, status: status)
    }
}

extension VestibuleError: CustomStringConvertible {
    /// The code and the server's words; never a token.
    public var description: String { "\(code.rawValue): \(message)" }
}

extension VestibuleError.Code {
    /// No whole response came. The session stays.
    public static var network: Self { "NETWORK" }
    /// The deadline of the call has passed. It may have had its effect.
    public static var timeout: Self { "TIMEOUT" }
    /// The store of the session failed. The session stays.
    public static var storeFailed: Self { "STORE_FAILED" }
    /// There is no session: the call needs one.
    public static var signedOut: Self { "SIGNED_OUT" }
    /// Somebody is signed in, so that nobody can become a guest.
    public static var signedIn: Self { "SIGNED_IN" }
    /// The response is not the server's, such as the page of a Wi-Fi portal.
    public static var badResponse: Self { "BAD_RESPONSE" }
    /// The server refused the authorization code of a sign-in by its page, such as one that was used before.
    public static var invalidGrant: Self { "INVALID_GRANT" }
    /// What was stored can't be read: the reason of ``SessionState/signedOut(reason:)``.
    public static var storeUnreadable: Self { "STORE_UNREADABLE" }
}

extension VestibuleError {
    static let timeout = Self(.timeout, "The deadline has passed.", action: .retry)
    static let signedOut = Self(.signedOut, "There is no session.", action: .signInAgain)

    static let signedIn = Self(.signedIn, "Somebody is signed in.", action: .show)

    static func network(_ message: String) -> Self { Self(.network, message, action: .retry) }
    static func storeFailed(_ error: any Error) -> Self {
        // Not the error's own words: a store of an app may put the value in them.
        let number = (error as? StoreFailure).map { " \($0.code)" } ?? ""
        return Self(.storeFailed, "The store of the session failed (\(type(of: error))\(number)).", action: .retry)
    }
    static let storedByNewerVersion = Self(.storeFailed, "A newer version has written the session.", action: .retry)
    static func badResponse(status: Int?) -> Self {
        Self(.badResponse, "The response is not the server's.", action: .retry, status: status)
    }
}
