import IdentityDomain
import Postgres
import RPC

extension IdentityStore {
    /// Keeps what tickets stand for. An ID token has one pair of tickets at a time: if the provider's form comes again, the
    /// tickets of before are worth nothing. A token that bought a session has none.
    ///
    /// - Parameter addressCode: the client's address as a keyed hash; nil where it is nobody's.
    /// - Throws: `IdentityError.token` with `.replayed`, or `.web` with `.tooManyTickets`; or what the database throws.
    func keep(
        _ tickets: WebTickets,
        for grant: WebGrant,
        boundTo binding: WebTicketBinding,
        addressCode: [UInt8]?,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let end = PostgresTimestamp(milliseconds: nowMilliseconds + WebTickets.lifetimeSeconds * 1000)
        let rows = try await database.execute(
            """
            INSERT INTO web_tickets (
                ticket_hash, code_ticket_hash, token_fingerprint, client_id, code_challenge, content, address_key,
                created_at, expires_at)
            SELECT \(tickets.idTokenHash), \(tickets.codeHash), \(grant.fingerprint), \(binding.clientID),
                \(binding.codeChallenge), \(tickets.seal(grant, boundTo: binding)), \(addressCode), \(now), \(end)
            WHERE NOT EXISTS (SELECT FROM sign_ins WHERE fingerprint = \(grant.fingerprint))
                AND (SELECT count(*) FROM (
                    SELECT FROM web_tickets WHERE address_key = \(addressCode) LIMIT \(WebTickets.perAddressMax)) theirs)
                    < \(WebTickets.perAddressMax)
                AND (SELECT count(*) FROM (SELECT FROM web_tickets LIMIT \(WebTickets.countMax)) kept)
                    < \(WebTickets.countMax)
            ON CONFLICT (token_fingerprint) DO UPDATE SET
                ticket_hash = EXCLUDED.ticket_hash, code_ticket_hash = EXCLUDED.code_ticket_hash,
                client_id = EXCLUDED.client_id, code_challenge = EXCLUDED.code_challenge, content = EXCLUDED.content,
                address_key = EXCLUDED.address_key, created_at = EXCLUDED.created_at, expires_at = EXCLUDED.expires_at
            """,
            deadline: deadline
        )
        if rows.affected == 1 { return }
        let used = try await database.query(
            "SELECT FROM sign_ins WHERE fingerprint = \(grant.fingerprint)",
            deadline: deadline
        )
        throw used.isEmpty ? IdentityError.web(.tooManyTickets) : IdentityError.token(.replayed)
    }

    /// What is kept of tickets that are still good: what they are bound to, and what they stand for, sealed; nil for all
    /// others. They stay good until a session is opened with them, whose statement deletes their row.
    func kept(
        _ tickets: WebTickets,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws(PostgresError) -> (binding: WebTicketBinding, sealed: [UInt8])? {
        let rows = try await database.query(
            """
            SELECT client_id, code_challenge, content FROM web_tickets
            WHERE ticket_hash = \(tickets.idTokenHash) AND code_ticket_hash = \(tickets.codeHash)
                AND expires_at > \(PostgresTimestamp(milliseconds: nowMilliseconds))
            """,
            deadline: deadline
        )
        guard let row = rows.first else { return nil }
        let (clientID, codeChallenge, sealed) = try row.decode(String.self, String?.self, [UInt8].self)
        return (WebTicketBinding(clientID: clientID, codeChallenge: codeChallenge), sealed)
    }

    /// Forgets tickets that are over, at most `limit` of them, and tells how many.
    func forgetWebTickets(nowMilliseconds: Int64, limit: Int) async throws(PostgresError) -> Int {
        let rows = try await database.execute(
            """
            DELETE FROM web_tickets WHERE ticket_hash IN (
                SELECT ticket_hash FROM web_tickets
                WHERE expires_at <= \(PostgresTimestamp(milliseconds: nowMilliseconds))
                ORDER BY expires_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """
        )
        return rows.affected
    }
}
