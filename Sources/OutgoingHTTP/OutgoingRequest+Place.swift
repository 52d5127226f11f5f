extension OutgoingRequest {
    /// Where a URL leads, as whoever sends a request there understands it. Printed without path and query.
    public struct Place: Sendable, CustomStringConvertible {
        /// `http` or `https`.
        public let scheme: String
        /// Whether the host is a ``PublicAddress``; nil for a name, of which that is known once it is asked.
        public let isPublicAddress: Bool?
        /// Scheme, host and port.
        public let description: String

        /// A place; nil for what is no `http` or `https` URL with a host, or names a user.
        public init?(_ url: String) {
            guard let url = RequestURL(url) else { return nil }
            scheme = url.scheme
            isPublicAddress = url.host.address.map { PublicAddress.contains($0) } ?? (url.host.isLoopback ? false : nil)
            description = "\(url.scheme)://\(url.host.inURL):\(url.port)"
        }
    }
}
