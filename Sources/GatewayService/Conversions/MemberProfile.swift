import API

extension AppV1.Member {
    /// Puts in what profile knows of a person: their own name, if they gave one, instead of the inviter's.
    mutating func add(_ profile: ProfileV1.PublicProfile, _ avatars: AvatarAddress) {
        if !profile.displayName.isEmpty { displayName = profile.displayName }
        username = profile.username
        avatarURL = avatars.url(of: profile.avatar)
    }
}
