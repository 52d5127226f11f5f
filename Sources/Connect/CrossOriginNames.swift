/// What a web page of another origin needs for Connect and gRPC-Web (https://connectrpc.com/docs/cors): for the answers to
/// preflights, and the names that scripts may read. An application's own names come on top of it: `Authorization`, and trailers
/// of unary Connect as `Trailer-…`.
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
