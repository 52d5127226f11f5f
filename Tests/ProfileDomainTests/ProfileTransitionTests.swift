import Models
import ProfileDomain
import Testing

struct ProfileTransitionTests {
    private let userID = UserID(high: 1, low: 2)
    private let now: Int64 = 1_700_000_000_000
    private let first: PhoneNumber
    private let second: PhoneNumber

    init() throws {
        first = try PhoneNumber("09171234567", policy: .philippines)
        second = try PhoneNumber("09187654321", policy: .philippines)
    }

    private func decide(_ profile: Profile, _ change: ProfileChange) throws -> ProfileTransition? {
        try ProfileTransition.decide(from: profile, applying: change, nowMilliseconds: now)
    }

    @Test func `Missing fields are listed in the order to ask for them`() throws {
        var profile = Profile(userID: userID)
        #expect(RequiredFields.standard.missing(in: profile).map(\.rawValue) == ["display_name", "phone_number"])
        let all = RequiredFields([.username, .phoneNumber, .displayName])
        #expect(all.missing(in: profile) == [.displayName, .phoneNumber, .username])
        #expect(RequiredFields([]).missing(in: profile).isEmpty)
        profile.phone = first
        #expect(RequiredFields.standard.missing(in: profile) == [.displayName])
        #expect(all.missing(in: profile) == [.displayName, .username])
        profile.displayName = try DisplayName("Maria")
        #expect(RequiredFields.standard.missing(in: profile).isEmpty)
        profile.username = try Username("maria")
        #expect(all.missing(in: profile).isEmpty)
    }

    @Test func `A removed phone is released, and nothing claimed`() throws {
        let profile = Profile(userID: userID, displayName: try DisplayName("Maria"), phone: first)
        let transition = try #require(try decide(profile, ProfileChange(displayName: .remove, phone: .remove)))
        #expect(transition.phoneEvents == [PhoneEvent(kind: .released, phone: first)])
        #expect(transition.claimedPhone == nil)
        #expect(transition.profile.phone == nil && transition.profile.displayName == nil)
        #expect(try decide(Profile(userID: userID), ProfileChange(displayName: .remove, phone: .remove)) == nil)
    }

    @Test func `A first phone is claimed and nothing released`() throws {
        let transition = try #require(try decide(Profile(userID: userID), ProfileChange(phone: .set(first))))
        #expect(transition.phoneEvents == [PhoneEvent(kind: .claimed, phone: first)])
        #expect(transition.profile.phone == first)
        #expect(transition.profile.updatedAtMilliseconds == now)
    }

