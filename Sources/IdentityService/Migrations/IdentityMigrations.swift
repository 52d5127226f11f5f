import Postgres
import ServiceStore

/// The schema "identity", forward only: a migration that was released is never changed.
public enum IdentityMigrations {
    /// All migrations, in order.
    public static let all: [Migration] = [
        Migration(number: 1, name: "accounts, provider identities, sessions, sign-ins", sql: accountsAndSessions),
        Migration(number: 2, name: "an end for all sessions, and where e-mails are from", sql: endOfAllSessions),
        Migration(number: 3, name: "who registered without proof", sql: registeredUnproven),
        Migration(number: 4, name: "how sessions were proven", sql: proofsOfSessions),
        Migration(number: 5, name: "account numbers", sql: accountNumbers),
        Migration(
            number: 6,
            name: "accounts by number",
            concurrentIndex: "accounts_number",
            on: "accounts (number)",
            isUnique: true
        ),
        Migration(number: 7, name: "metadata, reserved e-mails, codes, tickets, what is told once", sql: newTables),
        Migration(number: 8, name: "which tokens of sessions were received", sql: receivedNumbers),
        Migration(number: 9, name: "security events, and a cap on sessions", sql: securityEvents),
        Migration(number: 10, name: "sessions as they end", sql: revocations),
        Migration(number: 11, name: "closed accounts, and what others are told of them", sql: closings),
        Migration(number: 12, name: "what providers granted", sql: providerGrants),
        Migration(number: 13, name: "what providers tell of their people", sql: providerNotices),
        Migration(number: 14, name: "sessions of providers that were unlinked", sql: unlinkedSessions),
        Migration(number: 15, name: "blocked accounts", sql: blocking),
        Migration(
            number: 16,
            name: "identities by e-mail, for operators",
            concurrentIndex: "provider_identities_email",
            on: "provider_identities (lower(email))"
        ),
        Migration(number: 17, name: "webhooks", sql: webhooks),
        Migration(number: 18, name: "people on the way to another team of Apple's", sql: appleTransfers),
        Migration(number: 19, name: "absorptions of accounts", sql: absorptions),
        Migration(number: 20, name: "events of proven phone numbers", sql: phoneProofEvents),
        Migration(number: 21, name: "proven phone numbers", sql: phoneProofs),
        Migration(number: 22, name: "phone numbers that providers told", sql: toldPhones),
        Migration(number: 23, name: "imported accounts", sql: importedAccounts),
        Migration(number: 24, name: "what became of told phone numbers", sql: settledPhones),
        Migration(number: 25, name: "of which phone numbers assertions are", sql: assertedPhones),
        Migration(number: 26, name: "ids of imported accounts", sql: importedIDs),
        Migration(number: 27, name: "openings of imported accounts", sql: accountOpenings),
        Migration(number: 28, name: "changes of accounts, for their owners", sql: accountChanges),
        Migration(
            number: 29,
            name: "rare security events by account",
            concurrentIndex: "security_events_rare",
            on: "security_events (user_id, event_id) WHERE \(rareEvents)"
        ),
        Migration(
            number: 30,
            name: "rare security events by transaction",
            concurrentIndex: "security_events_rare_xid",
            on: "security_events (xid) WHERE \(rareEvents)"
        ),
        Migration(number: 31, name: "when identities came to their accounts", sql: linkTimes),
        Migration(number: 32, name: "proof of the sign-ins that bring numbers", sql: provenSignIns),
        Migration(number: 33, name: "absorptions that failed", sql: postponedAbsorptions),
        Migration(number: 34, name: "whose names are kept that were told once", sql: toldNames),
        Migration(
            number: 35,
            name: "names that were told once, by person",
            concurrentIndex: "told_once_person",
            on: "told_once (provider, subject) WHERE subject IS NOT NULL"
        ),
        Migration(number: 36, name: "verified reservations of e-mail addresses", sql: verifiedReservations),
        Migration(number: 37, name: "counts of quotas", sql: QuotaStore.table),
        Migration(number: 38, name: "scheduled deletions", sql: scheduledDeletions),
        Migration(number: 39, name: "events of scheduled deletions", sql: scheduledDeletionEvents),
    ]

    // From 3 on each migration locks one of the released tables, and makes no index on it while others wait. A migration keeps
    // its locks until its end: with two of them it meets statements that lock the same tables in the other order, and one of
    // the two is undone.

