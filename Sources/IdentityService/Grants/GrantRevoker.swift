import IdentityDomain
import Logging
import Models
import OutgoingHTTP
import ServiceKit

/// Revokes the tokens of deleted accounts and of unlinked providers, until the provider has answered.
///
/// The steps of a token: it is leased, longer with each try → the provider is asked → it has answered, and the token is deleted. If a
/// replica is killed in between, another one leases the token when the lease is over; revoking twice is no error (RFC 7009 section 2.2).
struct GrantRevoker: Sendable {
    /// How long a token that can't be revoked is kept. Then it is deleted, and the consent stays at the provider.
    static let givenUpAfterMilliseconds: Int64 = 30 * 86_400_000
    /// The pause between two looks for tokens.
    static let interval: Duration = .seconds(5)
    /// How many tokens are leased together: all are revoked well within their lease of a minute.
    static let takenTogetherMax = 32
    /// The maximum of concurrent revocations.
    static let atOnceMax = 8

    private let endpoints: [ProviderName: GrantEndpoints]
    private let store: IdentityStore
    private let keys: CurrentKeys
    private let metrics: GrantMetrics
    private let clock: WallClock
    private let logger: Logger

    /// A revoker for these providers.
    init(
        _ providers: [ProviderName: ProviderConfiguration],
        http: any OutgoingClient,
        store: IdentityStore,
        keys: CurrentKeys,
        metrics: GrantMetrics,
        clock: WallClock,
        logger: Logger
    ) {
        endpoints = providers.mapValues { GrantEndpoints($0, http: http, clock: clock) }
        self.store = store
        self.keys = keys
        self.metrics = metrics
        self.clock = clock
        self.logger = logger
    }

    /// Revokes until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            await round()
            try? await Task.sleep(for: Self.interval)
        }
    }

    /// Revokes all that is to be revoked now.
    func round() async {
        // Without keys no token can be opened, and a try would be wasted.
        guard let vault = keys.current.vault else { return }
        do {
            var count = Self.takenTogetherMax
            while count == Self.takenTogetherMax, !Task.isCancelled {
                let grants = try await store.claimRevocations(
                    limit: Self.takenTogetherMax,
                    nowMilliseconds: clock.nowMilliseconds
                )
                count = grants.count
                _ = await withEach(of: grants, atOnce: Self.atOnceMax) { grant in await revoke(grant, vault) }
            }
        } catch {
            guard !Task.isCancelled else { return }
            logger.warning("tokens are not revoked, will try again", metadata: ["cause": "\(error)"])
        }
    }

    private func revoke(_ grant: StoredGrant, _ vault: VaultKeys) async {
        let place = grant.place
        guard let endpoints = endpoints[place.provider] else {
            return tell(place, .notConfigured, "the provider isn't configured any more")
        }
        // The provider has no revocation endpoint: there is nothing to wait for.
        guard endpoints.canRevoke else { return await forget(place, .noEndpoint) }
        let token: String
        do throws(VaultError) {
            token = try vault.open(grant.sealed, at: place)
        } catch {
            let cause = error == .keyUnknown ? "the key \(grant.sealed.keyID) isn't there" : "the row was changed"
            return tell(place, .unopened, cause)
        }
        let (answer, cause) = await endpoints.revoke(token, clientID: place.clientID)
        guard answer == .revoked else { return tell(place, GrantMetrics.Asked(answer), cause) }
        await forget(place, .done)
    }

    private func forget(_ place: GrantPlace, _ outcome: GrantMetrics.Asked) async {
        do {
            try await store.forgetRevoked(place, nowMilliseconds: clock.nowMilliseconds)
            metrics.countRevocation(place.provider, outcome)
        } catch {
            tell(place, .failed, "\(error)")
        }
    }

    private func tell(_ place: GrantPlace, _ outcome: GrantMetrics.Asked, _ cause: String) {
        metrics.countRevocation(place.provider, outcome)
        logger.warning(
            "a token is not revoked, will try again",
            metadata: [
                "provider": "\(place.provider)", "client": "\(place.clientID)", "outcome": "\(outcome.rawValue)",
                "cause": "\(cause)",
            ]
        )
    }
}
