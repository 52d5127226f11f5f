/// Sends requests to the servers of others. All that a service asks of strangers goes through one of these.
public protocol OutgoingClient: Sendable {
    /// Sends a request and collects the whole answer. Bounded in time and size by the request.
    ///
    /// Redirects are not followed: only the host that was configured can answer. An answer of any status is an answer.
    ///
    /// - Throws: ``OutgoingHTTPError``, which tells whether the server may have seen the request. If the task is cancelled the
    ///   cause is ``OutgoingHTTPError/Cause/cancelled``.
    func send(_ request: OutgoingRequest) async throws(OutgoingHTTPError) -> OutgoingResponse
}
