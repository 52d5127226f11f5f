import JOSE
import Testing

struct JSONTests {
    @Test func `Reads every kind of value`() throws {
        let text = #" {"a":[1,-2,0,1.50,1e3,true,false,null,"x"],"b":{"c":"é\u00e9\uD83D\uDE00\n\/"},"d":{},"e":[]} "#
        let object = try JSONObject(parsing: text.utf8)
        #expect(
            object["a"]
                == [
                    1, -2, 0, .number(literal: "1.50"), .number(literal: "1e3"), true, false, .null, "x",
                ]
        )
        #expect(object["b"]?.object?["c"] == "éé😀\n/")
        #expect(object["d"] == [:])
        #expect(object["e"] == [])
        #expect(object.members.map(\.name) == ["a", "b", "d", "e"])
    }

    @Test func `Numbers stay exact`() throws {
        #expect(try JSONValue(parsing: "9007199254740993".utf8) == .integer(9_007_199_254_740_993))
        #expect(try JSONValue(parsing: "9223372036854775807".utf8) == .integer(.max))
        #expect(try JSONValue(parsing: "9223372036854775808".utf8) == .number(literal: "9223372036854775808"))
    }

    @Test(
        arguments: [
            ("1700000000", 1_700_000_000), ("1700000000.999", 1_700_000_000), ("-0.5", -1), ("-1.0", -1), ("1e9", nil),
            ("9223372036854775808", nil), ("\"1700000000\"", nil), ("true", nil), ("99999999999999999999.5", nil),
        ] as [(String, Int64?)]
    )
    func `Numeric dates become whole seconds`(text: String, seconds: Int64?) throws {
        #expect(try JSONValue(parsing: text.utf8).numericDateSeconds == seconds)
    }

    @Test(arguments: [
        "", " ", "{", "}", "[1,]", "{\"a\":1,}", "{\"a\"}", "{a:1}", "01", "-", "1.", ".5", "1e", "+1", "tru", "nul",
        "'a'", "\"a", "\"\u{01}\"", "\"\\x\"", "\"\\ud800\"", "\"\\udc00\"", "\"\\ud800\\u0041\"", "\"\\u12g4\"",
        "\"\\u12\"", "1 2", "{} x", "[1 2]", "\u{feff}{}", "NaN", "Infinity", "[1}", "// x\n1",
    ])
    func `Refuses what is no JSON`(text: String) {
        #expect {
            try JSONValue(parsing: text.utf8)
        } throws: { error in
            if case JSONError.syntax = error { true } else { false }
        }
    }

    @Test func `Refuses invalid UTF-8`() {
        #expect(throws: JSONError.self) { try JSONValue(parsing: [0x22, 0xff, 0x22]) }
        #expect(throws: JSONError.self) { try JSONValue(parsing: [0x22, 0xc0, 0xaf, 0x22]) }
        #expect(throws: JSONError.self) { try JSONValue(parsing: [0x22, 0xed, 0xa0, 0x80, 0x22]) }
    }

    @Test func `Refuses duplicate members, also when spelled differently`() {
        #expect(throws: JSONError.duplicateMember) { try JSONValue(parsing: #"{"a":1,"a":1}"#.utf8) }
        #expect(throws: JSONError.duplicateMember) { try JSONValue(parsing: #"{"a":1,"\u0061":2}"#.utf8) }
        #expect(throws: JSONError.duplicateMember) { try JSONValue(parsing: #"{"x":{"a":1,"a":1}}"#.utf8) }
    }

    @Test func `Bytes, depth and values are bounded`() {
        let limits = JSONLimits(bytesMax: 20, depthMax: 2, valuesMax: 4)
        #expect(throws: JSONError.tooLarge) {
            try JSONValue(parsing: ("\"" + String(repeating: "a", count: 19) + "\"").utf8, limits: limits)
        }
        #expect(throws: JSONError.tooDeep) { try JSONValue(parsing: "[[[]]]".utf8, limits: limits) }
        #expect(throws: JSONError.tooManyValues) { try JSONValue(parsing: "[1,2,3,4]".utf8, limits: limits) }
        #expect(throws: Never.self) { try JSONValue(parsing: "[[1,2]]".utf8, limits: limits) }
        #expect(throws: JSONError.notAnObject) { try JSONObject(parsing: "[]".utf8) }
    }

    @Test func `Every truncation is refused`() throws {
        let text = Array(#"{"a":[1,"é\u00e9",true,null],"b":{"c":-1.5e3}}"#.utf8)
        _ = try JSONValue(parsing: text)
        for count in 0..<text.count {
            #expect(throws: JSONError.self) { try JSONValue(parsing: text.prefix(count)) }
        }
    }

    @Test func `Writes what it reads`() throws {
        let text = #"{"a":[1,1.50,true,null],"b":"\"\\\u0000\u001f/é😀","c":{}}"#
        #expect(try JSONObject(parsing: text.utf8).text == text)
        // What is escaped is found wherever it stands in a longer text.
        for place in 0..<70 {
            for escaped in [#"\""#, #"\\"#, #"\u001f"#] {
                let (before, after) = (String(repeating: "~", count: place), String(repeating: " ", count: 69 - place))
                let text = #"{"a":""# + before + escaped + after + #""}"#
                #expect(try JSONObject(parsing: text.utf8).text == text)
            }
        }
    }

    @Test func `Members written one by one stand as those of an object`() throws {
        let long = String(repeating: "é\"", count: 1000)
        let written = JSONWriter.object { json in
            json.add("text", "a\"b")
            json.add("ends so", "{")
            json.add("none", orNull: "")
            json.add("some", orNull: "x")
            json.add("number", Int64.min)
            json.add("yes", true)
            json.add("no", false)
            json.addNull("null")
            json.add("texts", ["a", "["])
            json.add("no texts", [])
            json.add("null texts", nil)
            json.add("objects", [1, 2] as [Int64]) { $1.add("n", $0) }
            json.add("empty", [0]) { _, _ in }
            json.add("long", long)
        }
        let object: JSONObject = [
            "text": "a\"b", "ends so": "{", "none": .null, "some": "x", "number": .integer(.min), "yes": true,
            "no": false,
            "null": .null, "texts": ["a", "["], "no texts": [], "null texts": .null, "objects": [["n": 1], ["n": 2]],
            "empty": [[:]], "long": .string(long),
        ]
        #expect(String(decoding: written, as: UTF8.self) == object.text)
        #expect(try JSONObject(parsing: written) == object)
        #expect(JSONWriter.object { _ in } == Array("{}".utf8))
    }
}
