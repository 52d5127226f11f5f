import HTTPJSON
import HTTPTypes

/// A page as a browser gets it, with a Content-Security-Policy that allows its own files and nothing inline. No site can frame it.
public struct PageDocument: Sendable {
    /// The title of the window.
    public var title: String
    /// What stands in `body`.
    public var body: HTML
    /// The class of `body`; nil for a card in the middle.
    public var layout: String?
    /// The styles, in their order.
    public var styles = [PageFile.style]
    /// The scripts, which are ES modules.
    public var scripts: [PageFile] = []
    /// The origins besides its own that scripts may call. Without any and without ``callsOwnOrigin`` they call nothing.
    public var calledOrigins: [String] = []
    /// Whether scripts may call the page's own origin.
    public var callsOwnOrigin = false
    /// Where forms may be sent: a list of sources of Content-Security-Policy; nil for anywhere.
    public var formTargets: String? = "'none'"
    /// The Referrer-Policy of requests that the page makes.
    public var referrerPolicy = "no-referrer"
    /// The status of the response.
    public var status = HTTPResponse.Status.ok

    /// A page.
    public init(title: String, body: HTML) {
        self.title = title
        self.body = body
    }

    /// The response.
    public var response: Response {
        let styles = styles.map { "<link rel=\"stylesheet\" href=\"\($0.address)\">\n" as HTML }
        let scripts = scripts.map { "<script type=\"module\" src=\"\($0.address)\"></script>\n" as HTML }
        let page: HTML = """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(title)</title>
            <link rel="icon" type="image/svg+xml" href="\(PageFile.icon.address)">
            \(styles)\(scripts)</head>
            <body\(HTML.attribute("class", layout))>
            \(body)
            </body>
            </html>

            """
        let headers: HTTPFields = [
            .contentType: "text/html; charset=utf-8", .contentSecurityPolicy: policy, .cacheControl: "no-store",
            .referrerPolicy: referrerPolicy,
        ]
        return Response(status: status, headers: headers, body: ResponseBody(page.text))
    }

    private var policy: String {
        let called = (callsOwnOrigin ? ["'self'"] : []) + calledOrigins
        let parts = [
            "default-src 'none'", "style-src 'self'", "img-src 'self'", "base-uri 'none'", "frame-ancestors 'none'",
            scripts.isEmpty ? nil : "script-src 'self'",
            called.isEmpty ? nil : "connect-src \(called.joined(separator: " "))",
            formTargets.map { "form-action \($0)" },
        ]
        return parts.compactMap(\.self).joined(separator: "; ")
    }
}
