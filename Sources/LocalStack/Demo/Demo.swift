import JOSE
import OutgoingHTTP
import RPCTransport
import ServiceKit

/// The main scenario, run through the gateway of a running stack like an app: sign in, complete a profile, and become a
/// member of the group that awaited the phone number. Each step is checked and printed with its time.
public struct Demo: Sendable {
    private let app: DemoApp
    private var gateway: DemoClient { app.gateway }
    private var simulator: DemoClient { app.simulator }

    private static let phoneTakenText = "This phone number is already associated with another account."

    /// A demo for the stack that runs with this configuration, read with `StackKeys.all`. Its requests use the loops of the
    /// group.
    public init(configuration: Configuration, group: EventLoopGroup) {
        app = DemoApp(configuration: configuration, group: group)
    }

    /// Runs all steps. Throws at the first that fails, with the expectation.
    public func run() async throws {
        var story = DemoStory()
        let (guest, absent) = (DemoPerson(role: "Guest"), DemoPerson(role: "Absent"))
        let (host, group) = try await prepareGroup(&story, waitingFor: [guest, absent])
        let visitor = try await join(&story, guest, group: group, host: host)
        try await keepAndLeave(&story, visitor, phone: guest.phone)
    }

    /// The organiser's steps: make a group with pending members.
    private func prepareGroup(
        _ story: inout DemoStory,
        waitingFor invited: [DemoPerson]
    ) async throws -> (host: DemoSession, group: String) {
        let organiser = DemoPerson(role: "Organiser")
        _ = try await story.step("the gateway and all services are ready") {
            _ = try await gateway.send("GET", "/healthz", expecting: 200)
            return try await gateway.send("GET", "/readyz", expecting: 200)
        }
        let host = try await story.step("the organiser signs in with Apple for the first time") {
            try await signInWithApple(organiser)
        }
        try await story.step("the organiser completes the profile") {
            try await complete(host, name: organiser.fullName, phone: organiser.phone)
        }
        let group = try await story.step("the organiser creates a group") {
            try await createGroup(host)
        }
        try await story.step("the organiser invites two phone numbers; both are pending") {
            for person in invited { try await invite(person.phoneAtHome, name: person.fullName, to: group, by: host) }
        }
        return (host, group)
    }

    /// The guest's steps: sign in, and become a member of the group.
    private func join(
        _ story: inout DemoStory,
        _ guest: DemoPerson,
        group: String,
        host: DemoSession
    ) async throws -> DemoSession {
        let visitor = try await story.step("an invited person signs in with Google") {
            try await signInWithGoogle(guest)
        }
        try await story.step("and saves the phone number in another notation") {
            try await complete(visitor, name: guest.fullName, phone: guest.phoneAbroad)
        }
        try await story.step("and becomes a member of the group that waited for it") {
            try await expectMember(visitor, of: group, seenBy: host)
        }
        return visitor
    }

    /// The steps of a session: a refresh, a retry of it, and its end.
    private func keepAndLeave(_ story: inout DemoStory, _ visitor: DemoSession, phone: String) async throws {
        let refreshed = try await story.step("the app refreshes its tokens") {
            try await refresh(visitor.refreshToken)
        }
        try await story.step("a retry of that refresh returns the same new tokens") {
            let retried = try await refresh(visitor.refreshToken)
            try expect(retried.refreshToken == refreshed.refreshToken, "the same refresh token again")
        }
        try await story.step("another user's attempt to take the phone number is rejected") {
            try await expectPhoneTaken(phone)
        }
        try await story.step("after sign-out the access token is rejected") {
            try await signOut(refreshed)
        }
    }

    private func createGroup(_ session: DemoSession) async throws -> String {
        try await gateway.send(
            "POST",
            "/groups",
            accessToken: session.accessToken,
            body: ["name": "Sunday lunch"],
            expecting: 201
        ).string("id")
    }

    private func signOut(_ session: DemoSession) async throws {
        let answer = try await gateway.send("POST", "/auth/sign-out", accessToken: session.accessToken)
        try expect((200...204).contains(answer.status), "sign-out to succeed, got \(answer.status)")
        _ = try await gateway.send("GET", "/me", accessToken: session.accessToken, expecting: 401)
    }

