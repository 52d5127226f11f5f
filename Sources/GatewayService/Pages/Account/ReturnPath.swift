import HTTPJSON
import JOSE

/// A page of a signed-in user as the goal of a sign-in: nothing but a path below ``AccountPages/prefix``, so that no link leads a browser
/// elsewhere by it.
struct ReturnPath: Sendable, Hashable {
    static let bytesMax = 128
    /// The page without another goal.
    static let account = ReturnPath(checked: AccountPage.path)

    private static let requestPrefix = "page_"
    /// Where the user is to sign in anew, whatever the provider knows of the browser.
    private static let newSignInPrefix = "again_"

    let path: String

    /// A path that a browser sent; nil for anything that isn't one of a page.
    init?(_ path: String) {
        guard path.utf8.count <= Self.bytesMax, path.hasPrefix(AccountPages.prefix), !path.contains("//"),
            path.utf8.allSatisfy(Self.isPathByte)
        else { return nil }
        self.path = path
    }

    /// The goal of a sign-in in progress; nil for the request of a client.
    init?(request: String) {
        let prefix = Self.demandsNewSignIn(request) ? Self.newSignInPrefix : Self.requestPrefix
        guard request.hasPrefix(prefix), let path = Base64URL.decode(request.dropFirst(prefix.utf8.count)) else {
            return nil
        }
        self.init(String(decoding: path, as: UTF8.self))
    }

    private init(checked path: String) { self.path = path }

    /// What stands in the place of a client's sealed request during the sign-in. Nobody gains by making one: it leads where a link leads.
    func request(isAnew: Bool = false) -> String {
        (isAnew ? Self.newSignInPrefix : Self.requestPrefix) + Base64URL.encode(Array(path.utf8))
    }

    /// Whether a request is one for which the provider is asked for a new sign-in.
    static func demandsNewSignIn(_ request: String) -> Bool { request.hasPrefix(newSignInPrefix) }

    private static func isPathByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "/"):
            true
        default: false
        }
    }
}
