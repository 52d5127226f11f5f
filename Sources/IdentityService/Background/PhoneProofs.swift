import IdentityDomain
import Logging
import Models
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

/// Delivers proofs of phone numbers to profile: at once, and later if that fails.
struct PhoneProofs: Sendable {
    /// How long profile may take while a caller waits.
    static let promptTimeout = Duration.seconds(2)

    /// Delivers the proofs that wait.
    let runner: WorkRunner<PhoneProofWork>
    private let store: IdentityStore
    private let logger: Logger

    private var sender: PhoneProofSender { runner.kind.sender }

    /// Does nothing before a proof is delivered or the runner runs.
    init(_ sender: PhoneProofSender, in work: WorkTable, store: IdentityStore, logger: Logger) {
        runner = WorkRunner(PhoneProofWork(sender: sender), in: work, logger: logger)
        self.store = store
        self.logger = logger
    }

    /// Delivers a stored proof to profile while the caller waits, but not before an older proof of the same user.
    ///
    /// - Returns: the result; nil if the proof is delivered later.
    func tell(_ event: PhoneProofEvent, deadline: Deadline?) async -> ProofDelivery? {
        let limit = Deadline.after(Self.promptTimeout)
        let end = deadline.map { min($0, limit) } ?? limit
        do {
            if try await store.hasOlderProof(than: event, deadline: end) {
                runner.nudge()
                return nil
            }
            let told = try await sender.deliver(event, end)
            switch told {
            case .settled: break
            case .opening, .absorbed: runner.nudge()
            case .opened(let holder):
                var event = event
                event.userID = holder
                if case .settled? = try? await sender.deliver(event, end) { break }
                runner.nudge()
            }
            return told
        } catch {
            let code = (error as? RPCError)?.code.description ?? "none"
            logger.warning("phone proof not delivered to profile; will retry", metadata: ["rpc_code": "\(code)"])
            runner.nudge()
            return nil
        }
    }
}
