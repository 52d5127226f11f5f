/// What a sign-in came to.
public struct SignIn: Sendable, Hashable {
    /// The user's id, a UUID.
    public let userID: String
    /// Whether this sign-in created the account.
    public let isNewUser: Bool
    /// What to ask the user for, in this order: "display_name", "phone_number", "username". Nil if it isn't known now: call
    /// ``Vestibule/AccountService/getMe(deadline:)`` later.
    public let missingFields: [String]?
    /// The name from the provider, for the app to suggest.
    public let suggestedDisplayName: String?
}

extension Vestibule {
    /// Signs the user in with a provider's credentials, in the place of the user who was signed in.
    ///
    /// A failed sign-in leaves the session that there was. The same credentials may be used again within a minute.
    ///
    /// - Parameters:
    ///   - deviceName: The name of the device in the user's list of sessions.
    ///   - createsAccount: Whether a new user gets an account; else the code is `ACCOUNT_NOT_FOUND`.
    /// - Throws: ``VestibuleError``, or `CancellationError`.
    @discardableResult
    public func signIn(
        _ credentials: Credentials,
        deviceName: String? = nil,
        createsAccount: Bool = true,
        deadline: Duration? = nil
    ) async throws -> SignIn {
        try await until(deadline) { [self] deadline in
            let (credentials, name) = try await withKeptName(credentials)
            var json = credentials.message
            json.set("deviceName", deviceName)
            if !createsAccount { json.members["create"] = .bool(false) }
            let response = try await open(.signInWithProvider, json, deadline)
            try await keeper.begin(try keeper.server.tokens(response.object("tokens")), sent: name)
            return Self.signIn(response)
        }
    }

    /// Calls a method that opens a session, or that such a one needs. The server answers the same credentials within a minute with the same
    /// session, so it is repeated.
    @inline(never)
    func open(_ method: CallMethod, _ message: JSONObject, _ deadline: Deadline) async throws -> JSONObject {
        try await send(true, deadline) { timeout in
            let response = try await wire.call(method, message, token: nil, timeout: timeout)
            if method != .createGuestChallenge { _ = try keeper.server.tokens(response.object("tokens")) }
            return response
        }
    }

    /// Credentials with what the provider may have said of the user at an earlier try.
    ///
    /// - Returns: What is kept of it besides, until the server has it.
    func withKeptName(_ credentials: Credentials) async throws -> (Credentials, SessionRecord.PendingName?) {
        let kept = try await keeper.keepName(.init(credentials, keptAt: clock.wall()))
        var credentials = credentials
        credentials.fullName = kept?.fullName
        credentials.email = kept?.email
        return (credentials, kept)
    }

    static func signIn(_ json: JSONObject) -> SignIn {
        let response = SignInWithProviderResponse(json: json)
        let name = response.suggestedDisplayName
        return SignIn(
            userID: response.tokens.userID,
            isNewUser: response.isNewUser,
            missingFields: response.missingFieldsUnknown ? nil : response.missingFields,
            suggestedDisplayName: name.isEmpty ? nil : name
        )
    }
}
