import Foundation
import VestibuleClient

@testable import SampleApp

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// An app's whole story, by the kit, against a running system. What an app doesn't do itself, it asks for on standard output, a JSON
/// object a line, and reads the answer from standard input. Arguments: the server's URL, a folder for the session, a picture.
@main
@MainActor
struct Story {
    struct Failure: Error {
        let message: String
    }

    let vestibule: Vestibule
    let url: URL
    let store: FileStore
    let picture: Data

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let url = URL(string: arguments[1]) else {
            throw Failure(message: "Arguments: url, folder, picture")
        }
        let store = FileStore(folder: URL(filePath: arguments[2], directoryHint: .isDirectory))
        let story = Story(
            vestibule: Vestibule(url: url, clientID: "demo", store: store, languages: ["en"]),
            url: url,
            store: store,
            picture: try Data(contentsOf: URL(filePath: arguments[3]))
        )
        try await story.tell()
        print(#"{"done":true}"#)
    }

    func expect(_ isTrue: Bool, _ what: String = "", line: Int = #line) throws {
        guard isTrue else { throw Failure(message: "line \(line): \(what)") }
    }

    func expect(_ code: VestibuleError.Code, line: Int = #line, _ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch let error as VestibuleError where error.code == code {
            return
        } catch {
            throw Failure(message: "line \(line): \(error), not \(code)")
        }
        throw Failure(message: "line \(line): no error, not \(code)")
    }

    /// Asks for what an app doesn't do itself.
    func need(_ what: String, _ more: [String: String] = [:]) throws -> [String: String] {
        let order = try JSONEncoder().encode(more.merging(["need": what]) { own, _ in own })
        print(String(decoding: order, as: UTF8.self))
        fflush(nil)
        guard let line = readLine() else { throw Failure(message: "nobody answers") }
        return try JSONDecoder().decode([String: String].self, from: Data(line.utf8))
    }

    func apple() throws -> Credentials {
        let nonce = SignInNonce()
        let answer = try need("apple", ["nonce": nonce.sha256])
        return .apple(
            idToken: answer["idToken"] ?? "",
            nonce: nonce,
            authorizationCode: answer["authorizationCode"],
            fullName: answer["fullName"],
            email: answer["email"]
        )
    }

    func tell() async throws {
        try expect(try await vestibule.state == .signedOut(reason: nil))
        try await expect(.signedOut) { _ = try await vestibule.account.getMe() }
        var states = vestibule.states.makeAsyncIterator()
        try expect(await states.next() == .signedOut(reason: nil))

        let signIn = try await vestibule.signIn(try apple(), deviceName: "Story")
        try expect(signIn.isNewUser && signIn.missingFields?.contains("display_name") == true)
        try expect(signIn.suggestedDisplayName?.isEmpty == false)
        try expect(await states.next() == .signedIn(userID: signIn.userID))

        try await profile(signIn)
        try await groups()
        try await sessions()
        try await pictures()
        try await sample(signIn.userID)

        try await vestibule.signOut()
        try expect(await states.next() == .signedOut(reason: nil))
        try await expect(.signedOut) { _ = try await vestibule.groups.listGroups() }
        try await page()
        try await guests(signIn.userID)
        try await deletion(signIn.userID)
    }

    func profile(_ signIn: SignIn) async throws {
        try expect(try await vestibule.account.getMe().userID == signIn.userID)
        let number = try need("phone")["number"] ?? ""
        let profile = try await vestibule.account.updateMe(displayName: "Ana Cruz", phoneNumber: number)
        try expect(profile.displayName == "Ana Cruz" && profile.phoneNumber == number && profile.updatedAt != nil)
        try expect(!profile.phoneProven && profile.revision > 0)
        try expect(
            try await vestibule.account.checkUsername(username: "a_free_one_\(Int.random(in: 0...99999))").isFree
        )
        do {
            _ = try await vestibule.account.updateMe(displayName: "x")
            throw Failure(message: "a name of one character")
        } catch let error as VestibuleError {
            try expect(error.code == .displayNameInvalid && error.action == .show && error.status == 400)
            try expect(error.fields["displayName"]?.code == .displayNameInvalid, "\(error.fields)")
        }
        try await expect(.revisionMismatch) {
            _ = try await vestibule.account.updateMe(displayName: "Ana C", expectedRevision: 99)
        }
    }

    func groups() async throws {
        let group = try await vestibule.groups.createGroup(name: "Trip to Siargao", openness: .confirm)
        try expect(group.role == .owner && group.openness == .confirm)
        try expect(abs(group.createdAt.timeIntervalSinceNow) < 60)
        let person = try need("phone", ["other": "true"])["number"] ?? ""
        let added = try await vestibule.groups.addMembers(
            groupID: group.groupID,
            members: [
                .init(phoneNumber: person, displayName: "Ben Reyes"), .init(phoneNumber: "12", displayName: "Nobody"),
            ]
        )
        try expect(added.results.map { $0.member?.state } == [.pending, nil], "\(added)")
        try expect(added.results.last?.refusal?.reason == "PHONE_INVALID")
        let link = try await vestibule.groups.createGroupLink(groupID: group.groupID, usesMax: 1)
        try expect(try await vestibule.groups.previewGroupLink(token: link.token).groupName == "Trip to Siargao")
        try await vestibule.groups.revokeGroupLink(groupID: group.groupID, linkID: link.link.linkID)
        try expect(try await vestibule.groups.listGroupLinks(groupID: group.groupID).links.isEmpty)
        let unknown = String(repeating: "x", count: 43)
        try await expect(.linkInvalid) { _ = try await vestibule.groups.previewGroupLink(token: unknown) }

        var events = vestibule.events().makeAsyncIterator()
        let first = try await events.next()
        try expect(first?.position.isEmpty == false && first?.changes.isEmpty == true)
        // Another process of the app, which shares the store.
        let other = Vestibule(url: url, clientID: "demo", store: store)
        let joined = try await other.groups.createGroup(name: "Dinner")
        var change: Vestibule.GroupChange?
        while change?.groupID != joined.groupID || change?.kind != .groupJoined {
            change = try await events.next()?.changes.first { $0.groupID == joined.groupID }
        }
    }

    func sessions() async throws {
        let before = try await vestibule.accessToken()
        let token = try await vestibule.refresh()
        try expect(token != before)
        try expect(try await vestibule.accessToken() == token)
        let sessions = try await vestibule.auth.listSessions().sessions
        try expect(sessions.count == 1 && sessions[0].isCurrent && sessions[0].deviceName == "Story")
        let nonce = SignInNonce()
        var google = Credentials.google(idToken: nil, nonce: nonce)
        google.idToken = try need("google", ["nonce": nonce.sha256])["idToken"]
        try expect(try await vestibule.linkProvider(google).map(\.provider) == ["apple", "google"])
        try await vestibule.auth.unlinkProvider(provider: "google")
        try await vestibule.signOutEverywhere(exceptCurrent: true)
        _ = try await vestibule.account.getMe()
    }

    func pictures() async throws {
        guard let address = try await vestibule.setAvatar(picture) else { throw Failure(message: "no picture") }
        let (data, response) = try await URLSession.shared.data(from: address)
        try expect((response as? HTTPURLResponse)?.statusCode == 200 && !data.isEmpty)
        try expect(try await vestibule.avatarURL(vestibule.account.getMe().avatarURL) == address)
        try await expect(.avatarInvalid) { _ = try await vestibule.setAvatar(Data("no picture".utf8)) }
        try await vestibule.removeAvatar()
        try expect(try await vestibule.account.getMe().avatarURL == nil)
    }

    /// What the sample shows.
    func sample(_ userID: String) async throws {
        let model = AppModel(vestibule)
        let tasks = [Task { await model.followSession() }, Task { await model.followGroups() }]
        defer { for task in tasks { task.cancel() } }
        try await wait { model.userID == userID && model.profile?.displayName == "Ana Cruz" && model.groups.count == 2 }
        await model.createGroup("Band")
        try await wait { model.groups.first?.name == "Band" }
        await model.save(displayName: "x")
        try expect(model.message?.hasPrefix("This name can’t be used") == true, model.message ?? "nothing")
    }

    func wait(_ line: Int = #line, _ isTrue: () -> Bool) async throws {
        for _ in 0..<500 where !isTrue() { try await Task.sleep(for: .milliseconds(20)) }
        try expect(isTrue(), "waited", line: line)
    }

    /// Another user, by the server's page.
    func page() async throws {
        let page = try await vestibule.beginSignIn(redirectURI: "http://127.0.0.1:51123/callback")
        let back = try need("browser", ["url": page.absoluteString])["url"].flatMap { URL(string: $0) }
        guard let back else { throw Failure(message: "no way back") }
        let userID = try await vestibule.finishSignIn(callback: back)
        try expect(try await vestibule.state == .signedIn(userID: userID))
        try await expect(.webStateInvalid) { _ = try await vestibule.finishSignIn(callback: back) }
        let before = try await vestibule.accessToken()
        let token = try await vestibule.refresh()
        try expect(before != token)
        try expect(try await vestibule.account.getMe().userID == userID)
        try await vestibule.signOut()
    }

    /// A guest who becomes a user, and one whom the first user's account absorbs.
    func guests(_ userID: String) async throws {
        let guest = try await vestibule.signInAsGuest(deviceName: "Story")
        try expect(guest.isNewUser && guest.userID != userID)
        try expect(try await vestibule.state == .signedIn(userID: guest.userID, isGuest: true))
        try expect(try await vestibule.account.getMe().isGuest)
        try await expect(.signedIn) { try await vestibule.signInAsGuest() }
        let nonce = SignInNonce()
        var google = Credentials.google(idToken: nil, nonce: nonce)
        google.idToken = try need("google", ["nonce": nonce.sha256])["idToken"]
        try expect(try await vestibule.linkProvider(google).map(\.provider) == ["google"])
        try expect(try await vestibule.state == .signedIn(userID: guest.userID))
        try expect(try await !vestibule.account.getMe().isGuest)
        try await vestibule.deleteAccount()

        let model = AppModel(vestibule)
        await model.continueAsGuest()
        let group = try await vestibule.groups.createGroup(name: "Lunch")
        try expect(try await vestibule.signIn(try apple()).userID == userID)
        try expect(await model.hasKeptGuest())
        await model.finishGuest(.merge)
        try expect(model.message == nil, model.message ?? "")
        try expect(await !model.hasKeptGuest())
        let tasks = [Task { await model.followGroups() }]
        defer { for task in tasks { task.cancel() } }
        try await wait { model.groups.contains { $0.groupID == group.groupID } }
        try await vestibule.signOut()
    }

    /// The first user again, who deletes the account.
    func deletion(_ userID: String) async throws {
        let signIn = try await vestibule.signIn(try apple())
        try expect(!signIn.isNewUser && signIn.userID == userID)
        let deletion = try await vestibule.deleteAccount(try apple())
        try expect(deletion.deletesAt == nil)
        try expect(try await vestibule.state == .signedOut(reason: nil))
        let again = try await vestibule.signIn(try apple())
        try expect(again.isNewUser && again.userID != userID)
        // The server ends the session: the app gets the reason once, also after a restart.
        _ = try need("end", ["user": again.userID])
        try await expect(.sessionRevoked) { _ = try await vestibule.account.getMe() }
        let restarted = Vestibule(url: url, clientID: "demo", store: store)
        let states = restarted.states
        let follower = Task {
            var found: [SessionState] = []
            for await state in states { found.append(state) }
            return found
        }
        try await Task.sleep(for: .milliseconds(300))
        try expect(try await restarted.state == .signedOut(reason: nil))
        follower.cancel()
        try expect(await follower.value == [.signedOut(reason: .sessionRevoked)])
    }
}
