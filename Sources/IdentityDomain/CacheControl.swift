/// What a provider's `Cache-Control` says about its key set (RFC 9111 section 5.2.2).
public enum CacheControl {
    /// The `max-age` in seconds; 0 for `no-store` and `no-cache`; nil if it says nothing that can be read.
    public static func maxAgeSeconds(_ header: String) -> Int64? {
        var seconds: Int64?
        for directive in header.lowercased().split(separator: ",") {
            let parts = directive.split(separator: "=", maxSplits: 1).map { part in
                part.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
            }
            switch parts.first {
            case "no-store", "no-cache": return 0
            case "max-age" where parts.count == 2:
                let digits = parts[1].filter { $0 != "\"" }
                if !digits.isEmpty, digits.utf8.allSatisfy({ 48...57 ~= $0 }) {
                    seconds = Int64(digits) ?? .max
                }
            default: break
            }
        }
        return seconds
    }
}
