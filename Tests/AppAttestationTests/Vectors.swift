import AppAttestation
import Certificates
import Foundation
import JOSE
import Testing

/// The file that `oracle.py` makes.
enum Vectors {
    private static let file = Result {
        try JSONObject(
            parsing: Data(contentsOf: Bundle.module.bundleURL.appending(path: "vectors.json")),
            limits: JSONLimits(bytesMax: 1024 * 1024, valuesMax: 100_000)
        )
    }

    /// A member of the file.
    static func member(_ name: String) throws -> JSONValue { try #require(file.get()[name]) }

    /// A text of the file.
    static func text(_ name: String) throws -> String { try #require(member(name).string) }

    /// The vectors of a kind.
    static func all(_ kind: String) throws -> [JSONObject] {
        try #require(member(kind).array).map { try #require($0.object) }
    }

    /// The vector of that name.
    static func named(_ name: String, of kind: String) throws -> JSONObject {
        try #require(all(kind).first { $0["name"]?.string == name })
    }

    /// The bytes of base64url.
    static func bytes(_ value: JSONValue?) throws -> [UInt8] {
        try #require(value?.string.flatMap { Base64URL.decode($0) })
    }

    /// A number of a vector.
    static func number(_ value: JSONValue?) throws -> Int { try Int(#require(value?.integer)) }

    /// The check for the app of the file.
    static func appAttest(_ environments: Set<AppAttest.Environment> = [.production]) throws -> AppAttest {
        let roots = try #require(TrustAnchors([Certificate(der: bytes(member("root")))]))
        return try AppAttest(
            teamID: text("teamID"),
            bundleID: text("bundleID"),
            environments: environments,
            roots: roots
        )
    }
}
