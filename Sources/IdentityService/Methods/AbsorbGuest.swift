import API
import IdentityDomain
import Models
import RPC
import ServiceKit
import SwiftProtobuf

extension IdentityMethods {
    /// Merges a guest account into the caller's account, or deletes it. Both sides are proven: the caller by a recent sign-in by nonce or
    /// code, the guest by a live refresh token of the only session that opens the account, which never leaves the app as access tokens do.
    func absorbGuest(
        _ request: IdentityV1.AbsorbGuestRequest,
        context: ServerContext
    ) async throws -> IdentityV1.AbsorbGuestResponse {
        try await context.answer {
            let owner = try await owner(request.accessToken, context)
            let session = LinkingSession(userID: owner.userID, sessionID: owner.sessionID)
            let guest = try await guestSession(request.guestToken, context)
            switch request.guest {
            case .drop: try await drop(guest, by: session, context)
            case .merge: try await merge(guest, into: session, context)
            case .unspecified, .UNRECOGNIZED: throw IdentityError.guest(.outcomeMissing)
            }
            return .with { $0.guestUserID = guest?.userID.description ?? "" }
        }
    }

    /// The session of a guest's live refresh token; nil for one whose account is deleted: the answer before may have been lost.
    ///
    /// - Throws: `IdentityError.guest(.tokenInvalid)` for any other token, that of a session which has ended among them: it was linked, or
    ///   signed out.
    private func guestSession(_ text: String, _ context: ServerContext) async throws -> LinkingSession? {
        guard let token = mint.refreshKeys.verify(text) else { throw IdentityError.guest(.tokenInvalid) }
        let session = try await store.introspectedSession(
            token.sessionID,
            sessionsFrom: sessionEpoch.sessionsFrom(deadline: context.deadline),
            deadline: context.deadline
        )
        guard let session else { return nil }
        let end = session.end(of: token, limits: store.limits, nowMilliseconds: clock.nowMilliseconds)
        guard end != nil, session.state.session.isGuest else { throw IdentityError.guest(.tokenInvalid) }
        try check(session.key, context)
        return LinkingSession(userID: session.state.session.userID, sessionID: token.sessionID)
    }

    private func drop(_ guest: LinkingSession?, by session: LinkingSession, _ context: ServerContext) async throws {
        try await store.checkMayAbsorbGuest(
            session,
            nowMilliseconds: clock.nowMilliseconds,
            deadline: context.deadline
        )
        guard let guest else { return }
        do {
            let ground = ClosingGround.session(DeletingSession(sessionID: guest.sessionID, credentials: nil))
            let closing = try await close(guest.userID, why: .deleted, ground: ground, context)
            if closing.isNew { guests.count(.dropped) }
        } catch IdentityError.sessionRevoked {
            // Linked in this moment: it is no guest's any more.
            throw IdentityError.guest(.tokenInvalid)
        } catch IdentityError.accountNotFound, IdentityError.sessionInvalid {
            // Deleted or merged in this moment.
        }
    }

    private func merge(_ guest: LinkingSession?, into session: LinkingSession, _ context: ServerContext) async throws {
        let now = clock.nowMilliseconds
        guard let guest else {
            return try await store.checkMayAbsorbGuest(session, nowMilliseconds: now, deadline: context.deadline)
        }
        let id = identifiers.make(EventID.self)
        let begun = try await store.beginGuestAbsorption(
            id,
            of: guest,
            into: session,
            nowMilliseconds: now,
            deadline: context.deadline
        )
        do {
            guard try await absorber.finish(begun, isNew: begun.id == id) != nil else {
                throw IdentityError.link(.absorptionUnderWay)
            }
        } catch let error as IdentityError {
            throw error
        } catch {
            // It is gone on with, here or elsewhere.
            throw IdentityError.link(.absorptionUnderWay)
        }
    }
}
