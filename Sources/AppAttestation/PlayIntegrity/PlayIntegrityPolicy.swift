import JOSE

/// What an app passed to Google for a request.
public enum PlayIntegrityRequest: Sendable, Hashable {
    /// A classic request: the bytes whose base64url the app set as nonce.
    case nonce([UInt8])
    /// A standard request: the text that the app set as request hash. Google describes keys of the operator's own for classic requests
    /// only: whether it encrypts tokens of standard requests for them, is for the operator to try.
    case requestHash(String)
}

/// The labels of devices, from the least to the most (`deviceRecognitionVerdict`). A device has all up to its own, but for virtual ones.
public enum PlayDeviceLabel: String, Sendable, Hashable, CaseIterable {
    /// Passes basic checks; may run an unrecognized version of Android.
    case basic = "MEETS_BASIC_INTEGRITY"
    /// A genuine device with Google Play services.
    case device = "MEETS_DEVICE_INTEGRITY"
    /// A genuine device with a recent security update, proven by its hardware.
    case strong = "MEETS_STRONG_INTEGRITY"
}

/// Which verdicts of Play Integrity are accepted.
public struct PlayIntegrityPolicy: Sendable, Hashable {
    /// The maximum of certificates.
    public static let certificatesMax = 16
    /// The maximum length of a package's name in bytes.
    public static let packageNameBytesMax = 223
    /// The bounds of the maximum age, in milliseconds: a second to a day.
    public static let ageMillisecondsBounds: ClosedRange<Int64> = 1000...86_400_000

    /// The app's package name.
    public let packageName: String
    /// The SHA-256 of each certificate that may sign the app.
    public let certificateDigests: Set<[UInt8]>
    /// The age at which a token expires, in milliseconds.
    public let ageMillisecondsMax: Int64
    /// The least `versionCode`; nil for any.
    public var versionCodeMin: Int64?
    /// The label that the device must have; nil for none.
    public var requiredLabel: PlayDeviceLabel? = .device
    /// Whether the user's account must have got the app from Google Play.
    public var requiresLicense = false
    /// Whether answers that were configured as tests in the Play Console are accepted. Not on a server of real users.
    public var acceptsTestResponses = false

    /// A policy that requires ``PlayDeviceLabel/device``, and no license.
    ///
    /// - Parameters:
    ///   - certificateDigests: 1 to ``certificatesMax`` of 32 bytes each: the app signing certificate of the Play Console.
    ///   - ageMillisecondsMax: within ``ageMillisecondsBounds``.
    public init(
        packageName: String,
        certificateDigests: Set<[UInt8]>,
        ageMillisecondsMax: Int64 = 300_000
    ) throws(PlayIntegrityConfigurationError) {
        guard 1...Self.packageNameBytesMax ~= packageName.utf8.count, packageName.utf8.allSatisfy(Self.isOfName) else {
            throw .invalidPackageName
        }
        guard 1...Self.certificatesMax ~= certificateDigests.count,
            certificateDigests.allSatisfy({ $0.count == SHA256.byteCount })
        else { throw .invalidCertificateDigests }
        guard Self.ageMillisecondsBounds ~= ageMillisecondsMax else { throw .invalidAge }
        self.packageName = packageName
        self.certificateDigests = certificateDigests
        self.ageMillisecondsMax = ageMillisecondsMax
    }

    /// Compares a payload with the request, then with the policy, in the order of Google's description, and returns the app's
    /// `versionCode`.
    func check(
        _ payload: PlayIntegrityPayload,
        request: PlayIntegrityRequest,
        nowMilliseconds: Int64
    ) throws(PlayIntegrityError) -> Int64 {
        guard payload.requestPackageName.utf8.elementsEqual(packageName.utf8) else { throw .wrongRequestPackage }
        guard payload.answers(request) else { throw .wrongRequest }
        // Both times are from 0 to 2^53, so the differences fit.
        let now = min(max(0, nowMilliseconds), PlayIntegrityPayload.numberMax)
        guard now - payload.requestMilliseconds <= ageMillisecondsMax else { throw .expired }
        guard payload.requestMilliseconds - now <= PlayIntegrity.clockSkewMillisecondsMax else { throw .notYetValid }
        guard acceptsTestResponses || !payload.isTestResponse else { throw .testResponse }
        guard payload.recognition.utf8.elementsEqual("PLAY_RECOGNIZED".utf8) else { throw .appNotRecognized }
        guard payload.packageName?.utf8.elementsEqual(packageName.utf8) == true else { throw .wrongPackage }
        guard !payload.certificateDigests.isEmpty, payload.certificateDigests.allSatisfy(certificateDigests.contains)
        else { throw .wrongCertificate }
        guard let versionCode = payload.versionCode else { throw .malformed(.appIntegrity) }
        guard versionCode >= versionCodeMin ?? 0 else { throw .versionTooOld }
        if let label = requiredLabel?.rawValue {
            guard payload.deviceLabels.contains(where: { $0.utf8.elementsEqual(label.utf8) }) else {
                throw .deviceNotTrusted
            }
        }
        guard !requiresLicense || payload.licensing?.utf8.elementsEqual("LICENSED".utf8) == true else {
            throw .notLicensed
        }
        return versionCode
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte
            || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
    }
}

/// What a token that was accepted says.
public struct PlayIntegrityVerdict: Sendable, Hashable {
    /// When the token was asked for or made, in milliseconds since 1970.
    public let requestMilliseconds: Int64
    /// The app's `versionCode`.
    public let versionCode: Int64
    /// The device's labels as Google writes them: those of ``PlayDeviceLabel``, and others.
    public let deviceLabels: [String]
    /// `LICENSED`, `UNLICENSED` or `UNEVALUATED`; nil if the token doesn't say.
    public let licensing: String?
}
