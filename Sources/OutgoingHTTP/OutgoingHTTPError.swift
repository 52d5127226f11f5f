/// Why there is no answer. Holds neither the URL's query nor anything of a body.
public struct OutgoingHTTPError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What went wrong.
    public enum Cause: Sendable, Hashable {
        /// The URL is none that can be asked.
        case url
        /// ``HTTPSClient/requestsMax`` requests are under way.
        case overloaded
        /// The request's time was up.
        case timeout
        /// There is no connection, or it broke: refused, no address, a certificate that isn't trusted, no HTTP.
        case connection(String)
        /// The host has no address but such as the request may not reach; nothing was sent to any.
        case addressNotPublic
        /// The answer's body is longer than the request allows.
        case bodyTooLarge
        /// The task that asked was cancelled.
        case cancelled
    }

    /// What went wrong.
    public let cause: Cause
    /// Whether the server may have seen the request and done what it asks. If false it surely has not, so that it may be sent
    /// again whatever it does.
    public let mayHaveBeenSent: Bool

    /// An error.
    public init(_ cause: Cause, mayHaveBeenSent: Bool) {
        self.cause = cause
        self.mayHaveBeenSent = mayHaveBeenSent
    }

    /// The error in a few words.
    public var description: String {
        let words =
            switch cause {
            case .url: "not a URL that can be asked"
            case .overloaded: "too many requests are under way"
            case .timeout: "no answer in time"
            case .connection(let text): "no connection: \(text)"
            case .addressNotPublic: "the host's address is private, and nothing private may be asked"
            case .bodyTooLarge: "the answer is too long"
            case .cancelled: "given up by who asked"
            }
        return mayHaveBeenSent ? words + " (the request may have been sent)" : words
    }
}
