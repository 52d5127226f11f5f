import Foundation
import VestibuleClient

/// The clients, and the requests in flight.
actor Driver {
    /// An error of the driver itself.
    struct Failure: Error {
        let message: String
    }

    private var clients: [String: DrivenClient] = [:]
    private var running: [String: Task<Void, Never>] = [:]

    /// Begins a request; its answer is written when it ends.
    func take(_ request: JSONObject) {
        let id = request.members["id"] ?? .null
        let name = request.text("client") ?? ""
        do {
            switch request.text("op") ?? "" {
            case "open":
                let client = try DrivenClient(request)
                clients[name]?.drop()
                clients[name] = client
                run(id, client) { try await client.begin() }
            case "drop":
                clients.removeValue(forKey: name)?.drop()
                Output.write(JSONObject(["id": id, "ok": .object(JSONObject())]))
            case "cancel":
                running[Self.text(request.members["target"] ?? .null)]?.cancel()
                Output.write(JSONObject(["id": id, "ok": .object(JSONObject())]))
            case let op:
                guard let client = clients[name] else { throw Failure(message: "there is no client \(name)") }
                run(id, client) { try await client.perform(op, request) }
            }
        } catch {
            Output.write(JSONObject(["id": id, "error": .object(Self.object(of: error))]))
        }
    }

    private func run(
        _ id: JSONValue,
        _ client: DrivenClient,
        _ body: @escaping @Sendable () async throws -> JSONObject
    ) {
        let key = Self.text(id)
        let task = Task {
            let answer: (String, JSONObject)
            do {
                answer = ("ok", try await body())
            } catch {
                answer = ("error", Self.object(of: error))
            }
            running[key] = nil
            if !client.isDropped { Output.write(JSONObject(["id": id, answer.0: .object(answer.1)])) }
        }
        running[key] = task
        client.keep(task)
    }

    private static func text(_ id: JSONValue) -> String {
        switch id {
        case .text(let text): text
        case .integer(let number): String(number)
        default: ""
        }
    }

    static func object(of error: any Error) -> JSONObject {
        if error is CancellationError { return JSONObject(["code": .text("CANCELLED")]) }
        guard let error = error as? VestibuleError else {
            return JSONObject(["code": .text("DRIVER"), "message": .text("\(error)")])
        }
        var object = JSONObject(["code": .text(error.code.rawValue), "action": .text(error.action.rawValue)])
        object.members["message"] = .text(error.message)
        if let status = error.status { object.members["status"] = .integer(Int64(status)) }
        if let pause = error.retryAfter {
            let (seconds, attoseconds) = pause.components
            object.members["retryAfter"] = .number(Double(seconds) + Double(attoseconds) * 1e-18)
        }
        if !error.fields.isEmpty {
            let fields = error.fields.mapValues { fault in
                JSONValue.object(JSONObject(["code": .text(fault.code.rawValue), "message": .text(fault.message)]))
            }
            object.members["fields"] = .object(JSONObject(fields))
        }
        return object
    }
}
