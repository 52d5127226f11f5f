import Models
import Postgres
import ServiceKit
import ServiceStore

extension QuotaStore {
    /// Forgets counts whose window is over.
    public static func cleanup(_ database: PostgresClient, _ clock: WallClock) -> Cleanup.Step {
        Cleanup.Step("quotas") { limit in
            try await forget(endedBy: clock.nowMilliseconds, limit: limit, in: database)
        }
    }
}
