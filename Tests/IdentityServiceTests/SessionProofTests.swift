import API
import IdentityDomain
import Models
import Postgres
import RPC
import Testing

@testable import IdentityService

struct SessionProofTests {
    @Test func `A check tells how the session was proven`() async throws {
        try await TestService.run { service in
            let tokens = try await service.signIn().tokens
            let single = try await service.signInSingle()
            let proofs: [(String, IdentityV1.Proof)] = [
                ("nonce", .nonce), ("code", .code), ("fresh", .fresh), ("access_token", .accessToken),
            ]
            for (stored, told) in proofs {
                try await service.setProof(stored, of: tokens)
                try await service.setProof(stored, of: single)
                #expect(try await service.check(tokens.accessToken).proof == told)
                #expect(try await service.check(single.singleToken).proof == told)
                #expect(try await service.check(single.singleToken, dialect: "wordpress").proof == told)
            }
        }
    }

    @Test func `A session without proof is good in its dialect only`() async throws {
        try await TestService.run { service in
            let tokens = try await service.signIn().tokens
            let single = try await service.signInSingle()
            for (session, token) in [(tokens, tokens.accessToken), (single, single.singleToken)] {
                try await service.setProof("unproven", dialect: "wordpress", of: session)
                #expect(try await service.check(token, dialect: "wordpress").proof == .unproven)
                for dialect in ["", "supabase", "Wordpress", "wordpress "] {
                    await expectFailure(.unauthenticated, "SESSION_UNPROVEN") {
                        _ = try await service.check(token, dialect: dialect)
                    }
                }
            }
        }
    }

    @Test func `A renewed session stays bound`() async throws {
        try await TestService.run { service in
            let tokens = try await service.signInSingle(style: .singleForSession)
            try await service.setProof("unproven", dialect: "wordpress", of: tokens)
            let renewed = try await service.renew(tokens.singleToken)
            _ = try await service.check(renewed.singleToken, dialect: "wordpress")
            await expectFailure(.unauthenticated, "SESSION_UNPROVEN") {
                _ = try await service.check(renewed.singleToken)
            }
        }
    }

    @Test func `A use where the session is not good is no use`() async throws {
        try await TestService.run { service in
            let tokens = try await service.signInSingle()
            try await service.setProof("unproven", dialect: "wordpress", of: tokens)
            let start = service.clock.nowMilliseconds
            service.clock.advance(seconds: 7_200)
            await expectFailure(.unauthenticated, "SESSION_UNPROVEN") {
                _ = try await service.check(tokens.singleToken)
            }
            #expect(try await service.lastUsedAtMilliseconds(of: tokens) == start)
        }
    }

    @Test func `A row that contradicts itself lets nobody in`() async throws {
        let states = [
            SessionState(userID: UserID(high: 1, low: 1), proof: .unproven, dialect: nil),
            SessionState(userID: UserID(high: 1, low: 1), proof: .nonce, dialect: ""),
        ]
        for state in states {
            #expect(throws: IdentityError.sessionUnproven) { try state.checkProof(in: "") }
            #expect(throws: IdentityError.sessionUnproven) { try state.checkProof(in: "supabase") }
        }
        try await TestService.run { service in
            let tokens = try await service.signIn().tokens
            try await service.database.execute("ALTER TABLE sessions DROP CONSTRAINT sessions_proof_check")
            try await service.setProof("of another version", of: tokens)
            await expectFailure(.internalError, nil) { _ = try await service.check(tokens.accessToken) }
        }
    }
}

extension SessionState {
    fileprivate init(userID: UserID, proof: Proof, dialect: String?) {
        self.init(userID: userID, isEnded: false, endsAtMilliseconds: .max, proof: proof, dialect: dialect)
    }
}
