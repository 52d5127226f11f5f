import JOSE
import ServiceKit

/// The files by which a domain says which apps and pages may use its passkeys. They count where the gateway serves the domain that is
/// the RP ID.
struct DomainAssociations: Sendable {
    /// The most entries of each kind.
    static let countMax = 64

    /// An Android app.
    struct AndroidApp: Sendable, Hashable {
        let package: String
        /// The SHA-256 of its signing certificate: 32 bytes in capital hexadecimal, separated by colons.
        let fingerprint: String

        /// An app of a text such as `com.example.app=AB:CD:…`; nil for any other.
        init?(_ text: String) {
            let parts = text.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, DomainAssociations.isName(parts[0]), Self.isFingerprint(parts[1]) else {
                return nil
            }
            (package, fingerprint) = (parts[0], parts[1])
        }

        private static func isFingerprint(_ text: String) -> Bool {
            let pairs = text.split(separator: ":", omittingEmptySubsequences: false)
            return pairs.count == 32
                && pairs.allSatisfy { pair in
                    pair.utf8.count == 2
                        && pair.utf8.allSatisfy {
                            UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || UInt8(ascii: "A")...UInt8(ascii: "F") ~= $0
                        }
                }
        }
    }

    /// Apps of Apple's platforms, by team and bundle.
    var appleApps: [String] = []
    var androidApps: [AndroidApp] = []
    /// Origins of pages of other domains.
    var relatedOrigins: [String] = []

    /// The associations of a configuration. What is wrong with it is added to the faults.
    static func read(_ configuration: Configuration, _ faults: inout [ConfigurationError]) -> DomainAssociations {
        var found = DomainAssociations()
        for text in configuration[AssociationKeys.appleApps] ?? [] {
            if isAppleApp(text) {
                found.appleApps.append(text)
            } else {
                faults.append(
                    fault(
                        AssociationKeys.appleApps.name,
                        "must name a team and a bundle, such as ABCDE12345.com.example.app"
                    )
                )
            }
        }
        for text in configuration[AssociationKeys.androidApps] ?? [] {
            if let app = AndroidApp(text) {
                found.androidApps.append(app)
            } else {
                faults.append(
                    fault(
                        AssociationKeys.androidApps.name,
                        "must name a package, =, and 32 bytes in capital hexadecimal, separated by colons"
                    )
                )
            }
        }
        for text in configuration[AssociationKeys.relatedOrigins] ?? [] {
            if isOrigin(text) {
                found.relatedOrigins.append(text)
            } else {
                faults.append(
                    fault(AssociationKeys.relatedOrigins.name, "must name https:// and a host, and nothing else")
                )
            }
        }
        return found
    }

    private static func fault(_ key: String, _ problem: String) -> ConfigurationError {
        ConfigurationError(key: key, problem: problem)
    }

    /// Ten capital letters and digits, a full stop, and a bundle's identifier.
    private static func isAppleApp(_ text: String) -> Bool {
        let team = text.prefix { $0 != "." }
        let isTeam =
            team.utf8.count == 10
            && team.utf8.allSatisfy {
                UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0
            }
        return isTeam && isName(String(text.dropFirst(team.count + 1)))
    }

    private static func isOrigin(_ text: String) -> Bool {
        guard text.hasPrefix("https://") else { return false }
        let host = text.dropFirst("https://".count)
        return !host.isEmpty
            && host.utf8.allSatisfy {
                UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0
                    || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: ":")
            }
    }

    /// The identifier of a bundle or package: letters, digits, hyphens, underscores and full stops.
    fileprivate static func isName(_ text: String) -> Bool {
        1...155 ~= text.utf8.count
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}

extension DomainAssociations {
    /// Apple's file ("Supporting associated domains").
    var appleJSON: [UInt8] {
        JSONWriter.object { writer in
            writer.add("webcredentials") { $0.add("apps", appleApps) }
        }
    }

    /// Google's file ("Google Digital Asset Links"): one statement for each certificate of an app.
    var androidJSON: [UInt8] {
        let statements = androidApps.map { app in
            JSONValue.object([
                "relation": .array([
                    .string("delegate_permission/common.handle_all_urls"),
                    .string("delegate_permission/common.get_login_creds"),
                ]),
                "target": .object([
                    "namespace": .string("android_app"), "package_name": .string(app.package),
                    "sha256_cert_fingerprints": .array([.string(app.fingerprint)]),
                ]),
            ])
        }
        return JSONValue.array(statements).serialized()
    }

    /// The file of related origins (WebAuthn Level 3 section 5.11.1).
    var originsJSON: [UInt8] {
        JSONWriter.object { $0.add("origins", relatedOrigins) }
    }
}
