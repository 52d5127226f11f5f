/// The dialect of apps that know one token for everything: below `/api/auth`, `{"success": true, "token": …}`.
///
/// The token is a JWT whose `exp` the app reads. It lives for days, doesn't rotate, is checked against its session at each
/// call, and is good for its own renewal after `exp` too while the session lives. Our own routes take it as well.
enum SingleToken {
    static func endpoints(_ parts: DialectParts) -> [Endpoint] {
        [
            SingleTokenSignIn.endpoint(.apple, parts),
            SingleTokenSignIn.endpoint(.google, parts),
            SingleTokenRefresh.endpoint(parts),
            SingleTokenSignOut.endpoint(parts),
        ]
    }
}
