import API
import RPC
import SwiftProtobuf
import Synchronization

/// Answers `grpc.health.v1.Health`: whether the process, and each service in it, can take calls now.
///
/// Any thread. A service counts as serving while its readiness says so and the process isn't draining.
public final class HealthService: HealthHandler, MetricsSource {
    private typealias Changes = AsyncStream<HealthV1.HealthCheckResponse.ServingStatus>

    private struct Watcher {
        let service: String
        let changes: Changes.Continuation
    }

    private struct State {
        /// Keyed by full service name; the empty name is the whole server.
        var isReady: [String: Bool]
        var isDraining = false
        var watchers: [Int: Watcher] = [:]
        var nextWatcher = 0

        func status(of service: String) -> HealthV1.HealthCheckResponse.ServingStatus? {
            isReady[service].map { $0 && !isDraining ? .serving : .notServing }
        }

        /// Tells the watchers where things stand. Under the lock, so that the last thing told is the last that was true.
        func tell() {
            for watcher in watchers.values { watcher.changes.yield(status(of: watcher.service) ?? .serviceUnknown) }
        }
    }
    private let state: Mutex<State>

    /// Most `Watch` calls at once; more end with RESOURCE_EXHAUSTED.
    public static let watchersMax = 1000

    /// Health of these services, none of which is ready yet.
    ///
    /// - Parameter services: full names, such as `vestibule.identity.v1.IdentityService`.
    public init(services: Set<String>) {
        var isReady = ["": false, HealthMethods.serviceName: true]
        for service in services { isReady[service] = false }
        state = Mutex(State(isReady: isReady))
    }

    /// Says whether a service, or with the empty name the whole server, can do its work. Unknown names are ignored.
    public func setReady(_ isReady: Bool, service: String) {
        state.withLock { state in
            guard state.isReady[service] != nil else { return }
            state.isReady[service] = isReady
            state.tell()
        }
    }

    /// Says it of the server and of every service.
    public func setReady(_ isReady: Bool) {
        state.withLock { state in
            for name in state.isReady.keys where name != HealthMethods.serviceName { state.isReady[name] = isReady }
            state.tell()
        }
    }

    /// From now on nothing is serving: load balancers stop sending calls here. Watchers get the status, and their calls end.
    public func beginDrain() {
        state.withLock { state in
            state.isDraining = true
            state.tell()
            for watcher in state.watchers.values { watcher.changes.finish() }
        }
    }

    /// The status of a service; nil if there is none of that name.
    public func status(of service: String) -> HealthV1.HealthCheckResponse.ServingStatus? {
        state.withLock { $0.status(of: service) }
    }

    /// Adds whether the whole server takes calls.
    public func write(to text: inout MetricsText) {
        text.single(
            "vestibule_ready",
            .gauge,
            help: "1 if the program can do its work, its database included, else 0.",
            status(of: "") == .serving ? 1 : 0
        )
    }

    /// How many `Watch` calls last.
    var watcherCount: Int { state.withLock { $0.watchers.count } }

    /// Answers with the status; NOT_FOUND for an unknown name, as the protocol says.
    public func check(
        _ request: HealthV1.HealthCheckRequest,
        context: ServerContext
    ) async throws -> HealthV1.HealthCheckResponse {
        guard let status = status(of: request.service) else { throw RPCError(.notFound, "unknown service") }
        return .with { $0.status = status }
    }

    /// Sends the status now and at each change, until the caller has enough or the server stops (UNAVAILABLE). A caller
    /// that reads slowly misses what did not last. An unknown name is SERVICE_UNKNOWN for good: services don't come later.
    public func watch(
        _ request: HealthV1.HealthCheckRequest,
        responses: MessageWriter<HealthV1.HealthCheckResponse>,
        context: ServerContext
    ) async throws {
        let (id, changes) = try beginWatching(request.service)
        defer { state.withLock { _ = $0.watchers.removeValue(forKey: id) } }
        var last: HealthV1.HealthCheckResponse.ServingStatus?
        for await status in changes where status != last {
            last = status
            try await responses.write(.with { $0.status = status })
        }
        try Task.checkCancellation()
        throw RPCError(.unavailable, "the server is stopping")
    }

    private func beginWatching(_ service: String) throws(RPCError) -> (id: Int, changes: Changes) {
        let (changes, continuation) = Changes.makeStream(bufferingPolicy: .bufferingNewest(1))
        let id = state.withLock { state -> Int? in
            guard state.watchers.count < Self.watchersMax else { return nil }
            state.nextWatcher += 1
            state.watchers[state.nextWatcher] = Watcher(service: service, changes: continuation)
            continuation.yield(state.status(of: service) ?? .serviceUnknown)
            if state.isDraining { continuation.finish() }
            return state.nextWatcher
        }
        guard let id else { throw RPCError(.resourceExhausted, "too many watch the health of this server") }
        return (id, changes)
    }
}
