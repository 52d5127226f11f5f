import API
import HTTPJSON
import HTTPTypes

/// How an answer gets from the browser to a client.
enum ClientRedirect {
    /// An answer of the authorization endpoint, by its response mode.
    static func response(_ answer: IdentityV1.ClientAnswer, in text: PageText) -> Response {
        let parameters = answer.parameters.map { ($0.name, $0.value) }
        if answer.responseMode == "form_post" {
            return Page.formPost(parameters, to: answer.redirectUri, in: text).response
        }
        return Response(status: .seeOther, headers: [.location: address(answer.redirectUri, adding: parameters)])
    }

    /// A redirect URI with more in its query; the query that it has stays as it is (RFC 6749 section 3.1.2).
    static func address(_ uri: String, adding parameters: [(name: String, value: String)]) -> String {
        guard !parameters.isEmpty else { return uri }
        let added = parameters.map { "\(FormFields.encode($0.name))=\(FormFields.encode($0.value))" }
            .joined(separator: "&")
        guard let question = uri.utf8.firstIndex(of: UInt8(ascii: "?")) else { return "\(uri)?\(added)" }
        let hasQuery = uri.utf8.index(after: question) != uri.utf8.endIndex && !uri.hasSuffix("&")
        return uri + (hasQuery ? "&" : "") + added
    }

    /// The source expression of a redirect URI for Content-Security-Policy (CSP3 section 2.3.1): its origin, or for what has none that
    /// could be written there, such as an IPv6 address, its scheme. Nil for what is no URI.
    static func source(of uri: String) -> String? {
        guard let colon = uri.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let scheme = uri[..<colon]
        guard !scheme.isEmpty, scheme.utf8.allSatisfy({ isWordByte($0) || $0 == UInt8(ascii: "+") }) else { return nil }
        guard scheme == "https" || scheme == "http", uri[colon...].hasPrefix("://") else { return "\(scheme):" }
        let authority = uri[colon...].dropFirst("://".count).prefix { !"/?#".contains($0) }
        let isPlain = !authority.isEmpty && authority.utf8.allSatisfy { isWordByte($0) || $0 == UInt8(ascii: ":") }
        return isPlain ? "\(scheme)://\(authority)" : "\(scheme):"
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}

extension Page {
    /// A page that has the browser post an answer to a client (OAuth 2.0 Form Post Response Mode): by the script, and without scripts
    /// by a button.
    static func formPost(_ fields: [(name: String, value: String)], to uri: String, in text: PageText) -> Page {
        Page(
            text: text,
            title: text[.forwarding],
            content: """
                <p>\(text.html(.forwardingText))</p>
                <form class="forward" method="post" action="\(HTMLText.escaped(uri))">
                \(hiddenFields(fields))
                <button class="strong" type="submit">\(text.html(.forward))</button>
                </form>
                """,
            formTarget: ClientRedirect.source(of: uri)
        )
    }
}
