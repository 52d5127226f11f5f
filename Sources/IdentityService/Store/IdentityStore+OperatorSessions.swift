import IdentityDomain
import Models
import Postgres
import RPC
import ServiceModels

/// A session as an operator sees it.
struct OperatorSession: Sendable, Hashable {
    let sessionID: SessionID
    let provider: String
    let clientID: String
    let deviceName: String?
    let proof: String
    let createdAtMilliseconds: Int64
    let lastUsedAtMilliseconds: Int64
    let expiresAtMilliseconds: Int64
    let isLive: Bool
    /// A word of `SessionEnd`; nil if nothing but time ended it.
    let endReason: String?
}

extension IdentityStore {
    /// The most sessions that an operator sees of an account.
    static let operatorSessionsMax = 100

    /// The sessions of an account that are kept, the one used last first, and whether there are more.
    func keptSessions(
        of userID: UserID,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws(PostgresError) -> (sessions: [OperatorSession], hasMore: Bool) {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let rows = try await database.query(
            """
            SELECT session_id, provider, client_id, device_name, proof, created_at, last_used_at, expires_at,
                NOT \(unsafeSQL: Self.isEnded) AND expires_at > \(now) AND last_used_at > \(idleStart(now)), revoke_reason
            FROM sessions session WHERE user_id = \(userID.uuid)
            ORDER BY last_used_at DESC, session_id DESC LIMIT \(Int64(Self.operatorSessionsMax + 1))
            """,
            deadline: deadline
        )
        var sessions: [OperatorSession] = []
        for row in rows.prefix(Self.operatorSessionsMax) {
            let (id, provider, clientID, device, proof, createdAt, lastUsedAt, expiresAt, isLive, endReason) =
                try row.decode(
                    PostgresUUID.self,
                    String.self,
                    String.self,
                    String?.self,
                    String.self,
                    PostgresTimestamp.self,
                    PostgresTimestamp.self,
                    PostgresTimestamp.self,
                    Bool.self,
                    String?.self
                )
            sessions.append(
                OperatorSession(
                    sessionID: SessionID(id),
                    provider: provider,
                    clientID: clientID,
                    deviceName: device,
                    proof: proof,
                    createdAtMilliseconds: createdAt.milliseconds,
                    lastUsedAtMilliseconds: lastUsedAt.milliseconds,
                    expiresAtMilliseconds: expiresAt.milliseconds,
                    isLive: isLive,
                    endReason: endReason
                )
            )
        }
        return (sessions, rows.count > Self.operatorSessionsMax)
    }
}
