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
        title: PageText.Key = .backToApp,
        sentence: PageText.Key = .backToAppText,
        in text: PageText,
        status: HTTPResponse.Status = .ok
    ) -> Response {
        let url = HTMLText.escaped(url)
        let head = "<noscript><meta http-equiv=\"refresh\" content=\"0;url=\(url)\"></noscript>\n"
        let body = "<p><a id=\"app\" href=\"\(url)\">\(text.html(.openApp))</a></p>\n<script>\(script)</script>\n"
        return page(title, sentence, text, head: head, body: body, status: status, policy: policyWithScript)
    }

    /// Says what went wrong.
    static func failure(
        _ title: PageText.Key,
        _ sentence: PageText.Key,
        in text: PageText,
        status: HTTPResponse.Status
    ) -> Response {
        page(title, sentence, text, head: "", body: "", status: status, policy: policy)
    }

    /// The script reads the URL from the link, so that it is escaped for one context only.
    static let script = "location.replace(document.getElementById(\"app\").href)"

    private static let policy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    private static let policyWithScript = "\(policy); script-src 'sha256-\(base64(SHA256.hash(script)))'"

    private static func page(
        _ title: PageText.Key,
        _ sentence: PageText.Key,
        _ text: PageText,
        head: String,
        body: String,
        status: HTTPResponse.Status,
        policy: String
    ) -> Response {
        let html = """
            <!doctype html>
            <html lang="\(text.language)" dir="\(text.direction)">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(text.html(title))</title>
            \(head)</head>
            <body>
            <h1>\(text.html(title))</h1>
            <p>\(text.html(sentence))</p>
            \(body)</body>
            </html>

            """
        let headers: HTTPFields = [
            .contentType: "text/html; charset=utf-8", .contentSecurityPolicy: policy, .cacheControl: "no-store",
            .contentLanguage: text.language, .vary: "Accept-Language",
        ]
        return Response(status: status, headers: headers, body: ResponseBody(html))
    }

    /// RFC 4648 section 4, which Content-Security-Policy wants.
    private static func base64(_ bytes: [UInt8]) -> String {
        let text = Base64URL.encode(bytes).map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }
        return String(text) + String(repeating: "=", count: (4 - text.count % 4) % 4)
    }
}
