import IdentityDomain
import Models
import RPC
import ServiceKit

extension IdentityParts {
    /// Returns a function that makes a token mint from keys.
    static func mint(
        _ settings: IdentitySettings,
        clock: WallClock,
        randomBytes: @escaping @Sendable (Int) -> [UInt8]
    ) -> @Sendable (TokenIssuer, RefreshKeys) -> SessionTokenMint {
        let audienceTokens = SessionTokenMint.audienceTokens(settings.providers.values)
        return { issuer, refreshKeys in
            SessionTokenMint(
                issuer: issuer,
                refreshKeys: refreshKeys,
                singleTokens: SingleTokens(
                    issuer: issuer.issuer,
                    lifetimeSeconds: settings.limits.singleTokenSeconds,
                    keys: refreshKeys
                ),
                browserTokens: SingleTokens(
                    for: .browser,
                    issuer: issuer.issuer,
                    lifetimeSeconds: settings.limits.singleTokenSeconds,
                    keys: refreshKeys
                ),
                audienceTokens: audienceTokens,
                clock: clock,
                randomBytes: randomBytes
            )
        }
    }
}
