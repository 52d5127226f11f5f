import JOSE

/// The report for programs. Latencies are in nanoseconds.
public enum JSONReport {
    /// The percentiles in the report.
    static let percentiles: [Double] = [0, 10, 25, 50, 75, 90, 95, 99, 99.5, 99.9, 99.95, 99.99, 99.999, 100]

    /// One JSON object and a line end, UTF-8.
    public static func bytes(_ report: RunReport) -> [UInt8] {
        var object: JSONObject = [
            "format": 1,
            "scenario": .string(report.plan.scenario.rawValue),
            "target": .string(report.plan.targetText),
            "plan": .object(plan(report.plan)),
            "started_at_unix_seconds": .integer(report.startedUnixSeconds),
            "measured_seconds": number(report.measuredSeconds),
            "interrupted": .bool(report.isInterrupted),
            "error_count": .integer(Int64(report.errorCount)),
        ]
        object["total"] = .object(row(report.total, report))
        object["operations"] = .array(report.rows.map { .object(row($0, report)) })
        object["arrivals"] = report.arrivals.map { .object(arrivals($0)) } ?? .null
        object["ended_after_measuring_count"] = .integer(Int64(report.afterEndCount))
        object["expired_token_count"] = .integer(Int64(report.side.expiredTokenCount))
        object["renewed_proof_count"] = .integer(Int64(report.side.renewedProofCount))
        object["resumed_refresh_count"] = .integer(Int64(report.side.resumedRefreshCount))
        object["repeated_sign_in_count"] = .integer(Int64(report.side.repeatedSignInCount))
        object["late_token_count"] = .integer(Int64(report.side.lateTokenCount))
        object["processor"] = .object(processor(report))
        object["warnings"] = .array(ReportNotes.warnings(report).map { .string($0) })
        object["seconds"] = .array(report.seconds.map { .object(second($0)) })
        return object.serialized() + [UInt8(ascii: "\n")]
    }

    private static func plan(_ plan: LoadPlan) -> JSONObject {
        [
            "loop": .string(plan.ratePerSecond == nil ? "closed" : "open"),
            "rate_per_second": plan.ratePerSecond.map { .integer(Int64($0)) } ?? .null,
            "workers": .integer(Int64(plan.workerCount)),
            "connections": .integer(Int64(plan.connectionsPerThread * plan.threadCount)),
            "threads": .integer(Int64(plan.threadCount)),
            "accounts": .integer(Int64(plan.accountCount)),
            "queue_max": .integer(Int64(plan.queueMax)),
            "warm_up_seconds": number(plan.warmUp / .seconds(1)),
            "duration_seconds": number(plan.duration / .seconds(1)),
            "timeout_seconds": number(plan.timeout / .seconds(1)),
        ]
    }

    private static func row(_ row: RunReport.Row, _ report: RunReport) -> JSONObject {
        let latency = row.statistics.latency
        var values: JSONObject = [
            "mean": .integer(Int64(latency.meanNanoseconds)),
            "min": .integer(Int64(latency.minNanoseconds)),
            "max": .integer(Int64(latency.maxNanoseconds)),
        ]
        for percentile in percentiles {
            values["p\(name(percentile))"] = .integer(Int64(latency.nanoseconds(percentile: percentile)))
        }
        let errors = row.statistics.failures.sorted.map { failure, count in
            JSONValue.object([
                "code": .string(failure.code), "reason": .string(failure.reason), "count": .integer(Int64(count)),
            ])
        }
        return [
            "name": .string(row.name),
            "calls": .integer(Int64(row.statistics.callCount)),
            "succeeded": .integer(Int64(latency.count)),
            "failed": .integer(Int64(row.statistics.failures.total)),
            "succeeded_per_second": number(report.ratePerSecond(row)),
            "latency_ns": .object(values),
            "errors": .array(errors),
        ]
    }

    private static func arrivals(_ arrivals: RunReport.Arrivals) -> JSONObject {
        [
            "late_count": .integer(Int64(arrivals.lateCount)),
            "delay_ns_max": .integer(Int64(clamping: arrivals.delayNanosecondsMax)),
            "dropped_count": .integer(Int64(arrivals.droppedCount)),
            "waiting_at_end_count": .integer(Int64(arrivals.waitingAtEndCount)),
        ]
    }

    private static func processor(_ report: RunReport) -> JSONObject {
        [
            "cores_used": number(report.processor.cores),
            "busiest_thread_share": number(report.processor.busiestThread),
            "machine_cores": .integer(Int64(report.processor.machineCores)),
            "microseconds_per_call": report.microsecondsPerCall.map(number) ?? .null,
            "is_limit": .bool(report.processor.isLimit),
        ]
    }

    private static func second(_ second: RunReport.Second) -> JSONObject {
        [
            "second": .integer(Int64(second.index)),
            "succeeded_per_second": number(second.ratePerSecond),
            "failed_per_second": number(second.failuresPerSecond),
            "p50_ns": .integer(Int64(second.p50Nanoseconds)),
            "p99_ns": .integer(Int64(second.p99Nanoseconds)),
        ]
    }

    /// `50`, `99.9`
    private static func name(_ percentile: Double) -> String {
        percentile == percentile.rounded() ? String(Int(percentile)) : String(percentile)
    }

    private static func number(_ value: Double) -> JSONValue { .number(literal: Figures.fixed(value, 4)) }
}
