import Models

/// What a change does to a profile: the decision that a store then carries out, whole or not at all.
public struct ProfileTransition: Sendable, Hashable {
    /// The profile after it.
    public let profile: Profile
    /// The number that the user takes, nil if theirs stays.
    public let claimedPhone: PhoneNumber?
    /// The number that the user gives up, for it or for none.
    public let releasedPhone: PhoneNumber?
    /// The username that the user takes, nil if none is taken. A name that differs from the old one in case alone is
    /// the user's already and isn't taken again.
    public let claimedUsername: Username?
    /// The username that the user gives up.
    public let releasedUsername: Username?
    /// The uploaded image that the profile has no more.
    public let droppedUpload: AvatarID?

    /// What a change does to a profile, or nil if it changes nothing, as when a client repeats a save whose answer it
    /// never got. Then it is no conflict that the revision isn't the expected one.
    ///
    /// - Throws: ``ProfileError/revisionMismatch(current:)`` for a profile that was changed meanwhile, and
    ///   ``ProfileError/invalidFields(_:)`` for an uploaded image that isn't the profile's.
    public static func decide(
        from profile: Profile,
        applying change: ProfileChange,
        nowMilliseconds: Int64
    ) throws(ProfileError) -> ProfileTransition? {
        var next = profile
        next.displayName = change.displayName.applied(to: profile.displayName)
        next.phone = change.phone.applied(to: profile.phone)
        next.username = change.username.applied(to: profile.username)
        next.avatar = change.avatar.applied(to: profile.avatar)
        if next.avatar?.upload != nil, next.avatar != profile.avatar {
            throw .invalidFields([.avatar(.notUploaded)])
        }
        let isUnchanged =
            isSameText(next.displayName?.value, profile.displayName?.value) && next.phone == profile.phone
            && next.username == profile.username && next.avatar == profile.avatar
        guard !isUnchanged else { return nil }
        if let expected = change.expectedRevision, expected != profile.revision {
            throw .revisionMismatch(current: profile.revision)
        }

        // Clocks of two replicas may differ; a profile's time never runs backwards for it.
        next.updatedAtMilliseconds = max(nowMilliseconds, profile.updatedAtMilliseconds)
        next.revision = profile.revision + 1
        let changesPhone = next.phone != profile.phone
        if changesPhone {
            next.isPhoneProven = false
            if next.phone != nil { next.phoneTakenAtMilliseconds = nil }
        }
        let changesUsername = next.username?.key != profile.username?.key
        return ProfileTransition(
            profile: next,
            claimedPhone: changesPhone ? next.phone : nil,
            releasedPhone: changesPhone ? profile.phone : nil,
            claimedUsername: changesUsername ? next.username : nil,
            releasedUsername: changesUsername ? profile.username : nil,
            droppedUpload: next.avatar == profile.avatar ? nil : profile.avatar?.upload
        )
    }

    /// What other services are told, in order. The old number is given up before the new one is taken.
    public var phoneEvents: [PhoneEvent] {
        var events: [PhoneEvent] = []
        if let releasedPhone { events.append(PhoneEvent(kind: .released, phone: releasedPhone)) }
        if let claimedPhone { events.append(PhoneEvent(kind: .claimed, phone: claimedPhone)) }
        return events
    }

    /// Whether two texts are the same scalars. Swift's `==` also takes a composed letter for its decomposed self, but
    /// a person who mends such a letter wants it saved.
    private static func isSameText(_ left: String?, _ right: String?) -> Bool {
        guard let left, let right else { return left == nil && right == nil }
        return left.utf8.elementsEqual(right.utf8)
    }
}

/// What became of a user's phone number, as other services are told.
public struct PhoneEvent: Sendable, Hashable {
    /// What happened.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The user took the number.
        case claimed
        /// The user gave the number up.
        case released
    }

    /// What happened.
    public let kind: Kind
    /// The number.
    public let phone: PhoneNumber
    /// Whether it is proven that a number that was taken is the user's.
    public let isProven: Bool
    /// Whom it was taken from by that proof; nil if nobody had it.
    public let takenFrom: UserID?

    /// An event.
    public init(kind: Kind, phone: PhoneNumber, isProven: Bool = false, takenFrom: UserID? = nil) {
        self.kind = kind
        self.phone = phone
        self.isProven = isProven
        self.takenFrom = takenFrom
    }
}
