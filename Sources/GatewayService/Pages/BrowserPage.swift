import HTTPJSON
import HTTPTypes
import JOSE

/// The pages that a browser shows between a provider and an app.
///
/// Nothing that anybody sent stands in one but an app URL, which was checked and is escaped. The one script is the same
/// everywhere and is known to the Content-Security-Policy by its hash; nothing else may be loaded, run, framed or sent.
enum BrowserPage {
    /// Sends the browser on to an app: by script, without scripts by refresh, and by a link for browsers that want a touch.
    static func forward(
        to url: String,
        title: String = "Back to the app",
        text: String = "You can go back to the app now.",
        status: HTTPResponse.Status = .ok
    ) -> Response {
        let url = HTMLText.escaped(url)
        let head = "<noscript><meta http-equiv=\"refresh\" content=\"0;url=\(url)\"></noscript>\n"
        let body = "<p><a id=\"app\" href=\"\(url)\">Open the app</a></p>\n<script>\(script)</script>\n"
        return page(title, text, head: head, body: body, status: status, policy: policyWithScript)
    }

    /// Says what went wrong.
    static func failure(_ title: String, _ text: String, status: HTTPResponse.Status) -> Response {
        page(title, text, head: "", body: "", status: status, policy: policy)
    }

    /// The script reads the URL from the link, so that it is escaped for one context only.
    static let script = "location.replace(document.getElementById(\"app\").href)"

    private static let policy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    private static let policyWithScript = "\(policy); script-src 'sha256-\(base64(SHA256.hash(script)))'"

    private static func page(
        _ title: String,
        _ text: String,
        head: String,
        body: String,
        status: HTTPResponse.Status,
        policy: String
    ) -> Response {
        let html = """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(HTMLText.escaped(title))</title>
            \(head)</head>
            <body>
            <h1>\(HTMLText.escaped(title))</h1>
            <p>\(HTMLText.escaped(text))</p>
            \(body)</body>
            </html>

            """
        let headers: HTTPFields = [
            .contentType: "text/html; charset=utf-8", .contentSecurityPolicy: policy, .cacheControl: "no-store",
        ]
        return Response(status: status, headers: headers, body: ResponseBody(html))
    }

    /// RFC 4648 section 4, which Content-Security-Policy wants.
    private static func base64(_ bytes: [UInt8]) -> String {
        let text = Base64URL.encode(bytes).map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }
        return String(text) + String(repeating: "=", count: (4 - text.count % 4) % 4)
    }
}
