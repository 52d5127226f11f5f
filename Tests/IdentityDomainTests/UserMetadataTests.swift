import IdentityDomain
import JOSE
import Testing

struct UserMetadataTests {
    private func apply(_ change: String, to text: String = "{}") throws -> String {
        try UserMetadata(stored: text).applying(MetadataChange(parsing: change)).text
    }

    @Test func `Members take the place of those of their names, and null removes them`() throws {
        #expect(try apply(#"{"a":1}"#) == #"{"a":1}"#)
        #expect(
            try apply(#"{"b":{"y":2},"c":"new","a":null}"#, to: #"{"a":1,"b":{"x":1},"d":4}"#)
                == #"{"b":{"y":2},"d":4,"c":"new"}"#
        )
        #expect(try apply(#"{"a":null,"b":null}"#, to: #"{"b":1}"#) == "{}")
        #expect(
            try apply("{}", to: #"{"a":[null,1.50,12345678901234567890]}"#)
                == #"{"a":[null,1.50,12345678901234567890]}"#
        )
    }

    @Test func `Only an object is taken`() {
        for text in ["", "null", "[]", "1", #""a""#, "{", #"{"a":1,"a":2}"#, #"{"a":"\ud800"}"#, "{} {}"] {
            #expect(throws: IdentityError.metadataInvalid) { _ = try MetadataChange(parsing: text) }
        }
        let deep = #"{"a":"# + String(repeating: "[", count: 8) + String(repeating: "]", count: 8) + "}"
        #expect(throws: IdentityError.metadataInvalid) { _ = try MetadataChange(parsing: deep) }
    }

    @Test func `The result is bounded to the byte`() throws {
        let long = String(repeating: "x", count: UserMetadata.bytesMax - #"{"a":""}"#.utf8.count)
        #expect(try apply("{\"a\":\"\(long)\"}").utf8.count == UserMetadata.bytesMax)
        #expect(throws: IdentityError.metadataTooLarge) { _ = try apply("{\"a\":\"\(long)x\"}") }
        #expect(throws: IdentityError.metadataTooLarge) { _ = try apply(#"{"b":1}"#, to: "{\"a\":\"\(long)\"}") }
        #expect(try apply(#"{"b":1,"a":null}"#, to: "{\"a\":\"\(long)\"}") == #"{"b":1}"#)
        // Written out, a control character takes six bytes.
        let tabs = String(repeating: #"\t"#, count: 6_000)
        #expect(throws: IdentityError.metadataTooLarge) { _ = try apply("{\"a\":\"\(tabs)\"}") }
    }

    @Test func `A value that could not be read again is not stored`() throws {
        let numbers = (0..<1_200).map { "\"\($0)\":0" }.joined(separator: ",")
        let more = (1_200..<2_400).map { "\"\($0)\":0" }.joined(separator: ",")
        let kept = try apply("{\(numbers)}")
        #expect(throws: IdentityError.metadataTooLarge) { _ = try apply("{\(more)}", to: kept) }
        #expect(throws: IdentityError.metadataTooLarge) {
            _ = try MetadataChange(
                parsing: "{\"a\":[" + Array(repeating: "0", count: 3_000).joined(separator: ",") + "]}"
            )
        }
    }

    @Test(arguments: [
        (#"{"full_name":"Maria Clara"}"#, "Maria Clara"),
        (#"{"full_name":" Maria  ","given_name":"X"}"#, "Maria"),
        (#"{"given_name":"Maria","family_name":"Clara"}"#, "Maria Clara"),
        (#"{"full_name":"","given_name":"Maria","family_name":null}"#, "Maria"),
        (#"{"full_name":"x","family_name":"Clara"}"#, "Clara"),
        (#"{"full_name":null}"#, nil), (#"{"full_name":7,"given_name":[]}"#, nil), (#"{"name":"Maria"}"#, nil),
        ("{}", nil),
    ])
    func `A name among the members is found`(text: String, name: String?) throws {
        #expect(try MetadataChange(parsing: text).toldName == name)
    }
}
