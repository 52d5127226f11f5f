import JOSE
import Testing

@testable import IdentityDomain

/// Apple's answers about users who move to another developer team.
struct UserMigrationTests {
    private func answer(_ status: Int, _ body: String) -> UserMigrationAnswer<String> {
        UserMigrationAnswer(status: status, body: Array(body.utf8), UserMigration.transferSubject)
    }

    @Test func `An answer is about the user, about us, or about Apple`() {
        #expect(answer(200, #"{"transfer_sub":"760417.ebbf.1827"}"#) == .told("760417.ebbf.1827"))
        for body in ["", "{}", "[]", #"{"transfer_sub":7}"#, #"{"transfer_sub":""}"#, #"{"transfer_sub":"\u00fc"}"#] {
            #expect(answer(200, body) == .unavailable)
        }
        for error in ["invalid_request", "invalid_grant"] {
            #expect(answer(400, #"{"error":"\#(error)"}"#) == .refused(error: error))
        }
        #expect(answer(400, #"{"error":"invalid_client"}"#) == .notConfigured(error: "invalid_client"))
        #expect(answer(403, "<html>") == .notConfigured(error: "status 403"))
        #expect(answer(404, "") == .notConfigured(error: "status 404"))
        #expect(answer(401, #"{"error":"invalid_client"}"#) == .unauthorized)
        for status in [302, 408, 425, 429, 500, 503, 599, 0] { #expect(answer(status, "{}") == .unavailable) }
    }

    @Test func `A transferred user has a subject, and a new address only if it is a relay`() throws {
        func arrival(_ text: String) throws -> UserMigration.Arrival? {
            UserMigration.Arrival(try JSONObject(parsing: Array(text.utf8)))
        }
        let relay = #""email":"x@privaterelay.appleid.com","is_private_email":"#
        for value in ["true", #""true""#] {
            let told = try arrival(#"{"sub":"001.a",\#(relay)\#(value)}"#)
            #expect(told == UserMigration.Arrival(subject: "001.a", privateEmail: "x@privaterelay.appleid.com"))
        }
        #expect(try arrival(#"{"sub":"001.a",\#(relay)false}"#)?.privateEmail == nil)
        #expect(try arrival(#"{"sub":"001.a"}"#)?.privateEmail == nil)
        #expect(try arrival(#"{"sub":"001.a","email":"no address","is_private_email":true}"#)?.privateEmail == nil)
        for text in ["{}", #"{"sub":""}"#, #"{"sub":1}"#, #"{"sub":"\u0000"}"#] { #expect(try arrival(text) == nil) }
    }

    @Test func `An access token that can't be in a header is refused`() throws {
        #expect(
            UserMigration.accessToken(try JSONObject(parsing: Array(#"{"access_token":"m1.0.x-_"}"#.utf8)))
                == "m1.0.x-_"
        )
        for text in [#"{"access_token":"a b"}"#, #"{"access_token":"a\r\nb: c"}"#, #"{"access_token":""}"#, "{}"] {
            #expect(UserMigration.accessToken(try JSONObject(parsing: Array(text.utf8))) == nil)
        }
    }

    @Test func `Only Apple's tokens have a transfer subject, and only a valid one`() throws {
        let apple = try TestProvider.apple()
        #expect(try apple.judge(["transfer_sub": "760417.ebbf.1827"]).transferSubject == "760417.ebbf.1827")
        #expect(try apple.judge().transferSubject == nil)
        for value: JSONValue in [7, "", .null, .string(String(repeating: "a", count: 256)), "\u{e4}"] {
            #expect(try apple.judge(["transfer_sub": value]).transferSubject == nil)
        }
    }
}
