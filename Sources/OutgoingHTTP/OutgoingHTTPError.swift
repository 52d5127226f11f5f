/// Why a request failed. Contains neither the URL's query nor any part of a body.
public struct OutgoingHTTPError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The cause of a failure.
    public enum Cause: Sendable, Hashable {
        /// The URL is invalid.
        case url
        /// ``HTTPSClient/requestsMax`` requests are in flight.
        case overloaded
        /// The request timed out.
        case timeout
        /// The connection failed or broke: refused, no address, a certificate that isn't trusted, not HTTP.
        case connection(String)
        /// The host has only addresses that the request may not use; nothing was sent.
        case addressNotPublic
        /// The body of the response is longer than the request allows.
        case bodyTooLarge
        /// The calling task was cancelled.
        case cancelled
    }

    /// The cause of a failure.
    public let cause: Cause
    /// Whether the server may have received and processed the request. If false it has not, so that the request may be
    /// retried even if it isn't idempotent.
    public let mayHaveBeenSent: Bool

    /// An error.
    public init(_ cause: Cause, mayHaveBeenSent: Bool) {
        self.cause = cause
        self.mayHaveBeenSent = mayHaveBeenSent
    }

    /// A short description.
    public var description: String {
        let words =
            switch cause {
            case .url: "not a valid URL"
            case .overloaded: "too many requests are in flight"
            case .timeout: "no response in time"
            case .connection(let text): "no connection: \(text)"
            case .addressNotPublic: "the host's address is private, which is not allowed"
            case .bodyTooLarge: "the response is too long"
            case .cancelled: "cancelled by the caller"
            }
        return mayHaveBeenSent ? words + " (the request may have been sent)" : words
    }
}
