import HTTPJSON
import HTTPTypes
import JOSE
import ServiceKit

/// The key that opens admin routes: as bearer token, or as `apikey` where there is no bearer token.
struct SupabaseServiceKey: Sendable {
    private let digest: [UInt8]

    init(_ key: Secret) { digest = SHA256.hash(key.bytes) }

    /// Lets in who has the key.
    ///
    /// - Throws: 401 without any, 403 for another.
    func check(_ request: Request) throws(Problem) {
        let shown: String
        if let key = try Authentication.token(request.headers) ?? request.headers[Self.field] {
            shown = key
        } else {
            shown = try Authentication.requiredToken(request.headers)
        }
        guard ConstantTime.areEqual(SHA256.hash(shown), digest) else {
            throw Problem(.forbidden, code: "NOT_ADMIN", detail: "User not allowed")
        }
    }

    // Forced because the literal is a token of RFC 9110 section 5.6.2; the tests read it.
    private static let field = HTTPField.Name("apikey")!
}
