import API
import FoundationEssentials
import RPC
import SwiftProtobuf
import Testing

@testable import ServiceKit

struct ReflectionServiceTests {
    typealias Request = ReflectionV1.ServerReflectionRequest
    typealias Answer = ReflectionV1.ServerReflectionResponse.OneOf_MessageResponse

    private static let alpha = MethodDescriptor(
        service: "grpc.reflection.v1alpha.ServerReflection",
        method: "ServerReflectionInfo",
        kind: .bidirectionalStreaming
    )

    private func answers(
        _ questions: [Request.OneOf_MessageRequest?],
        method: MethodDescriptor = ServerReflectionMethods.serverReflectionInfo
    ) async throws -> [ReflectionV1.ServerReflectionResponse] {
        var router = Router()
        router.add(try ReflectionService(services: [IdentityServiceMethods.serviceName, "unknown.Service"]))
        return try await InProcessChannel(router).stream(
            method,
            request: Request.self,
            response: ReflectionV1.ServerReflectionResponse.self,
            options: CallOptions(timeout: .seconds(20))
        ) { writer, reader in
            for question in questions {
                try await writer.write(
                    .with {
                        $0.host = "here"
                        $0.messageRequest = question
                    }
                )
            }
            writer.finish()
            return try await reader.reduce(into: []) { $0.append($1) }
        }
    }

    private func fileNames(_ answer: Answer?) throws -> [String] {
        guard case .fileDescriptorResponse(let files) = answer else { return [] }
        return try files.fileDescriptorProto.map { try Google_Protobuf_FileDescriptorProto(serializedBytes: $0).name }
    }

    private func errorCode(_ answer: Answer?) -> Int32? {
        if case .errorResponse(let error) = answer { error.errorCode } else { nil }
    }

