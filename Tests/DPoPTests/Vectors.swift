import Foundation
import JOSE
import Testing

@testable import DPoP

/// The file that `oracle.py` makes.
enum Vectors {
    private static let file = Result {
        try JSONObject(
            parsing: Data(contentsOf: Bundle.module.bundleURL.appending(path: "vectors.json")),
            limits: JSONLimits(bytesMax: 1024 * 1024, valuesMax: 10_000)
        )
    }

    /// A member of the file.
    static func member(_ name: String) throws -> JSONValue { try #require(file.get()[name]) }

    /// An integer of the file.
    static func integer(_ name: String) throws -> Int64 { try #require(member(name).integer) }

    /// The objects of a list in the file.
    static func all(_ name: String) throws -> [JSONObject] {
        try #require(member(name).array).map { try #require($0.object) }
    }

    /// The text of a value.
    static func text(_ value: JSONValue?) throws -> String { try #require(value?.string) }

    /// The URI in a value.
    static func uri(_ value: JSONValue?) throws -> TargetURI { try #require(TargetURI(text(value))) }

    /// The nonces that the oracle made the file's by.
    static func nonces() throws -> DPoPNonces {
        DPoPNonces(
            instance: try #require(Base64URL.decode(text(member("instance")))),
            key: try #require(Base64URL.decode(text(member("nonceKey")))),
            windowOffset: try integer("windowOffset")
        )
    }

    /// The moment for which the proofs were made.
    static func now() throws -> DPoPInstant {
        try DPoPInstant(unixSeconds: integer("nowSeconds"), monotonicSeconds: integer("monotonicSeconds"))
    }

    /// The request that a proof of the file comes with.
    static func request(of vector: JSONObject) throws -> DPoPVerifier.Request {
        let thumbprint = vector["thumbprint"]?.string.flatMap { JWKThumbprint($0) }
        #expect((thumbprint == nil) == (vector["thumbprint"] == nil))
        return DPoPVerifier.Request(
            method: "POST",
            target: try uri(member("address")).appending("/v1/me?limit=1"),
            accessToken: vector["accessToken"]?.string,
            thumbprint: thumbprint
        )
    }
}
