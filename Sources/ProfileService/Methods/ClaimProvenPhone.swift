import API
import Logging
import Models
import ProfileDomain
import RPC
import ServiceKit

extension ProfileMethods {
    /// Takes a number for a user who has proven it. For identity alone.
    func claimProvenPhone(
        _ request: ProfileV1.ClaimProvenPhoneRequest,
        context: ServerContext
    ) async throws -> ProfileV1.ClaimProvenPhoneResponse {
        try await context.answer {
            let userID = try UserID(request.userID, or: ProfileError.userIDInvalid)
            let eventID = try EventID(request.eventID, or: ProfileError.eventIDInvalid)
            guard let proof = PhoneProof(request.proof) else { throw ProfileError.proofUnknown }
            var response = ProfileV1.ClaimProvenPhoneResponse()
            guard let phone = try allowed(request.phoneNumber) else {
                // Without the number: it belongs to a person, even if it isn't accepted here.
                logger.warning("a proven number is none that is taken here", metadata: ["proof": "\(proof.rawValue)"])
                response.outcome = .notAllowed
                let profile = try await store.profile(of: userID, deadline: context.deadline)
                response.profile = ProfileV1.Profile(profile, required: requiredFields)
                return response
            }
            let claim = ProvenPhone(
                eventID: eventID,
                userID: userID,
                phone: phone,
                proof: proof,
                mayOpen: request.mayOpen,
                // By the same clock as the time of the user's choice.
                outdatedAfterMilliseconds: request.hasAcceptedForMs
                    ? clock.nowMilliseconds - min(max(0, request.acceptedForMs), clock.nowMilliseconds) : nil
            )
            let (profile, outcome) = try await claimed(claim, context)
            response.profile = ProfileV1.Profile(profile, required: requiredFields)
            switch outcome {
            case .settled(.proven(let takenFrom)):
                response.outcome = .proven
                response.takenFromUserID = takenFrom.first?.description ?? ""
                response.alsoTakenFromUserIds = takenFrom.dropFirst().map(\.description)
            case .settled(.conflict): response.outcome = .conflict
            case .settled(.outdated): response.outcome = .outdated
            case .opens(let holder):
                response.outcome = .opens
                response.holderUserID = holder.description
            }
            return response
        }
    }

    /// The number; nil if the policy doesn't accept it.
    private func allowed(_ text: String) throws(ProfileError) -> PhoneNumber? {
        do throws(PhoneNumber.Fault) {
            return try PhoneNumber(text, policy: phonePolicy)
        } catch {
            if error == .libraryFailed { throw .phoneUnreadable }
            return nil
        }
    }

    /// How many holders are judged: if the number changes hands meanwhile.
    private static let holdersMax = 3

    /// The outcome of a claim.
    private enum Claimed {
        case settled(ProvenPhoneOutcome)
        /// Nothing was changed: identity may open this user's account.
        case opens(UserID)
    }

    /// Carries a claim out. If another user has proven the number too, identity is asked about them: a user whose account was closed, or
    /// who wasn't seen for long, loses the number.
    private func claimed(
        _ claim: ProvenPhone,
        _ context: ServerContext
    ) async throws -> (Profile, Claimed) {
        var judgement: ProvenClaim.Judgement?
        for _ in 0...Self.holdersMax {
            let step = try await store.claimProven(
                claim,
                judgement: judgement,
                nowMilliseconds: clock.nowMilliseconds,
                deadline: context.deadline
            )
            switch step {
            case .settled(let profile, let outcome, let hasEvents):
                if hasEvents { phoneChanged() }
                return (profile, .settled(outcome))
            case .opens(let holder, let profile): return (profile, .opens(holder))
            case .judge(let holder):
                let state = try await closings.state(of: holder)
                if state.isClosed { try await close(holder, context) }
                let isIdle = ProvenClaim.isIdle(
                    lastSeenMilliseconds: state.lastSeenAtMs,
                    idleMilliseconds: store.limits.provenIdleMilliseconds,
                    nowMilliseconds: clock.nowMilliseconds
                )
                judgement = ProvenClaim.Judgement(userID: holder, isIdle: isIdle)
            }
        }
        throw ProfileError.holderUnknown
    }
}

extension PhoneProof {
    /// The proof of a message; nil for none.
    init?(_ message: ProfileV1.PhoneProof) {
        switch message {
        case .provider: self = .provider
        case .assertion: self = .assertion
        case .import: self = .imported
        case .unspecified, .UNRECOGNIZED: return nil
        }
    }

    /// The message's value for it.
    var message: ProfileV1.PhoneProof {
        switch self {
        case .provider: .provider
        case .assertion: .assertion
        case .imported: .import
        }
    }
}
