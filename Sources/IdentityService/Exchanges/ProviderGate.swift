import IdentityDomain
import Models
import Synchronization

/// Admits those requests to one provider that ``ExchangeAdmission`` allows. Any thread.
final class ProviderGate: Sendable {
    /// An admitted request; ``end(wasRefused:)`` must follow, once.
    struct Pass: Sendable {
        fileprivate let gate: ProviderGate
        fileprivate let client: String
        fileprivate let address: [UInt8]?

        /// To be called when the request was answered, or will not be.
        ///
        /// - Parameter wasRefused: whether the provider said that the code or token is invalid.
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

    /// A gate without admitted requests.
    init(clock: WallClock) {
        self.clock = clock
    }

    /// Admits a request.
    ///
    /// - Throws: `IdentityError`: the provider is busy, or it refused too many requests of this client or address.
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
