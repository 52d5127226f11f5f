import HTTPJSON
import HTTPTypes

/// A simulated endpoint of a provider.
struct Endpoint: Sendable, Hashable {
    let provider: Provider
    /// One of the provider's `endpoints`.
    let name: String

    /// Every endpoint, in the order of the pages and counts.
    static let all = Provider.allCases.flatMap { provider in
        provider.endpoints.map { Endpoint(provider: provider, name: $0) }
    }
}

extension Route {
    /// A route of an endpoint: each call is counted, and misbehaves if that was requested.
    static func of(
        _ provider: Provider,
        _ name: String,
        _ store: SimulatorStore,
        _ method: HTTPRequest.Method,
        _ path: String,
        _ work: @escaping Handler
    ) -> Route {
        let endpoint = Endpoint(provider: provider, name: name)
        precondition(provider.endpoints.contains(name), "\(name) is not an endpoint of \(provider)")
        return Route(method, path) { request, context in
            try await store.beginCall(endpoint).answer(context) { try await work(request, context) }
        }
    }
}
