import HTTPJSON
import HTTPTypes
import JOSE
import WebPages

/// `GET /pages/color/{color}.css`: the style of a client's colour. It follows from the colour alone, so a page needs no style of its
/// own, which the policy would refuse.
enum ColorStyleRoute {
    private static let prefix = "/pages/color/"
    private static let suffix = ".css"

    static let route = Route(
        .get,
        "\(prefix){color}",
        isForOtherOrigins: false,
        atOnce: { request, context in
            let name = try context.parameters.require("color")
            guard name.hasSuffix(suffix), let color = PageColor(digits: name.dropLast(suffix.utf8.count)) else {
                throw Problem(.notFound, code: "ROUTE_NOT_FOUND", detail: "There is no such style.")
            }
            let isCurrent = request.uri.query == "v=\(version)"
            return PageFile.response(Array(text(color).utf8), .style, isCurrent: isCurrent)
        }
    )

    /// The path of a colour's style, and a query that changes when the program makes another one of a colour.
    static func address(_ color: PageColor) -> String { "\(prefix)\(color.digits)\(suffix)?v=\(version)" }

    /// The hash of one style stands for them all.
    private static let version = Base64URL.encode(
        SHA256.hash(text(PageColor(red: 0x5f, green: 0xa0, blue: 0x8c))).prefix(12)
    )

    /// Buttons of ours in the colour; links, and a line above the card, in what of it can be read there.
    static func text(_ color: PageColor) -> String {
        func variables(card: PageColor) -> String {
            let accent = color.readable(on: card).digits
            return
                "--strong: #\(color.digits); --on-strong: #\(color.onIt.digits); --link: #\(accent); --focus: #\(accent);"
        }
        return """
            :root { \(variables(card: PageStyle.lightCard)) }
            @media (prefers-color-scheme: dark) { :root { \(variables(card: PageStyle.darkCard)) } }
            main { border-block-start: .25rem solid var(--link); }

            """
    }
}
