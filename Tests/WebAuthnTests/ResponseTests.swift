import JOSE
import Testing
import WebAuthn

/// The JSON texts of clients.
struct ResponseTests {
    private static let registration = SoftRegistration().json

    /// A registration's text with one member changed: one of `response` if the name begins with a dot.
    private static func text(_ name: String, _ value: JSONValue?, of json: JSONObject = registration) throws -> [UInt8]
    {
        var json = json
        if name.hasPrefix(".") {
            var response = try #require(json["response"]?.object)
            response[String(name.dropFirst())] = value
            json["response"] = .object(response)
        } else {
            json[name] = value
        }
        return json.serialized()
    }

    @Test func `Members that are not named here are ignored`() throws {
        for (name, value) in [
            (".publicKey", "!"), (".publicKeyAlgorithm", -7), (".authenticatorData", 1),
            ("clientExtensionResults", nil),
            ("authenticatorAttachment", .null), ("later", [[[]]]), (".transports", nil), (".transports", .null),
        ] as [(String, JSONValue?)] {
            let response = try RegistrationResponse(parsing: Self.text(name, value))
            #expect(response.credentialID == Example.credentialID)
        }
        let assertion = try SoftAssertion().json()
        for name in [".attestationObject", "later"] {
            let response = try AuthenticationResponse(parsing: Self.text(name, 1, of: assertion))
            #expect(response.userHandle == Example.userHandle)
        }
    }

    @Test func `One of both ids is enough, and both are the same`() throws {
        for name in ["id", "rawId"] {
            #expect(try RegistrationResponse(parsing: Self.text(name, nil)).credentialID == Example.credentialID)
            for wrong in ["AAAA", "", "=", "\u{212a}AAA", 1, .null] as [JSONValue] {
                #expect(throws: WebAuthnError.malformed(.credentialID)) {
                    try RegistrationResponse(parsing: Self.text(name, wrong))
                }
            }
        }
        var json = Self.registration
        json["id"] = nil
        json["rawId"] = nil
        #expect(throws: WebAuthnError.malformed(.credentialID)) { try RegistrationResponse(parsing: json.serialized()) }
    }

    @Test func `The type is that of a public key`() throws {
        for wrong in [nil, "password", "public-key ", "Public-Key", 1, .null] as [JSONValue?] {
            #expect(throws: WebAuthnError.malformed(.response)) {
                try RegistrationResponse(parsing: Self.text("type", wrong))
            }
        }
    }

    @Test func `The text is one strict JSON object`() throws {
        let good = Self.registration.serialized()
        let twice = Array(#"{"type":"public-key","#.utf8) + good.dropFirst()
        for wrong in [
            [], Array("[]".utf8), Array("null".utf8), Array(good.dropLast()), good + [UInt8(ascii: "x")], twice,
            [0xef, 0xbb, 0xbf] + good,
        ] {
            #expect(throws: WebAuthnError.malformed(.response)) { try RegistrationResponse(parsing: wrong) }
            #expect(throws: WebAuthnError.malformed(.response)) { try AuthenticationResponse(parsing: wrong) }
        }
        for wrong in [nil, .null, [], "a"] as [JSONValue?] {
            #expect(throws: WebAuthnError.malformed(.response)) {
                try RegistrationResponse(parsing: Self.text("response", wrong))
            }
        }
    }

    @Test func `The whole text has at most 64 KiB`() throws {
        let good = Self.registration.serialized()
        func padded(_ count: Int) -> [UInt8] { good + [UInt8](repeating: UInt8(ascii: " "), count: count - good.count) }
        #expect(try RegistrationResponse(parsing: padded(65536)).transports.count == 2)
        #expect(throws: WebAuthnError.tooLarge(.response)) { try RegistrationResponse(parsing: padded(65537)) }
        #expect(throws: WebAuthnError.tooLarge(.response)) { try AuthenticationResponse(parsing: padded(65537)) }
    }

    @Test func `Each binary has its own bound, and one spelling`() throws {
        let assertion = try SoftAssertion().json()
        let members: [(name: String, part: WebAuthnError.Part, bytesMax: Int, json: JSONObject)] = [
            (".clientDataJSON", .clientData, 8192, Self.registration),
            (".attestationObject", .attestationObject, 32768, Self.registration),
            (".clientDataJSON", .clientData, 8192, assertion),
            (".authenticatorData", .authenticatorData, 4096, assertion),
            (".signature", .signature, 1024, assertion), (".userHandle", .userHandle, 64, assertion),
        ]
        func parse(_ text: [UInt8], _ json: JSONObject) throws(WebAuthnError) {
            if json == assertion {
                _ = try AuthenticationResponse(parsing: text)
            } else {
                _ = try RegistrationResponse(parsing: text)
            }
        }
        for (name, part, bytesMax, json) in members {
            func value(_ count: Int) -> JSONValue { .string(Base64URL.encode([UInt8](repeating: 1, count: count))) }
            try parse(Self.text(name, value(bytesMax), of: json), json)
            let large = try Self.text(name, value(bytesMax + 1), of: json)
            #expect(throws: WebAuthnError.tooLarge(part)) { try parse(large, json) }
            for wrong in [1, [], true, "AA==", "A", "AB", "A A", "AA\n", "+A", "/A", "\u{e9}"] as [JSONValue] {
                let text = try Self.text(name, wrong, of: json)
                #expect(throws: WebAuthnError.malformed(part), "\(name)") { try parse(text, json) }
            }
            guard part != .userHandle else { continue }
            for missing in [nil, .null] as [JSONValue?] {
                let text = try Self.text(name, missing, of: json)
                #expect(throws: WebAuthnError.malformed(part)) { try parse(text, json) }
            }
        }
    }

    @Test func `Transports are words, and few`() throws {
        func transports(_ value: JSONValue) throws -> [String] {
            try RegistrationResponse(parsing: Self.text(".transports", value)).transports
        }
        let long = String(repeating: "a", count: 32)
        let mixed: JSONValue = [
            "usb", "NFC", 1, .null, "", "smart-card", "a b", .string(long), .string(long + "a"), "caf\u{e9}",
        ]
        #expect(try transports(mixed) == ["usb", "smart-card", long])
        let letters = ["a", "b", "c", "d", "e", "f", "g", "h", "i"]
        #expect(try transports(.array(letters.map { .string($0) })) == Array(letters.prefix(8)))
        #expect(throws: WebAuthnError.malformed(.response)) { try transports("usb") }
    }

    @Test func `No description of an error has a value of the response`() throws {
        var registration = SoftRegistration()
        registration.clientData.origin = "https://secret.example"
        let relyingParty = try Example.relyingParty()
        let error = #expect(throws: WebAuthnError.wrongOrigin) { try relyingParty.register(registration) }
        #expect("\(try #require(error))" == "wrongOrigin")
        for part in WebAuthnError.Part.allCases {
            #expect("\(WebAuthnError.tooLarge(part))".hasSuffix(".\(part))"))
        }
    }
}
