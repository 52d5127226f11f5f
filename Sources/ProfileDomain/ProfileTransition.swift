import Models

/// The effect of a change on a profile: the decision that a store then carries out, whole or not at all.
public struct ProfileTransition: Sendable, Hashable {
    /// The profile after it.
    public let profile: Profile
    /// The number that the user takes; nil if the number stays or is removed.
    public let claimedPhone: PhoneNumber?
    /// The number that the user gives up, for another one or for none.
    public let releasedPhone: PhoneNumber?
    /// The username that the user takes; nil if none is taken. A name that differs from the old one only in case is the user's already and
    /// isn't taken again.
    public let claimedUsername: Username?
    /// The username that the user gives up.
    public let releasedUsername: Username?
    /// The uploaded image that the profile no longer has.
    public let droppedUpload: AvatarID?

    /// Decides the effect of a change; nil if it changes nothing, as when a client retries a save whose response it never got. In that case
    /// a different revision is no conflict.
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

    /// The events for other services, in order. The old number is given up before the new one is taken.
    public var phoneEvents: [PhoneEvent] {
        var events: [PhoneEvent] = []
        if let releasedPhone { events.append(PhoneEvent(kind: .released, phone: releasedPhone)) }
        if let claimedPhone { events.append(PhoneEvent(kind: .claimed, phone: claimedPhone)) }
        return events
    }

    /// Returns whether two texts are the same scalars. Swift's `==` also treats a composed letter as equal to its decomposed form, but a
    /// person who corrects such a letter wants it saved.
    private static func isSameText(_ left: String?, _ right: String?) -> Bool {
        guard let left, let right else { return left == nil && right == nil }
        return left.utf8.elementsEqual(right.utf8)
    }
}

/// A change of a user's phone number, as it is delivered to other services.
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
    /// Whether it is proven that a taken number is the user's.
    public let isProven: Bool
    /// The user whom it was taken from by that proof; nil if no user had it.
    public let takenFrom: UserID?

    /// An event.
    public init(kind: Kind, phone: PhoneNumber, isProven: Bool = false, takenFrom: UserID? = nil) {
        self.kind = kind
        self.phone = phone
        self.isProven = isProven
        self.takenFrom = takenFrom
    }
}
