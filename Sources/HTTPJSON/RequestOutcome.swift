/// What became of a request, for whoever counts them. Nothing of a person.
public struct RequestOutcome: Sendable {
    /// The method as the client said it, which may be anything.
    public let method: String
    /// The route's path as it is declared; nil if none answers the request's.
    public let route: String?
    /// The status of the answer.
    public let status: Int
    /// How long the answer took to make.
    public let took: Duration

    /// An outcome.
    public init(method: String, route: String?, status: Int, took: Duration) {
        self.method = method
        self.route = route
        self.status = status
        self.took = took
    }
}
