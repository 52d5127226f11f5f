import JOSE
import Testing

/// JSON for people.
struct JSONLayoutTests {
    private func indented(_ text: String) throws -> String {
        String(decoding: try JSONObject(parsing: Array(text.utf8)).indented(), as: UTF8.self)
    }

    @Test func `A member has a line, and an array of short values is one line`() throws {
        let text =
            #"{"clients":[{"id":"a","uris":["https://a.example/","b"],"none":[],"empty":{},"n":1e400}],"x":null}"#
        #expect(
            try indented(text) == #"""
                {
                  "clients": [
                    {
                      "id": "a",
                      "uris": ["https://a.example/", "b"],
                      "none": [],
                      "empty": {},
                      "n": 1e400
                    }
                  ],
                  "x": null
                }

                """#
        )
        #expect(try indented("{}") == "{}\n")
    }

    @Test func `A long array is broken, and what is read again is the same`() throws {
        let texts = (0..<20).map { "\"https://app.example.com/callback/\($0)\"" }.joined(separator: ",")
        let text = #"{"a":[\#(texts)],"b":[[1,2],{"c":"\u00e9\u0000\"\\"}]}"#
        let object = try JSONObject(parsing: Array(text.utf8))
        let lines = object.indented().split(separator: UInt8(ascii: "\n"))
        #expect(lines.allSatisfy { $0.count <= 120 } && lines.count == 30)
        #expect(try JSONObject(parsing: object.indented()) == object)
    }
}
