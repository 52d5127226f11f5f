import HTTPJSON
import WebPages

/// A file that the pages load.
enum PageAsset: CaseIterable, Sendable {
    case style
    case script
    case passkeyScript
    case appleWhite
    case appleBlack
    case google
    case facebook

    /// The path and a query with the file's hash, so that a new file has a new address.
    var address: String { file.address }

    /// The file's route.
    var route: Route { file.route }

    /// The file.
    var file: PageFile { Self.files[self] ?? PageFile(name, kind, Array(text.utf8)) }

    private static let files = Dictionary(
        uniqueKeysWithValues: allCases.map { ($0, PageFile($0.name, $0.kind, Array($0.text.utf8))) }
    )

    private var name: String {
        switch self {
        case .style: "style.css"
        case .script: "page.js"
        case .passkeyScript: "passkeys.js"
        case .appleWhite: "apple-white.svg"
        case .appleBlack: "apple-black.svg"
        case .google: "google.svg"
        case .facebook: "facebook.svg"
        }
    }

    private var kind: PageFile.Kind {
        switch self {
        case .style: .style
        case .script, .passkeyScript: .script
        case .appleWhite, .appleBlack, .google, .facebook: .image
        }
    }

    private var text: String {
        switch self {
        case .style: PageStyle.text + FormStyle.text
        case .script: PageScript.text
        case .passkeyScript: PasskeyScript.text
        case .appleWhite: ProviderLogo.apple("#fff")
        case .appleBlack: ProviderLogo.apple("#000")
        case .google: ProviderLogo.google
        case .facebook: ProviderLogo.facebook
        }
    }
}
