import Glibc
import JOSE
import Models

/// Reads the payloads of access tokens that were verified. Immutable; any thread.
///
/// What we write is read without making a value of each claim; whatever is written otherwise, by the general parser.
struct AccessTokenPayloads: Sendable {
    private static let guest = Array(AuthenticationContext.guest.rawValue.utf8)

    private let issuer: String
    private let audience: String
    private let issuerBytes: [UInt8]
    private let audienceBytes: [UInt8]

    /// Payloads that name this issuer and audience.
    init(issuer: String, audience: String) {
        self.issuer = issuer
        self.audience = audience
        issuerBytes = Array(issuer.utf8)
        audienceBytes = Array(audience.utf8)
    }

    /// What a payload says; nil if it is no JSON object, of another issuer or for others, or lacks a claim.
    func claims(_ payload: UnsafeBufferPointer<UInt8>) -> AccessClaims? {
        claimsAsWeWrite(payload) ?? parsedClaims(payload)
    }

    /// - Parameter isForAnyone: whether it may be for others than us.
    func parsedClaims(_ payload: UnsafeBufferPointer<UInt8>, isForAnyone: Bool = false) -> AccessClaims? {
        guard let claims = try? JSONObject(parsing: payload),
            claims["iss"] == .string(issuer), let audience = claims["aud"]?.string,
            isForAnyone || audience.utf8.elementsEqual(audienceBytes),
            let userID = claims["sub"]?.string.flatMap({ UserID($0) }),
            let sessionID = claims["sid"]?.string.flatMap({ SessionID($0) }),
            let expiresAt = claims["exp"]?.integer
        else { return nil }
        // A token that is bound to something that we don't know must not pass as a bearer token.
        var key: JWKThumbprint?
        if let confirmation = claims["cnf"] {
            key = confirmation.object?["jkt"]?.string.flatMap { JWKThumbprint($0) }
            guard key != nil else { return nil }
        }
        return AccessClaims(
            userID: userID,
            sessionID: sessionID,
            number: claims["num"]?.integer.flatMap(UInt32.init(exactly:)),
            expiresAtSeconds: expiresAt,
            scope: claims["scope"]?.string,
            audience: audience,
            isGuest: claims["acr"] == .string(AuthenticationContext.guest.rawValue),
            key: key
        )
    }

    /// The claims of an object that has the claims of our access tokens in the order in which we write them, each once, without
    /// white space or escapes; nil for any other text, a guest's and a bound token among them, and wherever ``parsedClaims(_:)`` gives nil.
    func claimsAsWeWrite(_ payload: UnsafeBufferPointer<UInt8>) -> AccessClaims? {
        var text = FlatObjectText(payload)
        guard let issuer = text.string("iss"), issuer.elementsEqual(issuerBytes),
            let userID = text.string("sub").flatMap({ UserID(utf8: $0) }),
            let audience = text.string("aud"), audience.elementsEqual(audienceBytes),
            text.string("client_id") != nil, text.integer("iat") != nil, let expiresAt = text.integer("exp"),
            text.string("jti") != nil, let sessionID = text.string("sid").flatMap({ SessionID(utf8: $0) })
        else { return nil }
        let number = text.integer("num")
        guard text.integer("auth_time") != nil else { return nil }
        // Tokens of releases before 0.10 have it only of guests.
        if let context = text.string("acr"), context.elementsEqual(Self.guest) { return nil }
        let scope = text.string("scope").map { String(decoding: $0, as: UTF8.self) }
        text.skipFalse("is_anonymous")
        _ = text.string("mac")
        guard text.isAtEnd else { return nil }
        return AccessClaims(
            userID: userID,
            sessionID: sessionID,
            number: number.flatMap(UInt32.init(exactly:)),
            expiresAtSeconds: expiresAt,
            scope: scope,
            audience: self.audience
        )
    }
}

/// The text of a JSON object, read member by member: strings of ASCII without escapes, and whole numbers of up to 18 digits.
private struct FlatObjectText {
    private static let digitsMax = 18

    private let text: UnsafeBufferPointer<UInt8>
    private var position = 1
    /// Whether the object's end, and nothing behind it, follows what was read.
    private(set) var isAtEnd = false

    init(_ text: UnsafeBufferPointer<UInt8>) {
        self.text = text
        if text.first != UInt8(ascii: "{") { position = text.count }
    }

    /// The content of the next member, if it has this name and a string that we read. Nothing is read otherwise.
    mutating func string(_ name: StaticString) -> UnsafeBufferPointer<UInt8>? {
        guard var end = valuePosition(name), end < text.count, text[end] == UInt8(ascii: "\"") else { return nil }
        end += 1
        let start = end
        while end < text.count, text[end] != UInt8(ascii: "\"") {
            guard 0x20..<0x80 ~= text[end], text[end] != UInt8(ascii: "\\") else { return nil }
            end += 1
        }
        guard end < text.count, goOn(after: end + 1) else { return nil }
        return UnsafeBufferPointer(rebasing: text[start..<end])
    }

    /// The number of the next member, if it has this name and one that we read. Nothing is read otherwise.
    mutating func integer(_ name: StaticString) -> Int64? {
        guard var end = valuePosition(name) else { return nil }
        let isNegative = end < text.count && text[end] == UInt8(ascii: "-")
        if isNegative { end += 1 }
        let start = end
        var value: Int64 = 0
        while end < text.count, UInt8(ascii: "0")...UInt8(ascii: "9") ~= text[end], end - start < Self.digitsMax {
            value = value * 10 + Int64(text[end] - UInt8(ascii: "0"))
            end += 1
        }
        // No zero in front of other digits.
        guard end > start, text[start] != UInt8(ascii: "0") || end - start == 1, goOn(after: end) else { return nil }
        return isNegative ? -value : value
    }

    /// Passes over the next member, if it has this name and is false.
    mutating func skipFalse(_ name: StaticString) {
        guard let start = valuePosition(name), text[start...].starts(with: "false".utf8) else { return }
        _ = goOn(after: start + 5)
    }

    /// Where the value of the next member begins, if it has this name.
    private func valuePosition(_ name: StaticString) -> Int? {
        let start = position + 1
        let end = start + name.utf8CodeUnitCount
        guard !isAtEnd, end + 1 < text.count, text[position] == UInt8(ascii: "\""), text[end] == UInt8(ascii: "\""),
            text[end + 1] == UInt8(ascii: ":"), let base = text.baseAddress,
            memcmp(base + start, name.utf8Start, name.utf8CodeUnitCount) == 0
        else { return nil }
        return end + 2
    }

    /// Passes over what is between two members, or behind the last one.
    private mutating func goOn(after end: Int) -> Bool {
        guard end < text.count else { return false }
        switch text[end] {
        case UInt8(ascii: ","):
            position = end + 1
            return true
        case UInt8(ascii: "}"):
            isAtEnd = end + 1 == text.count
            position = text.count
            return isAtEnd
        default: return false
        }
    }
}
