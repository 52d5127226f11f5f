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
        let found = try await IdentityStore.relyingPartyOfPasskeys(not: configured, in: database, .after(limit))
        guard let other = found else { return [] }
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
