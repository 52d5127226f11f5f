import Models
import Testing

struct PhoneNumberTests {
    @Test(arguments: [
        "09171234567", "9171234567", "639171234567", "+639171234567", "00639171234567", "+63 917 123 4567",
        "0917-123-4567", "(0917) 123 4567", "+63 (0) 917 123 4567", "+6309171234567", "6309171234567",
        "0063 0917 123 4567", "  0917\u{00A0}123\u{00A0}4567  ", "0917.123.4567", "0917/1234567",
        "\u{202A}+63 917 123 4567\u{202C}", "０９１７１２３４５６７", "＋63 917 123 4567", "٠٩١٧١٢٣٤٥٦٧",
        "+63\u{2011}917\u{2011}123\u{2011}4567",
    ])
    func `Each notation of a number is the same number`(text: String) throws {
        let number = try PhoneNumber(text, policy: .philippines)
        #expect(number.digits == "639171234567")
        #expect(number.e164 == "+639171234567")
    }

    @Test(arguments: ["0895", "0896", "0897", "0898", "0813", "0817"])
    func `Mobile ranges that don't start with a nine are mobile`(prefix: String) throws {
        let number = try PhoneNumber(prefix + "1234567", policy: .philippines)
        #expect(number.digits == "63" + prefix.dropFirst() + "1234567")
    }

    @Test(arguments: [
        "", " ", "+", "abc", "phone", "0917-CALL-NOW", "call 09171234567", "09171234567 ext. 5", "09171234567x5",
        "09171234567;ext=5", "tel:+639171234567", "++639171234567", "0917+1234567", "0917,1234567", "09171234567#",
        "😀09171234567", "0917\u{0}1234567", "0917\n1234567", "1",
        String(repeating: "9", count: 31), String(repeating: "9", count: 100_000),
    ])
    func `A malformed number is rejected`(text: String) {
        #expect(throws: PhoneNumber.Fault.notANumber) { try PhoneNumber(text, policy: .philippines) }
    }

    @Test(arguments: ["123", "0917123456", "091712345678", "+63 917 123 45678", "00000000000", "+639999"])
    func `A number that no plan has is not assigned`(text: String) {
        #expect(throws: PhoneNumber.Fault.notAssigned) { try PhoneNumber(text, policy: .philippines) }
    }

    /// The library takes them: Germany's plan has no end.
    @Test(arguments: ["+49301234560000000", "+4980012345678900", "030 1234 5600 0000 0"])
    func `A number of more digits than E.164 has is not assigned`(text: String) throws {
        let germany = try PhonePolicy(defaultRegion: "DE", allowedKinds: Set(PhonePolicy.Kind.allCases))
        #expect(throws: PhoneNumber.Fault.notAssigned) { try PhoneNumber(text, policy: germany) }
    }

    @Test func `A land line is refused where only mobile numbers are taken`() throws {
        #expect(throws: PhoneNumber.Fault.kindNotAllowed) {
            try PhoneNumber("(02) 8123 4567", policy: .philippines)
        }
        let policy = try PhonePolicy(defaultRegion: "PH", allowedKinds: [.fixedLine])
        #expect(try PhoneNumber("(02) 8123 4567", policy: policy).e164 == "+63281234567")
        #expect(throws: PhoneNumber.Fault.kindNotAllowed) { try PhoneNumber("09171234567", policy: policy) }
    }

    @Test func `A number of another region is taken only where the policy lists it or lists none`() throws {
        let american = "+1 415 555 2671"
        #expect(throws: PhoneNumber.Fault.regionNotAllowed) { try PhoneNumber(american, policy: .philippines) }
        let both = try PhonePolicy(defaultRegion: "PH", allowedRegions: ["PH", "US"])
        #expect(try PhoneNumber(american, policy: both).digits == "14155552671")
        #expect(throws: PhoneNumber.Fault.regionNotAllowed) { try PhoneNumber("+49 1512 3456789", policy: both) }
        let all = try PhonePolicy(defaultRegion: "PH")
        #expect(try PhoneNumber("+49 1512 3456789", policy: all).digits == "4915123456789")
    }

    @Test func `The default region decides what a national notation means`() throws {
        let india = try PhonePolicy(defaultRegion: "IN")
        #expect(try PhoneNumber("91712 34567", policy: india).digits == "919171234567")
        #expect(try PhoneNumber("9171234567", policy: .philippines).digits == "639171234567")
    }

    @Test(arguments: [("+639171234567", "639171234567"), ("639171234567", "639171234567"), ("6834002", "6834002")])
    func `A stored number is read by its shape alone`(text: String, digits: String) {
        #expect(PhoneNumber(stored: text)?.digits == digits)
    }

    @Test(arguments: [
        "", "+", "123", "09171234567", "+09171234567", "++639171234567", "63917 1234567", "63917a234567",
        "1234567890123456", "６３９１７１２３４５６７",
    ])
    func `Refuses another shape as a stored number`(text: String) {
        #expect(PhoneNumber(stored: text) == nil)
    }

    @Test func `A policy that could allow nothing is refused`() {
        #expect(throws: PhonePolicy.Fault.unknownRegion("XX")) { try PhonePolicy(defaultRegion: "XX") }
        #expect(throws: PhonePolicy.Fault.unknownRegion("ph")) { try PhonePolicy(defaultRegion: "ph") }
        #expect(throws: PhonePolicy.Fault.unknownRegion("PHILIPPINES")) {
            try PhonePolicy(defaultRegion: "PHILIPPINES")
        }
        #expect(throws: PhonePolicy.Fault.unknownRegion("QQ")) {
            try PhonePolicy(defaultRegion: "PH", allowedRegions: ["PH", "QQ"])
        }
        #expect(throws: PhonePolicy.Fault.noKinds) { try PhonePolicy(defaultRegion: "PH", allowedKinds: []) }
        #expect(throws: PhonePolicy.Fault.noRegions) { try PhonePolicy(defaultRegion: "PH", allowedRegions: []) }
    }

    @Test func `A policy is read as configuration words it`() throws {
        let worded = try PhonePolicy(
            defaultRegion: "PH",
            kindNames: ["mobile", "fixed-line-or-mobile"],
            regionNames: ["PH"]
        )
        #expect(worded == .philippines)
        let all = try PhonePolicy(defaultRegion: "US", kindNames: ["voip"], regionNames: ["*"])
        #expect(all.allowedRegions == nil)
        #expect(throws: PhonePolicy.Fault.unknownKind("pager")) {
            try PhonePolicy(defaultRegion: "PH", kindNames: ["pager"], regionNames: ["PH"])
        }
        #expect(throws: PhonePolicy.Fault.unknownRegion("*")) {
            try PhonePolicy(defaultRegion: "PH", kindNames: ["mobile"], regionNames: ["PH", "*"])
        }
    }

    @Test func `A printed number doesn't tell the number`() throws {
        let number = try PhoneNumber("09171234567", policy: .philippines)
        #expect(!"\(number)".contains("917"))
    }

    @Test func `Many threads read numbers at once`() async {
        await withTaskGroup(of: Bool.self) { group in
            for task in 0..<8 {
                group.addTask {
                    (0..<500).allSatisfy { index in
                        let text = "0917" + String(1_000_000 + task * 1_000 + index)
                        return (try? PhoneNumber(text, policy: .philippines))?.digits == "63" + text.dropFirst()
                    }
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }
}
