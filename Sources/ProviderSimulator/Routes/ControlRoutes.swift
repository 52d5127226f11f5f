import HTTPJSON
import HTTPTypes
import JOSE
import WebPages

/// The routes by which tests and developers control the simulator, and the page at its root.
enum ControlRoutes {
    static func all(_ store: SimulatorStore) -> [Route] {
        Provider.allCases.map { clients(store, $0) } + [
            Route(.post, "/control/keys/rotate") { request, context in
                var input = try await context.json(request)
                let provider = provider(&input)
                let droppingOld = input.optionalBool("drop_old") ?? false
                try input.finish()
                try await store.rotate(provider, droppingOld: droppingOld)
                let (current, published) = await store.keyIDs(provider)
                return .json(["kid": .string(current), "published": .array(published.map { .string($0) })])
            },
            Route(.post, "/control/apple/transfer") { request, context in
                try await transfer(store, context.json(request))
            },
            Route(.post, "/control/misbehave") { request, context in
                try await misbehave(store, context.json(request))
            },
            Route(.get, "/control/counts") { _, _ in .json(await store.callCounts()) },
            Route(.post, "/control/counts/reset") { _, _ in .json(await store.callCounts(isReset: true)) },
            Route(.get, "/control/people") { _, _ in .json(await store.everybody()) },
            Route(.get, "/healthz") { _, _ in .json(["status": "ok"]) },
            Route(.get, "/", isForOtherOrigins: false) { request, _ in
                HomePage.response(authority: request.authority ?? "", people: await store.everybody())
            },
        ] + HomePage.files.map(\.route)
    }

    private static func clients(_ store: SimulatorStore, _ provider: Provider) -> Route {
        Route(.post, "/control/\(provider.rawValue)/clients") { request, context in
            var input = try await context.json(request)
            let client = RegisteredClient(&input, provider: provider)
            try input.finish()
            guard let client, try await store.register(client) else {
                throw Problem(
                    .conflict,
                    code: "TOO_MANY_CLIENTS",
                    detail: "At most \(ClientRegistry.clientsMax) clients can be registered."
                )
            }
            var body: JSONObject = ["client_id": .string(client.clientID)]
            if case .key(_, let keyID, _) = client.credential { body["key_id"] = .string(keyID) }
            return .json(body)
        }
    }

    /// Moves an app to another team, or ends the 60 days in which its tokens name the move.
    private static func transfer(_ store: SimulatorStore, _ input: JSONInput) async throws -> Response {
        var input = input
        let clientID = input.string("client_id")
        let teamID = input.optionalString("to_team")
        let isOver = input.optionalBool("is_over") ?? false
        for (name, text) in [("client_id", clientID), ("to_team", teamID ?? "")]
        where text.utf8.count > RegisteredClient.textMax {
            input.addError(name, code: "INVALID", detail: "At most \(RegisteredClient.textMax) bytes.")
        }
        if teamID == nil, !isOver {
            input.addError(
                "to_team",
                code: "REQUIRED",
                detail: "The team that the app goes to, unless is_over is true."
            )
        }
        try input.finish()
        guard let move = try await store.moveApp(clientID, to: teamID, isOver: isOver) else {
            throw Problem(
                .conflict,
                code: "NO_TRANSFER",
                detail: "The app was never moved, or more than \(AppMove.teamsMax) times, or too many apps were."
            )
        }
        return .json([
            "client_id": .string(clientID), "teams": .array(move.teams.map { .string($0) }),
            "is_over": .bool(move.isOver),
        ])
    }

    private static func misbehave(_ store: SimulatorStore, _ input: JSONInput) async throws -> Response {
        var input = input
        let provider = provider(&input)
        let isOldForm = input.contains("keys")
        let misbehaviour = isOldForm ? Misbehaviour(ofKeys: &input) : Misbehaviour(&input)
        let name = isOldForm ? "keys" : input.string("endpoint")
        if !name.isEmpty, name != allEndpoints, !provider.endpoints.contains(name) {
            let known = (provider.endpoints + [allEndpoints]).joined(separator: ", ")
            input.addError("endpoint", code: "INVALID", detail: "One of \(known).")
        }
        try input.finish()
        for endpoint in name == allEndpoints ? provider.endpoints : [name] {
            await store.misbehave(Endpoint(provider: provider, name: endpoint), misbehaviour)
        }
        var body = misbehaviour.json(isOldForm ? "keys" : "mode")
        if !isOldForm {
            body["endpoint"] = .string(name)
            body["after_work"] = .bool(misbehaviour.happensAfterWork)
            if let times = misbehaviour.timesLeft { body["times"] = .integer(times) }
        }
        body["provider"] = .string(provider.rawValue)
        return .json(body)
    }

    /// Stands for all endpoints of the provider.
    private static let allEndpoints = "all"

    private static func provider(_ input: inout JSONInput) -> Provider {
        let name = input.string("provider")
        if let provider = Provider(rawValue: name) { return provider }
        if !name.isEmpty {
            let known = Provider.allCases.map(\.rawValue).joined(separator: ", ")
            input.addError("provider", code: "INVALID", detail: "One of \(known).")
        }
        // Never used: the error ends the request.
        return .apple
    }
}
