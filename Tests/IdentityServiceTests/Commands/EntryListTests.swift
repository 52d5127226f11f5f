import JOSE
import ServiceKit
import Testing

@testable import IdentityService

/// The content of a file of entries, changed by commands.
struct EntryListTests {
    private static let content = #"""
        {"comment":1.50,"clients":[{"id":"a","later":[1,2],"name":"\u00c9"},3,{"id":"b"}]}
        """#

    private func list(_ content: String = Self.content) throws -> EntryList {
        try EntryList(parsing: Array(content.utf8), .clients)
    }

    @Test func `What isn't changed stays as it is and in its order`() throws {
        var list = try list()
        list.put(["id": "c"])
        list.put(["id": "b", "name": "B"])
        let expected = #"""
            {"comment":1.50,"clients":[{"id":"a","later":[1,2],"name":"É"},3,{"id":"b","name":"B"},{"id":"c"}]}
            """#
        #expect(try JSONObject(parsing: list.serialized).text == expected)
        #expect(list.ids == ["a", "b", "c"])
        #expect(list["a"]?["name"] == "É" && list["d"] == nil)
        let (isRemoved, isThere) = (list.remove("a"), list.remove("a"))
        #expect(isRemoved && !isThere && list.ids == ["b", "c"])
    }

    @Test(arguments: [
        ("[]", "holds no JSON object: it holds something else"), ("{}", "must hold an array \"clients\""),
        (#"{"clients":1}"#, "must hold an array \"clients\""),
        ("\u{FEFF}{}", "holds no JSON object: it begins with a byte order mark, which JSON has not"),
        ("{\n}}", "holds no JSON object: line 2 is not as RFC 8259 has it"),
    ])
    func `What is no such file is refused`(content: String, problem: String) throws {
        let fault = #expect(throws: FileError.self) { try list(content) }
        #expect(fault?.description == problem)
    }
}
