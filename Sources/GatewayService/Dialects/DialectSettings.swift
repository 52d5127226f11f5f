import HTTPJSON
import ServiceKit

/// Which dialects are on, and what they need.
struct DialectSettings: Sendable {
    /// The shortest service key, in bytes.
    static let serviceKeyBytesMin = 32

    /// Those that are on.
    var dialects: Set<Dialect> = []
    /// What opens the admin routes of ``Dialect/supabase``; nil for no such routes.
    var supabaseServiceKey: Secret?

    /// The routes of those that are on.
    func endpoints(_ parts: DialectParts) -> [Endpoint] {
        return Dialect.allCases.filter(dialects.contains).flatMap { dialect in
            switch dialect {
            case .singleToken: SingleToken.endpoints(parts)
            case .wordpress: WordPress.endpoints(parts)
            case .supabase: Supabase.endpoints(parts, serviceKey: supabaseServiceKey)
            case .cognito: parts.openID.map { Cognito.endpoints($0) } ?? []
            }
        }
    }

    /// The answer that tells a problem: in the shape of the dialect whose paths the request's is one of, else in ours.
    func response(to request: Request, telling problem: Problem, _ languages: PageLanguages) -> Response {
        let path = request.uri.path
        guard let dialect = dialects.first(where: { $0.speaks(path) }) else { return problem.response() }
        return dialect.response(to: request, telling: problem, languages)
    }
}

extension DialectSettings {
    /// Settings from a configuration without ``faults(_:)``.
    init(_ configuration: Configuration) {
        dialects = Set(configuration[GatewayKeys.dialects])
        supabaseServiceKey = configuration[GatewayKeys.supabaseServiceKey].map { Secret(Self.trimmed($0)) }
    }

    /// What is wrong: a short service key could be guessed, and another's bytes no header field can carry; hosted pages need ours.
    static func faults(_ configuration: Configuration) -> [ConfigurationError] {
        if configuration[GatewayKeys.dialects].contains(.cognito), !configuration[GatewayKeys.signInPages] {
            let problem = "names cognito, whose pages are those of \(GatewayKeys.signInPages.name)"
            return keyFaults(configuration) + [ConfigurationError(key: GatewayKeys.dialects.name, problem: problem)]
        }
        return keyFaults(configuration)
    }

    private static func keyFaults(_ configuration: Configuration) -> [ConfigurationError] {
        guard let key = configuration[GatewayKeys.supabaseServiceKey].map(trimmed) else { return [] }
        guard key.count < serviceKeyBytesMin || !key.allSatisfy(Authentication.isTokenByte) else { return [] }
        let problem =
            "names a file that must hold at least \(serviceKeyBytesMin) letters, digits or characters of -._~+/= and nothing else"
        return [ConfigurationError(key: GatewayKeys.supabaseServiceKey.name, problem: problem)]
    }

    /// Without the line end that editors put at a file's end.
    private static func trimmed(_ key: Secret) -> [UInt8] {
        var bytes = key.bytes
        while let last = bytes.last, last == UInt8(ascii: "\n") || last == UInt8(ascii: "\r") { bytes.removeLast() }
        return bytes
    }
}