    private static let registeredUnproven = """
        -- The dialect in which somebody registered as this person without proof; null once anybody proved it.
        ALTER TABLE provider_identities ADD COLUMN unproven_dialect text;

        -- The first proof ends what was opened without. A trigger sees the sessions that were committed while the statement
        -- waited for the identity's row; the statement itself sees those from before it began. Locks go by the key, as those of
        -- statements that are committed together.
        CREATE FUNCTION end_unproven_sessions() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
        BEGIN
            UPDATE sessions SET revoked_at = NEW.last_sign_in_at, revoke_reason = 'proven',
                expires_at = LEAST(expires_at, NEW.last_sign_in_at)
            WHERE session_id IN (
                SELECT session_id FROM sessions
                WHERE user_id = NEW.user_id AND provider = NEW.provider AND proof = 'unproven' AND revoked_at IS NULL
                ORDER BY session_id FOR UPDATE);
            RETURN NULL;
        END $$;
        CREATE TRIGGER provider_identities_proven AFTER UPDATE ON provider_identities FOR EACH ROW
            WHEN (OLD.unproven_dialect IS NOT NULL AND NEW.unproven_dialect IS NULL)
            EXECUTE FUNCTION end_unproven_sessions();
        """

    private static let proofsOfSessions = """
        -- How a session was proven; null in those from before. A dialect only in those without proof, which are good there alone.
        ALTER TABLE sessions ADD COLUMN proof text, ADD COLUMN dialect text;
        ALTER TABLE sessions ADD CONSTRAINT sessions_proof_check
            CHECK (proof IN ('nonce', 'code', 'fresh', 'access_token', 'unproven')
                AND (proof = 'unproven') = (dialect IS NOT NULL)) NOT VALID;
        ALTER TABLE sessions DROP CONSTRAINT sessions_revoke_reason_check;
        ALTER TABLE sessions ADD CONSTRAINT sessions_revoke_reason_check
            CHECK (revoke_reason IN ('sign_out', 'reuse', 'end_all', 'proven')) NOT VALID;

        -- The version before proves sign-ins and knows nothing of those without proof: what it opens ends them too.
        CREATE FUNCTION end_unproven_registration() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
        BEGIN
            UPDATE provider_identities SET unproven_dialect = NULL
            WHERE user_id = NEW.user_id AND provider = NEW.provider AND unproven_dialect IS NOT NULL;
            RETURN NULL;
        END $$;
        CREATE TRIGGER sessions_from_before AFTER INSERT ON sessions FOR EACH ROW WHEN (NEW.proof IS NULL)
            EXECUTE FUNCTION end_unproven_registration();
        """

    private static let receivedNumbers = """
        -- Refresh tokens are numbered as they are issued: generation is the newest, base the newest that was received, previous
        -- the one received before it, first_child the oldest issued since. All are null in rows that only the version before
        -- wrote, where base is generation - 1: it moves on generation alone.
        ALTER TABLE sessions ADD COLUMN base bigint, ADD COLUMN previous bigint, ADD COLUMN first_child bigint,
            ADD COLUMN acknowledged_at timestamptz;
        ALTER TABLE sessions ADD CONSTRAINT sessions_numbers_check
            CHECK (previous <= base AND base < first_child AND first_child <= generation + 1) NOT VALID;
        """

    private static let accountNumbers = """
        -- A number for dialects that need one. Accounts from before get theirs when it is first asked for: a default in the
        -- same statement would rewrite the table.
        CREATE SEQUENCE account_numbers AS bigint MAXVALUE 9007199254740991;
        ALTER TABLE accounts ADD COLUMN number bigint;
        ALTER TABLE accounts ALTER COLUMN number SET DEFAULT nextval('account_numbers');
        ALTER SEQUENCE account_numbers OWNED BY accounts.number;
        """

