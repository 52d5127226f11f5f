import API
import IdentityDomain
import Logging
import Models
import Postgres
import RPC
import ServiceKit
import ServiceStore

/// What came of telling profile of a proof.
enum ProofDelivery: Sendable, Hashable {
    /// Profile has decided it, and that is written down.
    case settled(PhoneProofOutcome)
    /// The user's account was absorbed by another one, or is on the way: the proof is that one's, and told of it.
    case absorbed
    /// The number opens the account that it was imported with, which absorbs the user's: that isn't done yet.
    case opening
    /// The account that the number was imported with has absorbed the user's.
    case opened(UserID)
}

/// Tells profile which numbers are proven to be whose: at once, and by a relay where that fails.
struct PhoneProofs: Sendable {
    /// How long profile may take while somebody waits.
    static let promptTimeout = Duration.seconds(2)
    /// How long profile may take for a batch. The relay holds a transaction meanwhile.
    static let batchTimeout = Duration.seconds(5)
    /// The most proofs of a batch, which are told one after the other.
    static let batchMax = 20

    let relay: OutboxRelay<PhoneProofOutbox>
    private let outbox: PhoneProofOutbox
    private let teller: ProofSender
    private let store: IdentityStore
    private let logger: Logger

    /// Tells one proof.
    private struct ProofSender: Sendable {
        let profile: ProfileServiceClient
        let store: IdentityStore
        let opener: AccountOpener
        let clock: WallClock

        /// Tells profile, and writes down what it made of it; or opens the account that the number was imported with, and then the proof
        /// is that account's, and still to be told of it.
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

        /// The same for the relay, which has nothing to do then.
        func tellAll(_ event: PhoneProofEvent, _ deadline: Deadline) async throws {
            var event = event
            var told = try await tell(event, deadline)
            if case .opened(let holder) = told {
                event.userID = holder
                told = try await tell(event, deadline)
            }
            guard case .settled = told else { throw Self.setback }
        }

        /// The most who lose by one proof: whoever has the number, and whoever typed it before.
        private static let losersMax = 2

        private static var unknownOutcome: RPCError { RPCError(.unknown, "an outcome that is not known here") }

        /// It turns out later whose the proof is.
        private static var setback: OutboxSetback {
            let cause = IdentityError.link(.absorptionUnderWay)
            return OutboxSetback(reason: "ACCOUNT_HELD", cause: cause, isEventAtFault: false)
        }

        /// What profile answers.
        private enum Answer {
            case outcome(PhoneProofOutcome)
            /// Nothing was changed: this one's account may be opened.
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
                // As profile says it of an account that was closed.
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

    /// By what metrics and people name the outbox; profile is told of closed accounts by another one.
    static let receiver = "profile_phones"

    /// Nothing happens before something is told or the relay is run.
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

    /// What a call that failed means to the relay. Nothing is ever set aside: a number would lie here until somebody looked.
    private static func failure(_ error: RPCError) -> any Error {
        // It can't be told now whether one other account was seen: the proofs of others go on.
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

    /// Tells profile of a proof that was written down, for as long as somebody waits for it; not before an older one of the same user.
    ///
    /// - Returns: what came of it; nil if it is told later.
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

    /// Looks at what waits until the task is cancelled.
    func watch() async { await relay.metrics.watch(outbox, logger: logger) }
}
