import RPC
import SwiftProtobuf

/// Writes errors and ends of streams in Connect's format ("Error and EndStreamResponse").
struct ErrorText: Sendable {
    /// The types of details by their full names. Details of these types are sent as JSON too, for people ("debug").
    private let detailTypes: [String: any SwiftProtobuf.Message.Type]

    init(detailTypes: [any SwiftProtobuf.Message.Type]) {
        self.detailTypes = Dictionary(detailTypes.map { ($0.protoMessageName, $0) }) { first, _ in first }
    }

    /// `Error`.
    func error(_ error: RPCError) -> [UInt8] {
        var text = JSONText()
        append(error, to: &text)
        return text.bytes
    }

    /// `EndStreamResponse`.
    func endOfStream(_ error: RPCError?, trailers: Metadata) -> [UInt8] {
        var text = JSONText()
        text.append("{")
        if let error {
            text.append("\"error\":")
            append(error, to: &text)
        }
        let trailers = trailers.sendable
        if !trailers.isEmpty {
            if error != nil { text.append(",") }
            text.append("\"metadata\":")
            append(trailers, to: &text)
        }
        text.append("}")
        return text.bytes
    }

    private func append(_ error: RPCError, to text: inout JSONText) {
        text.append("{\"code\":\"")
        text.append(error.code.connectName)
        text.append("\"")
        if !error.message.isEmpty {
            text.append(",\"message\":")
            text.append(string: error.message.utf8)
        }
        let details = StatusDetails(error.statusDetails).details
        for (index, detail) in details.enumerated() {
            text.append(index == 0 ? ",\"details\":[" : ",")
            append(detail, to: &text)
        }
        if !details.isEmpty { text.append("]") }
        text.append("}")
    }

    private func append(_ detail: StatusDetails.Detail, to text: inout JSONText) {
        text.append("{\"type\":")
        text.append(string: detail.type.utf8)
        text.append(",\"value\":")
        text.append(string: Base64.encode(detail.value))
        if let json = debug(detail) {
            text.append(",\"debug\":")
            text.append(json: json)
        }
        text.append("}")
    }

    private func debug(_ detail: StatusDetails.Detail) -> [UInt8]? {
        guard let type = detailTypes[detail.type] else { return nil }
        return try? type.init(serializedBytes: detail.value).jsonUTF8Bytes()
    }

    /// Names with the lists of their values.
    private func append(_ metadata: Metadata, to text: inout JSONText) {
        var names: [String] = []
        var values: [String: [String]] = [:]
        for (name, value) in metadata {
            if values[name] == nil { names.append(name) }
            values[name, default: []].append(value)
        }
        for (index, name) in names.enumerated() {
            text.append(index == 0 ? "{" : ",")
            text.append(string: name.utf8)
            text.append(":[")
            for (index, value) in (values[name] ?? []).enumerated() {
                if index > 0 { text.append(",") }
                text.append(string: value.utf8)
            }
            text.append("]")
        }
        text.append("}")
    }
}
