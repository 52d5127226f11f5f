import IdentityDomain
import JOSE
import Logging
import Models

/// The keys of all configured providers, shared by the loops: sign-ins are rare next to everything else, and a
/// provider must not be asked once for each loop.
final class ProviderKeys: Sendable {
    private let providers: [ProviderName: ProviderKeyring]

    /// Keys of these providers. Nothing is fetched before ``run()``.
    init(
        _ policies: some Sequence<ProviderPolicy>,
        fetcher: any KeyFetching,
        clock: WallClock,
        times: KeyCache.Times = KeyCache.Times(),
        logger: Logger
    ) {
        providers = Dictionary(
            uniqueKeysWithValues: policies.map { policy in
                let keyring = ProviderKeyring(
                    name: policy.name,
                    url: policy.keysURL,
                    fetcher: fetcher,
                    clock: clock,
                    times: times,
                    logger: logger
                )
                return (policy.name, keyring)
            }
        )
    }

    /// Performs the fetches that look-ups ask for, until the task is cancelled.
    func run() async {
        await withDiscardingTaskGroup { tasks in
            for keyring in providers.values {
                tasks.addTask { await keyring.run() }
            }
        }
    }

    /// The metrics of the fetches so far, for each provider.
    var readings: [ProviderKeyMetrics.Reading] { providers.values.map(\.reading) }

    /// Returns whether a provider has any usable keys now.
    func isServing(_ name: ProviderName) -> Bool { providers[name]?.isServing ?? false }

    /// The provider's key of this `kid`, fetched if need be.
    ///
    /// - Throws: `TokenRejection.keyUnknown`, or `IdentityError` for a provider that is unknown or cannot be reached.
    func key(id: String, algorithm: SignatureAlgorithm, of name: ProviderName) async throws -> VerificationKey {
        guard let keyring = providers[name] else { throw IdentityError.providerUnknown }
        return try await keyring.key(id: id, algorithm: algorithm)
    }

    /// The provider's key of this `kid`, if it is among the usable keys now. Nothing is fetched.
    func knownKey(id: String, algorithm: SignatureAlgorithm, of name: ProviderName) -> VerificationKey? {
        providers[name]?.knownKey(id: id, algorithm: algorithm)
    }
}
