import HTTPTypes

/// What a route answers.
public struct Response: Sendable {
    /// The status.
    public var status: HTTPResponse.Status
    /// The fields besides those that every answer has.
    public var headers: HTTPFields
    /// The body.
    public var body: ResponseBody
    /// What the body is, where ``headers`` don't say it.
    public var contentType: String?
    /// Whether the connection cannot carry another request after this answer.
    public var closesConnection = false

    /// An answer.
    public init(
        status: HTTPResponse.Status,
        headers: HTTPFields = HTTPFields(),
        body: ResponseBody = ResponseBody(),
        contentType: String? = nil
    ) {
        self.status = status
        self.headers = headers
        self.body = body
        self.contentType = contentType
    }
}

/// The body of an answer.
public struct ResponseBody: Sendable {
    /// Its bytes; empty for a stream.
    public let bytes: [UInt8]
    /// Writes it as it comes; nil where it is ``bytes``.
    let stream: (@Sendable (EventStream) async throws -> Void)?

    /// No body.
    public init() { self.init([]) }

    /// A body of bytes.
    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
        stream = nil
    }

    /// A body of bytes.
    public init(bytes: some Sequence<UInt8>) { self.init(Array(bytes)) }

    /// A body of text in UTF-8.
    public init(_ text: String) { self.init(bytes: text.utf8) }

    /// A body that is written as it comes.
    init(stream: @escaping @Sendable (EventStream) async throws -> Void) {
        bytes = []
        self.stream = stream
    }
}

/// What stood in the places of a path's variables, as it was sent: escapes are not decoded.
public struct RouteParameters: Sendable {
    private let names: [String]
    private let values: [Substring]

    /// No parameter.
    init() {
        names = []
        values = []
    }

    /// Names, and values in the same order.
    init(names: [String], values: [Substring]) {
        self.names = names
        self.values = values
    }

    /// The value of a variable; nil if the path has no such one.
    public func get(_ name: String) -> String? {
        names.firstIndex(of: name).map { String(values[$0]) }
    }

    /// The value of a variable that the route's path has.
    ///
    /// - Throws: 500 if it has not.
    public func require(_ name: String) throws(Problem) -> String {
        guard let value = get(name) else { throw .internalError(cause: MissingParameter(name: name)) }
        return value
    }

    private struct MissingParameter: Error { let name: String }
}
