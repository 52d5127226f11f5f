import API
import IdentityDomain
import Logging
import Models
import Postgres
import RPC
import ServiceKit
import ServiceStore

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
    private let teller: Teller
    private let store: IdentityStore
    private let logger: Logger

    /// Tells one proof.
    private struct Teller: Sendable {
        let profile: ProfileServiceClient
        let store: IdentityStore
        let clock: WallClock

        /// Tells profile, and writes down what it made of it.
        func tell(_ event: PhoneProofEvent, _ deadline: Deadline) async throws -> PhoneProofOutcome {
            let outcome = try await claim(event, CallOptions(deadline: deadline))
            let isSettled = try await store.settle(
                event,
                as: outcome,
                nowMilliseconds: clock.nowMilliseconds,
                deadline: deadline
            )
            guard isSettled else {
                let cause = IdentityFault.link(.absorptionUnderWay)
                throw OutboxSetback(reason: "ACCOUNT_HELD", cause: cause, isEventAtFault: false)
            }
            return outcome
        }

        private func claim(
            _ event: PhoneProofEvent,
            _ options: CallOptions
        ) async throws(RPCError) -> PhoneProofOutcome {
            var request = ProfileV1.ClaimProvenPhoneRequest()
            request.eventID = event.eventID.description
            request.userID = event.userID.description
            request.phoneNumber = event.phoneNumber
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
                if error.code == .unauthenticated, error.reason == "SESSION_REVOKED" { return .accountClosed }
                throw error
            }
            switch response.outcome {
            case .proven: return .proven(takenFrom: UserID(response.takenFromUserID))
            case .conflict: return .conflict
            case .notAllowed: return .notAllowed
            case .unspecified, .UNRECOGNIZED: throw RPCError(.unknown, "an outcome that is not known here")
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
        clock: WallClock,
        logger: Logger
    ) {
        let teller = Teller(profile: profile, store: store, clock: clock)
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
                    _ = try await teller.tell(event, deadline)
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
    /// - Returns: what profile made of it; nil if it is told later.
    func tell(_ event: PhoneProofEvent, deadline: Deadline?) async -> PhoneProofOutcome? {
        let limit = Deadline.after(Self.promptTimeout)
        let end = deadline.map { min($0, limit) } ?? limit
        do {
            if try await store.hasOlderProof(than: event, deadline: end) {
                relay.nudge()
                return nil
            }
            return try await teller.tell(event, end)
        } catch {
            let code = (error as? RPCError)?.code.description ?? "none"
            logger.warning("profile is told later of a proven number", metadata: ["rpc_code": "\(code)"])
            relay.nudge()
            return nil
        }
    }

    /// Looks at what waits until the task is cancelled.
    func watch() async { await relay.metrics.watch(outbox, logger: logger) }
}
