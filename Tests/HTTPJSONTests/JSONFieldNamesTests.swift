import HTTPTypes
import JOSE
import Testing

@testable import HTTPJSON

struct JSONFieldNamesTests {
    private static let names = JSONFieldNames([
        "display_name": nil, "phone_number": nil, "id_token": nil,
        "members": JSONFieldNames(["role": nil]), "owner": JSONFieldNames(["nick": nil]),
    ])

    private func faults(_ object: JSONObject) -> [Problem.Field] { Self.names.faults(of: object) }

    @Test(arguments: [
        ("displayName", "display_name"), ("DISPLAY_NAME", "display_name"), ("display-name", "display_name"),
        ("dispaly_name", "display_name"), ("phone_numer", "phone_number"), ("idToken", "id_token"),
    ])
    func `An unknown field is named, with the known one that is near`(name: String, known: String) {
        let found = faults([name: "x"])
        #expect(found.map(\.name) == [name] && found.map(\.code) == ["UNKNOWN_FIELD"])
        #expect(found.first?.detail == "There is no such field here. Did you mean \(known)?")
    }

    @Test(arguments: [
        "shoe_size", "x", "", "id", "a very long name that is nothing like any other name of this object here",
    ])
    func `Nothing is guessed for a name that is near none`(name: String) {
        #expect(faults([name: "x"]).map(\.detail) == ["There is no such field here."])
    }

    @Test func `Objects inside are looked at, and what a known field holds is not`() {
        let object: JSONObject = [
            "display_name": ["anything": 1], "owner": ["nik": 1],
            "members": [["role": 1], 7, ["role": 1, "rolle": 2]],
        ]
        #expect(faults(object).map(\.name) == ["owner.nik", "members[2].rolle"])
        #expect(faults(["owner": "text", "members": "text"]).isEmpty)
    }

    @Test func `The part of a request that an answer repeats is bounded`() {
        var object = JSONObject()
        for number in 0..<1000 { object["\(number)" + String(repeating: "é", count: 1000)] = 1 }
        let found = faults(object)
        #expect(found.count == JSONFieldNames.reportedMax)
        #expect(found.allSatisfy { $0.name.utf8.count <= JSONFieldNames.nameBytesMax + 3 })
    }

    @Test func `Unknown fields are faults beside others, and none where no names are given`() {
        var input = JSONInput(["identityToken": "x"], fields: JSONFieldNames(["identity_token": nil]))
        _ = input.string("identity_token")
        let problem = #expect(throws: Problem.self) { try input.finish() }
        #expect(problem?.status == .badRequest && problem?.code == "REQUEST_INVALID")
        #expect(problem?.fields.map(\.code) == ["UNKNOWN_FIELD", "REQUIRED"])
        var lenient = JSONInput(["identity_token": "x", "more": 1])
        _ = lenient.string("identity_token")
        #expect(throws: Never.self) { try lenient.finish() }
    }
}
