import IdentityDomain
import JOSE
import Models
import Postgres
import RPC
import ServiceModels

extension IdentityStore {
    /// Exchanges a refresh token: what was decided, and the session with the number of the tokens to hand out.
    ///
    /// One statement decides, so concurrent refreshes agree: the row's lock lets them in one by one, and each judges
    /// the row as the one before left it. If the usual one finds nothing to do, it has done nothing.
    ///
    /// - Parameters:
    ///   - key: the key whose possession the client has proven.
    ///   - presentedAtMilliseconds: when its owner presented it, at most `nowMilliseconds`.
    /// - Returns: what was decided, and the session unless there is none: its tokens are to be handed out only if the
    ///   verdict has no fault.
    func refresh(
        _ token: RefreshToken,
        ofClient clientID: String?,
        key: JWKThumbprint?,
        presentedAtMilliseconds: Int64,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws(PostgresError) -> (verdict: RefreshVerdict, session: StoredSession?) {
        let lock = LockKey(token.sessionID.uuid)
        var rows = try await database.executeTogether(
            usualRefreshStatement(token, ofClient: clientID, key: key, nowMilliseconds: nowMilliseconds),
            key: lock,
            deadline: deadline
        )
        if rows.isEmpty {
            rows = try await database.executeTogether(
                refreshStatement(
                    token,
                    ofClient: clientID,
                    key: key,
                    presentedAtMilliseconds: presentedAtMilliseconds,
                    nowMilliseconds: nowMilliseconds
                ),
                key: lock,
                deadline: deadline
            )
        }
        guard let row = rows.first else { return (.mismatched, nil) }
        let (word, userID, provider, clientID, createdAt, endsAt, toldName) = try row.decode(
            String.self,
            PostgresUUID.self,
            String.self,
            String.self,
            PostgresTimestamp.self,
            PostgresTimestamp.self,
            String?.self
        )
        guard let verdict = RefreshVerdict(rawValue: word), let provider = ProviderName(provider) else {
            throw PostgresError.decoding(CellDecodingError(column: 0, reason: "an unknown verdict or provider name"))
        }
        let facts = SessionFacts(
            userID: UserID(userID),
            sessionID: token.sessionID,
            provider: provider,
            clientID: clientID,
            signedInAtSeconds: createdAt.secondsSince1970,
            proof: try row.decode(13),
            key: try row.decode(14)
        )
        let session = StoredSession(
            facts: facts,
            nonce: token.nonce,
            number: UInt32(clamping: try row.decode(15, as: Int64.self)),
            toldName: toldName,
            endsAtSeconds: endsAt.secondsSince1970,
            accountNumber: try row.decode(7),
            email: EmailFacts(
                address: try row.decode(8),
                isVerified: try row.decode(9),
                isPrivate: try row.decode(10)
            ),
            scope: try row.decode(11),
            resource: try row.decode(12)
        )
        return (verdict, session)
    }

    /// What is read of a row of `sessions session` that ``sessionState(_:_:_:_:_:sessionsFrom:)`` takes. When it was begun is
    /// null if it was ended by itself.
    static let sessionStateColumns =
        "user_id, CASE WHEN revoked_at IS NULL THEN created_at END, expires_at, proof, dialect"

    private static let sessionStateRead = KeyedRead(
        "\(sessionStateColumns), \(base), \(previous), \(firstChild)",
        from: "sessions session",
        key: "session_id",
        keyType: .uuid
    )

    static func sessionState(
        _ userID: PostgresUUID,
        _ begunAt: PostgresTimestamp?,
        _ endsAt: PostgresTimestamp,
        _ proof: Proof,
        _ dialect: String?,
        sessionsFrom: PostgresTimestamp
    ) -> SessionState {
        SessionState(
            userID: UserID(userID),
            isEnded: begunAt.map { $0 < sessionsFrom } ?? true,
            begunAtMilliseconds: begunAt?.milliseconds ?? 0,
            endsAtMilliseconds: endsAt.milliseconds,
            proof: proof,
            dialect: dialect
        )
    }

    /// The session of an access token, if it is alive: one indexed read, so that a revocation holds at once.
    ///
    /// - Parameter sessionsFrom: sessions that were begun before count as ended.
    /// - Throws: `IdentityError`, or what the database throws.
    nonisolated(nonsending) func aliveSession(
        of claims: AccessClaims,
        sessionsFrom: PostgresTimestamp,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> (state: SessionState, received: ReceivedNumbers) {
        let key = ReadKey(claims.sessionID.uuid)
        guard let row = try await database.row(Self.sessionStateRead, key: key, deadline: deadline) else {
            throw IdentityError.sessionInvalid
        }
        let (userID, begunAt, endsAt, proof, dialect, base, previous, firstChild) = try row.decode(
            PostgresUUID.self,
            PostgresTimestamp?.self,
            PostgresTimestamp.self,
            Proof.self,
            String?.self,
            Int64.self,
            Int64.self,
            Int64.self
        )
        let received = ReceivedNumbers(base: base, previous: previous, firstChild: firstChild)
        let state = Self.sessionState(userID, begunAt, endsAt, proof, dialect, sessionsFrom: sessionsFrom)
        try state.checkAlive(for: claims.userID, nowMilliseconds: nowMilliseconds)
        return (state, received)
    }
}

/// By its word in the column `proof`.
extension Proof: PostgresDecodable {}
