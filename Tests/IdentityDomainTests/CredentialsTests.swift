import IdentityDomain
import Testing

struct CredentialsTests {
    private func kind(
        _ idToken: String = "",
        _ code: String = "",
        _ accessToken: String = "",
        unproven: Bool = false
    ) throws(IdentityError) -> CredentialKind {
        try CredentialKind(idToken: idToken, code: code, accessToken: accessToken, isUnproven: unproven)
    }

    @Test func `The strongest of the presented credentials counts`() throws {
        #expect(try kind("e30.e30.x") == .idToken)
        #expect(try kind("e30.e30.x", "code", "access", unproven: true) == .idToken)
        #expect(try kind("vit1_a", "vct1_b") == .tickets)
        #expect(try kind("vit1_a", "code") == .tickets)
        #expect(try kind("", "vct1_b") == .tickets)
        #expect(try kind("", "code") == .code)
        #expect(try kind("", "code", "access") == .code)
        #expect(try kind("", "", "access", unproven: true) == .accessToken)
        #expect(try kind(unproven: true) == .unproven)
        #expect(throws: IdentityError.signIn(.credentialsMissing)) { try kind() }
    }

    @Test func `A reserved address is compared in lowercase`() throws {
        #expect(try EmailReservation(dialect: "d", email: "ÄNA@Example.COM").email == "äna@example.com")
        let long = String(repeating: "d", count: 33)
        for (dialect, email) in [("", "a@b"), (long, "a@b"), ("d", "none"), ("d", "a@b\n")] {
            #expect(throws: IdentityError.signIn(.emailInvalid)) {
                try EmailReservation(dialect: dialect, email: email)
            }
        }
    }

    @Test func `First sign-in details are limited in length, and a code is not stored`() throws {
        #expect(FirstSignInDetails(key: [], provider: .apple, fullName: "", email: "") == nil)
        #expect(
            FirstSignInDetails(key: [], provider: .apple, fullName: String(repeating: "a", count: 51), email: "x")
                == nil
        )
        let told = try #require(FirstSignInDetails(key: [], provider: .apple, fullName: "Ana", email: "not one"))
        #expect(told.fullName == "Ana" && told.email == nil)
        let key = FirstSignInDetails.key(ofCode: "code", clientID: "client", provider: .apple)
        #expect(key.count == 32)
        #expect(key != FirstSignInDetails.key(ofCode: "code", clientID: "client", provider: .google))
        #expect(key != FirstSignInDetails.key(ofCode: "ode", clientID: "clientc", provider: .apple))
        #expect(key != FirstSignInDetails.key(ofCode: "code", clientID: "other", provider: .apple))
    }
}
