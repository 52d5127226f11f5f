import API
import Models
import Postgres
import RPC
import SwiftProtobuf
import Testing

@testable import ProfileService

/// How an operator finds users, by way of identity.
@Suite(.serialized) struct FindUsersTests {
    private func named(_ text: String, _ service: ProfileFixture) async throws -> ProfileV1.FindUsersResponse {
        try await service.client.findUsers(.with { $0.namePrefix = text })
    }

    private func username(_ text: String, _ service: ProfileFixture) async throws -> [String] {
        try await service.client.findUsers(.with { $0.username = text }).userIds
    }

    @Test func `A user is found by their username in any case`() async throws {
        try await ProfileFixture.run { service in
            let maria = someone()
            try await service.update(maria, phone: phone(1), username: "Maria_S")
            for text in ["maria_s", "MARIA_S"] { #expect(try await username(text, service) == [maria.description]) }
            for text in ["maria", "maria_s ", "", "%", "maria_"] { #expect(try await username(text, service).isEmpty) }
            #expect(try await service.client.findUsers(.init()).userIds.isEmpty)
        }
    }

    @Test func `Users are found by the beginning of their names, in order of them, at most sixteen`() async throws {
        try await ProfileFixture.run { service in
            let (maria, mario, other) = (someone(), someone(), someone())
            try await service.update(mario, displayName: "mario Rossi", phone: phone(1))
            try await service.update(maria, displayName: "Maria Santos", phone: phone(2))
            try await service.update(other, displayName: "Anna-Maria", phone: phone(3))
            #expect(try await named("MARI", service).userIds == [maria.description, mario.description])
            #expect(try await named(" maria s", service).userIds == [maria.description])
            #expect(try await named("Maria Santos", service).userIds == [maria.description])
            // Neither a pattern nor the middle of a name.
            for text in ["%", "M_ria", "santos", "Maria Santos x"] {
                #expect(try await named(text, service).userIds.isEmpty, "\(text)")
            }
            for number in 4..<21 {
                try await service.update(someone(), displayName: "Zoë \(number)", phone: phone(number))
            }
            let many = try await named("Zoë", service)
            #expect(many.userIds.count == 16 && many.isIncomplete)
            #expect(try await named("Zoe\u{308}", service) == many, "in the normal form of names")
            #expect(try await !named("mari", service).isIncomplete)
            for text in ["", "  ", String(repeating: "a", count: 51), "a\nb"] {
                let error = try await failure { try await named(text, service) }
                #expect(error.code == .invalidArgument && error.reason == "DISPLAY_NAME_INVALID", "\(text)")
            }
        }
    }

    @Test func `The search by name reads an index`() async throws {
        try await ProfileFixture.run { service in
            let rows = try await service.database.withTransaction { transaction in
                // On a small table nothing else would be read.
                for way in ["seqscan", "bitmapscan"] {
                    try await transaction.execute(Query(unsafeSQL: "SET LOCAL enable_\(way) = off"))
                }
                try await transaction.execute("SET LOCAL plan_cache_mode = force_generic_plan")
                try await transaction.execute(
                    """
                    PREPARE search (text) AS SELECT user_id FROM profiles
                    WHERE display_name IS NOT NULL AND lower(left(display_name, 50)) ~>=~ lower($1)
                        AND lower(left(display_name, 50)) ~<~ (lower($1) || 'z')
                    ORDER BY lower(left(display_name, 50)) USING ~<~, user_id LIMIT 17
                    """
                )
                return try await transaction.query("EXPLAIN EXECUTE search ('mari')").map {
                    try $0.decode(0, as: String.self)
                }
            }
            let plan = rows.joined(separator: "\n")
            #expect(plan.contains("profiles_display_name") && plan.contains("Index Cond") && !plan.contains("Sort"))
        }
    }
}
