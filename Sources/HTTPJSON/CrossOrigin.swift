import HTTPTypes

/// Which web pages of other origins may call a server's routes and read the answers (CORS, WHATWG Fetch section 3.3): those of
/// a list, compared byte by byte, and never with cookies, since every right is in a token that the page sends itself.
public struct CrossOrigin: Sendable {
    /// The most origins.
    public static let originsMax = 64
    /// The longest origin, in bytes.
    public static let originBytesMax = 300
    /// For how long a browser may keep the answer to a preflight, in seconds.
    static let preflightSeconds = 600
    private let origins: Set<String>
    private let requestFields: String
    private let answerFields: String

    /// An allow-list.
    ///
    /// - Parameters:
    ///   - origins: as browsers write them, see ``isOrigin(_:)``.
    ///   - requestFields: the header fields that a page may send besides those that it always may.
    ///   - answerFields: those of answers that it may read besides those that it always may.
    public init(
        origins: some Sequence<String>,
        requestFields: [String],
        answerFields: [String] = ["x-request-id", "retry-after"]
    ) {
        self.origins = Set(origins)
        self.requestFields = requestFields.joined(separator: ", ")
        self.answerFields = answerFields.joined(separator: ", ")
    }

    /// Whether a text is an origin as browsers write it (RFC 6454 section 6.2): scheme, host in lower case and a port that is
    /// not the scheme's own; no path, and not `*` or `null`.
    public static func isOrigin(_ text: String) -> Bool {
        guard text.utf8.count <= originBytesMax, let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else {
            return false
        }
        let scheme = text[..<colon]
        guard isScheme(scheme), text[colon...].hasPrefix("://") else { return false }
        let authority = text[colon...].dropFirst("://".count)
        let host: Substring
        if authority.first == "[" {
            guard let close = authority.firstIndex(of: "]") else { return false }
            host = authority[...close]
            let inside = host.dropFirst().dropLast()
            guard !inside.isEmpty, inside.utf8.allSatisfy({ isHexadecimal($0) || $0 == UInt8(ascii: ":") }) else {
                return false
            }
        } else {
            host = authority.prefix { $0 != ":" }
            guard !host.isEmpty, host.utf8.allSatisfy(isHostByte) else { return false }
        }
        let port = authority[host.endIndex...]
        return port.isEmpty || isPort(port, of: scheme)
    }

    private static func isScheme(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, isLowercase(first) else { return false }
        return text.utf8.allSatisfy { isLowercase($0) || isDigit($0) || "+-.".utf8.contains($0) }
    }

    private static func isPort(_ text: Substring, of scheme: Substring) -> Bool {
        let digits = text.dropFirst()
        guard text.first == ":", digits.utf8.allSatisfy(isDigit), digits.utf8.first != UInt8(ascii: "0"),
            let port = UInt16(digits)
        else { return false }
        return !(scheme == "https" && port == 443 || scheme == "http" && port == 80)
    }

    private static func isLowercase(_ byte: UInt8) -> Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte }
    private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }
    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        isDigit(byte) || UInt8(ascii: "a")...UInt8(ascii: "f") ~= byte
    }
    private static func isHostByte(_ byte: UInt8) -> Bool {
        isLowercase(byte) || isDigit(byte) || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-")
    }

    /// The fields of a response for pages of other origins.
    ///
    /// - Parameter isClosed: whether the request's route is not for such pages.
    func answer(to fields: RequestFields, isClosed: Bool) -> Answer {
        Answer(origin: isClosed ? nil : origin(of: fields), answerFields: answerFields)
    }

    /// The origin of a request, if it is one of the list.
    func origin(of fields: RequestFields) -> String? {
        guard let origin = fields[.origin], origins.contains(origin) else { return nil }
        return origin
    }

    /// Whether a request only asks whether another one may be made (section 3.3.2).
    static func isPreflight(_ request: Request) -> Bool {
        request.method == .options && request.headers.contains(.accessControlRequestMethod)
    }

    /// The answer to a preflight, without what ``Answer`` adds.
    ///
    /// - Parameter methods: those that the path answers.
    func preflightAnswer(methods: [String]) -> Response {
        Response(
            status: .noContent,
            headers: [
                .accessControlAllowMethods: methods.joined(separator: ", "),
                .accessControlAllowHeaders: requestFields,
                .accessControlMaxAge: String(Self.preflightSeconds),
            ]
        )
    }

    /// Lets pages of an origin read a response. Caches learn in any case that responses differ by origin.
    struct Answer: Sendable {
        /// The origin; nil if it may not read the answer.
        let origin: String?
        fileprivate let answerFields: String

        /// Appends the fields.
        func pack(into packed: inout [UInt8]) {
            packed.appendField(.vary, "Origin")
            guard let origin else { return }
            packed.appendField(.accessControlAllowOrigin, origin)
            packed.appendField(.accessControlExposeHeaders, answerFields)
        }
    }
}
