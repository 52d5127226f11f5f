import API
import IdentityDomain
import Logging
import Models
import Postgres
import RPC
import ServiceKit
import ServiceStore

/// The result of a delivery of a proof to profile.
enum ProofDelivery: Sendable, Hashable {
    /// Profile has decided it, and the decision is stored.
    case settled(PhoneProofOutcome)
    /// Another account has absorbed the user's, or is about to: the proof belongs to that account, and is delivered for it.
    case absorbed
    /// The number opens the account that it was imported with. That account absorbs the user's, which isn't done yet.
    case opening
    /// The account that the number was imported with has absorbed the user's.
    case opened(UserID)
}

/// Delivers proofs of phone numbers to profile: at once, and by a relay if that fails.
struct PhoneProofs: Sendable {
    /// How long profile may take while a caller waits.
    static let promptTimeout = Duration.seconds(2)
    /// How long profile may take for a batch. The relay holds a transaction meanwhile.
    static let batchTimeout = Duration.seconds(5)
    /// The maximum of proofs in a batch. They are delivered one after the other.
    static let batchMax = 20

    let relay: OutboxRelay<PhoneProofOutbox>
    private let outbox: PhoneProofOutbox
    private let teller: ProofSender
    private let store: IdentityStore
    private let logger: Logger

    /// Delivers one proof.
    private struct ProofSender: Sendable {
        let profile: ProfileServiceClient
        let store: IdentityStore
        let opener: AccountOpener
        let clock: WallClock

        /// Delivers the proof to profile and stores the outcome. If profile answers that the number opens an imported account, opens
        /// that account; then the proof belongs to it and is still to be delivered for it.
        func tell(_ event: PhoneProofEvent, _ deadline: Deadline) async throws -> ProofDelivery {
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

        /// The same for the relay. Returns only if the proof is settled.
        func tellAll(_ event: PhoneProofEvent, _ deadline: Deadline) async throws {
            var event = event
            var told = try await tell(event, deadline)
            if case .opened(let holder) = told {
                event.userID = holder
                told = try await tell(event, deadline)
            }
            guard case .settled = told else { throw Self.setback }
        }

        /// The maximum of users who lose the number by one proof: the user who has it, and the user who typed it before.
        private static let losersMax = 2

        private static var unknownOutcome: RPCError { RPCError(.unknown, "an outcome that is not known here") }

        /// Which account the proof belongs to is decided later.
        private static var setback: OutboxSetback {
            let cause = IdentityError.link(.absorptionUnderWay)
            return OutboxSetback(reason: "ACCOUNT_HELD", cause: cause, isEventAtFault: false)
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

    /// The outbox's name in metrics and for operators. Closed accounts reach profile by another outbox.
    static let receiver = "profile_phones"

    /// Does nothing before a proof is delivered or the relay runs.
    init(
        database: PostgresClient,
        store: IdentityStore,
        profile: ProfileServiceClient,
        opener: AccountOpener,
        clock: WallClock,
        logger: Logger
    ) {
        let teller = ProofSender(profile: profile, store: store, opener: opener, clock: clock)
        self.teller = teller
        self.store = store
        self.logger = logger
        outbox = PhoneProofOutbox(
            database: database,
            rows: PhoneProofRows(),
            nowMilliseconds: { clock.nowMilliseconds }
        )
        var configuration = OutboxRelay<PhoneProofOutbox>.Configuration()
        configuration.batchEventsMax = Self.batchMax
        relay = OutboxRelay(store: outbox, receiver: Self.receiver, configuration: configuration, logger: logger) {
            events in
            let deadline = Deadline.after(Self.batchTimeout)
            for event in events {
                do {
                    try await teller.tellAll(event, deadline)
                } catch let error as RPCError {
                    throw Self.failure(error)
                }
            }
        }
    }

    /// What a failed call means to the relay. No proof is ever parked: a number would lie here until an operator looked.
    private static func failure(_ error: RPCError) -> any Error {
        // It is unknown for now whether one other account was seen. Proofs of other users go on.
        if error.reason == "HOLDER_UNKNOWN" {
            return OutboxSetback(reason: "HOLDER_UNKNOWN", cause: error, isEventAtFault: false)
        }
        switch error.outboxFailure {
        case let rejection as OutboxRejection:
            return OutboxSetback(reason: rejection.reason, cause: error, isEventAtFault: false)
        case let setback as OutboxSetback:
            return OutboxSetback(reason: setback.reason, cause: setback.cause, isEventAtFault: false)
        case let failure: return failure
        }
    }

    /// Delivers a stored proof to profile while the caller waits, but not before an older proof of the same user.
    ///
    /// - Returns: the result; nil if the proof is delivered later.
    func tell(_ event: PhoneProofEvent, deadline: Deadline?) async -> ProofDelivery? {
        let limit = Deadline.after(Self.promptTimeout)
        let end = deadline.map { min($0, limit) } ?? limit
        do {
            if try await store.hasOlderProof(than: event, deadline: end) {
                relay.nudge()
                return nil
            }
            let told = try await teller.tell(event, end)
            switch told {
            case .settled: break
            case .opening, .absorbed: relay.nudge()
            case .opened(let holder):
                var event = event
                event.userID = holder
                if case .settled? = try? await teller.tell(event, end) { break }
                relay.nudge()
            }
            return told
        } catch {
            let code = (error as? RPCError)?.code.description ?? "none"
            logger.warning("phone proof not delivered to profile; will retry", metadata: ["rpc_code": "\(code)"])
            relay.nudge()
            return nil
        }
    }

    /// Measures the backlog until the task is cancelled.
    func watch() async { await relay.metrics.watch(outbox, logger: logger) }
}
