import Models

/// What a session's row says when a token of it is presented.
public struct SessionState: Sendable, Hashable {
    /// Whose it is.
    public let userID: UserID
    /// Whether it was ended, by itself or with all others.
    public let isEnded: Bool
    /// When it was begun by a sign-in, in Unix milliseconds; 0 if it was ended by itself.
    public let begunAtMilliseconds: Int64
    /// When it ends at the latest, in Unix milliseconds.
    public let endsAtMilliseconds: Int64
    /// How it was proven.
    public let proof: Proof
    /// The only dialect in which it is good; nil for everywhere.
    public let dialect: String?

    /// The state of a session.
    public init(
        userID: UserID,
        isEnded: Bool,
        begunAtMilliseconds: Int64 = 0,
        endsAtMilliseconds: Int64,
        proof: Proof,
        dialect: String?
    ) {
        self.begunAtMilliseconds = begunAtMilliseconds
        self.userID = userID
        self.isEnded = isEnded
        self.endsAtMilliseconds = endsAtMilliseconds
        self.proof = proof
        self.dialect = dialect
    }

    /// Whether it is a guest's.
    public var isGuest: Bool { proof == .guest }

    /// Throws unless the session is alive now: `sessionInvalid` if it isn't that user's, `sessionRevoked` or
    /// `sessionExpired`.
    public func checkAlive(for userID: UserID, nowMilliseconds: Int64) throws(IdentityError) {
        guard userID == self.userID else { throw .sessionInvalid }
        if isEnded { throw .sessionRevoked }
        if endsAtMilliseconds <= nowMilliseconds { throw .sessionExpired }
    }

    /// For how long a gateway may go by this state, in milliseconds, as long as it hears which sessions end; zero if it must ask each time:
    /// a session that is good in one dialect only, or that is unproven, has to be judged with each request.
    ///
    /// - Parameters:
    ///   - untilMilliseconds: when what else the answer has must be renewed, in Unix milliseconds.
    public func goodForMilliseconds(nowMilliseconds: Int64, untilMilliseconds: Int64) -> Int64 {
        guard dialect == nil, proof != .unproven else { return 0 }
        return max(0, min(endsAtMilliseconds, untilMilliseconds) - nowMilliseconds)
    }

    /// Throws unless the session's sign-in is recent and proven enough for an act.
    ///
    /// - Parameter recentSeconds: the greatest age of a sign-in that is recent; 0 for every age.
    public func check(for act: AccountAct, nowMilliseconds: Int64, recentSeconds: Int64) throws(IdentityError) {
        let refusal = act.refusal(
            proof: proof,
            signedInMilliseconds: begunAtMilliseconds,
            nowMilliseconds: nowMilliseconds,
            recentSeconds: recentSeconds
        )
        if let refusal { throw IdentityError(refusal, recentSeconds: recentSeconds) }
    }

    /// Throws `sessionUnproven` unless the session is good where it is used.
    ///
    /// - Parameter dialect: the dialect that uses it; empty for none.
    public func checkProof(in dialect: String) throws(IdentityError) {
        if let bound = self.dialect {
            guard !dialect.isEmpty, bound == dialect else { throw .sessionUnproven }
        } else if proof == .unproven {
            throw .sessionUnproven
        }
    }
}

/// What a session's row says when its single token is presented.
public struct SingleSessionState: Sendable, Hashable {
    /// What it says of any session.
    public let session: SessionState
    /// When it was last used, in Unix milliseconds; `SessionLimits.useRecordedSeconds` too early at most.
    public let lastUsedAtMilliseconds: Int64
    /// What the row alone knows, and tokens of it.
    public let nonce: [UInt8]

    /// The state of a session.
    public init(session: SessionState, lastUsedAtMilliseconds: Int64, nonce: [UInt8]) {
        self.session = session
        self.lastUsedAtMilliseconds = lastUsedAtMilliseconds
        self.nonce = nonce
    }

    /// Throws unless the session is the token's and alive now, and was used within the inactivity limit.
    public func checkAlive(
        for claims: SingleClaims,
        limits: SessionLimits,
        nowMilliseconds: Int64
    ) throws(IdentityError) {
        // Neither is secret to the token's holder, so the comparison need not take constant time.
        guard nonce == claims.nonce else { throw .sessionInvalid }
        try session.checkAlive(for: claims.userID, nowMilliseconds: nowMilliseconds)
        guard nowMilliseconds < lastUsedAtMilliseconds + limits.inactivitySeconds * 1000 else { throw .sessionExpired }
    }
}
