import Certificates
import JOSE

/// Apple's App Attest, the server's half ("Validating apps that connect to your server", developer.apple.com): that a key lives in the
/// Secure Enclave of an Apple device and belongs to an unchanged copy of one app, and that the app signs with it.
///
/// Bytes in, values out: the caller makes the challenge, keeps it for one use within a few minutes, and stores keys and counters.
/// Immutable; threads may use it concurrently.
public struct AppAttest: Sendable {
    /// The maximum length of an attestation object in bytes. Apple's have about 6 KiB, most of it the receipt.
    public static let attestationBytesMax = 32 * 1024
    /// The maximum length of an assertion in bytes. Apple's have about 150.
    public static let assertionBytesMax = 2 * 1024
    /// The length of a key's identifier in bytes.
    public static let keyIDByteCount = SHA256.byteCount
    /// The maximum length of a bundle identifier in bytes.
    public static let bundleIDBytesMax = 155

    /// Which of Apple's environments made a key, by the `aaguid` of its attestation.
    public enum Environment: String, Sendable, Hashable, CaseIterable {
        /// Apps of the App Store, of TestFlight and of companies.
        case production
        /// Apps that a developer runs on devices of their own.
        case development

        /// The `aaguid`, 16 bytes.
        var aaguid: [UInt8] {
            switch self {
            case .production: Array("appattest".utf8) + [UInt8](repeating: 0, count: 7)
            case .development: Array("appattestdevelop".utf8)
            }
        }
    }

    /// The environments whose keys are accepted.
    public let environments: Set<Environment>

    /// The SHA-256 of the app's identifier, with which authenticator data begins.
    let appIDHash: [UInt8]
    let roots: TrustAnchors

    /// The check for one app.
    ///
    /// - Parameters:
    ///   - teamID: the team's identifier, ten upper-case letters and digits.
    ///   - bundleID: the app's bundle identifier, such as `com.example.app`.
    ///   - environments: at least one. A server of real users names only ``Environment/production``.
    ///   - roots: Apple's "App Attestation Root CA".
    public init(
        teamID: String,
        bundleID: String,
        environments: Set<Environment>,
        roots: TrustAnchors
    ) throws(AppAttestConfigurationError) {
        guard teamID.utf8.count == 10, teamID.utf8.allSatisfy(Self.isUpperOrDigit) else { throw .invalidTeamID }
        guard 1...Self.bundleIDBytesMax ~= bundleID.utf8.count, bundleID.utf8.allSatisfy(Self.isOfBundle) else {
            throw .invalidBundleID
        }
        guard !environments.isEmpty else { throw .noEnvironment }
        self.environments = environments
        self.roots = roots
        appIDHash = SHA256.hash("\(teamID).\(bundleID)")
    }

    private static func isUpperOrDigit(_ byte: UInt8) -> Bool {
        UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
    }

    private static func isOfBundle(_ byte: UInt8) -> Bool {
        isUpperOrDigit(byte) || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || byte == UInt8(ascii: "-")
            || byte == UInt8(ascii: ".")
    }
}
