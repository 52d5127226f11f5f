import Models
import ServiceKit
import ServiceModels

/// The keys that profile reads, besides those that every service has.
enum ProfileKeys {
    static let program = "profile"
    static let service = ServiceKeys(program: program, listenPort: 7002)

    static let proof = CallerProofSettings(service: program)

    static let phoneTries = ConfigurationKey.int(
        "VESTIBULE_PROFILE_PHONE_TRIES",
        in: 1...10_000,
        default: 10,
        help: "How many numbers of other users a user may try within the window."
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
    static let usernameChecks = ConfigurationKey.int(
        "VESTIBULE_PROFILE_USERNAME_CHECKS",
        in: 1...1_000_000,
        default: 200,
        help: "How many usernames a user may ask about, or fail to take, within an hour."
    )
    static let addressUsernameChecks = ConfigurationKey.int(
        "VESTIBULE_PROFILE_ADDRESS_USERNAME_CHECKS",
        in: 1...1_000_000,
        default: 5_000,
        help: "How many usernames may be asked about from one client address within an hour."
    )
    static let avatarUploads = ConfigurationKey.int(
        "VESTIBULE_PROFILE_AVATAR_UPLOADS",
        in: 1...10_000,
        default: 20,
        help: "How many pictures a user may upload within a day."
    )
    static let phoneCoolDown = ConfigurationKey.duration(
        "VESTIBULE_PROFILE_PHONE_COOL_DOWN",
        in: .zero ... .seconds(365 * 86_400),
        default: .seconds(86_400),
        help: "How long other users can't take a number without proof after its user gave it up; 0s for no time."
    )
    static let provenPhoneIdle = ConfigurationKey.duration(
        "VESTIBULE_PROFILE_PROVEN_PHONE_IDLE",
        in: .seconds(86_400) ... .seconds(3_650 * 86_400),
        default: .seconds(180 * 86_400),
        help:
            "After how long without activity a user loses a proven number to another user who proves "
            + "it, and after which an imported number opens no account any more: providers give numbers "
            + "to other people."
    )
    static let reservedUsernames = ConfigurationKey.list(
        "VESTIBULE_PROFILE_RESERVED_USERNAMES",
        default: ["vestibule"],
        help: "Usernames that no user may take, such as the product's name, besides admin, support and the like.",
        countMax: 1_000
    )

    static let requiredFields = ConfigurationKey.list(
        "VESTIBULE_PROFILE_REQUIRED_FIELDS",
        default: ["display_name", "phone_number"],
        help:
            "The fields that every user must give: display_name, phone_number and username, or none. "
            + "The others are optional and can be removed again.",
        countMax: 3
    )

    static let all: [any AnyConfigurationKey] =
        service.all + proof.all + PhonePolicy.keys + [
            phoneTries, phoneTriesWindow, phoneClaims, addressTries, addressClaims, phoneCoolDown, provenPhoneIdle,
            usernameChecks, addressUsernameChecks, avatarUploads, SharedKeys.avatarBytes, reservedUsernames,
            requiredFields, ClientAddressKey.key, SharedKeys.identityAddress, SharedKeys.invitesAddress,
        ]
}
