import JOSE

extension ProviderPolicy {
    /// Judges the payload of a message whose signature was verified (RFC 8417 section 2.2).
    ///
    /// Pure. The order is fixed, so that a message with several faults always gets the same reason: form, issuer, audience,
    /// times, events.
    ///
    /// - Parameters:
    ///   - payload: the claims.
    ///   - nowSeconds: the time, in Unix seconds.
    public func judge(
        notice payload: [UInt8],
        from sender: NoticeSender,
        nowSeconds: Int64
    ) throws(NoticeRejection) -> ProviderNotice {
        let limits = JSONLimits(bytesMax: 16 * 1024)
        guard let claims = try? JSONObject(parsing: payload, limits: limits),
            let identifier = claims["jti"]?.string, Self.isNoticeIdentifier(identifier), claims["events"] != nil
        else { throw .malformed }
        guard let issuer = claims["iss"]?.string, isIssuerOfNotices(issuer) else { throw .issuer }
        guard isOurs(claims["aud"]) else { throw .audience }
        let issuedAt = try issueTime(of: claims, from: sender, nowSeconds: nowSeconds)
        let told: [NoticeEvent]
        switch sender {
        case .apple: told = [try Self.appleEvent(claims["events"], issuedAtSeconds: issuedAt, nowSeconds: nowSeconds)]
        case .google: told = try googleEvents(claims["events"], issuedAtSeconds: issuedAt, nowSeconds: nowSeconds)
        }
        return ProviderNotice(identifier: identifier, events: told)
    }

    private static func isNoticeIdentifier(_ text: String) -> Bool {
        1...ProviderNotice.identifierBytesMax ~= text.utf8.count && text.utf8.allSatisfy { 0x21...0x7e ~= $0 }
    }

    /// Google's RISC configuration names the issuer with a slash at its end, its ID tokens without.
    private func isIssuerOfNotices(_ text: String) -> Bool {
        issuers.contains(text) || text.hasSuffix("/") && issuers.contains(String(text.dropLast()))
    }

    /// One of ours is enough: the stream belongs to the developer, who may have other apps than those that sign in here.
    private func isOurs(_ audience: JSONValue?) -> Bool {
        switch audience {
        case .string(let name): audiences[name] != nil
        case .array(let names): names.contains { name in name.string.map { audiences[$0] != nil } ?? false }
        case nil, .null, .bool, .integer, .number, .object: false
        }
    }

    /// When it was issued, in Unix seconds. Google's `exp` is not looked at, as Google asks: an event doesn't expire.
    private func issueTime(
        of claims: JSONObject,
        from sender: NoticeSender,
        nowSeconds: Int64
    ) throws(NoticeRejection) -> Int64 {
        guard let issuedAt = Self.noticeTime(claims["iat"]) else { throw .malformed }
        guard nowSeconds >= issuedAt - clockLeewaySeconds else { throw .early }
        guard nowSeconds < issuedAt + ProviderNotice.ageSecondsMax else { throw .expired }
        if sender == .apple {
            guard let expiresAt = Self.noticeTime(claims["exp"]) else { throw .malformed }
            guard nowSeconds < expiresAt + clockLeewaySeconds else { throw .expired }
        }
        return issuedAt
    }

    /// Between 1970 and 9999, so that sums with it cannot overflow.
    private static func noticeTime(_ value: JSONValue?) -> Int64? {
        value?.numericDateSeconds.flatMap { 0...253_402_300_799 ~= $0 ? $0 : nil }
    }

    // MARK: - Apple

    private static let appleKinds: [String: NoticeKind] = [
        "consent-revoked": .consentRevoked, "account-deleted": .accountDeleted, "account-delete": .accountDeleted,
        "email-disabled": .emailDisabled, "email-enabled": .emailEnabled,
    ]

    /// One event, in a text that is JSON once more.
    private static func appleEvent(
        _ value: JSONValue?,
        issuedAtSeconds: Int64,
        nowSeconds: Int64
    ) throws(NoticeRejection) -> NoticeEvent {
        let parsed = value?.string.flatMap { try? JSONObject(parsing: $0.utf8) }
        guard let event = parsed ?? value?.object, let type = event["type"]?.string else { throw .malformed }
        let kind = appleKinds[type] ?? .other
        let subject = try subject(event["sub"], of: kind)
        // Milliseconds; Apple's page shows seconds, which their size distinguishes.
        let time = event["event_time"]?.integer ?? issuedAtSeconds
        guard 0...253_402_300_799_000 ~= time else { throw .malformed }
        let milliseconds = time < 100_000_000_000 ? time * 1000 : time
        return NoticeEvent(kind: kind, subject: subject, atMilliseconds: min(milliseconds, nowSeconds * 1000))
    }

    // MARK: - Google

    private static let riscPrefix = "https://schemas.openid.net/secevent/risc/event-type/"
    private static let oauthPrefix = "https://schemas.openid.net/secevent/oauth/event-type/"
    private static let googleKinds: [String: NoticeKind] = [
        riscPrefix + "sessions-revoked": .sessionsRevoked,
        oauthPrefix + "tokens-revoked": .tokensRevoked,
        oauthPrefix + "token-revoked": .tokenRevoked,
        riscPrefix + "account-disabled": .accountDisabled,
        riscPrefix + "account-enabled": .accountEnabled,
        riscPrefix + "account-credential-change-required": .credentialChangeRequired,
        riscPrefix + "verification": .verification,
    ]
    private static let disablingReasons: [String: DisablingReason] = [
        "hijacking": .hijacking, "bulk-account": .bulkAccount,
    ]

    /// The events by their types. Google tells no time of them but that of the message.
    private func googleEvents(
        _ value: JSONValue?,
        issuedAtSeconds: Int64,
        nowSeconds: Int64
    ) throws(NoticeRejection) -> [NoticeEvent] {
        guard let members = value?.object?.members, 1...ProviderNotice.eventsMax ~= members.count else {
            throw .malformed
        }
        var events: [NoticeEvent] = []
        for member in members {
            guard let event = member.value.object else { throw .malformed }
            let kind = Self.googleKinds[member.name] ?? .other
            let subject = event["subject"]?.object
            if kind.namesPerson {
                guard let issuer = subject?["iss"]?.string, isIssuerOfNotices(issuer) else { throw .malformed }
            }
            events.append(
                NoticeEvent(
                    kind: kind,
                    reason: kind == .accountDisabled
                        ? event["reason"]?.string.flatMap { Self.disablingReasons[$0] } : nil,
                    subject: try Self.subject(subject?["sub"], of: kind),
                    atMilliseconds: min(issuedAtSeconds, nowSeconds) * 1000
                )
            )
        }
        return events
    }

    /// Nil where the kind names nobody, whatever stands there: what isn't needed isn't kept.
    private static func subject(_ value: JSONValue?, of kind: NoticeKind) throws(NoticeRejection) -> String? {
        guard kind.namesPerson else { return nil }
        guard let subject = value?.string, isSubject(subject) else { throw .malformed }
        return subject
    }
}
