import ProfileDomain
import Testing

struct AvatarTests {
    @Test(arguments: [
        "https://example.com", "https://example.com/", "https://a.b.example.com:8443/x/y.png?size=96&v=%2B1",
        "https://EXAMPLE.com/~maria/me(1).jpg", "https://xn--bcher-kva.example?x",
        "https://example.com/" + String(repeating: "a", count: 492),
    ])
    func `A URL of a picture is taken as it is`(text: String) throws {
        let avatar = try Avatar(text)
        #expect(avatar.value == text && avatar.upload == nil)
    }

    @Test(arguments: [
        ("", Avatar.Fault.notHTTPS), ("http://example.com/me.png", .notHTTPS), ("HTTPS://example.com", .notHTTPS),
        ("javascript:alert(1)", .notHTTPS), ("data:image/png;base64,AAAA", .notHTTPS), ("//example.com/x", .notHTTPS),
        ("https://", .hostInvalid), ("https:///x", .hostInvalid), ("https://localhost/x", .hostInvalid),
        ("https://127.0.0.1/x", .hostInvalid), ("https://example.com.", .hostInvalid), ("https://.com", .hostInvalid),
        ("https://a..com", .hostInvalid), ("https://-a.com", .hostInvalid), ("https://a_b.com", .hostInvalid),
        ("https://maria:secret@example.com/", .hostInvalid), ("https://example.com:0/", .hostInvalid),
        ("https://example.com:65536", .hostInvalid), ("https://example.com:/", .hostInvalid),
        ("https://a.com:1:2", .hostInvalid),
        ("https://[::1]/x", .forbiddenCharacter), ("https://example.com/a b", .forbiddenCharacter),
        ("https://example.com/\u{F1}", .forbiddenCharacter), ("https://example.com/#top", .forbiddenCharacter),
        ("https://example.com/\"onload=", .forbiddenCharacter), ("https://example.com/%", .forbiddenCharacter),
        ("https://example.com/%2", .forbiddenCharacter), ("https://example.com/%zz", .forbiddenCharacter),
        ("https://example.com/\\", .forbiddenCharacter), ("https://example.com/\n", .forbiddenCharacter),
        ("https://example.com/" + String(repeating: "a", count: 493), .tooLong),
        ("/avatars/", .notUploaded), ("/avatars/../me", .notUploaded),
        ("/avatars/" + String(repeating: "A", count: 32), .notUploaded),
    ])
    func `An invalid picture URL is refused`(text: String, fault: Avatar.Fault) {
        #expect(throws: fault) { try Avatar(text) }
        #expect(fault.words.hasSuffix("."))
    }

    @Test func `An upload is named by its id`() throws {
        let id = AvatarID(high: 0x0123_4567_89AB_CDEF, low: 0xF)
        #expect(id.text == "0123456789abcdef000000000000000f")
        #expect(AvatarID(id.text) == id)
        let avatar = Avatar(upload: id)
        #expect(avatar.value == "/avatars/0123456789abcdef000000000000000f" && avatar.upload == id)
        #expect(try Avatar(avatar.value) == avatar)
        for text in ["", "0", id.text + "0", id.text.uppercased(), "g" + id.text.dropFirst()] {
            #expect(AvatarID(text) == nil)
        }
    }
}
