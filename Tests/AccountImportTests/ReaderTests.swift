import JOSE
import Models
import Testing

@testable import AccountImport

/// How files are read, and what is said of those that can't be.
struct ReaderTests {
    private static let usual = """
        id,phone,name,created_at
        1,09171234567,"Santos, Maria",2024-05-01T12:00:00Z
        2,"0917 123 4568","Say ""hi""
        twice",
        """

    @Test func `CSV is read whole, byte by byte, and with the line ends of other systems`() throws {
        let expected = ["2 1 09171234567 Santos, Maria", "3 2 0917 123 4568 Say \"hi\"\ntwice"]
        for size in [1, 2, 3, 7, 4096] {
            #expect(try rows(Self.usual, pieceBytes: size).map(\.told) == expected)
        }
        #expect(try rows("\u{FEFF}" + Self.usual + "\n\n\n").map(\.told) == expected)
        let crlf = Self.usual.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\r\n")
        #expect(
            try rows(crlf).map(\.told) == ["2 1 09171234567 Santos, Maria", "3 2 0917 123 4568 Say \"hi\"\r\ntwice"]
        )
        #expect(try rows(Self.usual).first?.account?.createdAtMilliseconds == 1_714_564_800_000)
    }

    @Test(arguments: [
        ("", "file: the file is empty"),
        ("\u{FEFF}\n \n", "file: the file is empty"),
        (
            "phone,name,created_at\n",
            "file, line 1: there is no column \"id\"; there are \"phone\", \"name\", \"created_at\""
        ),
        ("id,phone,id,name,created_at\n", "file, line 1: two columns are named \"id\""),
        ("id,phone,name,created_at\n1,\"09,a\n2,b\n", "file, line 2: a quoted field has no end"),
        ("id,phone,name,created_at\n1,0\"9,a,\n", "file, line 2: a quote within a field that doesn't begin with one"),
        (
            "id,phone,name,created_at\n1,\"09\"1,a,\n",
            "file, line 2: characters between a field's last quote and the comma"
        ),
        ("id,phone,name,created_at\r1,2,3,4\r", "file, line 1: a carriage return without a line feed"),
    ])
    func `A file that is no CSV ends the import with the line`(text: String, expected: String) {
        #expect(problem(text) == expected)
    }

    @Test func `A missing quote doesn't fill the memory`() {
        let text = "id,phone,name,created_at\n1,\"" + String(repeating: "a,b\n", count: 100_000)
        #expect(problem(text)?.hasPrefix("file, line 2: a field of more than 262144") == true)
    }

    @Test func `A row that is none is rejected, and those behind it are read`() throws {
        let header = Array("id,phone,name,created_at\n1,2\n".utf8)
        let bytes =
            header + [0x32, 0x2c, 0xff, 0x2c, 0x2c, 0x0a] + Array("3,,,\n4,a\u{0},,\n5,,,yesterday\n,1,,\n6,,,\n".utf8)
        var reader = try AccountReader(
            ImportPlan(.phoneCodes),
            ByteInput(name: "file", bytes: bytes),
            nowMilliseconds: 0
        )
        var told: [String] = []
        while let row = try reader.next() { told.append(row.told) }
        #expect(
            told == [
                "2  row_invalid", "3  row_invalid", "4 3 - -", "5  row_invalid", "6 5 created_at_invalid",
                "7  id_invalid", "8 6 - -",
            ]
        )
    }

    @Test func `Reading goes on at every position that it was at`() throws {
        let json = "{\"kind\":\"x\",\"users\" : [\n{\"localId\":\"a\"} ,\n{\"localId\":\"b\"},{\"localId\":\"c\"}\n]}\n"
        for (text, plan) in [
            (Self.usual + "\n3,4,,\n", ImportPlan(.phoneCodes)), (json, ImportPlan(.firebase)),
            ("[{\"uid\":\"a\"},\n{\"uid\":\"b\"}]", ImportPlan(.firebase)),
            ("{\"uid\":\"a\"}\n{\"uid\":\"b\"}\n", ImportPlan(.firebase)),
        ] {
            let all = try rows(text, plan).map(\.told)
            #expect(all.count >= 2)
            for count in 0...all.count {
                let input = ByteInput(name: "file", bytes: Array(text.utf8), pieceBytes: 5)
                var first = try AccountReader(plan, input, nowMilliseconds: 0)
                for _ in 0..<count { _ = try first.next() }
                let position = try #require(ImportPosition(first.position.description))
                var second = try AccountReader(plan, input, nowMilliseconds: 0)
                second.seek(to: position)
                var rest: [String] = []
                while let row = try second.next() { rest.append(row.told) }
                #expect(rest == Array(all.dropFirst(count)), "behind \(count) of \(text)")
            }
        }
        for text in ["", "1", "1:2", "1:1:1", "1:0:1:0", "1:1:0:0", "-1:1:1:0", "1:1:1:3", "1:1:1:0:0", "a:1:1:0"] {
            #expect(ImportPosition(text) == nil)
        }
    }

    @Test func `JSON is read in all its forms, and only what is one`() throws {
        let plan = ImportPlan(.firebase)
        let forms = [
            "{\"users\":[{\"localId\":\"a\"},{\"localId\":\"b\"}]}",
            "\u{FEFF} {\"x\":{\"users\":[1]},\"y\":[\"]}\"],\"users\":[{\"localId\":\"a\"},{\"localId\":\"b\"}],\"z\":\"}\\\"\"}",
            "[{\"localId\":\"a\"},{\"localId\":\"b\"}]", "{\"localId\":\"a\"}{\"localId\":\"b\"}",
            "{\"users\":[{\"localId\":\"a\"}]}\n{\"users\":[{\"localId\":\"b\"}]}",
        ]
        for form in forms {
            for size in [1, 4096] {
                #expect(try rows(form, plan, pieceBytes: size).compactMap(\.account?.oldID) == ["a", "b"], "\(form)")
            }
        }
        #expect(try rows("{\"users\":[]}", plan).isEmpty)
        // Two members of a name: nobody knows which is meant.
        let twice = "{\"users\":[{\"localId\":\"a\",\"localId\":\"b\"},{\"localId\":\"c\"}]}"
        #expect(try rows(twice, plan).map(\.told) == ["1  row_invalid", "2 c - -"])
        for bad in [
            "{\"users\":[{\"localId\":\"a\"}", "{\"users\":[{\"localId\":\"a\"}]", "{\"users\":[{\"localId\":\"a\"",
            "[1]",
            "{\"users\":[{\"localId\":\"a\"} {\"localId\":\"b\"}]}", "{\"users\":[\"a\"]}", "[,{}]", "[{},]",
            "{\"users\":[{},]}", "{}]", "{\"a",
        ] { #expect(problem(bad, plan) != nil, "\(bad)") }
        #expect(problem("localId,email\n", plan)?.contains("--format=json") == true)
        let large = "{\"kind\":\"" + String(repeating: "a", count: 1_100_000) + "\"}"
        #expect(problem(large, plan)?.contains("it has no array \"users\"") == true)
    }

    @Test func `Every cut of a file is read or refused, and nothing else happens`() throws {
        let json = "{\"users\":[{\"localId\":\"a\",\"n\":[{\"b\":\"\\\"\"}]},{\"localId\":\"b\"}],\"more\":{\"x\":[]}}"
        for end in 0...json.utf8.count {
            let cut = String(decoding: json.utf8.prefix(end), as: UTF8.self)
            let found = try? rows(cut, ImportPlan(.firebase)).compactMap(\.account?.oldID)
            #expect((found == ["a", "b"]) == (end == json.utf8.count), "\(cut)")
        }
        for end in 0...Self.usual.utf8.count {
            let cut = String(decoding: Self.usual.utf8.prefix(end), as: UTF8.self)
            if let found = try? rows(cut) { #expect(found.count <= 2) }
        }
    }
}
