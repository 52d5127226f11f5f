import Dispatch
import Postgres
import ServiceKit

/// The database client's pools, by event loop.
struct PostgresMetrics: MetricsSource {
    let database: PostgresClient

    func write(to text: inout MetricsText) {
        let pools = database.statistics(waitingAtMost: .milliseconds(500))
        func samples(_ number: (PoolStatistics) -> Double) -> [(labels: [MetricsText.Label], value: Double)] {
            pools.map { ([("loop", "\($0.loop)")], number($0)) }
        }
        text.family(
            "vestibule_postgres_connections",
            .gauge,
            help: "Connections to PostgreSQL: ready for statements, leased to a transaction, or pending.",
            pools.flatMap { pool -> [(labels: [MetricsText.Label], value: Double)] in
                let states = [
                    ("ready", pool.connectionsReady - pool.connectionsLeased), ("leased", pool.connectionsLeased),
                    ("pending", pool.connectionsPending),
                ]
                return states.map { state, count in
                    let labels: [MetricsText.Label] = [("loop", "\(pool.loop)"), ("state", state)]
                    return (labels, Double(count))
                }
            }
        )
        text.family(
            "vestibule_postgres_pipeline_depth",
            .gauge,
            help: "Statements outside of transactions that were placed on a connection and not answered.",
            samples { Double($0.pipelineDepth) }
        )
        text.family(
            "vestibule_postgres_waiters",
            .gauge,
            help: "Statements and transactions that wait for room on a connection.",
            samples { Double($0.waiters) }
        )
        text.family(
            "vestibule_postgres_statements_total",
            .counter,
            help: "Statements outside of transactions that were asked for.",
            samples { Double($0.statements) }
        )
        text.family(
            "vestibule_postgres_transactions_total",
            .counter,
            help: "Transactions that were begun.",
            samples { Double($0.transactions) }
        )
        text.family(
            "vestibule_postgres_refused_total",
            .counter,
            help: "Statements and transactions that were turned away because too many waited.",
            samples { Double($0.refused) }
        )
        let refusedWrites = database.refusedWrites
        text.family(
            "vestibule_postgres_refused_writes_total",
            .counter,
            help: "Statements that PostgreSQL has undone because its disk is full or it takes no writes.",
            [
                ([("reason", "disk_full")], Double(refusedWrites.diskFull)),
                ([("reason", "read_only")], Double(refusedWrites.readOnly)),
            ]
        )
        text.family(
            "vestibule_postgres_connections_lost_total",
            .counter,
            help: "Connections to PostgreSQL that were lost or could not be made.",
            samples { Double($0.connectionsLost) }
        )
    }
}
