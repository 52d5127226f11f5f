import ServiceKit
import WebAuthn

extension IdentityKeys {
    /// The configuration keys of passkeys.
    enum Passkeys {
        static let relyingParty = ConfigurationKey.optionalString(
            "VESTIBULE_IDENTITY_PASSKEY_RP_ID",
            help:
                "The domain that passkeys are made for, such as example.com: that of the app's pages or one above it. Without it there are "
                + "no passkeys. It can't be changed later: passkeys sign for the domain that they were made for alone. Set it when all "
                + "replicas run a version that has it.",
            lengthMax: 253
        )
        static let name = ConfigurationKey.optionalString(
            "VESTIBULE_IDENTITY_PASSKEY_RP_NAME",
            help: "What authenticators show as the app's name; by default VESTIBULE_IDENTITY_PASSKEY_RP_ID.",
            lengthMax: 64
        )
        static let origins = ConfigurationKey.optionalList(
            "VESTIBULE_IDENTITY_PASSKEY_ORIGINS",
            help:
                "The pages and apps that may use passkeys, exactly as clients name them: https://app.example.com, "
                + "android:apk-key-hash:…; by default https:// with VESTIBULE_IDENTITY_PASSKEY_RP_ID.",
            countMax: RelyingParty.originsMax
        )
        static let userVerification = ConfigurationKey<RelyingParty.UserVerification>.choice(
            "VESTIBULE_IDENTITY_PASSKEY_USER_VERIFICATION",
            default: .required,
            help:
                "Whether an authenticator must verify the user, by a PIN or a biometric. required: a passkey that didn't is rejected. "
                + "preferred: it verifies where it can."
        )

        static let metadata = ConfigurationKey.optionalFile(
            "VESTIBULE_IDENTITY_PASSKEY_METADATA_FILE",
            help:
                "FIDO's metadata of authenticators (MDS3), the file that https://mds3.fidoalliance.org/ serves. With it only authenticators "
                + "that prove their model, and that it trusts, register passkeys: security keys, not passkeys that are synced.",
            bytesMax: MetadataBlob.bytesMax
        )
        static let metadataRoots = ConfigurationKey.optionalFile(
            "VESTIBULE_IDENTITY_PASSKEY_METADATA_ROOTS_FILE",
            help:
                "The root certificates, in PEM, of the signer of VESTIBULE_IDENTITY_PASSKEY_METADATA_FILE: GlobalSign's root R3.",
            bytesMax: 65_536
        )

        static let all: [any AnyConfigurationKey] = [
            relyingParty, name, origins, userVerification, metadata, metadataRoots,
        ]
    }
}

/// By what passkeys are added and sign in.
struct PasskeySettings: Sendable {
    /// How many passkeys an account may add by its sessions, for one relying party.
    static let countMax = 20
    /// How many it may have, of all relying parties that there were.
    static let countInAllMax = 100

    /// The server's half of WebAuthn.
    let relyingParty: RelyingParty
    /// What authenticators show as the app's name.
    let name: String

    /// Which authenticators may register passkeys.
    let attestation: AttestationPolicy

    /// Settings by hand, for tests.
    init(relyingParty: RelyingParty, name: String) {
        self.relyingParty = relyingParty
        self.name = name
        attestation = .none
    }

    /// The settings of a configuration; nil where passkeys are off.
    init?(reading configuration: Configuration) throws(ConfigurationErrors) {
        guard let id = configuration[IdentityKeys.Passkeys.relyingParty] else {
            let others: [(name: String, isSet: Bool)] = [
                (IdentityKeys.Passkeys.name.name, configuration[IdentityKeys.Passkeys.name] != nil),
                (IdentityKeys.Passkeys.origins.name, configuration[IdentityKeys.Passkeys.origins] != nil),
                (IdentityKeys.Passkeys.metadata.name, configuration[IdentityKeys.Passkeys.metadata] != nil),
            ]
            let key = IdentityKeys.Passkeys.relyingParty.name
            let faults = others.filter(\.isSet).map { other in
                ConfigurationError(key: key, problem: "is required where \(other.name) is set")
            }
            guard faults.isEmpty else { throw ConfigurationErrors(faults) }
            return nil
        }
        do throws(RelyingPartyError) {
            relyingParty = try RelyingParty(
                id: id,
                origins: configuration[IdentityKeys.Passkeys.origins] ?? ["https://\(id)"],
                userVerification: configuration[IdentityKeys.Passkeys.userVerification]
            )
        } catch {
            throw ConfigurationErrors([Self.fault(error)])
        }
        name = configuration[IdentityKeys.Passkeys.name] ?? id
        attestation = try AttestationPolicy(reading: configuration)
    }

    private static func fault(_ error: RelyingPartyError) -> ConfigurationError {
        let origins = IdentityKeys.Passkeys.origins.name
        return switch error {
        case .idIsNoDomain:
            ConfigurationError(
                key: IdentityKeys.Passkeys.relyingParty.name,
                problem: "must be a domain in lower case, such as example.com"
            )
        case .noOrigins: ConfigurationError(key: origins, problem: "must name at least one origin")
        case .tooManyOrigins: ConfigurationError(key: origins, problem: "names too many origins")
        case .origin(let origin, let error):
            ConfigurationError(key: origins, problem: "names \(ProviderFindings.quoted(origin)), \(error.problem)")
        }
    }
}

extension OriginError {
    /// What is wrong with it, in words.
    fileprivate var problem: String {
        switch self {
        case .unknownScheme: "which begins neither with https:// nor with android:apk-key-hash:"
        case .insecure: "which begins with http://; only localhost may"
        case .trailingSlash: "which ends with a slash"
        case .hasPath: "which has a path"
        case .uppercaseHost: "whose host is not in lower case"
        case .invalidHost: "whose host is no domain"
        case .invalidPort: "whose port is none"
        case .defaultPort: "whose port is the default, which clients leave out"
        case .invalidKeyHash: "which has no base64url of 32 bytes without padding"
        }
    }
}
