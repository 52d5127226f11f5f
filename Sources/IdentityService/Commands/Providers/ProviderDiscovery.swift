import IdentityDomain
import JOSE
import OutgoingHTTP
import ServiceKit

/// Reads what an OpenID provider says of itself (OpenID Connect Discovery 1.0), once, when it is added: what identity trusts stands in
/// the providers file.
struct ProviderDiscovery {
    private static let timeout: Duration = .seconds(5)
    private static let bytesMax = 64 * 1024

    let http: any OutgoingClient
    let rules: ProviderRules

    /// The document's URL.
    static func url(of issuer: String) -> String {
        (issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer) + "/.well-known/openid-configuration"
    }

    /// What a document says.
    struct Discovered: Sendable {
        /// The members of the provider's entry.
        var members = JSONObject()
        /// Whether clients may authenticate as identity does: by `client_secret_post`. Nil if the document doesn't say.
        var takesSecretsInForms: Bool?
    }

    /// What the document of an issuer says.
    func discover(_ issuer: String) async throws(CommandError) -> Discovered {
        if let problem = rules.problem(ofURL: issuer) { throw CommandError("the issuer \(problem)") }
        let url = Self.url(of: issuer)
        let document = try await document(url)
        // Section 4.3: anybody's document could name the keys otherwise.
        guard let said = document["issuer"]?.string, said.utf8.elementsEqual(issuer.utf8) else {
            let said = ProviderFindings.quoted(document["issuer"]?.string ?? "")
            throw CommandError("\(url) says that its issuer is \(said), and not \(ProviderFindings.quoted(issuer))")
        }
        var members = JSONObject()
        for (name, theirs) in [
            ("keys_url", "jwks_uri"), ("authorization_url", "authorization_endpoint"),
            ("token_url", "token_endpoint"), ("revocation_url", "revocation_endpoint"),
        ] {
            members[name] = document[theirs]?.string.map { .string($0) }
        }
        let theirs = Set((document["id_token_signing_alg_values_supported"]?.array ?? []).compactMap(\.string))
        let algorithms = SignatureAlgorithm.allCases.filter { theirs.contains($0.rawValue) }
        guard !algorithms.isEmpty else {
            let ours = SignatureAlgorithm.allCases.map(\.rawValue).joined(separator: ", ")
            throw CommandError("\(url) names no algorithm of ID tokens that identity verifies: \(ours)")
        }
        members["algorithms"] = .array(algorithms.map { .string($0.rawValue) })
        let methods = document["token_endpoint_auth_methods_supported"]?.array
        return Discovered(members: members, takesSecretsInForms: methods?.contains("client_secret_post"))
    }

    private func document(_ url: String) async throws(CommandError) -> JSONObject {
        let request = OutgoingRequest(
            .get(),
            url,
            headers: [("accept", "application/json")],
            timeout: Self.timeout,
            bodyBytesMax: Self.bytesMax
        )
        let response: OutgoingResponse
        do throws(OutgoingHTTPError) {
            response = try await http.send(request)
        } catch {
            throw CommandError("\(url): \(error)")
        }
        guard response.status == 200 else { throw CommandError("\(url) answered with status \(response.status)") }
        let limits = JSONLimits(bytesMax: Self.bytesMax)
        do throws(JSONError) {
            return try JSONObject(parsing: response.body, limits: limits)
        } catch {
            throw CommandError("\(url) holds no JSON object: \(error.words(limits, response.body))")
        }
    }
}
