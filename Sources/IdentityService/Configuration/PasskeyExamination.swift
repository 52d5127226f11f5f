import FoundationEssentials
import Postgres
import RPC
import ServiceKit
import WebAuthn

/// What the doctor finds about passkeys.
enum PasskeyExamination {
    private static let limit: Duration = .seconds(8)

    /// A warning if FIDO has issued newer metadata than the file's: it doesn't know what was revoked since, and once its signer's certificate
    /// has expired, identity starts no more.
    static func finding(_ policy: AttestationPolicy, nowSeconds: Int) -> Finding? {
        guard case .trusted(let metadata) = policy, metadata.nextUpdateSeconds <= nowSeconds else { return nil }
        let days = (nowSeconds - metadata.nextUpdateSeconds) / 86_400
        return Finding(
            .warning,
            IdentityKeys.Passkeys.metadata.name,
            "names metadata that should have been replaced \(days == 0 ? "today" : "\(days) days ago")",
            mend: "download the file anew, and restart identity"
        )
    }

    /// A warning if the configured policy of attestation is by a file that is out of date.
    static func finding(_ configuration: Configuration) -> Finding? {
        guard let settings = try? PasskeySettings(reading: configuration) else { return nil }
        return finding(settings.attestation, nowSeconds: Int(Date().timeIntervalSince1970))
    }

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
