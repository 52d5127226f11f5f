import API
import RPC
import Synchronization

/// Answers `grpc.health.v1.Health`: whether the process, and each service in it, can take calls now.
///
/// Any thread. A service counts as serving while its readiness says so and the process isn't draining.
public final class HealthService: HealthHandler {
    private struct State {
        /// Keyed by full service name; the empty name is the whole server.
        var isReady: [String: Bool]
        var isDraining = false
    }
    private let state: Mutex<State>

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
            if state.isReady[service] != nil { state.isReady[service] = isReady }
        }
    }

    /// Says it of the server and of every service.
    public func setReady(_ isReady: Bool) {
        state.withLock { state in
            for name in state.isReady.keys where name != HealthMethods.serviceName { state.isReady[name] = isReady }
        }
    }

    /// From now on nothing is serving: load balancers stop sending calls here.
    public func beginDrain() { state.withLock { $0.isDraining = true } }

    /// The status of a service; nil if there is none of that name.
    public func status(of service: String) -> HealthV1.HealthCheckResponse.ServingStatus? {
        state.withLock { state in
            state.isReady[service].map { $0 && !state.isDraining ? .serving : .notServing }
        }
    }

    /// Answers with the status; NOT_FOUND for an unknown name, as the protocol says.
    public func check(
        _ request: HealthV1.HealthCheckRequest,
        context: ServerContext
    ) async throws -> HealthV1.HealthCheckResponse {
        guard let status = status(of: request.service) else { throw RPCError(.notFound, "unknown service") }
        var response = HealthV1.HealthCheckResponse()
        response.status = status
        return response
    }
}
