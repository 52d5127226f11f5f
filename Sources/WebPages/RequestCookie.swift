import HTTPJSON
import HTTPTypes

extension Request {
    /// The longest value of a cookie that is read, in bytes: browsers keep no more.
    private static let cookieBytesMax = 4096

    /// The value of a cookie; nil without one, and for one that comes more than once: another site's page may have set one of
    /// them.
    public func cookie(_ name: String) -> Substring? {
        var values: [Substring] = []
        for header in headers[values: .cookie] {
            for pair in header.split(separator: ";") {
                let pair = pair.drop { $0 == " " }
                if pair.hasPrefix("\(name)=") { values.append(pair.dropFirst(name.count + 1)) }
            }
        }
        guard values.count == 1, let value = values.first, value.utf8.count <= Self.cookieBytesMax else { return nil }
        return value
    }
}
