import API
import FoundationEssentials
import RPC
import SwiftProtobuf

/// The public API (`vestibule.app.v1`) as its protos describe it: options, messages and comments.
struct AppDescription: Sendable {
    /// A method.
    struct Method: Sendable {
        /// The name, such as `GetMe`.
        let name: String
        /// The service's name without its package, such as `AccountService`.
        let service: String
        /// Whether it may change something: its `idempotency_level` isn't NO_SIDE_EFFECTS.
        let changes: Bool
        let options: OptionsV1.AppMethod
        let request: MessageShape
        let response: MessageShape
        /// The first sentence of its comment, without the full stop.
        let summary: String
        /// The rest of its comment; nil if there is none.
        let description: String?
    }

    /// The description of this program's protos.
    static let current: AppDescription = {
        do {
            return try AppDescription()
        } catch {
            // Generated in the same build; the first test of the gateway would fail.
            fatalError("the description of the API is damaged: \(error)")
        }
    }()

    private let methods: [String: Method]
    private let messages: [String: MessageShape]

    private init() throws {
        let set = try Google_Protobuf_FileDescriptorSet(
            serializedBytes: Data(base64Encoded: APIDescriptors.fileDescriptorSet) ?? Data(),
            extensions: Vestibule_Options_V1_Options_Extensions
        )
        let files = set.file.filter { $0.package == AppErrorDomain.package }
        var shapes = MessageShapes(files)
        var methods: [String: Method] = [:]
        for file in files {
            let comments = ProtoComments(file)
            for (serviceIndex, service) in file.service.enumerated() {
                for (index, method) in service.method.enumerated() {
                    let comment = comments.text([6, serviceIndex, 2, index]).splitSentence
                    methods["/\(file.package).\(service.name)/\(method.name)"] = Method(
                        name: method.name,
                        service: service.name,
                        changes: method.options.idempotencyLevel != .noSideEffects,
                        options: method.options.Vestibule_Options_V1_app,
                        request: try shapes.shape(of: method.inputType),
                        response: try shapes.shape(of: method.outputType),
                        summary: comment.first,
                        description: comment.rest.isEmpty ? nil : comment.rest
                    )
                }
            }
        }
        self.methods = methods
        messages = shapes.found
    }

    /// What the protos say of a method of the public API.
    subscript(method: MethodDescriptor) -> Method {
        guard let described = methods[method.path] else { preconditionFailure("\(method.path) is not in the protos") }
        return described
    }

    /// The shape of a message that a method takes or returns, or that is part of one.
    func shape<M: Message>(of message: M.Type) -> MessageShape {
        guard let shape = messages[".\(M.protoMessageName)"] else {
            preconditionFailure("no method of the API uses \(M.protoMessageName)")
        }
        return shape
    }
}

/// The package of the public API.
enum AppErrorDomain {
    static let package = "vestibule.app.v1"
}

/// The comments of a proto file.
struct ProtoComments {
    private let comments: [[Int32]: String]

    init(_ file: Google_Protobuf_FileDescriptorProto) {
        comments = Dictionary(
            file.sourceCodeInfo.location.map { ($0.path, $0.leadingComments) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    /// The comment of a declaration, its lines joined; empty if there is none.
    ///
    /// - Parameter path: as `SourceCodeInfo.Location.path` of descriptor.proto.
    func text(_ path: [Int]) -> String {
        (comments[path.map(Int32.init)] ?? "").split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.drop { $0 == " " } }.joined(separator: " ").trimmed
    }
}

extension String {
    fileprivate var trimmed: String {
        var text = Substring(self)
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        return String(text)
    }

    /// The first sentence without its full stop, and the other sentences.
    fileprivate var splitSentence: (first: String, rest: String) {
        guard let end = firstRange(of: ". ") else { return (hasSuffix(".") ? String(dropLast()) : self, "") }
        return (String(self[..<end.lowerBound]), String(self[end.upperBound...]).trimmed)
    }
}
