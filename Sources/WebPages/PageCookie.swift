import HTTPJSON
import HTTPTypes

/// A cookie of the pages. `__Host-` keeps subdomains and http from setting it (RFC 6265bis section 4.1.3.2). Over http at the machine
/// that the browser runs on, where not every browser takes such a cookie, it has neither that prefix nor Secure.
public struct PageCookie: Sendable, Hashable {
    /// What browsers keep at most, in bytes of name, value and attributes.
    public static let bytesMax = 4096

    /// On which requests from other sites the browser sends it.
    public enum SameSite: String, Sendable {
        /// On links alone.
        case lax = "Lax"
        /// On all; browsers take it with Secure only, so it is lax over http.
        case none = "None"
    }

    /// The whole name.
    public let name: String
    private let attributes: String

    /// A cookie.
    ///
    /// - Parameter isClear: whether browsers come by http.
    public init(_ name: String, sameSite: SameSite, isClear: Bool) {
        if isClear {
            self.name = name
            let sameSite = sameSite == .none ? .lax : sameSite
            attributes = "Path=/; HttpOnly; SameSite=\(sameSite.rawValue)"
        } else {
            self.name = "__Host-\(name)"
            attributes = "Path=/; Secure; HttpOnly; SameSite=\(sameSite.rawValue)"
        }
    }

    /// The value that a request has; empty if it has none, or more than one.
    public func value(_ request: Request) -> String { request.cookie(name).map(String.init) ?? "" }

    /// What sets it; nil for a value that no browser would keep.
    public func setting(_ value: String, maxAgeSeconds: Int64) -> String? {
        let setting = "\(name)=\(value); \(attributes); Max-Age=\(maxAgeSeconds)"
        guard setting.utf8.count <= Self.bytesMax, value.utf8.allSatisfy(Self.isValueByte) else { return nil }
        return setting
    }

    /// What takes it away.
    public var clearing: String { "\(name)=; \(attributes); Max-Age=0" }

    /// RFC 6265 section 4.1.1.
    private static func isValueByte(_ byte: UInt8) -> Bool {
        0x21...0x7e ~= byte && !"\",;\\".utf8.contains(byte)
    }
}
