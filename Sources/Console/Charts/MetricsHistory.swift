import ServiceKit
import Synchronization

/// What the programs' metrics said of the last hour: a bounded ring of readings, each boiled down to what the charts show.
final class MetricsHistory: Sendable {
    /// How often the programs are read.
    static let interval: Duration = .seconds(5)
    /// The readings that are kept: an hour.
    static let countMax = 720
    /// The lines of a chart; the smaller ones are left out.
    static let seriesMax = 12

    /// The state of a program, and when it was read.
    struct Latest: Sendable, Hashable {
        let programs: [ProgramStatus]
        /// Unix seconds.
        let atSeconds: Double
    }

    private struct State {
        var latest: Latest?
        var points: [ChartPoint] = []
        var totals: ChartTotals?
    }

    private let state = Mutex(State())

    /// Adds a reading.
    func add(_ programs: [ProgramStatus], atSeconds: Double) {
        let totals = ChartTotals(programs)
        state.withLock { state in
            if let before = state.totals, let last = state.latest, atSeconds > last.atSeconds {
                let point = ChartPoint(from: before, to: totals, seconds: atSeconds - last.atSeconds, at: atSeconds)
                state.points.append(point)
                if state.points.count > Self.countMax { state.points.removeFirst(state.points.count - Self.countMax) }
            }
            (state.totals, state.latest) = (totals, Latest(programs: programs, atSeconds: atSeconds))
        }
    }

    /// What was read last; nil before the first reading.
    var latest: Latest? { state.withLock { $0.latest } }

    /// The points, oldest first.
    var points: [ChartPoint] { state.withLock { $0.points } }
}

/// A chart of the console.
enum ChartKind: String, Sendable, Hashable, CaseIterable {
    case signIns = "sign-ins"
    case refreshes
    case latencies

    var title: String {
        switch self {
        case .signIns: "Sign-ins by provider and outcome"
        case .refreshes: "Refreshes by verdict"
        case .latencies: "Mean latency by program"
        }
    }

    var unit: String {
        switch self {
        case .signIns, .refreshes: "per second"
        case .latencies: "ms"
        }
    }
}

/// Sums of counters at one moment, by chart and series.
struct ChartTotals: Sendable, Hashable {
    /// A count and, for latencies, a sum of seconds.
    struct Total: Sendable, Hashable {
        var count = 0.0
        var seconds = 0.0
    }

    private(set) var totals: [ChartKind: [String: Total]] = [:]

    /// The sums over all replicas. Of a program that doesn't answer nothing is counted.
    init(_ programs: [ProgramStatus]) {
        for program in programs {
            guard let reading = program.reading else { continue }
            for sample in reading.all("vestibule_identity_sign_ins_total") where sample.value > 0 {
                let series = "\(sample.labels["provider"] ?? "?"): \(sample.labels["outcome"] ?? "?")"
                totals[.signIns, default: [:]][series, default: Total()].count += sample.value
            }
            for sample in reading.all("vestibule_identity_refreshes_total") where sample.value > 0 {
                let series = sample.labels["outcome"] ?? "?"
                totals[.refreshes, default: [:]][series, default: Total()].count += sample.value
            }
            for name in ["vestibule_rpc_server_call_duration_seconds", "vestibule_http_request_duration_seconds"] {
                guard let count = reading.sum("\(name)_count"), count > 0 else { continue }
                var total = totals[.latencies, default: [:]][program.program] ?? Total()
                total.count += count
                total.seconds += reading.sum("\(name)_sum") ?? 0
                totals[.latencies, default: [:]][program.program] = total
            }
        }
    }
}

/// What a chart shows of the time between two readings.
struct ChartPoint: Sendable, Hashable {
    /// Unix seconds of the later reading.
    let atSeconds: Double
    /// By chart and series.
    let values: [ChartKind: [String: Double]]

    /// The rates, or mean times, between two readings. A counter that went down was started anew, as a program is: then nothing is known.
    init(from before: ChartTotals, to after: ChartTotals, seconds: Double, at: Double) {
        atSeconds = at
        var values: [ChartKind: [String: Double]] = [:]
        for (kind, series) in after.totals {
            for (name, total) in series {
                let earlier = before.totals[kind]?[name] ?? ChartTotals.Total()
                let count = total.count - earlier.count
                guard count >= 0 else { continue }
                switch kind {
                case .signIns, .refreshes: values[kind, default: [:]][name] = count / seconds
                case .latencies:
                    if count > 0 {
                        values[kind, default: [:]][name] = max(0, total.seconds - earlier.seconds) / count * 1000
                    }
                }
            }
        }
        self.values = values
    }
}
