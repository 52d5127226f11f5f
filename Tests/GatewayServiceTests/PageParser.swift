import Testing

/// What stands in a page of ours, read as a browser would: tags with attributes in quotes or without a value, and text between them. Anything that
/// our pages do not consist of is a fault.
struct PageParser {
    struct Malformed: Error, CustomStringConvertible {
        let description: String
    }

    struct Element: Hashable {
        let name: String
        let attributes: [String: String]
    }

    private(set) var elements: [Element] = []
    private(set) var scripts: [String] = []
    private(set) var text = ""

    /// Elements that our pages are made of.
    private static let known: Set<String> = [
        "a", "bdi", "body", "br", "button", "code", "dd", "details", "div", "dl", "dt", "fieldset", "form", "h1", "h2",
        "h3", "head",
        "header", "html", "img", "input", "label", "legend", "li", "link", "main", "meta", "nav", "noscript", "ol",
        "option",
        "output", "p", "picture", "pre", "script", "section", "select", "source", "span", "strong", "summary", "time",
        "title", "ul",
    ]

    init(_ html: String) throws {
        guard html.hasPrefix("<!doctype html>\n") else { throw Malformed(description: "no doctype") }
        var rest = html.dropFirst("<!doctype html>\n".count)
        while !rest.isEmpty {
            guard rest.first == "<" else {
                text += try Self.unescape(rest.prefix { $0 != "<" })
                rest = rest.drop { $0 != "<" }
                continue
            }
            guard let end = rest.firstIndex(of: ">") else { throw Malformed(description: "an open tag") }
            let tag = rest[rest.index(after: rest.startIndex)..<end]
            rest = rest[rest.index(after: end)...]
            if tag.hasPrefix("/") {
                guard Self.known.contains(String(tag.dropFirst())) else { throw Malformed(description: "</\(tag)>") }
                continue
            }
            let element = try Self.element(tag)
            guard Self.known.contains(element.name) else { throw Malformed(description: "<\(tag)>") }
            elements.append(element)
            guard element.name == "script" else { continue }
            let script = rest.prefix { $0 != "<" }
            scripts.append(String(script))
            rest = rest.dropFirst(script.count)
        }
    }

    /// The names and values of the fields that the user doesn't see, in their order.
    var hiddenFields: [[String]] {
        elements.filter { $0.name == "input" && $0.attributes["type"] == "hidden" }
            .map { [$0.attributes["name"] ?? "", $0.attributes["value"] ?? ""] }
    }

    /// The attributes of the first element of a name.
    subscript(name: String) -> [String: String]? { elements.first { $0.name == name }?.attributes }

    /// Where the page leads, which its link and its refresh agree about; nil if it leads nowhere.
    var appURL: String? {
        get throws {
            let links = elements.filter { $0.name == "a" }.map { $0.attributes["href"] }
            let refreshes = elements.filter { $0.attributes["http-equiv"] != nil }.map { $0.attributes["content"] }
            if links.isEmpty, refreshes.isEmpty, scripts.isEmpty { return nil }
            let url = try #require(links.first ?? nil)
            #expect(links == [url])
            #expect(refreshes == ["0;url=\(url)"])
            #expect(scripts.count == 1)
            return url
        }
    }

    private static func element(_ tag: Substring) throws -> Element {
        let name = tag.prefix { $0 != " " }
        var rest = tag.dropFirst(name.count)
        var attributes: [String: String] = [:]
        while !rest.isEmpty {
            guard rest.hasPrefix(" ") else { throw Malformed(description: "<\(tag)>") }
            let key = String(rest.dropFirst().prefix { $0 != "=" && $0 != " " })
            rest = rest.dropFirst(1 + key.count)
            guard rest.hasPrefix("=") else {
                attributes[key] = ""
                continue
            }
            rest = rest.dropFirst()
            guard rest.first == "\"", let close = rest.dropFirst().firstIndex(of: "\"") else {
                throw Malformed(description: "<\(tag)>")
            }
            attributes[key] = try unescape(rest[..<close].dropFirst())
            rest = rest[close...].dropFirst()
        }
        return Element(name: String(name), attributes: attributes)
    }

    private static let entities = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "#39": "'"]

    private static func unescape(_ text: Substring) throws -> String {
        guard !text.contains(where: { "<>\"".contains($0) }) else { throw Malformed(description: String(text)) }
        var result = ""
        var rest = text
        while let ampersand = rest.firstIndex(of: "&") {
            result += rest[..<ampersand]
            guard let end = rest[ampersand...].firstIndex(of: ";"),
                let entity = entities[String(rest[ampersand..<end].dropFirst())]
            else { throw Malformed(description: String(text)) }
            result += entity
            rest = rest[end...].dropFirst()
        }
        return result + rest
    }
}
