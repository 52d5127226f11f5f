/// Sends requests to external servers. All outgoing requests of a service use such a client.
public protocol OutgoingClient: Sendable {
    /// Sends a request and collects the whole response. The request has limits for time and size.
    ///
    /// Redirects are not followed, so that only the configured host can respond. A response of any status is returned.
    ///
    /// - Throws: ``OutgoingHTTPError``, which says whether the server may have received the request. If the task is cancelled,
    ///   the cause is ``OutgoingHTTPError/Cause/cancelled``.
    func send(_ request: OutgoingRequest) async throws(OutgoingHTTPError) -> OutgoingResponse
}
