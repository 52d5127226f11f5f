import Foundation

extension Vestibule {
    /// Deletes the user's account permanently.
    ///
    /// The server wants a proof that it is the user: fresh credentials of a provider, or a sign-in of the last minutes. With Apple's
    /// credentials send the authorization code, so that the server can revoke the consent there. The code `RECENT_SIGN_IN_REQUIRED` asks
    /// for credentials, `PROOF_REQUIRED` for ones with a nonce or a code.
    ///
    /// - Returns: With ``DeleteMeResponse/deletesAt`` the deletion is scheduled, and the session goes on; else the account is deleted
    ///   and the user signed out. ``DeleteMeResponse/consentsLeft`` has providers where the user has to withdraw the consent.
    /// - Throws: ``VestibuleError``, or `CancellationError`.
    @discardableResult
    public func deleteAccount(_ credentials: Credentials? = nil, deadline: Duration? = nil) async throws
        -> DeleteMeResponse
    {
        var message = JSONObject()
        if let credentials { message.members["credentials"] = .object(credentials.message) }
        let (json, session) = try await lastCall(.deleteMe, message, deadline)
        let response = DeleteMeResponse(json: json)
        if response.deletesAt == nil { await keeper.end(session) }
        return response
    }

    /// Ends all sessions of the user, on all devices.
    ///
    /// - Parameter exceptCurrent: Whether this one stays.
    /// - Throws: ``VestibuleError``, or `CancellationError`.
    public func signOutEverywhere(exceptCurrent: Bool = false, deadline: Duration? = nil) async throws {
        var message = JSONObject()
        message.set("exceptCurrent", exceptCurrent)
        guard !exceptCurrent else {
            _ = try await call(.signOutEverywhere, message, deadline: deadline)
            return
        }
        await keeper.end(try await lastCall(.signOutEverywhere, message, deadline).session)
    }

    private func lastCall(
        _ method: CallMethod,
        _ message: JSONObject,
        _ deadline: Duration?
    ) async throws -> (response: JSONObject, session: SessionRecord.Session) {
        try await until(deadline) { [self] deadline in try await withSession(.lastCall(method, message), deadline) }
    }

    /// Links another provider to the user's account, by which the user can then sign in too.
    ///
    /// It needs a sign-in of the last minutes, and credentials that are proven by a nonce or a code. If one of the user's two accounts was
    /// empty, the other one absorbs it; the session may be that of the other one afterwards, which ``states`` has. A guest's account
    /// becomes a full one with the same user id.
    ///
    /// - Returns: The providers of the account, in the order in which they were linked.
    /// - Throws: ``VestibuleError`` with `PROVIDER_ALREADY_LINKED`, `IDENTITY_TAKEN` and others, or `CancellationError`.
    public func linkProvider(_ credentials: Credentials, deadline: Duration? = nil) async throws -> [LinkedProvider] {
        try await until(deadline) { [self] deadline in
            let (credentials, name) = try await withKeptName(credentials)
            let message = JSONObject(["credentials": .object(credentials.message)])
            let (response, former) = try await withSession(.call(.linkProvider, message), deadline)
            await keeper.forgetName(name)
            if let session = response.object("session") {
                do {
                    try await keeper.replace(former, by: try keeper.server.tokens(session.object("tokens")))
                } catch let failure as CallFailure {
                    throw failure.error
                }
            }
            return response.list("providers")
        }
    }

    // MARK: The picture

    /// Keeps a picture as the user's: PNG, JPEG or WebP, without animation, of at most 4096 pixels each way, and of half a MiB unless
    /// the server is configured otherwise. Scale it down first.
    ///
    /// - Returns: The URL of the picture as the server keeps it.
    /// - Throws: ``VestibuleError`` with `AVATAR_INVALID`, `AVATAR_TOO_LARGE` and others, or `CancellationError`.
    @discardableResult
    public func setAvatar(_ image: Data, deadline: Duration? = nil) async throws -> URL? {
        let profile = try await avatar("PUT", image, deadline)
        return avatarURL(profile.text("avatar_url"))
    }

    /// Removes the user's picture. Succeeds if there is none.
    public func removeAvatar(deadline: Duration? = nil) async throws {
        _ = try await avatar("DELETE", Data(), deadline)
    }

    /// The whole URL of a picture, of which ``Profile/avatarURL`` and ``Member/avatarURL`` may have the path alone.
    public func avatarURL(_ text: String?) -> URL? {
        text.flatMap { URL(string: $0, relativeTo: url)?.absoluteURL }
    }

    private func avatar(_ method: String, _ image: Data, _ deadline: Duration?) async throws -> JSONObject {
        let type = image.isEmpty ? nil : "application/octet-stream"
        return try await until(deadline) { [self] deadline in
            try await withSession(.route(method: method, path: "/me/avatar", body: image, type: type), deadline)
                .response
        }
    }
}
