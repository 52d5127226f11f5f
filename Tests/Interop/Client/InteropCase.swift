import ArgumentParser
import InteropAPI
import RPC

/// The cases; those that gRPC describes have its names.
/// https://github.com/grpc/grpc/blob/master/doc/interop-test-descriptions.md
enum InteropCase: String, CaseIterable, ExpressibleByArgument {
    case emptyUnary = "empty_unary"
    case largeUnary = "large_unary"
    case clientStreaming = "client_streaming"
    case serverStreaming = "server_streaming"
    case pingPong = "ping_pong"
    case emptyStream = "empty_stream"
    case cancelAfterBegin = "cancel_after_begin"
    case cancelAfterFirstResponse = "cancel_after_first_response"
    case statusCodeAndMessage = "status_code_and_message"
    case specialStatusMessage = "special_status_message"
    case unimplementedMethod = "unimplemented_method"
    case unimplementedService = "unimplemented_service"
    case customMetadata = "custom_metadata"
    case timeoutOnSleepingServer = "timeout_on_sleeping_server"
    case clientCompressedUnary = "client_compressed_unary"
    case serverCompressedUnary = "server_compressed_unary"
    // Ours.
    case manyMegabytes = "many_megabytes"
    case concurrentCalls = "concurrent_calls"
    case halfDuplex = "half_duplex"
    case longStreams = "long_streams"
    case streamStatus = "stream_status"
    case richDetails = "rich_details"
    case errorMetadata = "error_metadata"
    case deadline = "deadline"
    case noDeadline = "no_deadline"
    case cancellation = "cancellation"
    case answerTooLarge = "answer_too_large"
    case unavailable = "unavailable"

    /// Throws what doesn't hold.
    var body: (InteropCall) async throws -> Void {
        switch self {
        case .emptyUnary: Self.emptyUnary
        case .largeUnary: Self.largeUnary
        case .clientStreaming: Self.clientStreaming
        case .serverStreaming: Self.serverStreaming
        case .pingPong: Self.pingPong
        case .emptyStream: Self.emptyStream
        case .cancelAfterBegin: Self.cancelAfterBegin
        case .cancelAfterFirstResponse: Self.cancelAfterFirstResponse
        case .statusCodeAndMessage: Self.statusCodeAndMessage
        case .specialStatusMessage: Self.specialStatusMessage
        case .unimplementedMethod: Self.unimplementedMethod
        case .unimplementedService: Self.unimplementedService
        case .customMetadata: Self.customMetadata
        case .timeoutOnSleepingServer: Self.timeoutOnSleepingServer
        case .clientCompressedUnary: Self.clientCompressedUnary
        case .serverCompressedUnary: Self.serverCompressedUnary
        case .manyMegabytes: Self.manyMegabytes
        case .concurrentCalls: Self.concurrentCalls
        case .halfDuplex: Self.halfDuplex
        case .longStreams: Self.longStreams
        case .streamStatus: Self.streamStatus
        case .richDetails: Self.richDetails
        case .errorMetadata: Self.errorMetadata
        case .deadline: Self.deadline
        case .noDeadline: Self.noDeadline
        case .cancellation: Self.cancellation
        case .answerTooLarge: Self.answerTooLarge
        case .unavailable: Self.unavailable
        }
    }
}
