import Foundation
import VestibuleClient

/// A client of the kit that can be dropped like a killed process.
final class DrivenClient: Sendable {
    let name: String
    private let kit: Vestibule
    private let store: FaultyStore
    private let transport: DroppableTransport
    private let clock: DrivenClock
    private let held = Held()

    /// What changes.
    // What changes is guarded by `lock`.
    private final class Held: @unchecked Sendable {
        private let lock = NSLock()
        private var tasks: [Task<Void, Never>] = []
        private var watch: Task<Void, Never>?
        private var isDropped = false

        var state: (tasks: [Task<Void, Never>], watch: Task<Void, Never>?, isDropped: Bool) {
            get { lock.withLock { (tasks, watch, isDropped) } }
            set { lock.withLock { (tasks, watch, isDropped) = newValue } }
        }

        func keep(_ task: Task<Void, Never>) { lock.withLock { tasks.append(task) } }
    }

    var isDropped: Bool { held.state.isDropped }

    init(_ request: JSONObject) throws {
        guard let url = request.text("url").flatMap({ URL(string: $0) }), let folder = request.text("store") else {
            throw Driver.Failure(message: "open needs a url and a store")
        }
        let name = request.text("client") ?? ""
        self.name = name
        let faults = request.object("faults").map { faults in
            FaultyStore.Fault(at: faults.value("at"), mode: .init(rawValue: faults.value("mode")) ?? .throws)
        }
        store = FaultyStore(FileStore(folder: URL(filePath: folder, directoryHint: .isDirectory)), faults) {
            Output.event("died", name)
        }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        transport = DroppableTransport()
        clock = DrivenClock(offsetSeconds: request.double("clockOffsetSeconds") ?? 0)
        kit = Vestibule(
            url: url,
            clientID: request.text("clientId"),
            store: store,
            deadline: request.double("deadlineMs").map { .milliseconds($0) } ?? Vestibule.defaultDeadline,
            transport: transport,
            clock: clock.clock,
            delayFactor: request.double("delayFactor") ?? 1
        )
    }

    func keep(_ task: Task<Void, Never>) { held.keep(task) }

    /// The state, and from now on its changes as events.
    func begin() async throws -> JSONObject {
        let states = kit.states
        let answer = try await state()
        keep(
            Task { [self] in
                var isFirst = true
                for await state in states where !isDropped {
                    // The first one is what `open` answers, unless it has a reason.
                    if isFirst, state.reason == nil {
                        isFirst = false
                        continue
                    }
                    isFirst = false
                    report(state)
                }
            }
        )
        return answer
    }

    private func report(_ state: SessionState) {
        switch state {
        case .signedIn: Output.event("state", name, ["state": .text("signedIn")])
        case .signedOut(let reason):
            let code = reason.map { ["code": JSONValue.text($0.rawValue)] } ?? [:]
            Output.event("state", name, ["state": .text("signedOut")].merging(code) { own, _ in own })
        }
    }

    private func state() async throws -> JSONObject {
        switch try await kit.state {
        case .signedIn(let userID, let isGuest):
            JSONObject(["state": .text("signedIn"), "userId": .text(userID), "isGuest": isGuest ? .bool(true) : .null])
        case .signedOut: JSONObject(["state": .text("signedOut")])
        }
    }

    func perform(_ op: String, _ request: JSONObject) async throws -> JSONObject {
        let deadline = request.double("deadlineMs").map { Duration.milliseconds($0) }
        switch op {
        case "state": return try await state()
        case "signIn": return try await signIn(request, deadline)
        case "signInAsGuest":
            return Self.object(
                of: try await kit.signInAsGuest(deviceName: request.text("deviceName"), deadline: deadline)
            )
        case "keptGuest": return JSONObject(["userId": try await kit.keptGuest.map { .text($0) } ?? .null])
        case "absorbGuest":
            try await kit.absorbGuest(request.text("guest") == "drop" ? .drop : .merge, deadline: deadline)
        case "token": return JSONObject(["token": .text(try await kit.accessToken(deadline: deadline))])
        case "refresh": return JSONObject(["token": .text(try await kit.refresh(deadline: deadline))])
        case "call": return try await call(request, deadline)
        case "signOut": try await kit.signOut(deadline: deadline)
        case "beginHosted":
            let page = try await kit.beginSignIn(
                redirectURI: request.text("redirectUri") ?? "",
                provider: request.text("provider")
            )
            return JSONObject(["url": .text(page.absoluteString)])
        case "finishHosted":
            guard let url = request.text("url").flatMap({ URL(string: $0) }) else {
                throw Driver.Failure(message: "finishHosted needs a url")
            }
            let userID = try await kit.finishSignIn(callback: url, deadline: deadline)
            return JSONObject(["userId": .text(userID)])
        case "watch": watch()
        case "unwatch":
            let watch = held.state.watch
            watch?.cancel()
            await watch?.value
        case "clock":
            clock.set(
                offsetSeconds: request.double("offsetSeconds") ?? 0,
                elapsedSeconds: request.double("elapsedSeconds") ?? 0
            )
        case "operations":
            let (count, isDead) = store.operations
            return JSONObject(["count": .integer(Int64(count)), "dead": .bool(isDead)])
        default: throw Driver.Failure(message: "there is no op \(op)")
        }
        return JSONObject()
    }

