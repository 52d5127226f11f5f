import JOSE

extension RelyingParty {
    /// The options of a registration, `PublicKeyCredentialCreationOptionsJSON` (section 5.1.8), as JSON in UTF-8: for a discoverable
    /// credential.
    ///
    /// - Parameters:
    ///   - name: the relying party's name, for people.
    ///   - challenge: random bytes of this registration, at least ``challengeBytesMin``.
    ///   - timeoutMilliseconds: how long the client should wait for the user; section 15.1 recommends 300,000.
    ///   - excluded: the account's passkeys: an authenticator that has one of them makes no second.
    ///   - attestation: whether the authenticator is asked to prove its model.
    public func creationOptions(
        name: String,
        user: UserEntity,
        challenge: [UInt8],
        timeoutMilliseconds: UInt32,
        excluded: [CredentialDescriptor] = [],
        attestation: AttestationPolicy = .none
    ) -> [UInt8] {
        JSONWriter.object { writer in
            writer.add("rp") { writer in
                writer.add("id", id)
                writer.add("name", name)
            }
            writer.add("user") { writer in
                writer.add("id", Base64URL.encode(user.id))
                writer.add("name", user.name)
                writer.add("displayName", user.displayName)
            }
            writer.add("challenge", Base64URL.encode(challenge))
            writer.add("pubKeyCredParams", PasskeyAlgorithm.allCases) { algorithm, writer in
                writer.add("type", "public-key")
                writer.add("alg", algorithm.rawValue)
            }
            writer.add("timeout", Int64(timeoutMilliseconds))
            writer.add("excludeCredentials", excluded) { $0.addMembers(to: &$1) }
            writer.add("authenticatorSelection") { writer in
                writer.add("residentKey", "required")
                // For clients of Level 1, which don't know the member above.
                writer.add("requireResidentKey", true)
                writer.add("userVerification", userVerification.rawValue)
            }
            writer.add("attestation", attestation.conveyance)
            writer.add("extensions") { $0.add("credProps", true) }
        }
    }

    /// The options of a sign-in, `PublicKeyCredentialRequestOptionsJSON` (section 5.1.9), as JSON in UTF-8.
    ///
    /// - Parameters:
    ///   - challenge: random bytes of this sign-in, at least ``challengeBytesMin``.
    ///   - timeoutMilliseconds: how long the client should wait for the user; section 15.1 recommends 300,000.
    ///   - allowed: the passkeys that may be used; none for any of this relying party, which the user picks from.
    public func requestOptions(
        challenge: [UInt8],
        timeoutMilliseconds: UInt32,
        allowed: [CredentialDescriptor] = []
    ) -> [UInt8] {
        JSONWriter.object { writer in
            writer.add("challenge", Base64URL.encode(challenge))
            writer.add("timeout", Int64(timeoutMilliseconds))
            writer.add("rpId", id)
            writer.add("allowCredentials", allowed) { $0.addMembers(to: &$1) }
            writer.add("userVerification", userVerification.rawValue)
        }
    }
}
