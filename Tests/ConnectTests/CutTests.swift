import HTTP
import RPC
import RPCTransport
import SwiftProtobuf
import Testing

/// However a request's body is cut into pieces, its answer is the same; also where it is damaged.
struct CutTests {
    static let seeds = 1...200

    /// A request of some kind, well formed or with a byte changed, taken out, put in, or its end lost.
    static func call(_ random: inout SplitMix) throws -> Call {
        let names = ["Echo", "Fail", "Compressed", "Count", "Join", "Each"]
        let name = names.randomElement(using: &random) ?? "Echo"
        var messages = (0..<Int.random(in: 0...4, using: &random)).map { _ in
            EchoMethods.message(
                "\(Int.random(in: 0...9, using: &random))",
                root: String(repeating: "é", count: Int.random(in: 0...200, using: &random))
            )
        }
        let isStream = ["Count", "Join", "Each"].contains(name)
        if !isStream || name == "Count" { messages = [messages.first ?? EchoMethods.Message()] }
        let types =
            isStream
            ? [
                "application/connect+proto", "application/connect+json", "application/grpc-web",
                "application/grpc-web-text",
            ]
            : ["application/proto", "application/json", "application/grpc-web", "application/grpc-web-text"]
        let type = types.randomElement(using: &random) ?? ""
        let isUnary = ["application/proto", "application/json"].contains(type)
        var body: [UInt8] = []
        for message in messages {
            let plain: [UInt8] = type.contains("json") ? try message.jsonUTF8Bytes() : try message.serializedBytes()
            if isUnary {
                body += plain
            } else if Bool.random(using: &random), let gzipped = Gzip.deflate(MessageBuffer(plain)) {
                body += Envelope(flags: 1, gzipped.withUnsafeBytes { Array($0) }).bytes
            } else {
                body += Envelope(plain).bytes
            }
        }
        if type.contains("text") { body = Base64.encode(body, padded: true) }
        damage(&body, &random)
        return Call(name, type, body: body).with(["connect-content-encoding": "gzip", "grpc-encoding": "gzip"])
    }

    private static func damage(_ body: inout [UInt8], _ random: inout SplitMix) {
        guard let index = body.indices.randomElement(using: &random) else { return }
        switch Int.random(in: 0..<8, using: &random) {
        case 0: body[index] = UInt8.random(in: 0...255, using: &random)
        case 1: body.remove(at: index)
        case 2: body.insert(UInt8.random(in: 0...255, using: &random), at: index)
        case 3: body.removeSubrange(index...)
        default: break
        }
    }

    /// What an answer is, whatever it was sent in.
    struct Outcome: Equatable {
        var status: Int
        var fields: Metadata
        var body: [UInt8]

        init(_ answer: HTTPAnswer) {
            status = answer.status
            fields = answer.fields
            body = answer.body
        }
    }

    @Test(arguments: seeds)
    func `A request has one answer, however it is cut`(seed: Int) async throws {
        var random = SplitMix(seed: UInt64(seed))
        let call = try Self.call(&random)
        let whole = Outcome(try await call.answer())
        let bytewise = Outcome(try await call.answer(cut: Array(repeating: 1, count: call.body.count)))
        #expect(Self.same(bytewise, whole, call))
        for _ in 0..<5 {
            let sizes = (0..<10).map { _ in Int.random(in: 1...max(call.body.count, 1), using: &random) }
            #expect(Self.same(Outcome(try await call.answer(cut: sizes)), whole, call), "\(sizes)")
        }
    }

    /// Equal; or of a stream of requests both broken: how much was answered before, and which of two faults was met first, is a
    /// matter of time.
    private static func same(_ one: Outcome, _ other: Outcome, _ call: Call) -> Bool {
        if one == other { return true }
        guard call.path.hasSuffix("Each") || call.path.hasSuffix("Join") else { return false }
        return isBroken(one, call) && isBroken(other, call)
    }

    private static func isBroken(_ outcome: Outcome, _ call: Call) -> Bool {
        guard let last = last(outcome, call), !last.isEmpty else { return false }
        return last.contains("\"error\"") || last != "0" && last.allSatisfy(\.isNumber)
    }

    private static func last(_ outcome: Outcome, _ call: Call) -> String? {
        if let status = outcome.fields.first("grpc-status"), status != "0" { return status }
        var body = outcome.body[...]
        var plain: [UInt8] = []
        if call.contentType?.contains("text") == true {
            while !body.isEmpty {
                plain += Base64.decode(Array(body.prefix(4))) ?? []
                body = body.dropFirst(4)
            }
        } else {
            plain = outcome.body
        }
        guard let end = Envelope.all(in: plain)?.last else { return nil }
        let text = String(decoding: end.message, as: UTF8.self)
        guard let status = text.firstRange(of: "grpc-status: ") else { return text }
        return String(text[status.upperBound...].prefix { $0.isNumber })
    }
}
