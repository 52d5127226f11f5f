import IdentityDomain
import Models
import ServiceKit

/// Metrics of the cached provider keys: fetches, numbers and ages.
struct ProviderKeyMetrics: MetricsSource {
    /// The metrics of a provider's keyring.
    struct Reading: Sendable {
        var provider: String
        var fetches: UInt64 = 0
        var failures: UInt64 = 0
        var keyCount = 0
        /// When the keys were fetched, in milliseconds since 1970; nil if they never were.
        var fetchedAt: Int64?
    }

    let keys: ProviderKeys
    let clock: WallClock

    func write(to text: inout MetricsText) {
        let readings = keys.readings.sorted { $0.provider < $1.provider }
        text.family(
            "vestibule_identity_key_fetches_total",
            .counter,
            help: "Attempts to fetch a provider's keys.",
            readings.flatMap { reading -> [(labels: [MetricsText.Label], value: Double)] in
                [
                    ([("provider", reading.provider), ("outcome", "ok")], Double(reading.fetches)),
                    ([("provider", reading.provider), ("outcome", "failed")], Double(reading.failures)),
                ]
            }
        )
        text.family(
            "vestibule_identity_keys",
            .gauge,
            help: "Keys of a provider that are kept.",
            readings.map { ([("provider", $0.provider)], Double($0.keyCount)) }
        )
        let now = clock.nowMilliseconds
        text.family(
            "vestibule_identity_key_age_seconds",
            .gauge,
            help: "Time since a provider's keys were fetched; nothing if they never were.",
            readings.compactMap { reading in
                reading.fetchedAt.map { ([("provider", reading.provider)], Double(max(0, now - $0)) / 1000) }
            }
        )
    }
}
