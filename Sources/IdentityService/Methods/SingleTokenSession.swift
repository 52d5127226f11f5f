import API
import IdentityDomain
import Models
import Postgres
import RPC

/// What CheckSession, RenewSingleToken and UseBrowserSession have in common.
extension IdentityMethods {
    /// A session and the claims of its single token, which is ours; the session is alive.
    struct SingleTokenSession {
        let claims: SingleClaims
        let state: SingleSessionState
    }

    /// The live session of a single token that was verified.
    ///
    /// - Parameter acceptsExpired: whether the token may be past its end.
    nonisolated(nonsending) func aliveSession(
        of claims: SingleClaims,
        acceptsExpired: Bool,
        deadline: Deadline?
    ) async throws -> SingleTokenSession {
        let now = clock.nowMilliseconds
        if !acceptsExpired { try claims.checkLifetime(nowSeconds: now / 1000) }
        let state = try await store.aliveSession(
            of: claims,
            sessionsFrom: sessionEpoch.sessionsFrom(deadline: deadline),
            nowMilliseconds: now,
            deadline: deadline
        )
        return SingleTokenSession(claims: claims, state: state)
    }

    /// Writes down that the session was used, if that was long ago and no other call does. What goes wrong is counted: the
    /// call that used it is answered all the same, and a later one tries again.
    nonisolated(nonsending) func recordUse(of session: SingleTokenSession) async {
        await recordUse(of: session.claims.sessionID, lastUsedAtMilliseconds: session.state.lastUsedAtMilliseconds)
    }

    /// The same, of a session whose last recorded use is known.
    nonisolated(nonsending) func recordUse(of sessionID: SessionID, lastUsedAtMilliseconds: Int64) async {
        let now = clock.nowMilliseconds
        let isDue = store.limits
            .isUseToBeRecorded(lastUsedAtMilliseconds: lastUsedAtMilliseconds, nowMilliseconds: now)
        guard isDue, sessionUses.begin(sessionID, nowMilliseconds: now) else { return }
        // A deadline of its own: what one caller leaves no time for must not look like a database that can't write.
        do {
            try await store.recordUse(of: sessionID, nowMilliseconds: now, deadline: .after(SessionUses.writeLimit))
            sessionUses.end(sessionID, .recorded, nowMilliseconds: now)
        } catch {
            let isCallersEnd = if case .cancelled = error { true } else { false }
            sessionUses.end(sessionID, isCallersEnd ? .abandoned : .failed, nowMilliseconds: now)
        }
    }
}
