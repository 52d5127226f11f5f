import JOSE

/// A sign-in by the provider that a browser has begun: what its cookie holds, sealed by this process, so that only an attempt that the
/// console began makes it ask the provider.
struct SignInAttempt: Sendable, Hashable {
    /// How long a sign-in may take, in seconds.
    static let secondsMax: Int64 = 600
    private static let byteCount = 32
    private static let label = "vestibule console sign-in 2"
    private static let partsCount = 6

    /// Comes back with the code (RFC 6749 section 10.12).
    let state: String
    /// Comes back in the ID token (OpenID Connect Core section 3.1.2.1).
    let nonce: String
    /// Proves to the provider that the code is ours (RFC 7636).
    let verifier: String
    /// The page that the operator wants.
    let goal: ConsolePath
    /// When it began: the console asks the provider then.
    let beganAt: ConsoleTime

    /// A new attempt.
    init(goal: ConsolePath, now: ConsoleTime) {
        func random() -> String { Base64URL.encode(SecureRandom.bytes(Self.byteCount)) }
        (state, nonce, verifier) = (random(), random(), random())
        self.goal = goal
        beganAt = now
    }

    /// The attempt of a cookie; nil if this process has not sealed it, or it is too old.
    init?(cookie: String, key: [UInt8], now: ConsoleTime) {
        let parts = cookie.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == Self.partsCount + 1,
            ConstantTime.areEqual(parts[Self.partsCount], Self.seal(Array(parts.dropLast()), key)),
            let goal = Base64URL.decode(parts[3]).flatMap({ ConsolePath(String(decoding: $0, as: UTF8.self)) }),
            let wall = Int64(parts[4]), let run = Int64(parts[5])
        else { return nil }
        beganAt = ConsoleTime(wallSeconds: wall, runSeconds: run)
        guard 0...Self.secondsMax ~= now.seconds(since: beganAt) else { return nil }
        (state, nonce, verifier) = (parts[0], parts[1], parts[2])
        self.goal = goal
    }

    /// The value of the cookie.
    func cookie(key: [UInt8]) -> String {
        let times = [beganAt.wallSeconds, beganAt.runSeconds].map { String($0) }
        let parts = [state, nonce, verifier, Base64URL.encode(Array(goal.text.utf8))] + times
        return (parts + [Self.seal(parts, key)]).joined(separator: ".")
    }

    /// The challenge of the verifier (RFC 7636 section 4.2, S256).
    var challenge: String { Base64URL.encode(SHA256.hash(verifier)) }

    private static func seal(_ parts: [String], _ key: [UInt8]) -> String {
        let text = ([label] + parts).joined(separator: ".")
        return Base64URL.encode(SHA256.authenticationCode(of: Array(text.utf8), key: key))
    }
}

/// A page of the console to which a sign-in leads back: never an address of another site.
struct ConsolePath: Sendable, Hashable {
    private static let bytesMax = 128

    /// The path.
    let text: String

    /// The first page.
    static let accounts = ConsolePath(checked: "/accounts")

    /// The path of a text; nil unless it is one of the console's.
    init?(_ text: String) {
        let isPath = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
                UInt8(ascii: "/"):
                true
            default: false
            }
        }
        guard isPath, text.utf8.count <= Self.bytesMax, text.hasPrefix("/"), !text.contains("//"),
            // A sign-in that led to a sign-in would begin another one.
            !text.hasPrefix(SignInRoutes.path)
        else { return nil }
        self.text = text
    }

    private init(checked text: String) { self.text = text }
}
