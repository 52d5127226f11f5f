extension OutgoingRequest {
    /// The origin of a URL, as the client parses it. Printed without path and query.
    public struct Place: Sendable, CustomStringConvertible {
        /// `http` or `https`.
        public let scheme: String
        /// Whether the host is a ``PublicAddress``; nil for a name, since that is known only after a look-up.
        public let isPublicAddress: Bool?
        /// Scheme, host and port.
        public let description: String

        /// A place; nil unless the text is an `http` or `https` URL with a host and without a user.
        public init?(_ url: String) {
            guard let url = RequestURL(url) else { return nil }
            scheme = url.scheme
            isPublicAddress = url.host.address.map { PublicAddress.contains($0) } ?? (url.host.isLoopback ? false : nil)
            description = "\(url.scheme)://\(url.host.inURL):\(url.port)"
        }
    }
}
