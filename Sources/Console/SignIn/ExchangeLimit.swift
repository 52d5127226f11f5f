import HTTPJSON
import HTTPTypes
import ServiceKit
import Synchronization

/// Bounds the sign-ins that wait for the provider at once: anybody who reaches the console can begin them.
final class ExchangeLimit: Sendable {
    /// The most at once.
    static let countMax = 8
    /// Of these, the most of one IPv4 address or one site's IPv6 network of 48 bits, so that no stranger keeps operators out.
    static let countOfOneMax = 2

    private let counts = Mutex<[ClientAddress: Int]>([:])

    /// Runs an exchange of a client.
    ///
    /// - Throws: a problem with the time to wait, if there are too many; what `exchange` throws.
    func run<Value>(for client: ClientAddress, _ exchange: () async throws -> Value) async throws -> Value {
        // A site with a /48 has 65,536 of the /64 that count as a client elsewhere.
        let one = client.site.map { ClientAddress.v6(prefix: $0 << 16) } ?? client
        try enter(one)
        defer { leave(one) }
        return try await exchange()
    }

    private func enter(_ one: ClientAddress) throws(Problem) {
        try counts.withLock { counts throws(Problem) in
            guard counts[one, default: 0] < Self.countOfOneMax else {
                throw Self.problem(
                    .tooManyRequests,
                    "RATE_LIMITED",
                    "Too many sign-ins from your address wait for the provider."
                )
            }
            guard counts.values.reduce(0, +) < Self.countMax else {
                throw Self.problem(.serviceUnavailable, "UNAVAILABLE", "Too many sign-ins wait for the provider.")
            }
            counts[one, default: 0] += 1
        }
    }

    private func leave(_ one: ClientAddress) {
        counts.withLock { counts in
            let left = counts[one, default: 1] - 1
            counts[one] = left == 0 ? nil : left
        }
    }

    /// The code of the sign-in is not used up: the page can be loaded again.
    private static func problem(_ status: HTTPResponse.Status, _ code: String, _ detail: String) -> Problem {
        Problem(status, code: code, detail: "\(detail) Load this page again in a few seconds.")
            .retryingAfter(ProviderDocuments.timeout)
    }
}
