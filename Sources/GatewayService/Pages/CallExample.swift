/// A call that a shell can make, as ``HomePage`` shows it.
struct CallExample: Sendable {
    /// Path and query. `$NAME` stands for a variable of the shell.
    let target: String
    /// The method of HTTP; GET and POST go without saying in a line.
    var method = "GET"
    /// Further header fields.
    var headers: [String] = []
    /// The body, between apostrophes; `'$NAME'` stands for a variable of the shell.
    var body: String?
    /// What the body is.
    var bodyType = "application/json"
    /// Whether it needs an access token.
    var needsToken = false

    /// The line for a shell.
    ///
    /// - Parameter base: scheme, host and port of the gateway.
    func line(_ base: String) -> String {
        var parts = ["curl -sS"]
        if method != (body == nil ? "GET" : "POST") { parts.append("-X \(method)") }
        parts.append("\"\(base)\(target)\"")
        if needsToken { parts.append("-H \"Authorization: Bearer $ACCESS\"") }
        parts += headers.map { "-H \"\($0)\"" }
        if let body {
            // A file is sent as it is, line ends and all.
            let option = body.hasPrefix("@") ? "--data-binary" : "-d"
            parts.append("-H \"Content-Type: \(bodyType)\" \(option) '\(body)'")
        }
        return parts.joined(separator: " ")
    }
}
