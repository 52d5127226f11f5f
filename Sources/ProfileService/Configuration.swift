import Models
import ProfileDomain
import ServiceKit

/// The profile service's own configuration, checked.
struct ProfileConfiguration: Sendable {
    static let phoneRegion = ConfigurationKey.string(
        "VESTIBULE_PROFILE_PHONE_REGION",
        default: "PH",
        help: "The region whose notations of phone numbers are understood besides the international one."
    )
    static let phoneKinds = ConfigurationKey.list(
        "VESTIBULE_PROFILE_PHONE_KINDS",
        default: ["mobile", "fixed-line-or-mobile"],
        help: "The kinds of phone numbers taken: \(PhonePolicy.Kind.allCases.map(\.rawValue).joined(separator: ", "))."
    )
    static let phoneRegions = ConfigurationKey.list(
        "VESTIBULE_PROFILE_PHONE_REGIONS",
        default: ["PH"],
        help: "The regions whose numbers are taken, or *.",
        countMax: 300
    )
    static let phoneTries = ConfigurationKey.int(
        "VESTIBULE_PROFILE_PHONE_TRIES",
        in: 1...10_000,
        default: 10,
        help: "How many numbers of other users a user may try within a window."
    )
    static let phoneTriesWindow = ConfigurationKey.duration(
        "VESTIBULE_PROFILE_PHONE_TRIES_WINDOW",
        in: .seconds(1) ... .seconds(30 * 86_400),
        default: .seconds(3_600),
        help: "How long that window is."
    )

    static let phoneClaims = ConfigurationKey.int(
        "VESTIBULE_PROFILE_PHONE_CLAIMS",
        in: 1...10_000,
        default: 5,
        help: "How many numbers a user may take within a day."
    )
    static let addressTries = ConfigurationKey.int(
        "VESTIBULE_PROFILE_ADDRESS_PHONE_TRIES",
        in: 1...1_000_000,
        default: 500,
        help: "How many numbers of other users may be tried from one client address within the window of tries."
    )
    static let addressClaims = ConfigurationKey.int(
        "VESTIBULE_PROFILE_ADDRESS_PHONE_CLAIMS",
        in: 1...1_000_000,
        default: 1_000,
        help: "How many numbers may be taken from one client address within a day; mobile networks put many people "
            + "behind one."
    )
    static let reservedUsernames = ConfigurationKey.list(
        "VESTIBULE_PROFILE_RESERVED_USERNAMES",
        default: ["vestibule"],
        help: "Usernames that nobody may take, such as the product's name, besides admin, support and their like.",
        countMax: 1_000
    )

    static let keys: [any AnyConfigurationKey] = [
        phoneRegion, phoneKinds, phoneRegions, phoneTries, phoneTriesWindow, phoneClaims, addressTries, addressClaims,
        reservedUsernames, ClientAddressKey.key, SharedKeys.invitesAddress,
    ]

    let policy: PhonePolicy
    let limits: PhoneLimits
    let invitesAddress: AddressList

    /// Reads the service's keys.
    ///
    /// - Throws: `ConfigurationFaults` for regions and kinds that don't exist.
    init(_ configuration: Configuration) throws {
        do {
            policy = try PhonePolicy(
                defaultRegion: configuration[Self.phoneRegion],
                kindNames: configuration[Self.phoneKinds],
                regionNames: configuration[Self.phoneRegions]
            )
        } catch {
            throw ConfigurationFaults([Self.fault(error)])
        }
        let window = configuration[Self.phoneTriesWindow].components
        let windowMilliseconds = window.seconds * 1_000 + window.attoseconds / 1_000_000_000_000_000
        var limits = PhoneLimits()
        limits.tries = TryLimit(triesMax: configuration[Self.phoneTries], windowMilliseconds: windowMilliseconds)
        limits.claims = TryLimit(
            triesMax: configuration[Self.phoneClaims],
            windowMilliseconds: limits.claims.windowMilliseconds
        )
        limits.addressTries = Quota(
            kind: limits.addressTries.kind,
            countMax: configuration[Self.addressTries],
            windowMilliseconds: windowMilliseconds
        )
        limits.addressClaims = .daily(limits.addressClaims.kind, countMax: configuration[Self.addressClaims])
        limits.reservedUsernames = ReservedUsernames(configuration[Self.reservedUsernames])
        self.limits = limits
        invitesAddress = configuration[SharedKeys.invitesAddress]
    }

    private static func fault(_ fault: PhonePolicy.Fault) -> ConfigurationFault {
        switch fault {
        case .unknownRegion(let region):
            ConfigurationFault(
                key: "VESTIBULE_PROFILE_PHONE_REGION(S)",
                problem: "\"\(region)\" is no region of ISO 3166-1, such as PH"
            )
        case .unknownKind(let kind):
            ConfigurationFault(key: "VESTIBULE_PROFILE_PHONE_KINDS", problem: "\"\(kind)\" is no kind of number")
        case .noKinds:
            ConfigurationFault(key: "VESTIBULE_PROFILE_PHONE_KINDS", problem: "names no kind")
        case .noRegions:
            ConfigurationFault(key: "VESTIBULE_PROFILE_PHONE_REGIONS", problem: "names no region")
        }
    }
}
