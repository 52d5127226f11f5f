import Models
import ServiceKit

extension PhonePolicy {
    /// The keys of which the policy is made, which all services that read phone numbers share.
    public static let keys: [any AnyConfigurationKey] = [
        SharedKeys.phoneRegion, SharedKeys.phoneKinds, SharedKeys.phoneRegions,
    ]

    /// The policy of a configuration that was read with ``keys``.
    ///
    /// - Throws: `ConfigurationErrors` for a region or kind that doesn't exist.
    public init(_ configuration: Configuration) throws(ConfigurationErrors) {
        let region = configuration[SharedKeys.phoneRegion]
        do {
            try self.init(
                defaultRegion: region,
                kindNames: configuration[SharedKeys.phoneKinds],
                regionNames: configuration[SharedKeys.phoneRegions]
            )
        } catch {
            throw ConfigurationErrors([Self.configurationError(error, defaultRegion: region)])
        }
    }

    private static func configurationError(_ fault: Fault, defaultRegion: String) -> ConfigurationError {
        switch fault {
        case .unknownRegion(let region):
            ConfigurationError(
                key: region == defaultRegion ? SharedKeys.phoneRegion.name : SharedKeys.phoneRegions.name,
                problem: "\"\(region)\" is no region of ISO 3166-1, such as PH"
            )
        case .unknownKind(let kind):
            ConfigurationError(key: SharedKeys.phoneKinds.name, problem: "\"\(kind)\" is no kind of number")
        case .noKinds: ConfigurationError(key: SharedKeys.phoneKinds.name, problem: "names no kind")
        case .noRegions: ConfigurationError(key: SharedKeys.phoneRegions.name, problem: "names no region")
        }
    }
}
