import Postgres
import RPC
import ServiceKit

/// What the doctor finds about passkeys.
enum PasskeyExamination {
    private static let limit: Duration = .seconds(8)

    /// A warning if there are passkeys of another relying party than the configured one: they open nothing (WebAuthn Level 3 section 5.4.2).
    static func findings(_ configuration: Configuration, in database: PostgresClient) async throws -> [Finding] {
        let key = IdentityKeys.Passkeys.relyingParty
        let configured = configuration[key]
        let row = try await database.query(
            "SELECT rp_id FROM passkeys WHERE rp_id IS DISTINCT FROM \(configured) LIMIT 1",
            deadline: .after(limit)
        ).first
        guard let other = try row?.decode(String.self) else { return [] }
        let state = configured.map { "is \($0)" } ?? "is not set"
        return [
            Finding(
                .warning,
                key.name,
                "\(state), but there are passkeys of \(other), which open nothing",
                mend: "set it to \(other), or have those users add other passkeys"
            )
        ]
    }
}
