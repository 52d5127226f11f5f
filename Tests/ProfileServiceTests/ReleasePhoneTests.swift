import API
import Models
import RPC
import SwiftProtobuf
import TestWaits
import Testing

@testable import ProfileService

/// How an operator manages phone numbers, by way of identity.
@Suite(.serialized) struct ReleasePhoneTests {
    private func holder(_ text: String, _ service: ProfileFixture) async throws -> ProfileV1.FindPhoneHolderResponse {
        try await service.client.findPhoneHolder(.with { $0.phoneNumber = text })
    }

    private func release(_ userID: UserID, only text: String = "", _ service: ProfileFixture) async throws -> String {
        let request = ProfileV1.ReleasePhoneRequest.with { ($0.userID, $0.phoneNumber) = (userID.description, text) }
        return try await service.client.releasePhone(request).phoneNumber
    }

    @Test func `The user of a number is found by any notation of it`() async throws {
        try await ProfileFixture.run { service in
            let maria = someone()
            try await service.update(maria, phone: phone(1))
            for text in [phone(1), "+\(digits(1))", "00\(digits(1))"] {
                let found = try await holder(text, service)
                #expect(found.userID == maria.description && found.phoneNumber == "+\(digits(1))")
            }
            #expect(try await holder(phone(2), service).userID.isEmpty)
            for text in ["", "maria", "123"] {
                let error = try await failure { try await holder(text, service) }
                #expect(error.code == .invalidArgument && error.reason == "PHONE_INVALID", "\(text)")
            }
        }
    }

    @Test func `A released number is free at once, invites gets an event, and the rest of the profile stays`()
        async throws
    {
        try await ProfileFixture.run { service in
            try await service.relaying {
                let (maria, jose) = (someone(), someone())
                try await service.update(maria, displayName: "Maria", phone: phone(1), username: "maria_s")
                #expect(try await release(maria, service) == "+\(digits(1))")
                let left = try await service.profile(maria)
                #expect(left.phoneNumber.isEmpty && left.displayName == "Maria" && left.username == "maria_s")
                #expect(left.missingFields == ["phone_number"])
                // There is no waiting time.
                try await service.update(jose, phone: phone(1))
                try await eventually("all is delivered") { service.invites.told.count >= 3 }
                #expect(
                    service.invites.told == [
                        "claimed \(digits(1)) \(maria)", "released \(digits(1)) \(maria)",
                        "claimed \(digits(1)) \(jose)",
                    ]
                )
                #expect(service.invites.events.map(\.released.byDeletion) == [false, false, false])
                try await service.update(maria, phone: phone(2))
            }
        }
    }

    @Test func `Releasing again, another number than the user's, or a free one, changes nothing`() async throws {
        try await ProfileFixture.run { service in
            let (maria, nobody) = (someone(), someone())
            try await service.update(maria, phone: phone(1))
            #expect(try await release(maria, only: phone(2), service).isEmpty)
            #expect(try await service.profile(maria).phoneNumber == "+\(digits(1))")
            #expect(try await release(maria, only: "+\(digits(1))", service) == "+\(digits(1))")
            let events = try await service.waitingEvents()
            #expect(events.count == 2)
            for user in [maria, nobody] { #expect(try await release(user, service).isEmpty) }
            #expect(try await service.waitingEvents() == events)
            #expect(try await service.count("SELECT count(*) FROM profiles") == 1)
            let error = try await failure {
                try await service.client.releasePhone(.with { $0.userID = "me" })
            }
            #expect(error.code == .invalidArgument && error.reason == "USER_ID_INVALID")
        }
    }

    @Test(arguments: 1...3)
    func `Concurrent saves and releases leave a number with one user or none`(seed: Int) async throws {
        try await ProfileFixture.run { service in
            let users = (0..<3).map { _ in someone() }
            try await withThrowingTaskGroup { tasks in
                for index in 0..<24 {
                    let user = users[(index * 7 + seed) % 3]
                    tasks.addTask {
                        if (index + seed).isMultiple(of: 2) {
                            _ = try await release(user, service)
                        } else {
                            do throws(RPCError) {
                                try await service.update(user, phone: phone(index % 4))
                            } catch {
                                #expect(["PHONE_TAKEN", "TOO_MANY_ATTEMPTS"].contains(error.reason))
                            }
                        }
                    }
                }
                try await tasks.waitForAll()
            }
            let differing = """
                SELECT count(*) FROM profiles FULL JOIN phones USING (user_id)
                WHERE profiles.phone IS DISTINCT FROM phones.phone
                """
            #expect(try await service.count(differing) == 0)
            // The events add up to the current state.
            let told =
                """
                SELECT count(*) FILTER (WHERE data ->> 'kind' = 'claimed') - count(*) FILTER (WHERE data ->> 'kind' = 'released')
                FROM work
                """
            #expect(try await service.count(told) == service.count("SELECT count(*) FROM phones"))
        }
    }
}
