import ServiceKit

/// The keys of the apps and pages that belong to the gateway's domain.
enum AssociationKeys {
    static let appleApps = ConfigurationKey.optionalList(
        "VESTIBULE_GATEWAY_APPLE_APPS",
        help:
            "The iOS and macOS apps that may use the domain's passkeys, by team and bundle, such as ABCDE12345.com.example.app: the gateway "
            + "serves /.well-known/apple-app-site-association with them.",
        countMax: DomainAssociations.countMax
    )
    static let androidApps = ConfigurationKey.optionalList(
        "VESTIBULE_GATEWAY_ANDROID_APPS",
        help:
            "The Android apps that may use the domain's passkeys, by package and the SHA-256 of their signing certificate, such as "
            + "com.example.app=AB:CD:…; one entry for each certificate: the gateway serves /.well-known/assetlinks.json with them.",
        countMax: DomainAssociations.countMax
    )
    static let relatedOrigins = ConfigurationKey.optionalList(
        "VESTIBULE_GATEWAY_RELATED_ORIGINS",
        help:
            "The pages of other domains that may use the domain's passkeys, such as https://www.example.org: the gateway serves "
            + "/.well-known/webauthn with them. Identity's VESTIBULE_IDENTITY_PASSKEY_ORIGINS must have them, too.",
        countMax: DomainAssociations.countMax
    )

    static let all: [any AnyConfigurationKey] = [appleApps, androidApps, relatedOrigins]
}
