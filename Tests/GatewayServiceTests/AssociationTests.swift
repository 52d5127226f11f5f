import HTTPTypes
import JOSE
import ServiceKit
import Testing

@testable import GatewayService

/// The files by which a domain says which apps and pages may use its passkeys.
struct AssociationTests {
    private static let fingerprint = (0..<32).map { $0 == 31 ? "0F" : "AB" }.joined(separator: ":")

    /// One of each kind.
    static var all: DomainAssociations {
        var all = DomainAssociations()
        all.appleApps = ["ABCDE12345.com.example.app"]
        all.androidApps = [DomainAssociations.AndroidApp("com.example.app=\(fingerprint)")].compactMap { $0 }
        all.relatedOrigins = ["https://www.example.org"]
        return all
    }

    private static func read(_ values: [String: String]) throws -> (DomainAssociations, [String]) {
        let configuration = try Configuration.testing(keys: AssociationKeys.all, program: "gateway", values)
        var faults: [ConfigurationError] = []
        let found = DomainAssociations.read(configuration, &faults)
        return (found, faults.map(\.key))
    }

    @Test func `The files are served as Apple, Google and WebAuthn describe them`() async throws {
        #expect(
            String(decoding: Self.all.appleJSON, as: UTF8.self)
                == #"{"webcredentials":{"apps":["ABCDE12345.com.example.app"]}}"#
        )
        #expect(
            String(decoding: Self.all.androidJSON, as: UTF8.self)
                == #"[{"relation":["delegate_permission/common.handle_all_urls","delegate_permission/common.get_login_creds"],"#
                + #""target":{"namespace":"android_app","package_name":"com.example.app","#
                + #""sha256_cert_fingerprints":["\#(Self.fingerprint)"]}}]"#
        )
        #expect(String(decoding: Self.all.originsJSON, as: UTF8.self) == #"{"origins":["https://www.example.org"]}"#)
        let paths = [
            "/.well-known/apple-app-site-association", "/.well-known/assetlinks.json", "/.well-known/webauthn",
        ]
        #expect(AssociationRoutes.endpoints(Self.all).map(\.operation.path) == paths)
        for path in paths where path != paths[1] {
            let answer = try await TestGateway(associations: Self.all).send(.get, path)
            #expect(answer.status == 200 && answer.type == "application/json", "\(path)")
            #expect(answer.headers[.cacheControl] == "public, max-age=3600")
        }
        for path in paths { #expect(try await TestGateway().send(.get, path).status == 404) }
    }

    @Test func `A configuration is read, and each fault names its key`() throws {
        let (found, faults) = try Self.read([
            "VESTIBULE_GATEWAY_APPLE_APPS": "ABCDE12345.com.example.app, 0123456789.b",
            "VESTIBULE_GATEWAY_ANDROID_APPS": "com.example.app=\(Self.fingerprint)",
            "VESTIBULE_GATEWAY_RELATED_ORIGINS": "https://www.example.org,https://example.net:8443",
        ])
        #expect(faults.isEmpty && found.appleApps.count == 2 && found.relatedOrigins.count == 2)
        #expect(found.androidApps == Self.all.androidApps)
        for (key, value) in [
            ("APPLE_APPS", "com.example.app"), ("APPLE_APPS", "ABCDE1234.com"), ("APPLE_APPS", "abcde12345.com"),
            ("APPLE_APPS", "ABCDE12345."), ("APPLE_APPS", "ABCDE12345.a/b"),
            ("ANDROID_APPS", "com.example.app"), ("ANDROID_APPS", "=\(Self.fingerprint)"),
            ("ANDROID_APPS", "a=\(Self.fingerprint.lowercased())"), ("ANDROID_APPS", "a=\(Self.fingerprint):00"),
            ("ANDROID_APPS", "a=b=\(Self.fingerprint)"),
            ("RELATED_ORIGINS", "http://example.org"), ("RELATED_ORIGINS", "https://"),
            ("RELATED_ORIGINS", "https://example.org/"), ("RELATED_ORIGINS", "https://Example.org"),
        ] {
            let (_, faults) = try Self.read(["VESTIBULE_GATEWAY_\(key)": value])
            #expect(faults == ["VESTIBULE_GATEWAY_\(key)"], "\(value)")
        }
    }
}
