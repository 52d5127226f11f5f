import CPhoneNumber

/// Which phone numbers an installation takes, and how it reads them.
public struct PhonePolicy: Sendable, Hashable {
    /// Why a policy can't be.
    public enum Fault: Error, Sendable, Hashable {
        /// There are no numbering plans for this region.
        case unknownRegion(String)
        /// There is no such kind of number.
        case unknownKind(String)
        /// No kind of number is allowed, so no number would be.
        case noKinds
        /// A list of allowed regions was given, but it is empty, so no number would be allowed.
        case noRegions
    }

    /// The kinds of numbers that can be a person's.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A mobile number.
        case mobile
        /// A number of a land line.
        case fixedLine = "fixed-line"
        /// A number of a region whose plan doesn't tell mobile from fixed, such as North America's.
        case fixedLineOrMobile = "fixed-line-or-mobile"
        /// A number of an Internet telephone.
        case voip
    }

    /// The region whose notations are understood besides the international one: two capitals (ISO 3166-1 alpha-2).
    public let defaultRegion: String
    /// The kinds of numbers that are taken.
    public let allowedKinds: Set<Kind>
    /// The regions whose numbers are taken, nil for all of them.
    public let allowedRegions: Set<String>?

    /// The Philippines' mobile numbers.
    public static let philippines = PhonePolicy(
        checkedRegion: "PH",
        kinds: [.mobile, .fixedLineOrMobile],
        regions: ["PH"]
    )

    /// A policy that is known to allow something. Loads the metadata of the numbering plans.
    ///
    /// - Parameters:
    ///   - defaultRegion: the region whose notations are understood, two capitals.
    ///   - allowedKinds: the kinds of numbers that are taken.
    ///   - allowedRegions: the regions whose numbers are taken, nil for all.
    public init(
        defaultRegion: String,
        allowedKinds: Set<Kind> = [.mobile, .fixedLineOrMobile],
        allowedRegions: Set<String>? = nil
    ) throws(Fault) {
        guard !allowedKinds.isEmpty else { throw .noKinds }
        if let allowedRegions, allowedRegions.isEmpty { throw .noRegions }
        for region in [defaultRegion] + (allowedRegions ?? []).sorted() where !cphone_region_is_known(region) {
            throw .unknownRegion(region)
        }
        self.init(checkedRegion: defaultRegion, kinds: allowedKinds, regions: allowedRegions)
    }

    /// A policy as configuration words it.
    ///
    /// - Parameters:
    ///   - defaultRegion: the region whose notations are understood, two capitals.
    ///   - kindNames: raw values of ``Kind``.
    ///   - regionNames: the regions whose numbers are taken, or `*` alone for all.
    public init(defaultRegion: String, kindNames: [String], regionNames: [String]) throws(Fault) {
        var kinds: Set<Kind> = []
        for name in kindNames {
            guard let kind = Kind(rawValue: name) else { throw .unknownKind(name) }
            kinds.insert(kind)
        }
        try self.init(
            defaultRegion: defaultRegion,
            allowedKinds: kinds,
            allowedRegions: regionNames == ["*"] ? nil : Set(regionNames)
        )
    }

    private init(checkedRegion: String, kinds: Set<Kind>, regions: Set<String>?) {
        self.defaultRegion = checkedRegion
        self.allowedKinds = kinds
        self.allowedRegions = regions
    }
}
