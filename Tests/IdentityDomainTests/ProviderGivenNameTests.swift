import IdentityDomain
import Models
import Testing

struct ProviderGivenNameTests {
    @Test(
        arguments: [
            ("Ana Cruz", "Ana Cruz"), ("  Ana  ", "Ana"), ("A", nil), ("", nil), ("   ", nil), ("Ana\u{0}", nil),
            ("Ana\u{202e}", nil), (String(repeating: "a", count: 50), String(repeating: "a", count: 50)),
            (String(repeating: "a", count: 51), nil),
        ] as [(String, String?)]
    )
    func `A told name is accepted if it can be shown`(text: String, name: String?) {
        #expect(ProviderGivenName.accept(text) == name)
        #expect(DeviceName.accept(text) == name)
        #expect((try? DeviceName.check(text)) == name)
    }

    @Test func `A device name that a person gives is refused with its fault`() {
        #expect(throws: IdentityError.deviceNameInvalid(.tooShort(charactersMin: 2))) { try DeviceName.check("a ") }
        #expect(throws: IdentityError.deviceNameInvalid(.tooLong(charactersMax: 50))) {
            try DeviceName.check(String(repeating: "a", count: 51))
        }
    }

    @Test(arguments: [
        ("a@b", true), ("person@example.com", true), ("é@example.com", true), ("", false), ("a", false), ("@b", false),
        ("a@", false), ("a@b@c", false), ("a b@c", false), ("a@b\n", false), ("a\u{200b}@b", false),
        ("\u{a0}a@b", false),
    ])
    func `E-mail addresses have two halves and nothing hidden`(text: String, isAccepted: Bool) {
        #expect((EmailAddress.accept(text) != nil) == isAccepted)
    }

    @Test func `A long e-mail address is dropped`() {
        #expect(EmailAddress.accept(String(repeating: "a", count: 252) + "@b") != nil)
        #expect(EmailAddress.accept(String(repeating: "a", count: 253) + "@b") == nil)
    }

    @Test func `Each verdict has its fault`() {
        #expect(
            RefreshVerdict.allCases.map(\.fault) == [
                nil, nil, nil, nil, nil, .refreshTokenInvalid, .refreshTokenReused, .sessionRevoked, .sessionExpired,
                .sessionInvalid, .keyNotProven,
            ]
        )
    }
}
