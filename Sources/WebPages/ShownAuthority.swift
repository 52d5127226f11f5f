/// The names by which servers are called, as far as pages show them.
public enum ShownAuthority {
    /// Whether a name by which a server was called means nothing else to a shell: letters, digits, dots, hyphens, colons and
    /// brackets.
    public static func isPlain(_ authority: String) -> Bool {
        1...255 ~= authority.utf8.count
            && authority.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: ":"),
                    UInt8(ascii: "["), UInt8(ascii: "]"):
                    true
                default: false
                }
            }
    }
}
