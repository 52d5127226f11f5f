extension Vestibule {
    /// Opens an account that no provider opens, and its only session: when that is over, the account is lost.
    ///
    /// It does the proof of work that the server demands, outside of the main actor and within the deadline.
    /// ``linkProvider(_:deadline:)`` makes it a full account with the same user id.
    ///
    /// - Parameter deviceName: The name of the device in the user's list of sessions.
    /// - Throws: ``VestibuleError`` with `SIGNED_IN` if somebody is signed in, since a guest who is replaced is lost; `TOO_MANY_GUESTS`,
    ///   `GUESTS_NOT_ENABLED`, `TIMEOUT` and others; `CancellationError`.
    @discardableResult
    public func signInAsGuest(deviceName: String? = nil, deadline: Duration? = nil) async throws -> SignIn {
        try await until(deadline) { [self] deadline in
            do {
                return try await openGuest(deviceName, deadline)
            } catch let error as VestibuleError where error.code == .workExpired || error.code == .workSpent {
                return try await openGuest(deviceName, deadline)
            }
        }
    }

    private func openGuest(_ deviceName: String?, _ deadline: Deadline) async throws -> SignIn {
        guard try await keeper.record().session == nil else { throw VestibuleError.signedIn }
        let made = try await open(.createGuestChallenge, JSONObject(), deadline)
        let bits: Int32 = made.value("workBits")
        guard let challenge = made.text("challenge"), 0...GuestWork.bitsMax ~= bits else {
            throw VestibuleError.badResponse(status: 200)
        }
        // Also without work: the server answers the same proof within a minute with the same session.
        var message = JSONObject(["proofOfWork": .text(try await GuestWork.proof(challenge, bits: bits))])
        message.set("deviceName", deviceName)
        var response = try await open(.signInAsGuest, message, deadline)
        var session = try keeper.server.tokens(response.object("tokens"))
        session.isGuest = true
        try await keeper.begin(session)
        response.members["isNewUser"] = .bool(true)
        return Self.signIn(response)
    }

    /// The user id of the guest who has signed in to another account since, until ``absorbGuest(_:deadline:)`` has decided about it; else
    /// nil. A sign-out signs that guest out, too.
    ///
    /// - Throws: ``VestibuleError`` with `STORE_FAILED`.
    public var keptGuest: String? {
        get async throws { try await keeper.record().guest?.userID }
    }

    /// Merges the guest that is kept into the account that is signed in, or deletes it (``GuestOutcome/drop``) with all it has.
    ///
    /// Ask the user which, and never merge unasked: somebody else may have been the guest. It needs a sign-in of the last minutes by a
    /// nonce or a code. The guest stays kept until this has succeeded, or failed with `GUEST_TOKEN_INVALID`.
    ///
    /// - Throws: ``VestibuleError`` with `GUEST_TOKEN_INVALID`, also if no guest is kept; `RECENT_SIGN_IN_REQUIRED`, `PROOF_REQUIRED`,
    ///   `ACCOUNT_HELD` and others; `CancellationError`.
    public func absorbGuest(_ outcome: GuestOutcome, deadline: Duration? = nil) async throws {
        guard let guest = try await keeper.record().guest else {
            throw VestibuleError(.guestTokenInvalid, "No guest is kept.")
        }
        var message = JSONObject(["guestToken": .text(guest.refreshToken)])
        message.set("guest", outcome)
        var refusal: VestibuleError?
        do {
            _ = try await call(.absorbGuest, message, deadline: deadline)
        } catch let error as VestibuleError where error.code == .guestTokenInvalid {
            refusal = error
        }
        await keeper.forget(guest)
        if let refusal { throw refusal }
    }
}
