import IdentityDomain

/// Clients in words, for operators. Nothing of it shows a secret or its hash.
enum ClientsReport {
    /// A line for each client, and one for each further redirect URI.
    static func table(_ clients: [OAuthClient]) -> [String] {
        let rows = clients.flatMap { client in
            client.redirectURIs.enumerated().map { index, uri in
                index == 0
                    ? [client.id, client.name, kind(client), uri.text, client.scopes.text]
                    : ["", "", "", uri.text, ""]
            }
        }
        return TextTable.lines([["id", "name", "kind", "redirect URIs", "scopes"]] + rows)
    }

    /// What works, but should be changed or known.
    static func hints(_ client: OAuthClient) -> [String] {
        var hints: [String] = []
        let secretCount = if case .secrets(let hashes) = client.authentication { hashes.count } else { 0 }
        if client.redirectURIs.allSatisfy({ $0.text.hasPrefix("http://") }) {
            hints.append("its redirect URIs lead to the user's own machine only")
        }
        if secretCount > 0, client.redirectURIs.contains(where: { !$0.text.hasPrefix("http") }) {
            hints.append("it has a secret and a redirect URI of an app, which can't keep one (RFC 8252 section 8.5)")
        }
        if secretCount > 1 {
            hints.append(
                "it has \(secretCount) secrets: remove the old one by `vestibule clients remove-secret "
                    + "\(client.id)` once it is used no more"
            )
        }
        if !client.requiresPKCE { hints.append("it may do without PKCE, by a nonce") }
        return hints.map { "client \"\(client.id)\": \($0)" }
    }

    private static func kind(_ client: OAuthClient) -> String {
        client.authentication.kind + (client.isDisabled ? ", switched off" : "")
    }
}
