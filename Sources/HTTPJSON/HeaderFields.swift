import HTTPTypes

extension HTTPField.Name {
    // Forced because each literal is a token of RFC 9110 section 5.6.2; the tests read every one.

    /// `X-Request-Id`.
    public static let requestID = HTTPField.Name("X-Request-Id")!
    /// `X-Forwarded-For`.
    public static let forwardedFor = HTTPField.Name("X-Forwarded-For")!
    /// `Idempotency-Key` of draft-ietf-httpapi-idempotency-key-header.
    public static let idempotencyKey = HTTPField.Name("Idempotency-Key")!
    /// `Referrer-Policy`.
    public static let referrerPolicy = HTTPField.Name("Referrer-Policy")!
}
