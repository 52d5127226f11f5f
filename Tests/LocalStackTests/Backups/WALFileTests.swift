import Testing

@testable import Backup

struct WALFileTests {
    @Test func `A segment, an unfinished one and a history are known by their names`() throws {
        #expect(try #require(WALFile(name: "000000010000000000000003")).kind == .segment)
        let partial = try #require(WALFile(name: "000000010000000A000000FF.partial"))
        #expect(partial.kind == .partial && partial.wantedName == "000000010000000A000000FF")
        let history = try #require(WALFile(name: "00000002.history"))
        #expect(history.kind == .history && history.wantedName == "00000002.history" && history.timeline == "00000002")
    }

    @Test(arguments: [
        "", "chain.json", "00000001000000000000000", "0000000100000000000000030", "00000001000000000000000g",
        "000000010000000000000003.tmp", "000000010000000000000003.partial.tmp", "00000002.partial", "0000000a.history",
    ])
    func `Other files are none`(name: String) { #expect(WALFile(name: name) == nil) }

    @Test func `What a backup doesn't need is older, on whichever timeline; a history is never`() throws {
        let first = "000000020000000100000005"
        for (name, isOlder) in [
            ("000000010000000100000004", true), ("000000020000000100000004.partial", true),
            ("0000000300000000000000FF", true), ("000000020000000100000005", false),
            ("000000010000000100000006", false), ("00000001.history", false),
        ] {
            #expect(try #require(WALFile(name: name)).isOlder(than: first) == isOlder, "\(name)")
        }
    }

    @Test func `A position is in a segment of 16 MB`() throws {
        #expect(try #require(LogPosition("0/2000028")).segment(timeline: 1) == "000000010000000000000002")
        #expect(try #require(LogPosition("0/FFFFFFFF")).segment(timeline: 0xA) == "0000000A00000000000000FF")
        #expect(try #require(LogPosition("12/1000000")).segment(timeline: 1) == "000000010000001200000001")
        for text in ["", "0", "0/", "/0", "0/0/0", "0/100000000", "x/0", "-1/0"] { #expect(LogPosition(text) == nil) }
    }
}
