/// The outcome of a request, for metrics. No personal data.
public struct RequestOutcome: Sendable {
    /// The method as the client said it, which may be anything; empty where it could not be read.
    public let method: String
    /// The place of the route that answered, among those that the handler was made with; nil if none answered.
    public let route: Int?
    /// The status of the answer.
    public let status: Int
    /// How long the answer took to make, in nanoseconds.
    public let tookNanoseconds: UInt64

    /// An outcome.
    public init(method: String, route: Int?, status: Int, tookNanoseconds: UInt64) {
        self.method = method
        self.route = route
        self.status = status
        self.tookNanoseconds = tookNanoseconds
    }
}
