import Models
import ServiceKit
import ServiceModels

/// The keys that profile reads, besides those that every service has.
enum ProfileKeys {
    static let program = "profile"
    static let service = ServiceKeys(program: program, listenPort: 7002)

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

    static let requiredFields = ConfigurationKey.list(
        "VESTIBULE_PROFILE_REQUIRED_FIELDS",
        default: ["display_name", "phone_number"],
        help:
            "The fields that every user is asked for: display_name, phone_number and username, or none for an app that "
            + "forces nothing on people. The others may be left empty, and be emptied again.",
        countMax: 3
    )

    static let all: [any AnyConfigurationKey] =
        service.all + PhonePolicy.keys + [
            phoneTries, phoneTriesWindow, phoneClaims, addressTries, addressClaims, reservedUsernames, requiredFields,
            ClientAddressKey.key, SharedKeys.invitesAddress,
        ]
}
