import Glibc
import RPC

/// The protocol of a request and the codec of its messages, by the content type.
struct CallProtocol: Sendable, Hashable {
    enum Framing: Sendable, Hashable {
        /// Connect with one message in each direction, which is the body.
        case connectUnary
        /// Connect with enveloped messages.
        case connectStream
        /// gRPC-Web.
        case grpcWeb
        /// gRPC-Web in base64.
        case grpcWebText
    }

    let framing: Framing
    let format: MessageFormat

    /// Whether it supports methods of that kind.
    func carries(_ kind: CallKind) -> Bool {
        switch framing {
        case .connectUnary: kind == .unary
        case .connectStream: kind != .unary
        case .grpcWeb, .grpcWebText: true
        }
    }

    /// The content types for calls of a method of that kind, for Accept-Post.
    static func acceptable(for kind: CallKind) -> String {
        known.filter { $0.value.carries(kind) }.map(\.text).joined(separator: ", ")
    }

    /// The protocol of a content type; nil for any other. Parameters without a meaning are ignored.
    init?(contentType: UnsafeRawBufferPointer) {
        // The two content types of unary calls first, without a search.
        switch contentType.count {
        case 16 where contentType.equals("application/json"): self.init(.connectUnary, .json)
        case 17 where contentType.equals("application/proto"): self.init(.connectUnary, .protobuf)
        default: self.init(text: String(decoding: contentType, as: UTF8.self))
        }
    }

    /// The same for any content type, with parameters or other upper and lower case.
    init?(text: String) {
        if let known = Self.known.first(where: { $0.text == text }) {
            self = known.value
            return
        }
        let parts = text.lowercased().split(separator: ";", omittingEmptySubsequences: false).map(\.trimmed)
        guard let type = parts.first, parts.dropFirst().allSatisfy(Self.changesNothing),
            let known = Self.known.first(where: { $0.text == type })
        else { return nil }
        self = known.value
    }

    init(_ framing: Framing, _ format: MessageFormat) {
        self.framing = framing
        self.format = format
    }

    private static func changesNothing(_ parameter: Substring) -> Bool {
        ["", "charset=utf-8", "charset=\"utf-8\""].contains(parameter)
    }

    private static let known: [(text: String, value: CallProtocol)] = [
        ("application/json", CallProtocol(.connectUnary, .json)),
        ("application/proto", CallProtocol(.connectUnary, .protobuf)),
        ("application/connect+json", CallProtocol(.connectStream, .json)),
        ("application/connect+proto", CallProtocol(.connectStream, .protobuf)),
        ("application/grpc-web", CallProtocol(.grpcWeb, .protobuf)),
        ("application/grpc-web+proto", CallProtocol(.grpcWeb, .protobuf)),
        ("application/grpc-web+json", CallProtocol(.grpcWeb, .json)),
        ("application/grpc-web-text", CallProtocol(.grpcWebText, .protobuf)),
        ("application/grpc-web-text+proto", CallProtocol(.grpcWebText, .protobuf)),
    ]

    /// The codec in the query of a GET.
    static func ofQuery(_ encoding: String?) -> CallProtocol? {
        switch encoding {
        case "json": CallProtocol(.connectUnary, .json)
        case "proto": CallProtocol(.connectUnary, .protobuf)
        default: nil
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Whether these are the bytes of a text.
    func equals(_ text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount, let baseAddress else { return count == 0 && text.utf8CodeUnitCount == 0 }
        return memcmp(baseAddress, text.utf8Start, count) == 0
    }

    /// Whether these bytes contain a text, which is not empty.
    func contains(_ text: StaticString) -> Bool {
        guard let baseAddress, count >= text.utf8CodeUnitCount else { return false }
        return (0...count - text.utf8CodeUnitCount).contains { start in
            memcmp(baseAddress + start, text.utf8Start, text.utf8CodeUnitCount) == 0
        }
    }
}

extension Substring {
    /// Without leading and trailing spaces and tabs.
    var trimmed: Substring {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        let front = drop(while: isSpace)
        return front.lastIndex { !isSpace($0) }.map { front[...$0] } ?? ""
    }
}
