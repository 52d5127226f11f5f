extension IdentityMigrations {
    /// Of the released tables it locks `security_events` alone.
    static let accountChanges = """
        -- The writer's transaction, by which a look knows what the one before did not see. Null in events from before. Two statements:
        -- a default in the first would rewrite the table.
        ALTER TABLE security_events ADD COLUMN xid xid8;
        ALTER TABLE security_events ALTER COLUMN xid SET DEFAULT pg_current_xact_id();

        -- What adds or removes a way into an account is written down for the targets of webhooks by the same statement.
        CREATE FUNCTION tell_account_change() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
        DECLARE
            told_type text := CASE NEW.kind
                WHEN 'provider_linked' THEN 'provider.linked'
                WHEN 'provider_unlinked' THEN 'provider.unlinked'
            END;
        BEGIN
            INSERT INTO webhook_deliveries (event_id, target, type, user_id, occurred_at, data, tried_from, next_at)
                SELECT NEW.event_id, name, told_type, NEW.user_id, NEW.occurred_at,
                    jsonb_build_object('user_id', NEW.user_id, 'provider', NEW.details -> 'provider',
                        'session_id', NEW.session_id),
                    NEW.occurred_at, NEW.occurred_at
                FROM webhook_targets WHERE told_type = ANY (types);
            RETURN NULL;
        END $$;
        CREATE TRIGGER account_changes_told AFTER INSERT ON security_events FOR EACH ROW
            WHEN (NEW.kind IN ('provider_linked', 'provider_unlinked')) EXECUTE FUNCTION tell_account_change();
        """

    /// Indexes of what happens seldom in the audit log: accounts have many sign-ins and ends of sessions, and few other events.
    static let rareEvents = "kind NOT IN ('signed_in', 'session_ended')"

    /// Of the released tables it locks `provider_identities` alone.
    static let linkTimes = """
        -- When an identity came to its account, if that was later than its own beginning: it was another account's before.
        ALTER TABLE provider_identities ADD COLUMN linked_at timestamptz;
        """

    /// Of the released tables it locks `phone_proofs` alone.
    static let provenSignIns = """
        -- Whether the sign-in that brought the number was itself proven by a nonce or a code. Null in what the version before wrote: it
        -- opens no imported account.
        ALTER TABLE phone_proofs ADD COLUMN is_sign_in_proven boolean;
        """
}
