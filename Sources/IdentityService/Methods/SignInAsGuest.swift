import API
import IdentityDomain
import Models
import RPC
import ServiceKit

extension IdentityMethods {
    /// Creates a guest account, and opens its session.
    func signInAsGuest(
        _ request: IdentityV1.SignInAsGuestRequest,
        context: ServerContext
    ) async throws -> IdentityV1.SignInAsGuestResponse {
        // A request that is repeated within a minute gets the same session. Without a proof of work it can't be recognized.
        try await context.answer(mayBeRepeated: !request.proofOfWork.isEmpty) {
            do {
                let session = try await guestSession(request, context)
                var response = IdentityV1.SignInAsGuestResponse()
                response.tokens = try tokens(of: session, context)
                if let proofs = callerProofs(of: session, for: context) { response.callerProofs = proofs }
                guests.count(.created)
                return response
            } catch {
                if let outcome = GuestMetrics.Outcome(error) { guests.count(outcome) }
                throw error
            }
        }
    }

    private func guestSession(
        _ request: IdentityV1.SignInAsGuestRequest,
        _ context: ServerContext
    ) async throws -> StoredSession {
        guard guestPolicy.areOn else { throw IdentityError.guest(.notEnabled) }
        let now = clock.nowMilliseconds
        var challenge: SolvedChallenge?
        if !request.proofOfWork.isEmpty {
            challenge = try guestChallenges.solved(request.proofOfWork, nowSeconds: now / 1000)
        } else if guestPolicy.workBits > 0 {
            throw IdentityError.guest(.workRequired)
        }
        let guest = NewGuest(
            new: try newSession(context),
            challenge: challenge,
            deviceName: DeviceName.accept(request.deviceName),
            addressCode: addressKey.code(of: context.metadata),
            siteCode: addressKey.siteCode(of: context.metadata)
        )
        return try await store.openGuest(
            guest,
            guestPolicy,
            nowMilliseconds: now,
            deadline: context.deadline
        ).session
    }
}
