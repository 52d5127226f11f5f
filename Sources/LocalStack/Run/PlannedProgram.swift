import Dispatch
import ServiceKit

/// The plan of one program of the stack.
struct PlannedProgram: Sendable {
    /// The protocol of the readiness check.
    enum Probe: Sendable {
        case grpc
        case http(path: String)
    }

    var name: String
    var command: [String]
    /// The variables of this program only.
    var environment: [String: String] = [:]
    var address: HostPort
    var addressKey: String
    var probe: Probe
    var hasTables = false
    /// Additional variables for its migrations.
    var migrationEnvironment: [String: String] = [:]

    /// Its URL, for people.
    var url: String {
        switch probe {
        case .grpc: "grpc://\(address.reachable)"
        case .http: "http://\(address.reachable)"
        }
    }

    /// The plan of a run that only applies its migrations.
    var migration: PlannedProgram {
        var migration = self
        migration.name = "\(name)-migrate"
        migration.command = [command[0], "migrate"]
        migration.environment.merge(migrationEnvironment) { _, own in own }
        return migration
    }

    /// Whether it reports that it is ready.
    func isReady() async -> Bool {
        let address = address.reachable
        switch probe {
        case .grpc: return await HealthProbe.check(address: address, timeout: .milliseconds(500))
        case .http(let path):
            return await withCheckedContinuation { continuation in
                DispatchQueue.global().async {
                    let status = HTTPProbe.status(address: address, path: path, timeoutMilliseconds: 1000)
                    continuation.resume(returning: status == 200)
                }
            }
        }
    }
}