    @Test(arguments: [ServerReflectionMethods.serverReflectionInfo, alpha]
    )
    func `Both versions list what is served, themselves among it`(method: MethodDescriptor) async throws {
        let response = try #require(try await answers([.listServices("*")], method: method).first)
        #expect(response.validHost == "here")
        #expect(response.originalRequest.listServices == "*")
        guard case .listServicesResponse(let list) = response.messageResponse else {
            Issue.record("no list")
            return
        }
        #expect(
            list.service.map(\.name) == [
                "grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection", "unknown.Service",
                "vestibule.identity.v1.IdentityService",
            ]
        )
    }

    @Test func `A file is found by its name and by all that it declares`() async throws {
        let file = "vestibule/identity/v1/identity.proto"
        let symbols = [
            "vestibule.identity.v1.IdentityService", "vestibule.identity.v1.IdentityService.SignIn",
            "vestibule.identity.v1.SignInRequest", "vestibule.identity.v1.SignInRequest.id_token",
        ]
        let found = try await answers([.fileByFilename(file)] + symbols.map { .fileContainingSymbol($0) })
        #expect(found.count == 5)
        for response in found { #expect(try fileNames(response.messageResponse).first == file) }
        let nested = try await answers([
            .fileContainingSymbol("grpc.health.v1.HealthCheckResponse.ServingStatus"),
            .fileContainingSymbol("grpc.health.v1.HealthCheckResponse.SERVING"),
        ])
        for response in nested { #expect(try fileNames(response.messageResponse) == ["grpc/health/v1/health.proto"]) }
    }

    @Test func `Types of error details are described, though no method names them`() async throws {
        let symbols = ["google.rpc.ErrorInfo", "google.rpc.BadRequest", "google.rpc.RetryInfo"]
        let found = try await answers(symbols.map { .fileContainingSymbol($0) })
        #expect(found.count == 3)
        for response in found {
            let names = try fileNames(response.messageResponse)
            #expect(names == ["google/rpc/error_details.proto", "google/protobuf/duration.proto"])
        }
    }

    @Test func `An unknown name is NOT_FOUND, each in turn, and the call continues`() async throws {
        let found = try await answers([
            .fileByFilename("no/such.proto"), .fileContainingSymbol("no.such.Symbol"), .fileContainingSymbol(""),
            .fileContainingExtension(.with { $0.containingType = "vestibule.identity.v1.SignInRequest" }),
            .allExtensionNumbersOfType("no.such.Message"), nil, .listServices(""),
        ])
        #expect(found.map { errorCode($0.messageResponse) } == [5, 5, 5, 5, 5, 3, nil])
    }

    @Test func `A message of proto3 has no extensions`() async throws {
        let name = "vestibule.identity.v1.SignInRequest"
        let response = try await answers([.allExtensionNumbersOfType(name)]).first
        guard case .allExtensionNumbersResponse(let numbers) = response?.messageResponse else {
            Issue.record("no numbers")
            return
        }
        #expect(numbers.baseTypeName == name)
        #expect(numbers.extensionNumber.isEmpty)
    }

    @Test func `The alpha's own proto is the other's in its package`() async throws {
        let response = try await answers([.fileContainingSymbol(Self.alpha.service)]).first
        guard case .fileDescriptorResponse(let files) = response?.messageResponse else {
            Issue.record("no file")
            return
        }
        let bytes = try #require(files.fileDescriptorProto.first)
        let file = try Google_Protobuf_FileDescriptorProto(serializedBytes: bytes)
        #expect(file.name == "grpc/reflection/v1alpha/reflection.proto")
        #expect(file.service.first?.method.first?.inputType == ".grpc.reflection.v1alpha.ServerReflectionRequest")
        let types = file.messageType.flatMap(\.field).filter(\.hasTypeName).map(\.typeName)
        #expect(!types.isEmpty && types.allSatisfy { $0.hasPrefix(".grpc.reflection.v1alpha.") })
    }
}

struct DescriptorIndexTests {
    private static let index: DescriptorIndex? = {
        let base = Google_Protobuf_FileDescriptorProto.with {
            $0.name = "base.proto"
            $0.package = "test"
            $0.messageType = [.with { $0.name = "Open" }]
        }
        let middle = Google_Protobuf_FileDescriptorProto.with {
            $0.name = "middle.proto"
            $0.dependency = ["base.proto"]
        }
        let top = Google_Protobuf_FileDescriptorProto.with {
            $0.name = "top.proto"
            $0.package = "test.top"
            $0.dependency = ["middle.proto", "base.proto", "absent.proto"]
            $0.extension = [extending(20, "at_the_top")]
            $0.messageType = [
                .with {
                    $0.name = "Outer"
                    $0.extension = [extending(10, "inside")]
                    $0.oneofDecl = [.with { $0.name = "choice" }]
                    $0.nestedType = [.with { $0.name = "Inner" }]
                }
            ]
        }
        return try? DescriptorIndex([base, middle, top])
    }()

    private static func extending(_ number: Int32, _ name: String) -> Google_Protobuf_FieldDescriptorProto {
        .with {
            $0.name = name
            $0.number = number
            $0.extendee = ".test.Open"
        }
    }

    private func names(_ files: [Data]?) throws -> [String]? {
        try files?.map { try Google_Protobuf_FileDescriptorProto(serializedBytes: $0).name }
    }

    @Test func `A file comes with what it imports, each once`() throws {
        let index = try #require(Self.index)
        #expect(try names(index.files(named: "top.proto"))?.first == "top.proto")
        #expect(try names(index.files(named: "top.proto"))?.sorted() == ["base.proto", "middle.proto", "top.proto"])
        #expect(try names(index.files(named: "base.proto")) == ["base.proto"])
        #expect(index.files(named: "absent.proto") == nil)
    }

    @Test func `Extensions are found by number, wherever they stand`() throws {
        let index = try #require(Self.index)
        #expect(index.extensionNumbers(of: "test.Open") == [10, 20])
        #expect(index.extensionNumbers(of: "test.top.Outer") == [])
        #expect(index.extensionNumbers(of: "test.None") == nil)
        #expect(try names(index.files(extending: "test.Open", number: 10))?.first == "top.proto")
        #expect(index.files(extending: "test.Open", number: 11) == nil)
    }

    @Test(arguments: [
        "test.top.Outer.Inner", "test.top.Outer.choice", "test.top.Outer.inside", "test.top.at_the_top",
    ]
    )
    func `Nested names, oneofs and extensions are symbols`(_ symbol: String) throws {
        #expect(try names(try #require(Self.index).files(declaring: symbol))?.first == "top.proto")
    }
}
