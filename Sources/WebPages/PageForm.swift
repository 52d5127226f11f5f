import HTTPJSON
import HTTPTypes
import JOSE

/// A form of a page of ours, which only a page of the same session can have sent.
public struct PageForm: Sendable {
    /// The name of the hidden field.
    public static let valueName = "form_value"

    private static let label = "vestibule page form 1"

    private let fields: FormFields

    /// The form of a request.
    ///
    /// - Parameters:
    ///   - token: the value of the browser's cookie.
    ///   - origin: that of our pages.
    /// - Throws: 403 for a form of another site or of another session; 400 for one with a field twice, and as `form` does.
    public init(_ request: Request, _ context: RouteContext, token: String, origin: String) async throws {
        guard Self.isOfOwnSite(request, origin) else { throw Self.foreign }
        fields = try await context.form(request)
        guard fields.repeatedName == nil else {
            throw Problem(.badRequest, code: "FORM_MALFORMED", detail: "The form has a field twice.")
        }
        guard Self.hasValue(fields, ofToken: token) else { throw Self.foreign }
    }

    /// The value of a field; empty if there is none.
    public subscript(name: String) -> String { fields[name] ?? "" }

    /// Whether a form has what those of the session's pages have.
    ///
    /// - Parameter token: the value of the browser's cookie; without one there is no such form.
    public static func hasValue(_ fields: FormFields, ofToken token: String) -> Bool {
        guard !token.isEmpty else { return false }
        return ConstantTime.areEqual(fields[valueName] ?? "", value(ofToken: token))
    }

    /// What a form of a page must have that is made for the browser with this cookie: other sites neither see the page nor can compute it.
    public static func value(ofToken token: String) -> String {
        Base64URL.encode(SHA256.hash("\(label)\0\(token)"))
    }

    /// Whether no other site has sent a request, as far as the browser says: by Sec-Fetch-Site (Fetch Metadata), else by Origin, which is
    /// null for forms of pages without referrers.
    public static func isOfOwnSite(_ request: Request, _ origin: String) -> Bool {
        if let site = request.headers[.secFetchSite] { return site == "same-origin" }
        guard let sender = request.headers[.origin], sender != "null" else { return true }
        return sender == origin
    }

    /// Whether another site led the browser here, as far as the browser says.
    public static func isOfAnotherSite(_ request: Request) -> Bool { request.headers[.secFetchSite] == "cross-site" }

    /// The problem of such a form.
    public static let foreign = Problem(
        .forbidden,
        code: "PERMISSION_DENIED",
        detail: "This form was not sent by a page of this session."
    )
}

extension HTTPField.Name {
    /// `Sec-Fetch-Site` (W3C Fetch Metadata). Forced because the literal is a token of RFC 9110 section 5.6.2.
    fileprivate static let secFetchSite = HTTPField.Name("Sec-Fetch-Site")!
}
