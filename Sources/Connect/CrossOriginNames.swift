/// The methods and header names that web pages of other origins need for Connect and gRPC-Web
/// (https://connectrpc.com/docs/cors), for responses to preflights, and for names that scripts may read. Add the application's own
/// names: `Authorization`, and trailers of unary Connect calls as `Trailer-…`.
public enum CrossOriginNames {
    /// Access-Control-Allow-Methods.
    public static let methods = ["GET", "POST"]
    /// Access-Control-Allow-Headers.
    public static let requestFields = [
        "Content-Type", "Content-Encoding", "Accept-Encoding", "Connect-Protocol-Version", "Connect-Timeout-Ms",
        "Connect-Content-Encoding", "Connect-Accept-Encoding", "Grpc-Timeout", "X-Grpc-Web", "X-User-Agent",
    ]
    /// Access-Control-Expose-Headers.
    public static let answerFields = [
        "Content-Encoding", "Connect-Content-Encoding", "Grpc-Status", "Grpc-Message", "Grpc-Status-Details-Bin",
    ]
}
