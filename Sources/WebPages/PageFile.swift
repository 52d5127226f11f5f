import HTTPJSON
import HTTPTypes
import JOSE

/// A file that pages load.
public struct PageFile: Sendable {
    /// What a file is.
    public enum Kind: String, Sendable {
        case style = "text/css; charset=utf-8"
        case script = "text/javascript; charset=utf-8"
        case image = "image/svg+xml"
    }

    /// How long a browser keeps a file whose address has its hash, in seconds.
    private static let maxAgeSeconds = 31_536_000

    /// The path below which files stand.
    private static let folder = "/pages/"

    /// The path.
    public let path: String
    /// The path and a query with the file's hash, so that a new file has a new address.
    public let address: String
    private let kind: Kind
    private let content: [UInt8]

    /// A file.
    ///
    /// - Parameters:
    ///   - name: its name below `/pages/`.
    ///   - content: in UTF-8.
    public init(_ name: String, _ kind: Kind, _ content: [UInt8]) {
        path = Self.folder + name
        address = "\(path)?v=\(Base64URL.encode(SHA256.hash(content).prefix(12)))"
        self.kind = kind
        self.content = content
    }

    /// The file's route. It is in no description, since only the pages load it.
    public var route: Route {
        Route(.get, path, isForOtherOrigins: false, atOnce: { request, _ in response(query: request.uri.query) })
    }

    private func response(query: String?) -> Response {
        // Under an old address there may be an old file somewhere, and it is kept by nobody.
        Self.response(content, kind, isCurrent: query.map { "\(path)?\($0)" == address } ?? false)
    }

    /// A file that a page loads. An SVG that is opened by itself can load and run nothing.
    ///
    /// - Parameter isCurrent: whether the address that was asked for is that of this content alone.
    public static func response(_ content: [UInt8], _ kind: Kind, isCurrent: Bool) -> Response {
        let headers: HTTPFields = [
            .contentType: kind.rawValue, .contentSecurityPolicy: "default-src 'none'; frame-ancestors 'none'",
            .cacheControl: isCurrent ? "public, max-age=\(maxAgeSeconds), immutable" : "no-cache",
        ]
        return Response(status: .ok, headers: headers, body: ResponseBody(content))
    }
}

extension PageFile {
    /// The icon of all pages.
    public static let icon = PageFile("icon.svg", .image, PackageResources.icon_svg)
    /// The look of all pages.
    public static let style = PageFile("style.css", .style, Array(PageStyle.text.utf8))
    /// The look of pages with forms that make calls.
    public static let consoleStyle = PageFile("console.css", .style, PackageResources.console_css)
    /// Makes the calls of such forms. Scripts of pages import it by its name.
    public static let callScript = PageFile("call.js", .script, PackageResources.call_js)
}
