/// What a client must present an access token as: `token_type` of RFC 6749 section 7.1.
enum TokenType {
    /// As a bearer token (RFC 6750), or with a proof of possession (RFC 9449 section 5).
    static let names = ["Bearer", "DPoP"]

    /// The type of a token.
    ///
    /// - Parameter isBound: whether it is bound to a key of the client.
    static func name(isBound: Bool) -> String { isBound ? names[1] : names[0] }
}
