import HTTPJSON
import HTTPTypes
import JOSE

/// HTML that is safe to send: every text interpolated by `\(…)` is escaped.
struct HTML: ExpressibleByStringInterpolation, Sendable {
    let text: String

    init(stringLiteral value: String) { text = value }
    init(stringInterpolation: Interpolation) { text = stringInterpolation.text }

    /// Builds the text.
    struct Interpolation: StringInterpolationProtocol {
        var text = ""

        init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

        mutating func appendLiteral(_ literal: String) { text += literal }

        /// Untrusted text, for an element's content or an attribute between quotes.
        mutating func appendInterpolation(_ value: String) { text += HTMLText.escaped(value) }

        /// A value that is HTML already.
        mutating func appendInterpolation(_ value: HTML) { text += value.text }

        /// Values that are HTML already, one after the other.
        mutating func appendInterpolation(_ values: [HTML]) { for value in values { text += value.text } }
    }

    /// Hidden fields of a form.
    static func hidden(_ fields: [(name: String, value: String)]) -> [HTML] {
        fields.map { "<input type=\"hidden\" name=\"\($0.name)\" value=\"\($0.value)\">\n" }
    }
}

extension Response {
    /// A page that loads nothing, runs only the given script, and can't be shown in a frame.
    static func page(
        title: String,
        _ body: HTML,
        script: String? = nil,
        status: HTTPResponse.Status = .ok
    ) -> Response {
        let nonce = Base64URL.encode(SecureRandom.bytes(16))
        let scriptElement: HTML =
            script.map { "<script nonce=\"\(nonce)\">\(HTML(stringLiteral: $0))</script>\n" } ?? ""
        let page: HTML = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(title)</title>
            <style nonce="\(nonce)">\(HTML(stringLiteral: style))</style>
            </head>
            <body>
            <main>
            \(body)</main>
            \(scriptElement)</body>
            </html>

            """
        let scripts = script == nil ? "" : "; script-src 'nonce-\(nonce)'"
        return Response(
            status: status,
            headers: [
                .contentType: "text/html; charset=utf-8",
                .contentSecurityPolicy: "default-src 'none'; style-src 'nonce-\(nonce)'\(scripts); base-uri 'none'; "
                    + "frame-ancestors 'none'",
                // Like the providers' own pages: the receiver of a post sees only the origin.
                .referrerPolicy: "strict-origin",
            ],
            body: ResponseBody(page.text)
        )
    }

    private static let style = """
        body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 44rem; padding: 0 1rem; color: #1d1d1f }
        label, fieldset { display: block; margin: .8rem 0 } fieldset { border: 1px solid #ccc; border-radius: .5rem }
        input[type=text], input[type=email] { display: block; width: 100%; box-sizing: border-box; font: inherit; padding: .4rem }
        button { font: inherit; padding: .4rem 1rem; margin: .2rem .4rem .2rem 0 } code { word-break: break-all }
        table { border-collapse: collapse } td, th { text-align: left; padding: .2rem .8rem .2rem 0; vertical-align: top }
        .fault { color: #b00020 }
        """
}
