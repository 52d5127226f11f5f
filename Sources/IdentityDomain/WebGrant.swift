import JOSE
import Models

/// What a provider posted, verified: what tickets stand for until an app redeems them.
public struct WebGrant: Sendable, Hashable {
    /// The ID token's fingerprint: it buys one session, whichever way.
    public let fingerprint: [UInt8]
    /// The provider.
    public let provider: ProviderName
    /// What the ID token says, and whether a nonce of ours proves it.
    public let claims: ProviderClaims
    /// The provider's authorization code.
    public let code: String
    /// The redirect URI that the code was issued to.
    public let redirectURI: String
    /// The name that came beside the token; empty if none did that is one.
    public let fullName: String
    /// The e-mail that came beside the token; empty if none did that is one.
    public let email: String
    /// The session for whose account the identity is to be linked, and nobody signed in; nil for a sign-in.
    public let linkingSession: SessionID?

    /// A grant. Values that are no valid name or e-mail are left out.
    public init(
        fingerprint: [UInt8],
        provider: ProviderName,
        claims: ProviderClaims,
        code: String,
        redirectURI: String,
        fullName: String,
        email: String,
        linkingSession: SessionID? = nil
    ) {
        self.linkingSession = linkingSession
        self.fingerprint = fingerprint
        self.provider = provider
        self.claims = claims
        self.code = code
        self.redirectURI = redirectURI
        self.fullName = ProviderGivenName.accept(fullName) ?? ""
        self.email = EmailAddress.accept(email) ?? ""
    }

    private static let limits = JSONLimits(bytesMax: 65_536)

    init?(content: [UInt8], policy: ProviderPolicy) {
        guard let object = try? JSONObject(parsing: content, limits: Self.limits),
            object["provider"]?.string == policy.name.value,
            let fingerprint = object["fingerprint"]?.string.flatMap({ Base64URL.decode($0) }),
            let claims = object["claims"]?.object.flatMap({ ProviderClaims($0, policy: policy) }),
            let code = object["code"]?.string, let redirectURI = object["redirect_uri"]?.string,
            let fullName = object["full_name"]?.string, let email = object["email"]?.string
        else { return nil }
        self.fingerprint = fingerprint
        provider = policy.name
        self.claims = claims
        self.code = code
        self.redirectURI = redirectURI
        self.fullName = fullName
        self.email = email
        linkingSession = object["link"]?.string.flatMap { SessionID($0) }
        // Never taken for a sign-in.
        if object["link"] != nil, linkingSession == nil { return nil }
    }

    var content: [UInt8] {
        var object: JSONObject = [
            "provider": .string(provider.value), "fingerprint": .string(Base64URL.encode(fingerprint)),
            "claims": .object(claims.json), "code": .string(code), "redirect_uri": .string(redirectURI),
            "full_name": .string(fullName), "email": .string(email),
        ]
        if let linkingSession { object["link"] = .string(linkingSession.description) }
        return object.serialized()
    }
}

extension ProviderClaims {
    /// The claims without the audience's policy, which is the one of the moment when they are read.
    fileprivate var json: JSONObject {
        var json: JSONObject = [
            "sub": .string(subject), "aud": .string(audience), "is_nonce_proven": .bool(nonceVerdict == .proven),
            "iat": .integer(issuedAtSeconds), "accepted_until": .integer(acceptedUntilSeconds),
            "email_verified": .bool(isEmailVerified), "is_private_email": .bool(isPrivateEmail),
        ]
        json["email"] = email.map { .string($0) }
        json["name"] = name.flatMap(ProviderGivenName.accept).map { .string($0) }
        json["transfer_sub"] = transferSubject.map { .string($0) }
        json["real_user_status"] = realUserStatus.map { .integer(Int64($0)) }
        return json
    }

    fileprivate init?(_ json: JSONObject, policy: ProviderPolicy) {
        guard let subject = json["sub"]?.string, let audience = json["aud"]?.string,
            let client = policy.audiences[audience], let isNonceProven = json["is_nonce_proven"]?.bool,
            let issuedAt = json["iat"]?.integer, let acceptedUntil = json["accepted_until"]?.integer
        else { return nil }
        self.init(
            subject: subject,
            audience: audience,
            policy: client,
            nonceVerdict: isNonceProven ? .proven : .notProven,
            issuedAtSeconds: issuedAt,
            acceptedUntilSeconds: acceptedUntil,
            email: json["email"]?.string,
            isEmailVerified: json["email_verified"] == true,
            isPrivateEmail: json["is_private_email"] == true,
            name: json["name"]?.string,
            realUserStatus: json["real_user_status"]?.integer.flatMap { Int16(exactly: $0) },
            transferSubject: json["transfer_sub"]?.string
        )
    }
}
