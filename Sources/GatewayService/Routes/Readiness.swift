import API
import HTTPJSON
import HTTPTypes
import Hummingbird
import JOSE

/// `GET /readyz`: every service can take calls, its database included.
enum Readiness {
    /// How long each service may take to say so.
    static let wait = Duration.seconds(1)

    static func route(_ probes: [Backends.Probe]) -> Route {
        Route(.get, "/readyz") { _, context in
            let ready = await withTaskGroup(of: (String, Bool).self) { group in
                for probe in probes {
                    group.addTask { (probe.name, await isServing(probe, context)) }
                }
                return await group.reduce(into: [String: Bool]()) { $0[$1.0] = $1.1 }
            }
            var services = JSONObject()
            for probe in probes { services[probe.name] = ready[probe.name] == true ? "ok" : "failed" }
            let isReady = probes.allSatisfy { ready[$0.name] == true }
            return .json(
                ["status": isReady ? "ready" : "not ready", "services": .object(services)],
                status: isReady ? .ok : .serviceUnavailable
            )
        }
    }

    private static func isServing(_ probe: Backends.Probe, _ context: EdgeContext) async -> Bool {
        var request = HealthV1.HealthCheckRequest()
        request.service = probe.service
        let answer = try? await probe.health.check(request, options: context.callOptions(limit: wait))
        return answer?.status == .serving
    }
}
