import API
import FoundationEssentials
import RPC
import SwiftProtobuf

/// Answers `grpc.reflection.v1.ServerReflection`, and `v1alpha` in the same words: tells clients such as grpcurl what can
/// be called here and with which messages, so that they need no schema. Says nothing that isn't in the protos.
///
/// Source: https://github.com/grpc/grpc/blob/master/doc/server-reflection.md
public struct ReflectionService: RPCService {
    private let answers: ReflectionAnswers

    /// Reflection of a server.
    ///
    /// - Parameters:
    ///   - services: full names of what is served; its own two names are added.
    ///   - descriptorSets: generated sets, such as `APIDescriptors.fileDescriptorSet`, that describe them. Reflection's
    ///     own is added.
    /// - Throws: what SwiftProtobuf says of a set that is none.
    public init(services: Set<String>, descriptorSets: [String] = []) throws {
        var files: [Google_Protobuf_FileDescriptorProto] = []
        for set in [APIDescriptors.fileDescriptorSet] + descriptorSets {
            files += try Google_Protobuf_FileDescriptorSet(serializedBytes: Data(base64Encoded: set) ?? Data()).file
        }
        files += files.filter { $0.package == ReflectionAlpha.package }.map(ReflectionAlpha.file(from:))
        answers = ReflectionAnswers(
            services: services.union([ServerReflectionMethods.serviceName, ReflectionAlpha.method.service]).sorted(),
            index: try DescriptorIndex(files)
        )
    }

    /// Registers both versions.
    public func register(in router: inout Router) {
        router.add(answers)
        let answers = answers
        router.bidirectionalStreaming(
            ReflectionAlpha.method,
            request: ReflectionV1.ServerReflectionRequest.self,
            response: ReflectionV1.ServerReflectionResponse.self
        ) { requests, responses, context in
            try await answers.serverReflectionInfo(requests, responses: responses, context: context)
        }
    }
}

/// The answer to each question.
private struct ReflectionAnswers: ServerReflectionHandler {
    let services: [String]
    let index: DescriptorIndex

    func serverReflectionInfo(
        _ requests: MessageReader<ReflectionV1.ServerReflectionRequest>,
        responses: MessageWriter<ReflectionV1.ServerReflectionResponse>,
        context: ServerContext
    ) async throws {
        for try await request in requests {
            var response = ReflectionV1.ServerReflectionResponse()
            response.validHost = request.host
            response.originalRequest = request
            response.messageResponse = answer(to: request)
            try await responses.write(response)
        }
    }

    private func answer(
        to request: ReflectionV1.ServerReflectionRequest
    ) -> ReflectionV1.ServerReflectionResponse.OneOf_MessageResponse {
        switch request.messageRequest {
        case .fileByFilename(let name): files(index.files(named: name), or: "no such file")
        case .fileContainingSymbol(let symbol): files(index.files(declaring: symbol), or: "no such symbol")
        case .fileContainingExtension(let wanted):
            files(
                index.files(extending: wanted.containingType, number: wanted.extensionNumber),
                or: "no such extension"
            )
        case .allExtensionNumbersOfType(let message): extensionNumbers(of: message)
        case .listServices:
            .listServicesResponse(.with { $0.service = services.map { name in .with { $0.name = name } } })
        case nil: error(.invalidArgument, "nothing that this server knows is asked")
        }
    }

    private func files(
        _ files: [Data]?,
        or problem: String
    ) -> ReflectionV1.ServerReflectionResponse.OneOf_MessageResponse {
        guard let files else { return error(.notFound, problem) }
        return .fileDescriptorResponse(.with { $0.fileDescriptorProto = files })
    }

    private func extensionNumbers(
        of message: String
    ) -> ReflectionV1.ServerReflectionResponse.OneOf_MessageResponse {
        guard let numbers = index.extensionNumbers(of: message) else { return error(.notFound, "no such message") }
        return .allExtensionNumbersResponse(
            .with {
                $0.baseTypeName = message
                $0.extensionNumber = numbers
            }
        )
    }

    private func error(
        _ code: Status.Code,
        _ message: String
    ) -> ReflectionV1.ServerReflectionResponse.OneOf_MessageResponse {
        .errorResponse(
            .with {
                $0.errorCode = Int32(code.rawValue)
                $0.errorMessage = message
            }
        )
    }
}
