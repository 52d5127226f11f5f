import HTTPJSON
import HTTPTypes
import WebPages

/// A page for people: a card with a heading. Style and script come from the gateway's own files, and nothing else may be loaded, run
/// or framed.
struct Page: Sendable {
    /// The language, and its sentences.
    let text: PageText
    /// The heading, and the title of the window.
    let title: String
    /// What stands below the heading: HTML, in which all text of strangers is escaped.
    var content = ""
    var status = HTTPResponse.Status.ok
    /// The look of the client that the page is for.
    var look = ClientLook()
    /// Where forms may be sent besides the gateway: a source of Content-Security-Policy.
    var formTarget: String?
    /// Links to other pages, above this one: HTML.
    var navigation = ""
    /// Its scripts, which are ES modules.
    var scripts = [PageAsset.script]
    /// Whether a script asks the gateway for more.
    var isLive = false

    /// A page with one paragraph.
    static func message(
        _ title: PageText.Key,
        _ sentence: PageText.Key,
        in text: PageText,
        status: HTTPResponse.Status = .ok
    ) -> Page {
        Page(text: text, title: text[title], content: "<p>\(text.html(sentence))</p>", status: status)
    }

    /// The response.
    var response: Response {
        let title = HTMLText.escaped(title)
        let scripts = scripts.map { "<script type=\"module\" src=\"\($0.address)\"></script>" }.joined(separator: "\n")
        let html = """
            <!doctype html>
            <html lang="\(text.language)" dir="\(text.direction)">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(title)</title>
            <link rel="stylesheet" href="\(PageAsset.style.address)">\(look.style)
            <link rel="icon" type="image/svg+xml" href="\(PageFile.icon.address)">
            \(scripts)
            </head>
            <body>
            \(navigation)<main>
            \(look.image)<h1>\(title)</h1>
            \(content)
            </main>
            </body>
            </html>

            """
        let headers: HTTPFields = [
            .contentType: "text/html; charset=utf-8", .contentSecurityPolicy: policy, .cacheControl: "no-store",
            .referrerPolicy: "no-referrer", .contentLanguage: text.language, .vary: "Accept-Language",
        ]
        return Response(status: status, headers: headers, body: ResponseBody(html))
    }

    private var policy: String {
        let formTarget = formTarget.map { " \($0)" } ?? ""
        let logo = look.source.map { " \($0)" } ?? ""
        return "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'\(logo); "
            + "\(isLive ? "connect-src 'self'; " : "")form-action 'self'\(formTarget); base-uri 'none'; frame-ancestors 'none'"
    }

    /// Fields of a form that the user doesn't see.
    static func hiddenFields(_ fields: [(name: String, value: String)]) -> String {
        fields.map { field in
            let (name, value) = (HTMLText.escaped(field.name), HTMLText.escaped(field.value))
            return "<input type=\"hidden\" name=\"\(name)\" value=\"\(value)\">"
        }.joined(separator: "\n")
    }
}
