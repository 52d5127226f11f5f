import HTTPJSON
import HTTPTypes
import JOSE

/// A file that the pages load.
enum PageAsset: CaseIterable, Sendable {
    case style
    case script
    case appleWhite
    case appleBlack
    case google
    case facebook

    /// How long a browser keeps a file whose address has its hash, in seconds.
    private static let maxAgeSeconds = 31_536_000

    /// The path and a query with the file's hash, so that a new file has a new address.
    var address: String { Self.addresses[self] ?? path }

    /// The file's route. It is in no description, since only the pages load it.
    var route: Route {
        Route(.get, path, isForOtherOrigins: false, atOnce: { request, _ in response(query: request.uri.query) })
    }

    private func response(query: String?) -> Response {
        // Under an old address there may be an old file somewhere, and it is kept by nobody.
        let isCurrent = query.map { "\(path)?\($0)" == address } ?? false
        return Self.response(text, type: type, isCurrent: isCurrent)
    }

    /// A file that a page loads. An SVG that is opened by itself can load and run nothing.
    ///
    /// - Parameter isCurrent: whether the address that was asked for is that of this text alone.
    static func response(_ text: String, type: String, isCurrent: Bool) -> Response {
        let headers: HTTPFields = [
            .contentType: type, .contentSecurityPolicy: "default-src 'none'; frame-ancestors 'none'",
            .cacheControl: isCurrent ? "public, max-age=\(maxAgeSeconds), immutable" : "no-cache",
        ]
        return Response(status: .ok, headers: headers, body: ResponseBody(text))
    }

    private static let addresses = Dictionary(
        uniqueKeysWithValues: allCases.map { asset in
            (asset, "\(asset.path)?v=\(Base64URL.encode(SHA256.hash(asset.text).prefix(12)))")
        }
    )

    private var path: String {
        switch self {
        case .style: "/pages/style.css"
        case .script: "/pages/page.js"
        case .appleWhite: "/pages/apple-white.svg"
        case .appleBlack: "/pages/apple-black.svg"
        case .google: "/pages/google.svg"
        case .facebook: "/pages/facebook.svg"
        }
    }

    private var type: String {
        switch self {
        case .style: "text/css; charset=utf-8"
        case .script: "text/javascript; charset=utf-8"
        case .appleWhite, .appleBlack, .google, .facebook: "image/svg+xml"
        }
    }

    private var text: String {
        switch self {
        case .style: PageStyle.text + AccountStyle.text
        case .script: PageScript.text
        case .appleWhite: ProviderLogo.apple("#fff")
        case .appleBlack: ProviderLogo.apple("#000")
        case .google: ProviderLogo.google
        case .facebook: ProviderLogo.facebook
        }
    }
}
