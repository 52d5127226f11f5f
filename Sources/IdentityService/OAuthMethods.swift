import API
import IdentityDomain
import JOSE
import Models
import RPC
import ServiceKit

/// The methods of `vestibule.identity.v1.OAuthService`: the OpenID provider for the owner's own apps.
struct OAuthMethods: OAuthServiceHandler {
    /// Tokens, sessions and keys are those of all sign-ins.
    let identity: IdentityMethods
    /// The clients, as their file was read last.
    let currentClients: ReplaceableValue<OAuthClients>

    /// Has clients told of ended sessions at once.
    let logoutsAreDue: @Sendable () -> Void

    /// The clients by their ids.
    var clients: [String: OAuthClient] { currentClients.current.byID }

    /// The client of a request that a client sends itself, after it has authenticated itself (RFC 6749 section 2.3): by HTTP Basic, in the
    /// form or by an assertion, and in one way only. A public client only names itself.
    func client(
        _ form: OAuthForm,
        _ shown: IdentityV1.ClientAuthentication,
        deadline: Deadline?
    ) async throws -> OAuthClient {
        guard !form.isTooLong else { throw OAuthFailure(.invalidRequest, "There are too many parameters.") }
        if form.hasRepeated { throw OAuthFailure(.invalidRequest, "A parameter is repeated.") }
        // A public client of some libraries has an empty secret.
        let inBasic = shown.hasBasicID && !shown.basicSecret.isEmpty ? shown.basicSecret : nil
        let assertion = try Self.assertion(form)
        guard [inBasic, form["client_secret"], assertion].count(where: { $0 != nil }) <= 1,
            !shown.hasBasicID || form["client_id"].map({ $0 == shown.basicID }) ?? true
        else { throw OAuthFailure(.invalidRequest, "The client authenticates itself in two ways.") }
        let refusal = OAuthFailure(.invalidClient, "The client is unknown, or its authentication failed.")
        let named = shown.hasBasicID ? shown.basicID : form["client_id"]
        guard let id = named ?? assertion.flatMap(ClientAssertion.claimedClientID), let client = clients[id] else {
            throw refusal
        }
        switch client.authentication {
        case .none:
            guard inBasic == nil, form["client_secret"] == nil, assertion == nil else { throw refusal }
        case .secrets:
            guard let secret = inBasic ?? form["client_secret"], client.authentication.accepts(secret: secret) else {
                throw refusal
            }
        case .keys(let keys):
            guard let assertion else { throw refusal }
            try await check(assertion, of: client, keys, deadline: deadline)
        }
        if client.isDisabled { throw OAuthFailure(.unauthorizedClient, "The client is switched off.") }
        return client
    }

    /// The assertion of a form (RFC 7521 section 4.2); nil without one.
    private static func assertion(_ form: OAuthForm) throws(OAuthFailure) -> String? {
        guard let assertion = form["client_assertion"] else { return nil }
        guard form["client_assertion_type"] == ClientAssertion.type else {
            throw OAuthFailure(.invalidClient, "The client_assertion_type must be \(ClientAssertion.type).")
        }
        return assertion
    }

    /// Checks an assertion, and that it is shown for the first time.
    private func check(
        _ text: String,
        of client: OAuthClient,
        _ keys: KeySet,
        deadline: Deadline?
    ) async throws {
        let assertion = try ClientAssertion(
            verifying: text,
            of: client.id,
            keys: keys,
            audience: issuer,
            nowSeconds: identity.clock.nowSeconds
        )
        guard try await identity.store.use(assertion, of: client.id, deadline: deadline) else {
            throw OAuthFailure(.invalidClient, "The client_assertion was used before.")
        }
    }

    /// The name of our tokens' issuer, which each answer has (RFC 9207).
    var issuer: String { identity.issuer.issuer }
}

/// The clients of the file at one time. Immutable; any thread.
final class OAuthClients: Sendable {
    /// The clients by their ids.
    let byID: [String: OAuthClient]

    /// These clients.
    init(_ byID: [String: OAuthClient]) { self.byID = byID }
}
