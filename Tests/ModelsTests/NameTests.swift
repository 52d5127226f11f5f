import Models
import Testing

struct NameTests {
    @Test(arguments: [
        ("Jo", "Jo"), ("  Maria Clara \n", "Maria Clara"), ("李明", "李明"), ("José", "José"), ("Jose\u{301}", "José"),
        ("👨‍👩‍👧‍👦🇵🇭", "👨‍👩‍👧‍👦🇵🇭"), ("می\u{200C}خواهم", "می\u{200C}خواهم"), ("\u{3000}Ann\u{3000}", "Ann"),
        ("O'Brien-Smith Jr.", "O'Brien-Smith Jr."),
    ])
    func `A name is kept but for the white space around it`(text: String, name: String) throws {
        #expect(try DisplayName(text).value == name)
    }

    @Test func `Characters are counted as people count them`() throws {
        let family = "👨‍👩‍👧‍👦"
        #expect(try DisplayName(String(repeating: family, count: 50)).value.count == 50)
        #expect(throws: TextError.tooLong(charactersMax: 50)) {
            try DisplayName(String(repeating: family, count: 51))
        }
        #expect(throws: TextError.tooShort(charactersMin: 2)) { try DisplayName(family) }
        #expect(throws: TextError.tooShort(charactersMin: 2)) { try DisplayName("e\u{301}") }
        #expect(try DisplayName(String(repeating: "a", count: 50)).value.count == 50)
        #expect(throws: TextError.tooLong(charactersMax: 50)) { try DisplayName(String(repeating: "a", count: 51)) }
    }

    @Test(arguments: [
        "", " ", "A", " A ", "\n\n\n", "\u{200B}\u{200B}", "A\u{200B}", "\u{200D}\u{200D}\u{200D}", "\u{2060}\u{FEFF}",
        "\u{3164}\u{3164}", "\u{2800}\u{2800}", "\u{115F}\u{1160}", "\u{E0020}\u{E0021}\u{E0022}",
    ])
    func `A name that can't be seen is too short`(text: String) {
        #expect(throws: TextError.tooShort(charactersMin: 2)) { try DisplayName(text) }
    }

    @Test(arguments: [
        "Ann\nBob", "Ann\tBob", "Ann\u{0}Bob", "Ann\u{1B}[31mBob", "Ann\u{7F}", "Ann\u{85}Bob", "Ann\u{2028}Bob",
        "Ann\u{2029}Bob", "\u{202E}Bob Ann", "Ann\u{202A}Bob", "Ann\u{2066}Bob\u{2069}", "Ann\r\nBob",
    ])
    func `Control and direction characters are refused`(text: String) {
        #expect(throws: TextError.forbiddenCharacter) { try DisplayName(text) }
        #expect(throws: TextError.forbiddenCharacter) { try GroupName(text) }
    }

    @Test func `Marks piled on a few letters are bounded by bytes`() {
        let pile = String(repeating: "e" + String(repeating: "\u{301}", count: 60), count: 20)
        #expect(throws: TextError.tooManyBytes(bytesMax: 2_000)) { try DisplayName(pile) }
        #expect(throws: TextError.tooLong(charactersMax: 50)) {
            try DisplayName(String(repeating: "x", count: 10_000_000))
        }
    }

    @Test func `A contact's name has 1 to 50 characters`() throws {
        for name in ["李", "J", "é", "👩‍👩‍👧"] { #expect(try ContactName(name).value == name) }
        #expect(try ContactName(String(repeating: "a", count: 50)).value.count == 50)
        #expect(throws: TextError.tooLong(charactersMax: 50)) { try ContactName(String(repeating: "a", count: 51)) }
        #expect(throws: TextError.tooShort(charactersMin: 1)) { try ContactName(" \u{200B} ") }
        #expect(throws: TextError.forbiddenCharacter) { try ContactName("Ann\nBob") }
        #expect(!"\(try ContactName("Maria"))".contains("Maria"))
    }

    @Test func `A group's name has 1 to 80 characters`() throws {
        #expect(try GroupName("G").value == "G")
        #expect(try GroupName(" " + String(repeating: "👩‍👩‍👧", count: 80)).value.count == 80)
        #expect(throws: TextError.tooLong(charactersMax: 80)) { try GroupName(String(repeating: "g", count: 81)) }
        #expect(throws: TextError.tooShort(charactersMin: 1)) { try GroupName(" \u{200B} ") }
    }

    @Test func `Printed names don't tell the names`() throws {
        #expect(!"\(try DisplayName("Maria"))".contains("Maria"))
        #expect(!"\(try GroupName("Maria"))".contains("Maria"))
    }

    @Test(arguments: ["abc", "ABC", "a_1", "___", "x2345678901234567890"])
    func `A username keeps its case and is unique without it`(text: String) throws {
        let username = try Username(text)
        #expect(username.value == text)
        #expect(username.key == text.lowercased())
    }

    @Test func `Usernames that differ in case have one key`() throws {
        #expect(try Username("Maria_C").key == Username("mARIA_c").key)
        #expect(try Username("Maria_C") != Username("mARIA_c"))
    }

    @Test func `A username of another length or with other characters is refused`() {
        #expect(throws: Username.Fault.tooShort) { try Username("") }
        #expect(throws: Username.Fault.tooShort) { try Username("ab") }
        #expect(throws: Username.Fault.tooLong) { try Username("x23456789012345678901") }
        #expect(throws: Username.Fault.tooLong) { try Username(String(repeating: "x", count: 10_000_000)) }
        // The last one holds a Kelvin sign, whose lowercase is the letter k.
        for text in [" abc", "abc ", "a b", "a-b", "a.b", "josé", "абв", "ＡＢＣ", "a\u{0}bc", "abc\n", "\u{212A}ing"] {
            #expect(throws: Username.Fault.forbiddenCharacter) { try Username(text) }
        }
    }
}
