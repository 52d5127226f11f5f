import JOSE

extension ProviderPolicy {
    /// Judges the payload of a token whose signature was verified (OpenID Connect Core section 3.1.3.7).
    ///
    /// Pure: everything that matters is a parameter. The order is fixed, so that a token with several faults always
    /// gets the same reason: issuer, audience, times, nonce, code, subject.
    ///
    /// - Parameters:
    ///   - payload: the claims.
    ///   - algorithm: what the token was signed with, for `c_hash`.
    ///   - nowSeconds: the time, in Unix seconds.
    ///   - nonce: the raw nonce that the app presents; empty if it has none. Nil if none is asked for, since the token came
    ///     from the provider itself, in exchange for a code: then its claim is not looked at.
    ///   - code: the authorization code that came with the token; empty if there is none.
    public func judge(
        payload: [UInt8],
        algorithm: SignatureAlgorithm,
        nowSeconds: Int64,
        nonce: String?,
        code: String
    ) throws(TokenRejection) -> ProviderClaims {
        guard let claims = try? JSONObject(parsing: payload, limits: JSONLimits(bytesMax: 16 * 1024)) else {
            throw .malformed
        }
        guard let issuer = claims["iss"]?.string, issuers.contains(issuer) else { throw .issuer }
        let audience = try audience(of: claims)
        let times = try times(of: claims, nowSeconds: nowSeconds)
        let nonceVerdict = try nonceVerdict(of: claims, presented: nonce, by: audience)
        try checkCode(code, against: claims, algorithm: algorithm)
        guard let subject = claims["sub"]?.string, Self.isSubject(subject) else { throw .subject }
        return ProviderClaims(
            subject: subject,
            audience: audience.id,
            policy: audience,
            nonceVerdict: nonceVerdict,
            issuedAtSeconds: times.issuedAt,
            acceptedUntilSeconds: times.acceptedUntil,
            email: claims["email"]?.string.flatMap(EmailAddress.accept),
            isEmailVerified: Self.looseBool(claims["email_verified"]),
            isPrivateEmail: Self.looseBool(claims["is_private_email"]),
            name: claims["name"]?.string,
            realUserStatus: claims["real_user_status"]?.integer.flatMap { 0...2 ~= $0 ? Int16($0) : nil },
            transferSubject: name == .apple ? claims["transfer_sub"]?.string.flatMap(Self.subject) : nil,
            phoneNumber: phoneNumber(of: claims)
        )
    }

    /// Every audience must be ours: a token that is also meant for somebody else could come from them. `azp` is not
    /// looked at, since Google puts the Android client there. The first one counts; a token must not get round the rules
    /// of another one that it names too, so these must be the same.
    private func audience(of claims: JSONObject) throws(TokenRejection) -> AudiencePolicy {
        let names: [String?]
        switch claims["aud"] {
        case .string(let name): names = [name]
        case .array(let elements): names = elements.map(\.string)
        case nil, .null, .bool, .integer, .number, .object: throw .audience
        }
        let policies = names.compactMap { $0.flatMap { audiences[$0] } }
        guard let first = policies.first, policies.count == names.count,
            policies.allSatisfy({ $0.hasSameRules(as: first) })
        else { throw .audience }
        return first
    }

    private func times(
        of claims: JSONObject,
        nowSeconds: Int64
    ) throws(TokenRejection) -> (issuedAt: Int64, acceptedUntil: Int64) {
        guard let issuedAt = try Self.date(claims["iat"]), let expiresAt = try Self.date(claims["exp"]) else {
            throw .malformed
        }
        let acceptedUntil = min(expiresAt, issuedAt + tokenAgeSecondsMax) + clockLeewaySeconds
        guard nowSeconds < acceptedUntil else { throw .expired }
        let notBefore = max(issuedAt, try Self.date(claims["nbf"]) ?? issuedAt)
        guard nowSeconds >= notBefore - clockLeewaySeconds else { throw .notYetValid }
        return (issuedAt, acceptedUntil)
    }

    /// A NumericDate between 1970 and 9999, so that sums with it cannot overflow; nil if the claim is missing.
    private static func date(_ value: JSONValue?) throws(TokenRejection) -> Int64? {
        guard let value else { return nil }
        guard let seconds = value.numericDateSeconds, 0...253_402_300_799 ~= seconds else { throw .malformed }
        return seconds
    }

    /// Whether the nonce proves that the token was made for this app; throws if it doesn't and nothing else may.
    /// Apple's `nonce_supported` says only what the SDK could do, so it is not looked at.
    private func nonceVerdict(
        of claims: JSONObject,
        presented: String?,
        by audience: AudiencePolicy
    ) throws(TokenRejection) -> NonceVerdict {
        guard let presented else { return .notProven }
        guard presented.utf8.count <= ProviderToken.proofBytesMax else { throw .nonceMismatch }
        let claim = claims["nonce"]
        if let text = claim?.string, !text.isEmpty, !presented.isEmpty,
            audience.match.matches(claim: text, rawNonce: presented)
        {
            return .proven
        }
        let rejection: TokenRejection = claim == nil || presented.isEmpty ? .nonceMissing : .nonceMismatch
        switch audience.nonce {
        case .required, .server: throw rejection
        case .optional: if claim != nil || !presented.isEmpty { throw rejection }
        case .unknown: break
        }
        guard audience.withoutNonce != .refuse else { throw rejection }
        return .notProven
    }

    private func checkCode(
        _ code: String,
        against claims: JSONObject,
        algorithm: SignatureAlgorithm
    ) throws(TokenRejection) {
        guard code.utf8.count <= ProviderToken.proofBytesMax else { throw .codeHash }
        guard !code.isEmpty, let claim = claims["c_hash"] else { return }
        guard let hash = claim.string, ConstantTime.areEqual(hash, algorithm.halfHash(of: code)) else {
            throw .codeHash
        }
    }

    /// The number that the provider has verified (OpenID Connect Core section 5.1). Unlike of an e-mail, only the boolean counts: a
    /// number takes places in groups from somebody else.
    private func phoneNumber(of claims: JSONObject) -> String? {
        guard isTrustedForPhones, claims["phone_number_verified"] == true, let number = claims["phone_number"]?.string,
            PhoneAssertionPolicy.isE164(number)
        else { return nil }
        return number
    }

    /// OpenID Connect Core section 2: at most 255 ASCII characters.
    static func isSubject(_ text: String) -> Bool {
        1...255 ~= text.utf8.count && text.utf8.allSatisfy { 0x20...0x7e ~= $0 }
    }

    private static func subject(_ text: String) -> String? { isSubject(text) ? text : nil }

    /// Apple sends truth values as booleans and as the strings "true" and "false".
    static func looseBool(_ value: JSONValue?) -> Bool {
        value == true || value == "true"
    }
}
