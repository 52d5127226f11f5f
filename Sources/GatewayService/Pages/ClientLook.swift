import HTTPJSON
import WebPages

/// The look of a client on the pages for its users: its logo and its colour, of its entry.
struct ClientLook: Sendable {
    private var logoURI: String?
    private var name = ""
    private var color: PageColor?

    /// No look but that of all pages.
    init() {}

    /// The look of an entry.
    ///
    /// - Parameters:
    ///   - logoURI: an https URL, or empty.
    ///   - color: `#rrggbb`, or empty.
    ///   - name: what the logo shows.
    init(logoURI: String, color: String, name: String) {
        // Another source of images has no place in the policy: scheme and host must be plain.
        if ClientRedirect.source(of: logoURI)?.hasPrefix("https://") == true { self.logoURI = logoURI }
        if color.hasPrefix("#") { self.color = PageColor(digits: color.dropFirst().lowercased()) }
        self.name = name
    }

    /// Where the logo comes from: a source of Content-Security-Policy.
    var source: String? { logoURI.flatMap(ClientRedirect.source) }

    /// The link to the style of the colour, on a line of its own; empty without a colour.
    var style: String {
        color.map { "\n<link rel=\"stylesheet\" href=\"\(ColorStyleRoute.address($0))\">" } ?? ""
    }

    /// The logo, with the end of its line; empty without one. Its host does not learn which request the page is of.
    var image: String {
        guard let logoURI else { return "" }
        let (address, name) = (HTMLText.escaped(logoURI), HTMLText.escaped(name))
        return "<img class=\"logo\" src=\"\(address)\" alt=\"\(name)\" width=\"64\" height=\"64\">\n"
    }
}
