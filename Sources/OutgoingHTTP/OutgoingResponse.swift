/// A server's response.
public struct OutgoingResponse: Sendable {
    /// The HTTP status.
    public let status: Int
    /// The headers, names in lower case.
    public let headers: [OutgoingRequest.Field]
    /// The whole body.
    public let body: [UInt8]

    /// A response.
    ///
    /// - Parameter headers: names in upper or lower case.
    public init(status: Int, headers: [OutgoingRequest.Field] = [], body: [UInt8]) {
        self.status = status
        self.headers = headers.map { ($0.name.lowercased(), $0.value) }
        self.body = body
    }

    /// The values of a header, joined by commas; empty if there is none.
    ///
    /// - Parameter name: in lower case.
    public func header(_ name: String) -> String {
        headers.filter { $0.name == name }.map(\.value).joined(separator: ",")
    }
}
