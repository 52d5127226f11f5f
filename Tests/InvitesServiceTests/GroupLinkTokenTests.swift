import InvitesDomain
import JOSE
import Models
import Testing

@testable import InvitesService

/// Tokens of links.
struct GroupLinkTokenTests {
    private let id = GroupLinkID(high: 1, low: 2)

    @Test func `A token is read as it was written, and each has a secret of its own`() throws {
        let token = GroupLinkToken(of: id)
        let read = try #require(GroupLinkToken(token.text))
        #expect(read.linkID == id && read.matches(token.secretHash) && read.text == token.text)
        #expect(!GroupLinkToken(of: id).matches(token.secretHash))
        #expect(token.secretHash.count == 32)
    }

    @Test func `A changed bit is another token or none`() throws {
        let token = GroupLinkToken(of: id)
        let bytes = try #require(Base64URL.decode(token.text))
        for index in bytes.indices {
            for bit in 0..<8 {
                var changed = bytes
                changed[index] ^= 1 << bit
                let read = try #require(GroupLinkToken(Base64URL.encode(changed)))
                #expect(read.linkID != id || !read.matches(token.secretHash))
            }
        }
    }

    @Test func `A token must be 43 characters of base64url`() {
        let text = GroupLinkToken(of: id).text
        let others = [
            "", String(text.dropLast()), text + "A", text + "=", String(text.dropLast()) + "=",
            String(text.dropLast()) + "+",
            String(repeating: "é", count: 43), String(text.dropLast()) + "B",
        ]
        // The last of 43 characters has two bits that stand for nothing, which must be clear.
        for other in others where other != text { #expect(GroupLinkToken(other) == nil, "\(other)") }
    }
}
