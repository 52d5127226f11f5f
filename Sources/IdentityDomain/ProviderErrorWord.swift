import JOSE

/// The code of an error that a provider answered (RFC 6749 section 5.2), fit for a log.
struct ProviderErrorWord: Sendable, Hashable {
    /// Lowercase letters and `_`, though section 5.2 allows more; empty if there is no such word.
    let text: String

    /// The code of an answer; empty if it is no JSON object or has none.
    init(_ object: JSONObject?) {
        guard let text = object?["error"]?.string, text.utf8.count <= 64,
            text.utf8.allSatisfy({ UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 || $0 == UInt8(ascii: "_") })
        else {
            self.text = ""
            return
        }
        self.text = text
    }
}
