import JOSE
import TestWaits
import Testing

@testable import WebAuthn

/// 10,000 responses with one change each. Each ends with a ``WebAuthnError``, or is accepted for a reason that the test knows without
/// our readers. A trap ends the tests, which is how it is seen. The responses are those of a file, so that the seed and a round
/// say which response failed.
struct MutationTests {
    private static let seed: UInt64 = 20_261_128
    private static let roundsPerKey = 1_667
    private static let keys = ["ES256", "EdDSA", "RS256"]

    /// Which part of a response is changed.
    private enum Place: CaseIterable {
        case text, clientData, binary
    }

    /// What a text has, read by other means; nil if a member is not there.
    private struct Members {
        let clientData: [UInt8]
        let binaries: [[UInt8]]

        init?(_ text: [UInt8], _ names: [String]) {
            let response = try? JSONObject(parsing: text)["response"]?.object
            func bytes(_ name: String) -> [UInt8]? { response?[name]?.string.flatMap { Base64URL.decode($0) } }
            let found = names.compactMap(bytes)
            guard let clientData = bytes("clientDataJSON"), found.count == names.count else { return nil }
            self.clientData = clientData
            binaries = found
        }
    }

    /// The text with one change at that place.
    private static func mutated(
        _ json: JSONObject,
        _ place: Place,
        _ names: [String],
        _ random: inout SeededRandom
    ) throws -> [UInt8] {
        let text = json.serialized()
        guard place != .text else { return random.mutated(text) }
        let members = try #require(Members(text, names))
        var json = json
        var response = try #require(json["response"]?.object)
        if place == .clientData {
            response["clientDataJSON"] = .string(Base64URL.encode(random.mutated(members.clientData)))
        } else {
            let index = Int.random(in: names.indices, using: &random)
            response[names[index]] = .string(Base64URL.encode(random.mutated(members.binaries[index])))
        }
        json["response"] = .object(response)
        return json.serialized()
    }

    // MARK: Registrations

    /// What a registration's authenticator data say, read from their places; nil if they must be rejected.
    private static func plainPasskey(_ data: [UInt8], _ good: NewPasskey, _ transports: [String]) -> NewPasskey? {
        let id = good.credentialID
        let flags = data[32]
        guard data.prefix(32).elementsEqual(SHA256.hash("example.org")), flags & 0x41 == 0x41, flags & 0x18 != 0x10,
            data[53...54].elementsEqual([0, UInt8(id.count)]), data[55..<55 + id.count].elementsEqual(id)
        else { return nil }
        return NewPasskey(
            credentialID: id,
            publicKey: Array(data[(55 + id.count)..<(55 + id.count + good.publicKey.count)]),
            algorithm: good.algorithm,
            signCount: data[33..<37].reduce(0) { $0 * 256 + UInt32($1) },
            aaguid: Array(data[37..<53]),
            isBackupEligible: flags & 0x08 != 0,
            isBackedUp: flags & 0x10 != 0,
            isUserVerified: flags & 0x04 != 0,
            transports: transports
        )
    }

    /// Whether client data say all that must be said.
    private static func isRight(_ clientData: [UInt8], _ vector: JSONObject) throws -> Bool {
        let object = try JSONObject(parsing: clientData)
        return try object["type"] == "webauthn.create" && object["origin"] == Vectors.member("origin")
            && object["challenge"] == vector["challenge"] && (object["crossOrigin"] ?? false) == false
            && object["topOrigin"] == nil
    }

    @Test(arguments: keys)
    func `A registration with one change is rejected, or says what its bytes say`(key: String) throws {
        print("seed \(Self.seed)")
        var random = SeededRandom(seed: Self.seed)
        let vector = try Vectors.named("\(key), with extensions", of: "registrations")
        let (relyingParty, challenge) = try (Vectors.relyingParty(of: vector), Vectors.bytes(vector["challenge"]))
        let json = try #require(vector["response"]?.object)
        let good = try relyingParty.register(RegistrationResponse(parsing: json.serialized()), challenge: challenge)
        let object = try #require(Members(json.serialized(), ["attestationObject"])).binaries[0]
        // The authenticator data come last, and begin with this.
        let start = try #require(object.indices.first { object[$0...].starts(with: SHA256.hash("example.org")) })
        var accepted = 0
        for round in 0..<Self.roundsPerKey {
            let place = Place.allCases[round % Place.allCases.count]
            let text = try Self.mutated(json, place, ["attestationObject"], &random)
            let passkey: NewPasskey
            do throws(WebAuthnError) {
                passkey = try relyingParty.register(RegistrationResponse(parsing: text), challenge: challenge)
            } catch { continue }
            accepted += 1
            let members = try #require(Members(text, ["attestationObject"]))
            #expect(try Self.isRight(members.clientData, vector), "round \(round)")
            let found = members.binaries[0]
            try #require(found.count == object.count, "round \(round)")
            let transports = try RegistrationResponse(parsing: text).transports
            #expect(passkey == Self.plainPasskey(Array(found[start...]), good, transports), "round \(round)")
        }
        #expect(50..<Self.roundsPerKey / 2 ~= accepted)
    }

    // MARK: Sign-ins

    @Test(arguments: keys)
    func `A sign-in with one change is rejected, unless what is signed and the signature stay`(key: String) throws {
        print("seed \(Self.seed)")
        var random = SeededRandom(seed: Self.seed)
        let vector = try Vectors.named("\(key), synced", of: "assertions")
        let (relyingParty, challenge) = try (Vectors.relyingParty(of: vector), Vectors.bytes(vector["challenge"]))
        let stored = try Vectors.storedPasskey(of: vector)
        let json = try #require(vector["response"]?.object)
        let good = try relyingParty.verify(
            AuthenticationResponse(parsing: json.serialized()),
            challenge: challenge,
            passkey: stored
        )
        let names = ["authenticatorData", "signature"]
        let original = try #require(Members(json.serialized(), names))
        var accepted = 0
        for round in 0..<Self.roundsPerKey {
            let place = Place.allCases[round % Place.allCases.count]
            let text = try Self.mutated(json, place, names, &random)
            let members = Members(text, names)
            let isUnchanged =
                members?.clientData == original.clientData && members?.binaries == original.binaries
            let response: AuthenticationResponse
            do throws(WebAuthnError) {
                response = try AuthenticationResponse(parsing: text)
            } catch { continue }
            do throws(WebAuthnError) {
                let result = try relyingParty.verify(response, challenge: challenge, passkey: stored)
                accepted += 1
                #expect(isUnchanged, "round \(round)")
                #expect(result.userHandle == response.userHandle)
                #expect(result.signCount == good.signCount && result.isBackedUp == good.isBackedUp)
                #expect(result.isUserVerified == good.isUserVerified && !result.isCounterBehind)
            } catch {
                #expect(!isUnchanged, "round \(round): \(error)")
            }
        }
        #expect(50..<Self.roundsPerKey / 2 ~= accepted)
    }
}
