import IdentityDomain
import ServiceKit

extension IdentityKeys {
    /// The configuration keys of guest accounts.
    enum Guests {
        static let areOn = ConfigurationKey.bool(
            "VESTIBULE_IDENTITY_GUESTS",
            default: false,
            help:
                "Whether users may have a guest account, which no provider opens. Turn it on when all replicas run a version that has it."
        )
        static let inactivity = ConfigurationKey.duration(
            "VESTIBULE_IDENTITY_GUEST_INACTIVITY",
            in: .seconds(86_400) ... .seconds(400 * 86_400),
            default: .seconds(30 * 86_400),
            help:
                "How long a guest account may go unused before it is deleted; at most VESTIBULE_IDENTITY_SESSION_INACTIVITY, after which "
                + "its session has ended."
        )
        static let workBits = ConfigurationKey.int(
            "VESTIBULE_IDENTITY_GUEST_WORK_BITS",
            in: 0...GuestChallenges.workBitsMax,
            default: 16,
            help:
                "How much work a new guest account costs its maker: how many zero bits a SHA-256 must begin with. Each bit doubles it; "
                + "16 are 65,536 hashes on average. One bit more is asked for each tenth of VESTIBULE_IDENTITY_GUESTS_PER_HOUR beyond its "
                + "half. 0 requires none."
        )
        static let perAddress = ConfigurationKey.int(
            "VESTIBULE_IDENTITY_GUESTS_PER_ADDRESS",
            in: 1...100_000,
            default: 30,
            help:
                "Maximum new guest accounts of one client address within an hour, over all replicas. A /48 of IPv6 has 16 times as many, and "
                + "so have all clients together whose address isn't known or is a private one."
        )
        static let perHour = ConfigurationKey.int(
            "VESTIBULE_IDENTITY_GUESTS_PER_HOUR",
            in: 1...10_000_000,
            default: 10_000,
            help:
                "Maximum new guest accounts within an hour in all, over all replicas: what a flood from many addresses can add."
        )

        static let all: [any AnyConfigurationKey] = [areOn, inactivity, workBits, perAddress, perHour]
    }
}

/// What guest accounts are subject to.
struct GuestPolicy: Sendable, Hashable {
    private static let hourMilliseconds: Int64 = 3_600_000
    /// The limit of a site as a multiple of an address's, as for requests at the gateway: a mobile network may serve as many phones from one.
    private static let siteFactor = 16

    /// The word of the count of all.
    static let allKind = "guests"

    /// Whether new ones are created. Those that exist go on.
    var areOn = false
    /// How long one may go unused, in seconds.
    var inactivitySeconds: Int64 = 30 * 86_400
    /// How much work a new one costs its maker; 0 for none.
    var workBits = 16
    /// How many new ones an address may have.
    var perAddress = Quota(kind: "guests_of_address", countMax: 30, windowMilliseconds: hourMilliseconds)
    /// How many new ones a site may have: the /48 of an IPv6 address. Clients without an address are one site together.
    var perSite: Quota { Self.hourly("guests_of_site", perAddress.countMax * Self.siteFactor) }
    /// How many new ones there may be in all.
    var all = Quota(kind: allKind, countMax: 10_000, windowMilliseconds: hourMilliseconds)

    /// No guests.
    init() {}

    /// The policy of a configuration.
    init(_ configuration: Configuration) {
        areOn = configuration[IdentityKeys.Guests.areOn]
        inactivitySeconds = min(
            configuration[IdentityKeys.Guests.inactivity].components.seconds,
            configuration[IdentityKeys.inactivity].components.seconds
        )
        workBits = configuration[IdentityKeys.Guests.workBits]
        perAddress = Self.hourly("guests_of_address", configuration[IdentityKeys.Guests.perAddress])
        all = Self.hourly(Self.allKind, configuration[IdentityKeys.Guests.perHour])
    }

    /// How much work the next guest costs: beyond the half of the limit of all, one bit more for each tenth of it, so that a flood pays for the
    /// rest while a phone still gets in.
    ///
    /// - Parameter count: how many of ``all`` there were.
    func workBits(after count: Int) -> Int {
        guard workBits > 0 else { return 0 }
        let tenths = Int(Int64(count) * 10 / Int64(all.countMax))
        return min(workBits + max(0, tenths - 5), GuestChallenges.workBitsMax)
    }

    /// A quota of so many within an hour.
    static func hourly(_ kind: String, _ countMax: Int) -> Quota {
        Quota(kind: kind, countMax: countMax, windowMilliseconds: hourMilliseconds)
    }
}
