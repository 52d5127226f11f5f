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

    static let keys: [any AnyConfigurationKey] = [
        phoneRegion, phoneKinds, phoneRegions, phoneTries, phoneTriesWindow, SharedKeys.invitesAddress,
    ]

    let policy: PhonePolicy
    let tryLimit: TryLimit
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
        tryLimit = TryLimit(
            triesMax: configuration[Self.phoneTries],
            windowMilliseconds: window.seconds * 1_000 + window.attoseconds / 1_000_000_000_000_000
        )
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
