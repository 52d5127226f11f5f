import HTTPJSON
import HTTPTypes
import JOSE
import ServiceKit

/// Who may ask about tokens, by HTTP Basic (RFC 7617): ids and hashes of their secrets.
struct IntrospectionClients: Sendable {
    /// The most clients.
    static let countMax = 64

    /// SHA-256 of each client's secret. Secrets are random and long, so that a fast hash tells nothing of them.
    private let digests: [String: [UInt8]]

    /// The client that a request shows itself to be.
    ///
    /// - Throws: 401 without credentials and for wrong ones, which differ in nothing that a stranger could learn from.
    func check(_ headers: RequestFields) throws(Problem) {
        guard let shown = BasicCredentials(headers[.authorization]) else { throw Self.refusal }
        let digest = SHA256.hash(shown.secret)
        // Of a client that isn't there a digest is compared as well, so that it takes as long.
        let expected = digests[shown.id] ?? [UInt8](repeating: 0, count: SHA256.byteCount)
        let isRight = ConstantTime.areEqual(digest, expected)
        guard isRight, digests[shown.id] != nil else { throw Self.refusal }
    }

    private static let refusal = Problem(
        .unauthorized,
        code: "CLIENT_INVALID",
        detail: "This path needs the credentials of a client that is configured for it.",
        headers: [.wwwAuthenticate: #"Basic realm="vestibule introspection", charset="UTF-8""#]
    )
}

extension IntrospectionClients {
    /// The clients of a file: a line each, `id:` and the SHA-256 of the secret in hexadecimal. Empty lines and those that begin
    /// with `#` say nothing.
    ///
    /// - Throws: `ConfigurationErrors` of ``GatewayKeys/introspectionClients``.
    init(_ file: Secret) throws(ConfigurationErrors) {
        var digests: [String: [UInt8]] = [:]
        let lines = file.text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (number, line) in lines.enumerated() {
            if line.isEmpty || line.hasPrefix("#") { continue }
            let parts = line.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 2, Self.isID(parts[0]), let digest = Hex.decode(parts[1]),
                digest.count == SHA256.byteCount
            else {
                throw Self.fault("line \(number + 1) is not an id, a colon and a SHA-256 in hexadecimal")
            }
            guard digests.updateValue(digest, forKey: String(parts[0])) == nil else {
                throw Self.fault("line \(number + 1) names a client that is there already")
            }
        }
        guard 1...Self.countMax ~= digests.count else { throw Self.fault("it must name 1 to \(Self.countMax) clients") }
        self.digests = digests
    }

    private static func fault(_ problem: String) -> ConfigurationErrors {
        ConfigurationErrors([
            ConfigurationError(
                key: GatewayKeys.introspectionClients.name,
                problem: "names a file that can't be used: \(problem)"
            )
        ])
    }

    /// Letters, digits and `-._~`: what form-encoding leaves as it is.
    private static func isID(_ text: Substring) -> Bool {
        1...128 ~= text.utf8.count
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                    UInt8(ascii: "~"):
                    true
                default: false
                }
            }
    }
}
