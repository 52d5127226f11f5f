import IdentityDomain
import Models
import Synchronization

/// Lets through those questions to one provider that ``ExchangeAdmission`` admits. Any thread.
final class ProviderGate: Sendable {
    /// A question that was let through; ``end(wasRefused:)`` must follow, once.
    struct Pass: Sendable {
        fileprivate let gate: ProviderGate
        fileprivate let client: String
        fileprivate let address: [UInt8]?

        /// The question was answered, or will not be.
        ///
        /// - Parameter wasRefused: whether the provider said that the code or token is not good.
        func end(wasRefused: Bool) {
            gate.admission.withLock { admission in
                admission.ended(
                    client: client,
                    address: address,
                    wasRefused: wasRefused,
                    nowMilliseconds: gate.clock.nowMilliseconds
                )
            }
        }
    }

    private let admission = Mutex(ExchangeAdmission())
    private let clock: WallClock

    /// A gate that nobody has gone through.
    init(clock: WallClock) {
        self.clock = clock
    }

    /// Lets a question through.
    ///
    /// - Throws: `IdentityError`: the provider is busy, or too many of these were refused.
    func pass(client: String, address: [UInt8]?) throws(IdentityError) -> Pass {
        let now = clock.nowMilliseconds
        switch admission.withLock({ $0.admit(client: client, address: address, nowMilliseconds: now) }) {
        case .admitted: return Pass(gate: self, client: client, address: address)
        case .busy: throw .providerUnavailable
        case .tooManyRefused(let milliseconds):
            throw .exchange(.tooManyRefused(retryAfterMilliseconds: max(1, milliseconds)))
        }
    }
}