    private func signInWithApple(_ person: DemoPerson) async throws -> DemoSession {
        let nonce = Hex.encode(SecureRandom.bytes(16))
        let simulated = try await simulator.send(
            "POST",
            "/control/apple/sign-in",
            body: [
                "client_id": "com.example.app", "nonce": .string(Hex.encode(SHA256.hash(nonce))),
                "person": .object(person.simulated),
            ],
            expecting: 200
        )
        try expect(simulated.json["user"]?.object != nil, "Apple to send the name the first time")
        let session = try DemoSession(
            try await gateway.send(
                "POST",
                "/auth/apple",
                body: [
                    "identity_token": .string(try simulated.string("identity_token")),
                    "authorization_code": .string(try simulated.string("authorization_code")),
                    "nonce": .string(nonce), "full_name": .string(person.fullName), "email": .string(person.email),
                ],
                expecting: 200
            )
        )
        try expect(session.answer["is_new_user"]?.bool == true, "a new user")
        try expect(
            session.missingFields.contains("phone_number"),
            "the phone number to be missing; the demo needs VESTIBULE_PROFILE_REQUIRED_FIELDS to have it"
        )
        try expect(
            session.answer["suggested_display_name"]?.string == person.fullName,
            "Apple's name as the suggestion"
        )
        return session
    }

    private func signInWithGoogle(_ person: DemoPerson) async throws -> DemoSession {
        let session = try await app.signInWithGoogle(person)
        try expect(session.answer["is_new_user"]?.bool == true, "a new user")
        return session
    }

    private func complete(_ session: DemoSession, name: String, phone: String) async throws {
        _ = try await gateway.send(
            "PATCH",
            "/me",
            accessToken: session.accessToken,
            body: ["display_name": .string(name), "phone_number": .string(phone)],
            expecting: 200
        )
        let me = try await gateway.send("GET", "/me", accessToken: session.accessToken, expecting: 200)
        try expect(me.json["display_name"]?.string == name, "/me to show the name")
        try expect(
            me.json["phone_number"]?.string == "+" + phone.filter(\.isNumber),
            "/me to show the phone number in E.164"
        )
    }

    private func invite(_ phone: String, name: String, to group: String, by host: DemoSession) async throws {
        let member = try await gateway.send(
            "POST",
            "/groups/\(group)/members",
            accessToken: host.accessToken,
            body: ["phone_number": .string(phone), "display_name": .string(name)],
            expecting: 201
        )
        try expect(member.json["state"]?.string == "pending", "a pending member")
    }

    /// The member is linked by an event in an outbox: soon after the number was saved, but not in the same moment.
    private func expectMember(_ visitor: DemoSession, of group: String, seenBy host: DemoSession) async throws {
        let limit = ContinuousClock.now + .seconds(10)
        while true {
            let answer = try await gateway.send(
                "GET",
                "/groups/\(group)/members",
                accessToken: host.accessToken,
                expecting: 200
            )
            let members = (answer.json["members"]?.array ?? []).compactMap(\.object)
            if members.contains(where: { $0["user_id"]?.string == visitor.userID && $0["state"]?.string == "member" }) {
                try expect(members.count == 3, "three members, of whom one is still pending")
                break
            }
            try expect(ContinuousClock.now < limit, "the guest to become a member within 10 s")
            try await Task.sleep(for: .milliseconds(5))
        }
        let groups = try await gateway.send("GET", "/groups", accessToken: visitor.accessToken, expecting: 200)
        let ids = (groups.json["groups"]?.array ?? []).compactMap { $0.object?["id"]?.string }
        try expect(ids == [group], "the guest to see exactly this group")
    }

    private func refresh(_ refreshToken: String) async throws -> DemoSession {
        try DemoSession(
            try await gateway.send(
                "POST",
                "/auth/refresh",
                body: ["refresh_token": .string(refreshToken)],
                expecting: 200
            )
        )
    }

    private func expectPhoneTaken(_ phone: String) async throws {
        let other = try await signInWithApple(DemoPerson(role: "Other"))
        let refused = try await gateway.send(
            "PATCH",
            "/me",
            accessToken: other.accessToken,
            body: ["phone_number": .string(phone)],
            expecting: 409
        )
        try expect(refused.json["code"]?.string == "PHONE_TAKEN", "the code PHONE_TAKEN")
        try expect(refused.json["detail"]?.string == Self.phoneTakenText, "the words \"\(Self.phoneTakenText)\"")
    }
}
