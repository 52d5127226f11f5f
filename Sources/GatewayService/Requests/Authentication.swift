import API
import HTTPJSON
import HTTPTypes
import RPC

/// Who makes a request, by its bearer token (RFC 6750).
package struct Authentication: Sendable {
    /// The challenge of every 401 (RFC 9110 section 15.5.2).
    static let challenge = #"Bearer realm="vestibule""#
    /// The challenge where a token was presented and refused (RFC 6750 section 3).
    static let invalidTokenChallenge = challenge + #", error="invalid_token""#

    /// The metadata key of the client's address: an IPv4 address, or the first address of an IPv6 client's /64.
    static let clientAddressKey = "vestibule-client-address"

    /// The longest access token that is passed on, in bytes.
    static let tokenBytesMax = 8192

    let identity: IdentityServiceClient
    let rateLimit: RateLimit

    /// The user whose live session the request's token belongs to, and who has not asked for too much.
    ///
    /// - Parameter dialect: the dialect whose route this is; a session without proof is good in its own only.
    /// - Throws: 401 without a token, `RPCError` for one that identity refuses, 429 for one request too many.
    func user(_ request: Request, _ context: RouteContext, in dialect: Dialect? = nil) async throws -> String {
        var call = IdentityV1.CheckSessionRequest()
        call.accessToken = try Self.requiredToken(request)
        call.dialect = dialect?.rawValue ?? ""
        let user = try await identity.checkSession(call, options: context.callOptions()).userID
        try rateLimit.admit(account: user, isChange: request.method != .get && request.method != .head)
        return user
    }

    /// The bearer token of a request that must have one.
    ///
    /// - Throws: 401 without one, and for one that cannot be one.
    package static func requiredToken(_ request: Request) throws(Problem) -> String {
        if let token = try token(request) { return token }
        throw Problem(
            .unauthorized,
            code: "AUTHENTICATION_REQUIRED",
            detail: "This path needs an access token.",
            headers: [.wwwAuthenticate: challenge]
        )
    }

    /// What a call is made with whose service limits client addresses, over all replicas, itself.
    func callOptionsWithAddress(_ request: Request, _ context: RouteContext) -> CallOptions {
        var options = context.callOptions()
        if let address = rateLimit.client(request, context).text {
            options.metadata.add(Self.clientAddressKey, address)
        }
        return options
    }

    /// The bearer token; nil if the request carries no credentials, or those of another scheme.
    ///
    /// - Throws: 401 for a bearer token that cannot be one (RFC 6750 section 2.1).
    static func token(_ request: Request) throws(Problem) -> String? {
        guard let header = request.headers[.authorization] else { return nil }
        let parts = header.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
        guard let scheme = parts.first, scheme.lowercased() == "bearer" else { return nil }
        let token = parts.count == 2 ? parts[1].drop { $0 == " " } : ""
        guard 1...tokenBytesMax ~= token.utf8.count, token.utf8.allSatisfy(isTokenByte) else {
            throw Problem(
                .unauthorized,
                code: "ACCESS_TOKEN_INVALID",
                detail: "The access token is not valid.",
                headers: [.wwwAuthenticate: invalidTokenChallenge]
            )
        }
        return String(token)
    }

    /// Whether a bearer token may hold a byte (RFC 6750 section 2.1).
    static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="):
            true
        default: false
        }
    }
}
