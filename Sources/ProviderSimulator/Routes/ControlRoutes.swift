import HTTPJSON
import Hummingbird
import JOSE

/// `POST /control/keys/rotate` and `POST /control/misbehave`.
enum ControlRoutes {
    static func all(_ store: SimulatorStore) -> [Route] {
        [
            Route(.post, "/control/keys/rotate") { request, context in
                var input = try await context.json(request)
                let provider = provider(&input)
                let droppingOld = input.optionalBool("drop_old") ?? false
                try input.finish()
                try await store.rotate(provider, droppingOld: droppingOld)
                let (current, published) = await store.keyIDs(provider)
                return .json(["kid": .string(current), "published": .array(published.map { .string($0) })])
            },
            Route(.post, "/control/misbehave") { request, context in
                var input = try await context.json(request)
                let provider = provider(&input)
                let misbehaviour = Misbehaviour(&input)
                try input.finish()
                await store.misbehave(provider, misbehaviour)
                var body = misbehaviour.json
                body["provider"] = .string(provider.rawValue)
                return .json(body)
            },
            Route(.get, "/healthz") { _, _ in .json(["status": "ok"]) },
        ]
    }

    private static func provider(_ input: inout JSONInput) -> Provider {
        let name = input.string("provider")
        if let provider = Provider(rawValue: name) { return provider }
        if !name.isEmpty {
            let known = Provider.allCases.map(\.rawValue).joined(separator: ", ")
            input.addFault("provider", code: "INVALID", detail: "One of \(known).")
        }
        // Never used: the fault ends the request.
        return .apple
    }
}
