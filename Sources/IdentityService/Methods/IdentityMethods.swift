import API
import IdentityDomain
import RPC

/// The methods of `vestibule.identity.v1.IdentityService`; each stands in a file of its own.
public struct IdentityMethods: IdentityServiceHandler {
    let providers: [ProviderName: ProviderPolicy]
    let keys: ProviderKeys
    let store: IdentityStore
    let mint: SessionTokenMint
    let verifiedTokens: VerifiedTokens
    let signIns: SignInMetrics
    let refreshes: RefreshMetrics
    /// Who is believed when they say that a refresh token came in some time ago.
    let lateCallers: CallerTrust
    let pauses: PauseWatch
    let effects: Effects

    /// The issuer of our tokens.
    var issuer: TokenIssuer { mint.issuer }

    /// Runs a method's body; whatever it throws becomes an error that callers may see.
    nonisolated(nonsending) func answer<Response>(
        _ body: nonisolated(nonsending) () async throws -> Response
    ) async throws(RPCError) -> Response {
        do {
            return try await body()
        } catch {
            throw RPCError(identity: error)
        }
    }
}