    private func signIn(_ request: JSONObject, _ deadline: Duration?) async throws -> JSONObject {
        var credentials = Self.credentials(request.object("credentials") ?? JSONObject())
        if let name = request.object("appleName") {
            credentials.fullName = name.text("fullName")
            credentials.email = name.text("email")
        }
        return Self.object(of: try await kit.signIn(credentials, deadline: deadline))
    }

    private static func object(of signIn: SignIn) -> JSONObject {
        JSONObject(["userId": .text(signIn.userID), "isNewUser": .bool(signIn.isNewUser)])
    }

    private static func credentials(_ json: JSONObject) -> Credentials {
        var credentials = Credentials(provider: json.text("provider") ?? "apple")
        credentials.idToken = json.text("idToken")
        credentials.nonce = json.text("nonce")
        credentials.authorizationCode = json.text("authorizationCode")
        credentials.accessToken = json.text("accessToken")
        credentials.clientID = json.text("clientId")
        credentials.redirectURI = json.text("redirectUri")
        credentials.codeVerifier = json.text("codeVerifier")
        credentials.fullName = json.text("fullName")
        credentials.email = json.text("email")
        return credentials
    }

    private func call(_ request: JSONObject, _ deadline: Duration?) async throws -> JSONObject {
        let name = request.text("method") ?? ""
        let message = request.object("request") ?? JSONObject()
        switch name {
        case "AccountService/DeleteMe":
            return try await kit.deleteAccount(message.object("credentials").map(Self.credentials), deadline: deadline)
                .json
        case "AuthService/LinkProvider":
            let providers = try await kit.linkProvider(
                Self.credentials(message.object("credentials") ?? JSONObject()),
                deadline: deadline
            )
            return JSONObject(["providers": .list(providers.map { .object($0.json) })])
        case "AuthService/SignOutEverywhere":
            try await kit.signOutEverywhere(
                exceptCurrent: message.value("exceptCurrent"),
                deadline: deadline
            )
            return JSONObject()
        case "PUT /me/avatar":
            let image = Data(base64Encoded: message.text("image") ?? "") ?? Data()
            let url = try await kit.setAvatar(image, deadline: deadline)
            return JSONObject(["avatarUrl": .text(url?.absoluteString ?? "")])
        case "DELETE /me/avatar":
            try await kit.removeAvatar(deadline: deadline)
            return JSONObject()
        default:
            guard let method = CallMethod.all.first(where: { $0.path.hasSuffix(".\(name)") }) else {
                throw Driver.Failure(message: "there is no method \(name)")
            }
            return try await kit.call(method, message, deadline: deadline)
        }
    }

    private func watch() {
        let events = kit.events()
        let task = Task { [self] in
            do {
                for try await message in events where !isDropped {
                    Output.event("message", name, ["message": .object(message.json)])
                }
                if !isDropped { Output.event("watchEnded", name) }
            } catch {
                guard !isDropped else { return }
                let members: [String: JSONValue] =
                    error is CancellationError ? [:] : ["error": .object(Driver.object(of: error))]
                Output.event("watchEnded", name, members)
            }
        }
        held.state.watch = task
        keep(task)
    }

    /// Forgets the client as the end of its process would.
    func drop() {
        held.state.isDropped = true
        for task in held.state.tasks { task.cancel() }
        transport.drop()
        store.drop()
    }
}

extension SessionState {
    fileprivate var reason: VestibuleError.Code? {
        if case .signedOut(let reason) = self { reason } else { nil }
    }
}

extension JSONObject {
    fileprivate func double(_ name: String) -> Double? {
        switch self[name] {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }
}