    @Test func `Another phone releases the old one before it claims the new one`() throws {
        let profile = Profile(userID: userID, phone: first)
        let transition = try #require(try decide(profile, ProfileChange(phone: .set(second))))
        #expect(
            transition.phoneEvents == [
                PhoneEvent(kind: .released, phone: first), PhoneEvent(kind: .claimed, phone: second),
            ]
        )
    }

    @Test func `The same values change nothing`() throws {
        let profile = Profile(
            userID: userID,
            displayName: try DisplayName("Maria"),
            username: try Username("maria"),
            phone: first,
            updatedAtMilliseconds: 5
        )
        let change = ProfileChange(
            displayName: .set(try DisplayName("Maria")),
            phone: .set(first),
            username: .set(try Username("maria"))
        )
        #expect(try decide(profile, change) == nil)
        #expect(try decide(profile, ProfileChange()) == nil)
        #expect(try decide(Profile(userID: userID), ProfileChange(username: .remove)) == nil)
    }

    @Test func `A change of the name alone sends nobody an event about the phone`() throws {
        let profile = Profile(userID: userID, phone: first)
        let transition = try #require(
            try decide(profile, ProfileChange(displayName: .set(try DisplayName("Maria")), phone: .set(first)))
        )
        #expect(transition.phoneEvents.isEmpty)
        #expect(transition.claimedPhone == nil)
        #expect(transition.profile.phone == first)
    }

    @Test func `A username that changes only its case is not taken again`() throws {
        let profile = Profile(userID: userID, username: try Username("maria"))
        let transition = try #require(try decide(profile, ProfileChange(username: .set(try Username("Maria")))))
        #expect(transition.claimedUsername == nil)
        #expect(transition.releasedUsername == nil)
        #expect(transition.profile.username?.value == "Maria")
    }

    @Test func `Another username releases the old one, and removal only releases`() throws {
        let profile = Profile(userID: userID, username: try Username("maria"))
        let other = try #require(try decide(profile, ProfileChange(username: .set(try Username("clara")))))
        #expect(other.claimedUsername?.key == "clara")
        #expect(other.releasedUsername?.key == "maria")
        let none = try #require(try decide(profile, ProfileChange(username: .remove)))
        #expect(none.claimedUsername == nil)
        #expect(none.releasedUsername?.key == "maria")
        #expect(none.profile.username == nil)
    }

    @Test func `A letter in another composition is saved`() throws {
        let profile = Profile(userID: userID, displayName: DisplayName(stored: "Jose\u{301}"))
        let transition = try #require(
            try decide(profile, ProfileChange(displayName: .set(try DisplayName("Jos\u{E9}"))))
        )
        #expect(transition.profile.displayName?.value.unicodeScalars.count == 4)
    }

    @Test func `The time of change never runs backwards`() throws {
        let profile = Profile(userID: userID, updatedAtMilliseconds: now + 5)
        let transition = try #require(try decide(profile, ProfileChange(phone: .set(first))))
        #expect(transition.profile.updatedAtMilliseconds == now + 5)
    }

    @Test func `Each change adds one revision, and a call without a change none`() throws {
        var profile = Profile(userID: userID)
        for revision: Int64 in 1...3 {
            let change = ProfileChange(displayName: .set(try DisplayName("Maria \(revision)")))
            profile = try #require(try decide(profile, change)).profile
            #expect(profile.revision == revision)
            #expect(try decide(profile, change) == nil)
        }
    }

    @Test func `A change of another revision is refused, unless it is there already`() throws {
        let profile = Profile(userID: userID, displayName: try DisplayName("Maria"), revision: 7)
        func change(_ name: String, _ expected: Int64) throws -> ProfileChange {
            ProfileChange(displayName: .set(try DisplayName(name)), expectedRevision: expected)
        }
        #expect(try decide(profile, change("Clara", 7))?.profile.revision == 8)
        for expected: Int64 in [0, 6, 8] {
            #expect(throws: ProfileError.revisionMismatch(current: 7)) {
                try decide(profile, try change("Clara", expected))
            }
            #expect(try decide(profile, change("Maria", expected)) == nil, "repeated after a lost answer")
        }
        // A client that has seen an empty profile may send that revision.
        #expect(try decide(Profile(userID: userID), change("Maria", 0))?.profile.revision == 1)
    }

    @Test func `An upload is removed with its replacement, and another upload can't be named`() throws {
        let (first, second) = (AvatarID(high: 1, low: 2), AvatarID(high: 1, low: 3))
        let profile = Profile(userID: userID, avatar: Avatar(upload: first))
        let url = try Avatar("https://example.com/me.png")
        #expect(try decide(profile, ProfileChange(avatar: .set(url)))?.droppedUpload == first)
        #expect(try decide(profile, ProfileChange(avatar: .remove))?.droppedUpload == first)
        #expect(try decide(profile, ProfileChange(avatar: .set(Avatar(upload: first)))) == nil)
        let renamed = ProfileChange(displayName: .set(try DisplayName("Maria")))
        #expect(try #require(try decide(profile, renamed)).droppedUpload == nil)
        #expect(throws: ProfileError.invalidFields([.avatar(.notUploaded)])) {
            try decide(profile, ProfileChange(avatar: .set(Avatar(upload: second))))
        }
        #expect(try decide(Profile(userID: userID, avatar: url), ProfileChange(avatar: .remove))?.droppedUpload == nil)
    }
}
