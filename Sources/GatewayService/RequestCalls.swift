import HTTPJSON
import Hummingbird
import RPC

extension EdgeContext {
    /// What every call on behalf of this request is made with: the rest of its time, its id for the log, and its place in
    /// the client's trace.
    ///
    /// - Parameter limit: ends the call sooner than the request.
    func callOptions(limit: Duration? = nil) -> CallOptions {
        var options = CallOptions()
        options.deadline = limit.map { min(deadline, .after($0)) } ?? deadline
        options.metadata.add("x-request-id", requestID)
        trace?.child().add(to: &options.metadata)
        return options
    }
}

extension Request {
    /// `page_size` and `page_token` of the query.
    ///
    /// - Throws: 400 for a size that is no number from 1 to 100.
    func page() throws(Problem) -> (size: Int32, token: String) {
        let query = uri.queryParameters
        var size: Int32 = 0
        if let text = query["page_size"] {
            // Digits alone: Swift reads "+5" and "007" too.
            guard text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), text.utf8.first != 0x30, let number = Int32(text),
                1...100 ~= number
            else {
                throw Problem(
                    .badRequest,
                    code: "REQUEST_INVALID",
                    detail: "The request does not have the form that this path expects.",
                    fields: [
                        .init("page_size", code: "WRONG_TYPE", detail: "This must be a whole number from 1 to 100.")
                    ]
                )
            }
            size = number
        }
        return (size, query["page_token"].map(String.init) ?? "")
    }
}
