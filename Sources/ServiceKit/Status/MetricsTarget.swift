/// Where the metrics of a program are.
public struct MetricsTarget: Sendable, Hashable {
    /// Its name, such as `identity`.
    public let program: String
    /// The address of its metrics; a name stands for all replicas.
    public let address: HostPort

    /// More than any program has.
    private static let metricsBytesMax = 8 << 20

    /// A place.
    public init(program: String, address: HostPort) {
        self.program = program
        self.address = address
    }

    /// Reads each replica of each program, in the order of the targets. Blocks its thread. Asks all at once, so that several that don't
    /// answer take no longer than one.
    ///
    /// - Parameter timeoutMilliseconds: for each step of a request.
    public static func readAll(_ targets: [MetricsTarget], timeoutMilliseconds: Int) -> [ProgramStatus] {
        let replicas = targets.flatMap { target in
            HTTPProbe.addresses(of: target.address).map { MetricsTarget(program: target.program, address: $0) }
        }
        return concurrentMap(replicas) { replica in
            let text = HTTPProbe.body(
                address: replica.address,
                path: "/metrics",
                timeoutMilliseconds: timeoutMilliseconds,
                bytesMax: metricsBytesMax
            )
            return ProgramStatus(
                program: replica.program,
                address: replica.address,
                reading: text.map(MetricsReading.init)
            )
        }
    }

    /// As the other, on a thread of its own.
    public static func readAll(_ targets: [MetricsTarget], timeoutMilliseconds: Int) async -> [ProgramStatus] {
        await withCheckedContinuation { caller in
            DetachedThread.run {
                let read: () -> [ProgramStatus] = { readAll(targets, timeoutMilliseconds: timeoutMilliseconds) }
                caller.resume(returning: read())
            }
        }
    }
}
