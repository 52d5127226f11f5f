import JOSE

/// The ceremonies, by the `type` of their client data (section 5.8.1).
enum Ceremony: String, Sendable {
    case registration = "webauthn.create"
    case authentication = "webauthn.get"
}

extension RelyingParty {
    /// The bounds of client data, which is one flat object.
    static let clientDataLimits = JSONLimits(
        bytesMax: CredentialJSON.clientDataBytesMax,
        depthMax: 4,
        valuesMax: 128
    )

    /// Checks client data, in the order of sections 7.1 and 7.2: `type`, `challenge`, `origin`, `crossOrigin` and `topOrigin`. Other
    /// members are ignored, `tokenBinding` of earlier levels among them.
    ///
    /// Texts are compared by their bytes: `String`'s own comparison takes a Kelvin sign for a K.
    func checkClientData(
        _ bytes: [UInt8],
        of ceremony: Ceremony,
        challenge: [UInt8]
    ) throws(WebAuthnError) {
        guard let data = try? JSONObject(parsing: bytes, limits: Self.clientDataLimits),
            let type = data["type"]?.string, let answered = data["challenge"]?.string,
            let origin = data["origin"]?.string
        else { throw .malformed(.clientData) }
        guard type.utf8.elementsEqual(ceremony.rawValue.utf8) else { throw .wrongType }
        guard challenge.count >= Self.challengeBytesMin,
            ConstantTime.areEqual(answered, Base64URL.encode(challenge))
        else { throw .wrongChallenge }
        guard origins.contains(where: { $0.utf8.elementsEqual(origin.utf8) }) else { throw .wrongOrigin }
        if let crossOrigin = data["crossOrigin"] {
            guard let isCrossOrigin = crossOrigin.bool else { throw .malformed(.clientData) }
            guard !isCrossOrigin else { throw .crossOrigin }
        }
        guard data["topOrigin"] == nil else { throw .topOrigin }
    }
}
