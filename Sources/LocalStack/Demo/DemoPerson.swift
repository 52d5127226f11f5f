import JOSE

/// A new user for each run of the demo, so that it can be repeated on the same data.
struct DemoPerson: Sendable {
    let givenName: String
    let familyName: String
    let email: String
    /// The ten digits after the Philippine country code, of a mobile number.
    let phoneDigits: String

    init(role: String) {
        let digits = SecureRandom.bytes(10).map { String($0 % 10) }.joined()
        givenName = role
        familyName = "No\(digits.prefix(6))"
        email = "\(role.lowercased())-\(digits)@example.com"
        phoneDigits = "917" + digits.suffix(7)
    }

    var fullName: String { "\(givenName) \(familyName)" }
    /// `+639171234567`
    var phone: String { "+63\(phoneDigits)" }
    /// `0917 123 4567`, the national notation.
    var phoneAtHome: String { "0\(grouped)" }
    /// `+63 917 123 4567`, the international notation.
    var phoneAbroad: String { "+63 \(grouped)" }

    /// The user's data for the simulator.
    var simulated: JSONObject {
        ["email": .string(email), "given_name": .string(givenName), "family_name": .string(familyName)]
    }

    private var grouped: String {
        "\(phoneDigits.prefix(3)) \(phoneDigits.dropFirst(3).prefix(3)) \(phoneDigits.suffix(4))"
    }
}

/// The data that an app keeps after a sign-in.
struct DemoSession: Sendable {
    var accessToken: String
    var refreshToken: String
    let userID: String
    let answer: JSONObject

    init(_ answer: DemoClient.Answer) throws {
        accessToken = try answer.string("access_token")
        refreshToken = try answer.string("refresh_token")
        userID = try answer.string("user_id")
        self.answer = answer.json
    }

    var missingFields: [String] { answer["missing_fields"]?.array?.compactMap(\.string) ?? [] }
}
