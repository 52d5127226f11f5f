import Foundation
import Testing

@testable import VestibuleClient

struct JSONTests {
    @Test(arguments: [
        #"{}"#, #"{"a":[1,-2,true,false,null,"x",{"b":{}}]}"#, #"{"a":1.5e3}"#,
        #"{"ü":"😀\u0041\n\"\\\/ \ud83d\ude00"}"#,
        " {\n\t\"a\" : [ ] } \r\n", #"{"a":9223372036854775807,"b":-0.25,"c":1e3}"#, #"{"a":""}"#,
    ])
    func `A text is read as Foundation reads it, and read again from what is written`(text: String) throws {
        let object = try JSONObject(parsing: text.utf8)
        let theirs = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? NSDictionary
        let again = try JSONSerialization.jsonObject(with: object.serialized) as? NSDictionary
        #expect(theirs == again)
        #expect(try JSONObject(parsing: object.serialized) == object)
    }

    @Test(arguments: [
        "", "{", "}", "[]", "null", "1", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, #"{a:1}"#, #"{"a":tru}"#, #"{"a":"x}"#,
        #"{"a":1}x"#,
        #"{"a":"\x"}"#, #"{"a":"\u12"}"#, "{\"a\":\"\u{1}\"}", #"{"a":+1}"#, #"{"a":--1}"#, #"{"a":1e999}"#,
        #"{"a":.5}"#,
        String(repeating: #"{"a":"#, count: 100) + "1" + String(repeating: "}", count: 100),
    ])
    func `What is no object is refused`(text: String) {
        #expect(throws: JSONFault.self) { try JSONObject(parsing: text.utf8) }
    }

    @Test func `Bytes that are no UTF-8 are refused`() {
        #expect(throws: JSONFault.self) {
            try JSONObject(parsing: Array(#"{"a":""#.utf8) + [0xff] + Array(#""}"#.utf8))
        }
    }

    @Test func `Half a pair of surrogates becomes a mark`() throws {
        #expect(try JSONObject(parsing: #"{"a":"\ud83dx\udc00"}"#.utf8).text("a") == "\u{FFFD}x\u{FFFD}")
    }

    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0), ("2026-11-27T22:16:53.453Z", 1_795_817_813.453),
        ("2024-02-29T23:59:59.999999999Z", 1_709_251_199.999_999_9), ("1969-12-31T23:59:59.5Z", -0.5),
        ("2026-11-28T00:16:53+02:00", 1_795_817_813), ("0001-01-01T00:00:00Z", -62_135_596_800),
    ])
    func `A time is read`(text: String, seconds: Double) throws {
        let date = try #require(Timestamp.date(text))
        #expect(abs(date.timeIntervalSince1970 - seconds) < 0.0001)
    }

    @Test(arguments: [0.0, 1_795_817_813.453, -0.5, -62_135_596_800, 253_402_300_799.999])
    func `A time that is written is read again`(seconds: Double) throws {
        let date = Date(timeIntervalSince1970: seconds)
        let again = try #require(Timestamp.date(Timestamp.text(date)))
        #expect(abs(again.timeIntervalSince1970 - seconds) < 0.0006)
    }

    @Test(arguments: [
        "", "2026-11-27", "2026-13-27T22:16:53Z", "2026-11-27T24:16:53Z", "2026-11-27T22:16:53",
        "2026-11-27T22:16:53.Z",
    ])
    func `What is no time is refused`(text: String) { #expect(Timestamp.date(text) == nil) }

    @Test func `A message keeps its fields, accepts new ones, and names values that it doesn't know`() throws {
        let text = #"""
            {"groupId":"1","name":"Trip","openness":"GROUP_OPENNESS_OF_TOMORROW","role":"GROUP_ROLE_OWNER",
             "createdAt":"2026-11-27T22:16:53.453Z","aFieldOfTomorrow":{"deep":[1]}}
            """#
        let group = Vestibule.Group(json: try JSONObject(parsing: text.utf8))
        #expect(group.name == "Trip")
        #expect(group.role == .owner)
        #expect(group.openness == .init(rawValue: "GROUP_OPENNESS_OF_TOMORROW"))
        #expect(group.ownerUserID.isEmpty)
        let coded = try JSONEncoder().encode([group])
        #expect(try JSONDecoder().decode([Vestibule.Group].self, from: coded) == [group])
    }

    @Test func `A number of 64 bits is read from a text or a number`() throws {
        for text in [#"{"revision":"12"}"#, #"{"revision":12}"#, #"{"revision":12.0}"#] {
            #expect(Vestibule.Profile(json: try JSONObject(parsing: text.utf8)).revision == 12)
        }
    }

    @Test func `What has another form counts as absent`() throws {
        let text = #"{"revision":"x","displayName":1,"updatedAt":"soon","missingFields":{},"phoneProven":"true"}"#
        let profile = Vestibule.Profile(json: try JSONObject(parsing: text.utf8))
        #expect(profile.revision == 0 && profile.displayName == nil && profile.updatedAt == nil)
        #expect(profile.missingFields.isEmpty && !profile.phoneProven)
    }

    @Test func `What is empty is left out, unless it means something`() {
        let group = Vestibule.Group(name: "Trip", role: .owner)
        #expect(
            group.json["groupId"] == nil && group.json["openness"] == nil
                && group.json["role"] == .text("GROUP_ROLE_OWNER")
        )
        var request = JSONObject()
        request.set("displayName", Optional(""))
        request.set("username", String?.none)
        #expect(request == JSONObject(["displayName": .text("")]))
    }
}