    private static let newTables = """
        -- What an app keeps of its own with an account: a JSON object.
        CREATE TABLE user_metadata (
            user_id uuid PRIMARY KEY REFERENCES accounts ON DELETE CASCADE,
            metadata text NOT NULL CHECK (octet_length(metadata) <= 16384),
            updated_at timestamptz NOT NULL
        );

        -- E-mail addresses in lower case that no two accounts of a dialect may have. No key to any account.
        CREATE TABLE email_reservations (
            dialect text NOT NULL,
            email text NOT NULL,
            user_id uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
            created_at timestamptz NOT NULL,
            PRIMARY KEY (dialect, email)
        );
        CREATE INDEX email_reservations_user_id ON email_reservations (user_id);

        -- Name and e-mail that came with credentials which couldn't be verified at that moment. Nobody sees them until the
        -- same credentials prove themselves; by address as a keyed hash, so that nobody fills the table alone.
        CREATE TABLE told_once (
            fingerprint bytea PRIMARY KEY CHECK (octet_length(fingerprint) = 32),
            provider text NOT NULL,
            full_name text,
            email text,
            address_key bytea,
            created_at timestamptz NOT NULL,
            expires_at timestamptz NOT NULL
        );
        CREATE INDEX told_once_expires_at ON told_once (expires_at);
        CREATE INDEX told_once_address_key ON told_once (address_key);

        -- Authorization codes that are being exchanged or were: who holds the claim exchanges, the others wait. What came
        -- of it is sealed under a key that only the code gives.
        CREATE TABLE code_exchanges (
            code_hash bytea PRIMARY KEY CHECK (octet_length(code_hash) = 32),
            claim_id uuid NOT NULL,
            claimed_until timestamptz NOT NULL,
            exchanged_at timestamptz,
            content bytea,
            expires_at timestamptz NOT NULL,
            CHECK ((exchanged_at IS NULL) = (content IS NULL))
        );
        CREATE INDEX code_exchanges_expires_at ON code_exchanges (expires_at);

        -- Tickets of sign-ins in a browser, taken once; an ID token has one pair at a time. The content is sealed under a key
        -- that only the tickets give; by address as a keyed hash, so that nobody fills the table alone.
        CREATE TABLE web_tickets (
            ticket_hash bytea PRIMARY KEY CHECK (octet_length(ticket_hash) = 32),
            code_ticket_hash bytea NOT NULL CHECK (octet_length(code_ticket_hash) = 32),
            token_fingerprint bytea NOT NULL UNIQUE CHECK (octet_length(token_fingerprint) = 32),
            client_id text NOT NULL,
            code_challenge text,
            content bytea NOT NULL,
            address_key bytea,
            created_at timestamptz NOT NULL,
            expires_at timestamptz NOT NULL
        );
        CREATE INDEX web_tickets_expires_at ON web_tickets (expires_at);
        CREATE INDEX web_tickets_address_key ON web_tickets (address_key);
        """

    private static let endOfAllSessions = """
        -- One row: sessions that were begun before sessions_from have been ended, all of them at once, and provider tokens
        -- that were issued before it buy none. Each check of a session reads it in the same statement.
        CREATE TABLE session_epoch (
            is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
            sessions_from timestamptz NOT NULL
        );
        INSERT INTO session_epoch (sessions_from) VALUES ('-infinity');

        ALTER TABLE sessions DROP CONSTRAINT sessions_revoke_reason_check;
        ALTER TABLE sessions ADD CONSTRAINT sessions_revoke_reason_check
            CHECK (revoke_reason IN ('sign_out', 'reuse', 'end_all')) NOT VALID;

        -- Whether only the app told the e-mail. Of those that are there nobody knows: they count as the provider's.
        ALTER TABLE provider_identities ADD COLUMN is_email_told boolean NOT NULL DEFAULT false;
        """

    private static let accountsAndSessions = """
        CREATE TABLE accounts (
            user_id uuid PRIMARY KEY,
            created_at timestamptz NOT NULL
        );

        -- A provider's name for a person. E-mail is to show and to write to, never a key.
        CREATE TABLE provider_identities (
            provider text NOT NULL,
            subject text NOT NULL,
            user_id uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
            email text,
            is_email_verified boolean NOT NULL,
            is_private_email boolean NOT NULL,
            told_name text,
            real_user_status smallint,
            created_at timestamptz NOT NULL,
            last_sign_in_at timestamptz NOT NULL,
            PRIMARY KEY (provider, subject)
        );
        CREATE INDEX provider_identities_user_id ON provider_identities (user_id, created_at);

        -- One row a session. A refresh token is an HMAC over session, generation and nonce, so none is stored.
        -- Refreshes change no indexed column: with the room that fillfactor leaves they stay on their page.
        CREATE TABLE sessions (
            session_id uuid PRIMARY KEY,
            user_id uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
            provider text NOT NULL,
            client_id text NOT NULL,
            device_name text,
            opened_account boolean NOT NULL,
            nonce bytea NOT NULL CHECK (octet_length(nonce) = 16),
            generation bigint NOT NULL DEFAULT 0 CHECK (generation BETWEEN 0 AND 4294967295),
            created_at timestamptz NOT NULL,
            last_used_at timestamptz NOT NULL,
            rotated_at timestamptz,
            expires_at timestamptz NOT NULL,
            revoked_at timestamptz,
            revoke_reason text CHECK (revoke_reason IN ('sign_out', 'reuse')),
            CHECK ((revoked_at IS NULL) = (revoke_reason IS NULL))
        ) WITH (fillfactor = 80);
        CREATE INDEX sessions_user_id ON sessions (user_id);
        CREATE INDEX sessions_expires_at ON sessions (expires_at);

        -- Provider tokens that bought a session, until the token itself would be refused.
        CREATE TABLE sign_ins (
            fingerprint bytea PRIMARY KEY CHECK (octet_length(fingerprint) = 32),
            session_id uuid NOT NULL,
            created_at timestamptz NOT NULL,
            expires_at timestamptz NOT NULL
        );
        CREATE INDEX sign_ins_expires_at ON sign_ins (expires_at);
        """
}
