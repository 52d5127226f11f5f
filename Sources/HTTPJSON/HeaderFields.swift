import HTTPTypes

extension HTTPField.Name {
    // Forced because each literal is a token of RFC 9110 section 5.6.2; the tests read every one.

    /// `X-Request-Id`.
    public static let requestID = HTTPField.Name("X-Request-Id")!
    /// `X-Forwarded-For`.
    public static let forwardedFor = HTTPField.Name("X-Forwarded-For")!
    /// What ``FramingGuard`` found wrong with a request; taken off whatever a client sends.
    static let framingFault = HTTPField.Name("Vestibule-Framing-Fault")!
    /// `Idempotency-Key` of draft-ietf-httpapi-idempotency-key-header.
    public static let idempotencyKey = HTTPField.Name("Idempotency-Key")!
    /// `traceparent` of W3C Trace Context.
    static let traceParent = HTTPField.Name("Traceparent")!
    /// `tracestate` of W3C Trace Context.
    static let traceState = HTTPField.Name("Tracestate")!
    /// `Referrer-Policy`.
    public static let referrerPolicy = HTTPField.Name("Referrer-Policy")!
}

extension HTTPFields {
    /// What every answer has, whatever it is.
    static let ofEveryAnswer: HTTPFields = [
        .xContentTypeOptions: "nosniff", .referrerPolicy: "no-referrer",
        .contentSecurityPolicy: "default-src 'none'; frame-ancestors 'none'",
    ]
}
