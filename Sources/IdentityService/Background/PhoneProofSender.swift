import API
import IdentityDomain
import Models
import RPC
import ServiceKit

/// Delivers one proof of a phone number to profile.
struct PhoneProofSender: Sendable {
    let profile: ProfileServiceClient
    let store: IdentityStore
    let opener: AccountOpener
    let clock: WallClock

    /// Delivers the proof to profile and stores the outcome. If profile answers that the number opens an imported account, opens
    /// that account; then the proof belongs to it and is still to be delivered for it.
    func deliver(_ event: PhoneProofEvent, _ deadline: Deadline) async throws -> ProofDelivery {
        var answer = try await claim(event, mayOpen: true, CallOptions(deadline: deadline))
        if case .opens(let holder) = answer {
            let ground = AccountOpening.Ground.proof(event.proof, isSignInProven: event.isSignInProven)
            switch try await opener.open(holder, for: event.userID, ground, deadline: deadline) {
            case .opened: return .opened(holder)
            case .isUnderWay: return .opening
            case .mustWait: throw Self.setback
            case .refused: answer = try await claim(event, mayOpen: false, CallOptions(deadline: deadline))
            }
        }
        guard case .outcome(let outcome) = answer else { throw Self.unknownOutcome }
        let isSettled = try await store.settle(
            event,
            as: outcome,
            nowMilliseconds: clock.nowMilliseconds,
            deadline: deadline
        )
        return isSettled ? .settled(outcome) : .absorbed
    }

    /// The same for a proof that waits. Returns only if it is settled.
    func settle(_ event: PhoneProofEvent, _ deadline: Deadline) async throws {
        var event = event
        var told = try await deliver(event, deadline)
        if case .opened(let holder) = told {
            event.userID = holder
            told = try await deliver(event, deadline)
        }
        guard case .settled = told else { throw Self.setback }
    }

    /// The maximum of users who lose the number by one proof: the user who has it, and the user who typed it before.
    private static let losersMax = 2

    private static var unknownOutcome: RPCError { RPCError(.unknown, "an outcome that is not known here") }

    /// Which account the proof belongs to is decided later.
    private static var setback: WorkSetback {
        let cause = IdentityError.link(.absorptionUnderWay)
        return WorkSetback(reason: "ACCOUNT_HELD", cause: cause, isItemAtFault: false)
    }

    /// Profile's response.
    private enum Answer {
        case outcome(PhoneProofOutcome)
        /// Nothing was changed: the account of this user may be opened.
        case opens(UserID)
    }

    private func claim(
        _ event: PhoneProofEvent,
        mayOpen: Bool,
        _ options: CallOptions
    ) async throws(RPCError) -> Answer {
        var request = ProfileV1.ClaimProvenPhoneRequest()
        request.eventID = event.eventID.description
        request.userID = event.userID.description
        request.phoneNumber = event.phoneNumber
        request.mayOpen = mayOpen
        // A duration, since profile's clock is another one.
        if let acceptedAt = event.acceptedAtMilliseconds {
            request.acceptedForMs = max(0, clock.nowMilliseconds - acceptedAt)
        }
        request.proof =
            switch event.proof {
            case "provider": .provider
            case "import": .import
            default: .assertion
            }
        let response: ProfileV1.ClaimProvenPhoneResponse
        do {
            response = try await profile.claimProvenPhone(request, options: options)
        } catch {
            // This is profile's error for a closed account.
            if error.code == .unauthenticated, error.reason == "SESSION_REVOKED" { return .outcome(.accountClosed) }
            throw error
        }
        switch response.outcome {
        case .proven:
            let losers = [response.takenFromUserID] + response.alsoTakenFromUserIds.prefix(Self.losersMax - 1)
            return .outcome(.proven(takenFrom: losers.compactMap { UserID($0) }))
        case .conflict: return .outcome(.conflict)
        case .notAllowed: return .outcome(.notAllowed)
        case .outdated: return .outcome(.outdated)
        case .opens:
            guard mayOpen, let holder = UserID(response.holderUserID) else { throw Self.unknownOutcome }
            return .opens(holder)
        case .unspecified, .UNRECOGNIZED: throw Self.unknownOutcome
        }
    }
}
