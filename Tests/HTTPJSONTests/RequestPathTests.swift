import Testing

@testable import HTTPJSON

struct RequestPathTests {
    private func isPlain(_ path: String) -> Bool {
        var path = path
        return path.withUTF8(RequestPath.isPlain)
    }

    @Test(arguments: [
        "/", "/me", "/groups/0190c2a5-7f00/members", "/.well-known/jwks.json", "/a%20b", "/a..b", "/%41", "/...",
    ])
    func `A path that can be written in one way only is plain`(path: String) {
        #expect(isPlain(path))
    }

    @Test(arguments: [
        "", "me", "*", "//", "//me", "/me/", "/me//x", "/auth//refresh", "//auth/refresh", "/./me", "/me/.", "/../me",
        "/auth/../me", "/me/..", "/%2e/me", "/%2E%2e/me", "/auth%2frefresh", "/auth%2Frefresh", "/auth%5crefresh",
        "/auth\\refresh", "/%00", "/%", "/%4", "/%zz", "/a b", "/a\u{7f}", "/é", "/me#x", "/a\tb",
    ])
    func `A path that has another spelling is not plain`(path: String) {
        #expect(!isPlain(path))
    }
}
