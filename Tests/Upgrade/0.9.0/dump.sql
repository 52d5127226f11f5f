--
-- PostgreSQL database dump
--


-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: identity; Type: SCHEMA; Schema: -; Owner: vestibule_identity_owner
--

CREATE SCHEMA identity;


ALTER SCHEMA identity OWNER TO vestibule_identity_owner;

--
-- Name: invites; Type: SCHEMA; Schema: -; Owner: vestibule_invites_owner
--

CREATE SCHEMA invites;


ALTER SCHEMA invites OWNER TO vestibule_invites_owner;

--
-- Name: profile; Type: SCHEMA; Schema: -; Owner: vestibule_profile_owner
--

CREATE SCHEMA profile;


ALTER SCHEMA profile OWNER TO vestibule_profile_owner;

--
-- Name: end_excess_sessions(uuid, uuid, integer, timestamp with time zone, timestamp with time zone); Type: FUNCTION; Schema: identity; Owner: vestibule_identity_owner
--

CREATE FUNCTION identity.end_excess_sessions(of_user uuid, new_session uuid, kept integer, at timestamp with time zone, idle_start timestamp with time zone) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'identity'
    AS $$
DECLARE
    is_blocked boolean;
    excess uuid[];
    ended integer;
BEGIN
    SELECT blocked_at IS NOT NULL INTO is_blocked FROM accounts WHERE user_id = of_user FOR NO KEY UPDATE;
    IF is_blocked THEN RAISE EXCEPTION 'the account is blocked' USING ERRCODE = 'VB001'; END IF;
    SELECT array_agg(session_id) INTO excess FROM (
        SELECT session_id FROM sessions
        WHERE user_id = of_user AND session_id <> new_session AND revoked_at IS NULL AND expires_at > at
            AND last_used_at > idle_start AND created_at >= (SELECT sessions_from FROM session_epoch)
        ORDER BY last_used_at DESC, session_id DESC OFFSET kept
    ) used_longest_ago;
    IF excess IS NULL THEN RETURN 0; END IF;
    PERFORM FROM sessions
    WHERE revoked_at IS NULL AND (session_id = ANY (excess) OR user_id = of_user AND proof = 'unproven')
    ORDER BY session_id FOR UPDATE;
    UPDATE sessions SET revoked_at = at, revoke_reason = 'too_many', expires_at = LEAST(expires_at, at)
    WHERE session_id = ANY (excess) AND revoked_at IS NULL;
    GET DIAGNOSTICS ended = ROW_COUNT;
    RETURN ended;
END $$;


ALTER FUNCTION identity.end_excess_sessions(of_user uuid, new_session uuid, kept integer, at timestamp with time zone, idle_start timestamp with time zone) OWNER TO vestibule_identity_owner;

--
-- Name: end_unproven_sessions(); Type: FUNCTION; Schema: identity; Owner: vestibule_identity_owner
--

CREATE FUNCTION identity.end_unproven_sessions() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'identity'
    AS $$
BEGIN
    UPDATE sessions SET revoked_at = NEW.last_sign_in_at, revoke_reason = 'proven',
        expires_at = LEAST(expires_at, NEW.last_sign_in_at)
    WHERE session_id IN (
        SELECT session_id FROM sessions
        WHERE user_id = NEW.user_id AND provider = NEW.provider AND proof = 'unproven' AND revoked_at IS NULL
        ORDER BY session_id FOR UPDATE);
    RETURN NULL;
END $$;


ALTER FUNCTION identity.end_unproven_sessions() OWNER TO vestibule_identity_owner;

--
-- Name: forget_security_events(timestamp with time zone, integer); Type: FUNCTION; Schema: identity; Owner: vestibule_identity_owner
--

CREATE FUNCTION identity.forget_security_events(before timestamp with time zone, most integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'identity', 'pg_temp'
    AS $$
DECLARE forgotten integer;
BEGIN
    DELETE FROM security_events WHERE event_id IN (
        SELECT event_id FROM security_events
        WHERE event_id < security_event_id(LEAST(before, now() - interval '30 days'), true)
        ORDER BY event_id LIMIT most FOR UPDATE SKIP LOCKED);
    GET DIAGNOSTICS forgotten = ROW_COUNT;
    RETURN forgotten;
END $$;


ALTER FUNCTION identity.forget_security_events(before timestamp with time zone, most integer) OWNER TO vestibule_identity_owner;

--
-- Name: log_all_revocations(); Type: FUNCTION; Schema: identity; Owner: vestibule_identity_owner
--

CREATE FUNCTION identity.log_all_revocations() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'identity'
    AS $$
BEGIN
    INSERT INTO revocations (session_id, reason)
        SELECT session_id, 'removed' FROM sessions WHERE revoked_at IS NULL AND expires_at > now();
    RETURN NULL;
END $$;


ALTER FUNCTION identity.log_all_revocations() OWNER TO vestibule_identity_owner;

--
-- Name: log_revocation(); Type: FUNCTION; Schema: identity; Owner: vestibule_identity_owner
--

CREATE FUNCTION identity.log_revocation() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'identity'
    AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        INSERT INTO revocations (session_id, reason) VALUES (OLD.session_id, 'removed');
    ELSE
        INSERT INTO revocations (session_id, reason) VALUES (OLD.session_id, NEW.revoke_reason);
    END IF;
    RETURN NULL;
END $$;


ALTER FUNCTION identity.log_revocation() OWNER TO vestibule_identity_owner;

--
-- Name: security_event_id(timestamp with time zone, boolean); Type: FUNCTION; Schema: identity; Owner: vestibule_identity_owner
--

CREATE FUNCTION identity.security_event_id(at timestamp with time zone, is_first boolean) RETURNS uuid
    LANGUAGE sql
    AS $$
    SELECT CASE WHEN is_first THEN rpad(lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0'), 32, '0')
        ELSE encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
            PLACING substring(int8send((extract(epoch FROM at) * 1000)::bigint) FROM 3) FROM 1 FOR 6), 52, 1), 53, 1),
            'hex') END::uuid
$$;


ALTER FUNCTION identity.security_event_id(at timestamp with time zone, is_first boolean) OWNER TO vestibule_identity_owner;

--
-- Name: tell_of_session(); Type: FUNCTION; Schema: identity; Owner: vestibule_identity_owner
--

CREATE FUNCTION identity.tell_of_session() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'identity'
    AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO security_events (event_id, user_id, session_id, kind, occurred_at, details) VALUES (
            security_event_id(NEW.last_used_at, false), NEW.user_id, NEW.session_id, 'signed_in', NEW.last_used_at,
            jsonb_strip_nulls(jsonb_build_object('provider', NEW.provider, 'client_id', NEW.client_id,
                'proof', NEW.proof, 'dialect', NEW.dialect, 'opened_account', NEW.opened_account)));
    ELSE
        INSERT INTO security_events (event_id, user_id, session_id, kind, occurred_at, details) VALUES (
            security_event_id(NEW.revoked_at, false), NEW.user_id, NEW.session_id,
            CASE NEW.revoke_reason WHEN 'reuse' THEN 'reuse_detected' ELSE 'session_ended' END, NEW.revoked_at,
            jsonb_build_object('reason', NEW.revoke_reason));
    END IF;
    RETURN NULL;
END $$;


ALTER FUNCTION identity.tell_of_session() OWNER TO vestibule_identity_owner;

--
-- Name: tell_webhooks(); Type: FUNCTION; Schema: identity; Owner: vestibule_identity_owner
--

CREATE FUNCTION identity.tell_webhooks() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'identity'
    AS $$
DECLARE
    told_type text;
    told_data jsonb;
BEGIN
    CASE NEW.kind
        WHEN 'signed_in' THEN
            told_type := 'account.created';
            told_data := jsonb_build_object('user_id', NEW.user_id,
                'provider', NEW.details -> 'provider', 'client_id', NEW.details -> 'client_id');
        WHEN 'account_deleted', 'account_closed' THEN
            told_type := 'account.deleted';
            told_data := jsonb_build_object('user_id', NEW.user_id,
                'reason', coalesce(NEW.details -> 'reason', NEW.details -> 'by'));
        WHEN 'all_sessions_ended' THEN
            told_type := 'session.ended';
            told_data := jsonb_build_object('user_id', NULL, 'session_id', NULL, 'reason', 'end_all',
                'sessions_from', NEW.details -> 'sessions_from');
        WHEN 'provider_linked', 'provider_unlinked' THEN
            told_type := replace(NEW.kind, '_', '.');
            told_data := jsonb_build_object('user_id', NEW.user_id, 'provider', NEW.details -> 'provider',
                'session_id', NEW.session_id);
        WHEN 'deletion_scheduled', 'deletion_cancelled' THEN
            told_type := 'account.' || NEW.kind;
            told_data := jsonb_build_object('user_id', NEW.user_id, 'session_id', NEW.session_id) || NEW.details;
        ELSE
            told_type := 'session.ended';
            told_data := jsonb_build_object('user_id', NEW.user_id, 'session_id', NEW.session_id,
                'reason', coalesce(NEW.details -> 'reason', '"reuse"'));
    END CASE;
    INSERT INTO work (queue, event_id, user_id, created_at, data)
        SELECT 'webhooks.' || name, NEW.event_id, NEW.user_id, NEW.occurred_at,
            webhook_event(told_type, NEW.occurred_at, told_data)
        FROM webhook_targets WHERE told_type = ANY (types);
    RETURN NULL;
END $$;


ALTER FUNCTION identity.tell_webhooks() OWNER TO vestibule_identity_owner;

--
-- Name: webhook_event(text, timestamp with time zone, jsonb); Type: FUNCTION; Schema: identity; Owner: vestibule_identity_owner
--

CREATE FUNCTION identity.webhook_event(type text, occurred_at timestamp with time zone, data jsonb) RETURNS jsonb
    LANGUAGE sql STABLE
    AS $$
    SELECT jsonb_build_object('type', type, 'data', data,
        'timestamp', to_char(occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
$$;


ALTER FUNCTION identity.webhook_event(type text, occurred_at timestamp with time zone, data jsonb) OWNER TO vestibule_identity_owner;

--
-- Name: end_proof(); Type: FUNCTION; Schema: invites; Owner: vestibule_invites_owner
--

CREATE FUNCTION invites.end_proof() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'invites'
    AS $$
BEGIN
    NEW.proven_by = NULL;
    RETURN NEW;
END $$;


ALTER FUNCTION invites.end_proof() OWNER TO vestibule_invites_owner;

--
-- Name: log_added_members(); Type: FUNCTION; Schema: invites; Owner: vestibule_invites_owner
--

CREATE FUNCTION invites.log_added_members() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'invites'
    AS $$
BEGIN
    INSERT INTO group_events (kind, user_id, group_id, member_id)
        SELECT 'group.joined', user_id, group_id, member_id FROM rows WHERE user_id IS NOT NULL
        UNION ALL
        SELECT DISTINCT 'member.changed', NULL::uuid, group_id,
            CASE WHEN count(*) OVER (PARTITION BY group_id) <= 16 THEN member_id END
        FROM rows
        UNION ALL
        SELECT DISTINCT 'invitation.changed', p.user_id, NULL::uuid, NULL::uuid
        FROM rows r JOIN groups g ON g.group_id = r.group_id AND g.openness <> 'open'
        CROSS JOIN LATERAL (SELECT user_id FROM phones WHERE phone = r.phone OFFSET 0) p
        WHERE r.user_id IS NULL AND p.user_id IS NOT NULL;
    RETURN NULL;
END $$;


ALTER FUNCTION invites.log_added_members() OWNER TO vestibule_invites_owner;

--
-- Name: log_changed_group(); Type: FUNCTION; Schema: invites; Owner: vestibule_invites_owner
--

CREATE FUNCTION invites.log_changed_group() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'invites'
    AS $$
BEGIN
    INSERT INTO group_events (kind, user_id, group_id, member_id)
        SELECT 'group.changed', NULL::uuid, NEW.group_id, NULL::uuid
        UNION ALL
        -- Whose invitations show it.
        SELECT 'invitation.changed', NULL::uuid, NEW.group_id, NULL::uuid
        WHERE NEW.openness <> 'open'
        UNION ALL
        -- When it is told, they are invited no more.
        SELECT DISTINCT 'invitation.changed', p.user_id, NULL::uuid, NULL::uuid
        FROM members m CROSS JOIN LATERAL (SELECT user_id FROM phones WHERE phone = m.phone OFFSET 0) p
        WHERE OLD.openness <> 'open' AND NEW.openness = 'open' AND p.user_id IS NOT NULL
            AND m.group_id = NEW.group_id AND m.user_id IS NULL AND m.declined_by IS DISTINCT FROM p.user_id
            AND EXISTS (SELECT FROM unnest(m.added_by || m.also_added_by) inviter
                WHERE NOT EXISTS (SELECT FROM blocked_inviters b
                    WHERE b.user_id = p.user_id AND b.inviter_user_id = inviter));
    RETURN NULL;
END $$;


ALTER FUNCTION invites.log_changed_group() OWNER TO vestibule_invites_owner;

--
-- Name: log_changed_member(); Type: FUNCTION; Schema: invites; Owner: vestibule_invites_owner
--

CREATE FUNCTION invites.log_changed_member() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'invites'
    AS $$
BEGIN
    IF OLD.user_id IS DISTINCT FROM NEW.user_id THEN
        INSERT INTO group_events (kind, user_id, group_id, member_id)
            SELECT 'group.left', OLD.user_id, OLD.group_id, OLD.member_id WHERE OLD.user_id IS NOT NULL
            UNION ALL
            SELECT 'group.joined', NEW.user_id, NEW.group_id, NEW.member_id WHERE NEW.user_id IS NOT NULL
            UNION ALL
            SELECT 'member.changed', NULL::uuid, NEW.group_id, NEW.member_id;
    ELSIF (OLD.phone, OLD.display_name, OLD.role, OLD.confirmed_by, OLD.unconfirmed_at)
        IS DISTINCT FROM (NEW.phone, NEW.display_name, NEW.role, NEW.confirmed_by, NEW.unconfirmed_at) THEN
        INSERT INTO group_events (kind, group_id, member_id) VALUES ('member.changed', NEW.group_id, NEW.member_id);
    END IF;
    IF (OLD.user_id IS NULL OR NEW.user_id IS NULL)
        AND EXISTS (SELECT FROM groups WHERE group_id = NEW.group_id AND openness <> 'open') THEN
        INSERT INTO group_events (kind, user_id)
            SELECT DISTINCT 'invitation.changed', p.user_id
            FROM (SELECT user_id FROM phones WHERE phone IN (OLD.phone, NEW.phone) OFFSET 0) p
            WHERE p.user_id IS NOT NULL;
    END IF;
    RETURN NULL;
END $$;


ALTER FUNCTION invites.log_changed_member() OWNER TO vestibule_invites_owner;

--
-- Name: log_join_request(); Type: FUNCTION; Schema: invites; Owner: vestibule_invites_owner
--

CREATE FUNCTION invites.log_join_request() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'invites'
    AS $$
DECLARE
    request join_requests;
BEGIN
    IF TG_OP = 'DELETE' THEN request = OLD; ELSE request = NEW; END IF;
    INSERT INTO group_events (kind, user_id, group_id, member_id)
        SELECT 'invitation.changed', request.user_id, NULL::uuid, NULL::uuid
        UNION ALL
        SELECT DISTINCT 'member.changed', who.user_id, request.group_id, request.member_id
        FROM groups g JOIN members who ON who.group_id = g.group_id AND who.linked_at IS NOT NULL
            AND (who.role = 'admin' OR who.user_id = g.owner_user_id)
        WHERE g.group_id = request.group_id;
    RETURN NULL;
END $$;


ALTER FUNCTION invites.log_join_request() OWNER TO vestibule_invites_owner;

--
-- Name: log_number(); Type: FUNCTION; Schema: invites; Owner: vestibule_invites_owner
--

CREATE FUNCTION invites.log_number() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'invites'
    AS $$
DECLARE
    number text;
    people uuid[] = '{}';
BEGIN
    IF TG_OP <> 'INSERT' THEN number = OLD.phone; people = people || OLD.user_id; END IF;
    IF TG_OP <> 'DELETE' THEN number = NEW.phone; people = people || NEW.user_id; END IF;
    -- Mostly only open groups wait for a number, or none.
    IF NOT EXISTS (
        SELECT FROM members m JOIN groups g ON g.group_id = m.group_id AND g.openness <> 'open'
        WHERE m.phone = number AND m.user_id IS NULL) THEN RETURN NULL; END IF;
    INSERT INTO group_events (kind, user_id, group_id, member_id)
        SELECT 'invitation.changed', person, NULL::uuid, NULL::uuid FROM unnest(people) person
        WHERE person IS NOT NULL
        UNION ALL
        SELECT DISTINCT 'member.changed', who.user_id, m.group_id, m.member_id
        FROM members m JOIN groups g ON g.group_id = m.group_id AND g.openness = 'confirm'
        JOIN members who ON who.group_id = m.group_id AND who.linked_at IS NOT NULL
            AND (who.role = 'admin' OR who.user_id IN (g.owner_user_id, m.added_by) OR who.user_id = ANY(m.also_added_by))
        WHERE m.phone = number AND m.user_id IS NULL AND EXISTS (
            SELECT FROM unnest(people) person
            WHERE person IS NOT NULL AND person IS DISTINCT FROM m.declined_by
                AND NOT EXISTS (SELECT FROM blocked_inviters b
                    WHERE b.user_id = person AND b.inviter_user_id = who.user_id)
                AND EXISTS (SELECT FROM unnest(m.added_by || m.also_added_by) inviter
                    WHERE NOT EXISTS (SELECT FROM blocked_inviters b
                        WHERE b.user_id = person AND b.inviter_user_id = inviter)));
    RETURN NULL;
END $$;


ALTER FUNCTION invites.log_number() OWNER TO vestibule_invites_owner;

--
-- Name: log_proof(); Type: FUNCTION; Schema: invites; Owner: vestibule_invites_owner
--

CREATE FUNCTION invites.log_proof() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'invites'
    AS $$
BEGIN
    INSERT INTO group_events (kind, group_id, member_id)
        SELECT 'member.changed', group_id, member_id FROM members
        WHERE user_id = NEW.user_id AND phone = NEW.phone AND confirmed_by IS NULL AND role = 'member';
    RETURN NULL;
END $$;


ALTER FUNCTION invites.log_proof() OWNER TO vestibule_invites_owner;

--
-- Name: log_removed_members(); Type: FUNCTION; Schema: invites; Owner: vestibule_invites_owner
--

CREATE FUNCTION invites.log_removed_members() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'invites'
    AS $$
BEGIN
    INSERT INTO group_events (kind, user_id, group_id, member_id)
        SELECT 'group.left', user_id, group_id, member_id FROM rows WHERE user_id IS NOT NULL
        UNION ALL
        SELECT DISTINCT 'member.changed', NULL::uuid, group_id,
            CASE WHEN count(*) OVER (PARTITION BY group_id) <= 16 THEN member_id END
        FROM rows
        UNION ALL
        -- Whatever its openness was: its row may be gone by now.
        SELECT DISTINCT 'invitation.changed', p.user_id, NULL::uuid, NULL::uuid
        FROM rows r CROSS JOIN LATERAL (SELECT user_id FROM phones WHERE phone = r.phone OFFSET 0) p
        WHERE r.user_id IS NULL AND p.user_id IS NOT NULL;
    RETURN NULL;
END $$;


ALTER FUNCTION invites.log_removed_members() OWNER TO vestibule_invites_owner;

SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: absorptions; Type: TABLE; Schema: identity; Owner: vestibule_identity_owner
--

CREATE TABLE identity.absorptions (
    absorption_id uuid NOT NULL,
    absorbed uuid NOT NULL,
    absorber uuid NOT NULL,
    asker uuid NOT NULL,
    fingerprints bytea[] NOT NULL,
    state text NOT NULL,
    may_turn boolean NOT NULL,
    begun_at timestamp with time zone NOT NULL,
    held_until timestamp with time zone NOT NULL,
    failures integer DEFAULT 0 NOT NULL,
    retry_at timestamp with time zone,
    CONSTRAINT absorptions_check CHECK (((absorbed <> absorber) AND ((asker = absorbed) OR (asker = absorber)))),
    CONSTRAINT absorptions_state_check CHECK ((state = ANY (ARRAY['asking'::text, 'closing'::text, 'reopening'::text, 'moving'::text])))
);


ALTER TABLE identity.absorptions OWNER TO vestibule_identity_owner;

--
-- Name: account_closings; Type: TABLE; Schema: identity; Owner: vestibule_identity_owner
--

CREATE TABLE identity.account_closings (
    user_id uuid NOT NULL,
    why text NOT NULL,
    closed_at timestamp with time zone NOT NULL,
    consents_left text[] DEFAULT '{}'::text[] NOT NULL,
    profile_done_at timestamp with time zone,
    invites_done_at timestamp with time zone,
    CONSTRAINT account_closings_why_check CHECK ((why = ANY (ARRAY['deleted'::text, 'operator'::text, 'provider_notice'::text, 'absorbed'::text])))
);


ALTER TABLE identity.account_closings OWNER TO vestibule_identity_owner;

--
-- Name: accounts; Type: TABLE; Schema: identity; Owner: vestibule_identity_owner
--

CREATE TABLE identity.accounts (
    user_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    number bigint NOT NULL,
    blocked_at timestamp with time zone,
    block_reason text,
    imported_at timestamp with time zone
);


ALTER TABLE identity.accounts OWNER TO vestibule_identity_owner;

--
-- Name: account_numbers; Type: SEQUENCE; Schema: identity; Owner: vestibule_identity_owner
--

CREATE SEQUENCE identity.account_numbers
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    MAXVALUE 9007199254740991
    CACHE 1;


ALTER TABLE identity.account_numbers OWNER TO vestibule_identity_owner;

--
-- Name: account_numbers; Type: SEQUENCE OWNED BY; Schema: identity; Owner: vestibule_identity_owner
--

ALTER SEQUENCE identity.account_numbers OWNED BY identity.accounts.number;


--
-- Name: account_openings; Type: TABLE; Schema: identity; Owner: vestibule_identity_owner
--

CREATE TABLE identity.account_openings (
    absorption_id uuid NOT NULL,
    ground text NOT NULL,
    operator text,
    CONSTRAINT account_openings_check CHECK (((operator IS NULL) OR (ground = 'operator'::text))),
    CONSTRAINT account_openings_ground_check CHECK ((ground = ANY (ARRAY['provider'::text, 'assertion'::text, 'operator'::text])))
);


ALTER TABLE identity.account_openings OWNER TO vestibule_identity_owner;

--
-- Name: apple_transfers; Type: TABLE; Schema: identity; Owner: vestibule_identity_owner
--

CREATE TABLE identity.apple_transfers (
    provider text NOT NULL,
    subject text NOT NULL,
    from_team text NOT NULL,
    to_team text NOT NULL,
    transfer_sub text,
    exported_at timestamp with time zone NOT NULL,
    imported_at timestamp with time zone,
    CONSTRAINT apple_transfers_check CHECK (((transfer_sub IS NULL) = (imported_at IS NOT NULL))),
    CONSTRAINT apple_transfers_provider_check CHECK ((provider = 'apple'::text))
);


ALTER TABLE identity.apple_transfers OWNER TO vestibule_identity_owner;

--
-- Name: code_exchanges; Type: TABLE; Schema: identity; Owner: vestibule_identity_owner
--

CREATE TABLE identity.code_exchanges (
    code_hash bytea NOT NULL,
    claim_id uuid NOT NULL,
    claimed_until timestamp with time zone NOT NULL,
    exchanged_at timestamp with time zone,
    content bytea,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT code_exchanges_check CHECK (((exchanged_at IS NULL) = (content IS NULL))),
    CONSTRAINT code_exchanges_code_hash_check CHECK ((octet_length(code_hash) = 32))
);


ALTER TABLE identity.code_exchanges OWNER TO vestibule_identity_owner;

--
-- Name: email_reservations; Type: TABLE; Schema: identity; Owner: vestibule_identity_owner
--

CREATE TABLE identity.email_reservations (
    dialect text NOT NULL,
    email text NOT NULL,
    user_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    is_verified boolean DEFAULT false NOT NULL
);


ALTER TABLE identity.email_reservations OWNER TO vestibule_identity_owner;

--
-- Name: imported_ids; Type: TABLE; Schema: identity; Owner: vestibule_identity_owner
--

CREATE TABLE identity.imported_ids (
    source text NOT NULL,
    old_id text NOT NULL,
    user_id uuid NOT NULL
);


ALTER TABLE identity.imported_ids OWNER TO vestibule_identity_owner;

--
-- Name: ordered_queues; Type: TABLE; Schema: identity; Owner: vestibule_identity_owner
--

CREATE TABLE identity.ordered_queues (
    queue text NOT NULL,
    leased_until timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL
);


ALTER TABLE identity.ordered_queues OWNER TO vestibule_identity_owner;

--
-- Name: phone_assertions; Type: TABLE; Schema: identity; Owner: vestibule_identity_owner
--

CREATE TABLE identity.phone_assertions (
    fingerprint bytea NOT NULL,
    event_id uuid NOT NULL,
    user_id uuid NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    phone_hash bytea NOT NULL,
    CONSTRAINT phone_assertions_fingerprint_check CHECK ((length(fingerprint) = 32)),
    CONSTRAINT phone_assertions_phone_hash_check CHECK ((length(phone_hash) = 32))
);


ALTER TABLE identity.phone_assertions OWNER TO vestibule_identity_owner;

--
-- Name: provider_checks; Type: TABLE; Schema: identity; Owner: vestibule_identity_owner
--

CREATE TABLE identity.provider_checks (
    provider text NOT NULL,
    client_id text NOT NULL,
    window_began_at timestamp with time zone NOT NULL,
    checked bigint NOT NULL,
    refused bigint NOT NULL,
    stop_reason text,
    stopped_until timestamp with time zone NOT NULL,
    held_until timestamp with time zone NOT NULL,
    CONSTRAINT provider_checks_stop_reason_check CHECK ((stop_reason = ANY (ARRAY['not_configured'::text, 'unavailable'::text, 'refusals'::text])))
);


ALTER TABLE identity.provider_checks OWNER TO vestibule_identity_owner;

--
-- Name: provider_grants; Type: TABLE; Schema: identity; Owner: vestibule_identity_owner
--

CREATE TABLE identity.provider_grants (
    grant_id uuid NOT NULL,
    user_id uuid NOT NULL,
    provider text NOT NULL,
    client_id text NOT NULL,
    person bytea NOT NULL,
    key_id text NOT NULL,
    sealed_token bytea NOT NULL,
    state text NOT NULL,
    granted_at timestamp with time zone NOT NULL,
    checked_at timestamp with time zone,
    abandoned_at timestamp with time zone,
    tries integer DEFAULT 0 NOT NULL,
    next_at timestamp with time zone NOT NULL,
    CONSTRAINT provider_grants_check CHECK (((state = 'revoking'::text) = (abandoned_at IS NOT NULL))),
    CONSTRAINT provider_grants_person_check CHECK ((octet_length(person) = 32)),
    CONSTRAINT provider_grants_state_check CHECK ((state = ANY (ARRAY['kept'::text, 'revoking'::text])))
);


ALTER TABLE identity.provider_grants OWNER TO vestibule_identity_owner;

--
-- Name: provider_identities; Type: TABLE; Schema: identity; Owner: vestibule_identity_owner
--

CREATE TABLE identity.provider_identities (
    provider text NOT NULL,
    subject text NOT NULL,
    user_id uuid NOT NULL,
    email text,
    is_email_verified boolean NOT NULL,
    is_private_email boolean NOT NULL,
    told_name text,
    real_user_status smallint,
    created_at timestamp with time zone NOT NULL,
    last_sign_in_at timestamp with time zone NOT NULL,
    is_email_told boolean DEFAULT false NOT NULL,
    unproven_dialect text,
    tokens_from timestamp with time zone,
    disabled_at timestamp with time zone,
    account_told_at timestamp with time zone,
    is_email_unreachable boolean DEFAULT false NOT NULL,
    email_told_at timestamp with time zone,
    linked_at timestamp with time zone
);


ALTER TABLE identity.provider_identities OWNER TO vestibule_identity_owner;

--
-- Name: provider_notices; Type: TABLE; Schema: identity; Owner: vestibule_identity_owner
--

CREATE TABLE identity.provider_notices (
    provider text NOT NULL,
    jti text NOT NULL,
    number smallint NOT NULL,
    kind text NOT NULL,
    reason text,
    subject text,
    told_at timestamp with time zone NOT NULL,
    received_at timestamp with time zone NOT NULL,
    retry_at timestamp with time zone NOT NULL,
    failures integer DEFAULT 0 NOT NULL,
    applied_at timestamp with time zone,
    CONSTRAINT provider_notices_check CHECK (((applied_at IS NULL) OR (subject IS NULL))),
    CONSTRAINT provider_notices_failures_check CHECK ((failures >= 0)),
    CONSTRAINT provider_notices_jti_check CHECK (((octet_length(jti) >= 1) AND (octet_length(jti) <= 255)))
);


ALTER TABLE identity.provider_notices OWNER TO vestibule_identity_owner;

--
-- Name: quotas; Type: TABLE; Schema: identity; Owner: vestibule_identity_owner
--

CREATE TABLE identity.quotas (
    subject bytea NOT NULL,
    kind text NOT NULL,
    count integer NOT NULL,
    ends_at timestamp with time zone NOT NULL,
    CONSTRAINT quotas_count_check CHECK ((count > 0)),
    CONSTRAINT quotas_subject_check CHECK (((octet_length(subject) >= 16) AND (octet_length(subject) <= 32)))
);


ALTER TABLE identity.quotas OWNER TO vestibule_identity_owner;

--
-- Name: revocations; Type: TABLE; Schema: identity; Owner: vestibule_identity_owner
--

CREATE TABLE identity.revocations (
    id bigint NOT NULL,
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    session_id uuid NOT NULL,
    reason text NOT NULL,
    revoked_at timestamp with time zone DEFAULT now() NOT NULL
);


ALTER TABLE identity.revocations OWNER TO vestibule_identity_owner;

--
-- Name: revocations_id_seq; Type: SEQUENCE; Schema: identity; Owner: vestibule_identity_owner
--

ALTER TABLE identity.revocations ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME identity.revocations_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: scheduled_deletions; Type: TABLE; Schema: identity; Owner: vestibule_identity_owner
--

CREATE TABLE identity.scheduled_deletions (
    user_id uuid NOT NULL,
    scheduled_at timestamp with time zone NOT NULL,
    deletes_at timestamp with time zone NOT NULL,
    next_at timestamp with time zone NOT NULL,
    failures integer DEFAULT 0 NOT NULL,
    CONSTRAINT scheduled_deletions_check CHECK (((scheduled_at < deletes_at) AND (deletes_at <= next_at))),
    CONSTRAINT scheduled_deletions_failures_check CHECK ((failures >= 0))
);


ALTER TABLE identity.scheduled_deletions OWNER TO vestibule_identity_owner;

--
-- Name: schema_migrations; Type: TABLE; Schema: identity; Owner: vestibule_identity_owner
--

CREATE TABLE identity.schema_migrations (
    number integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);


ALTER TABLE identity.schema_migrations OWNER TO vestibule_identity_owner;

--
-- Name: security_events; Type: TABLE; Schema: identity; Owner: vestibule_identity_owner
--

CREATE TABLE identity.security_events (
    event_id uuid NOT NULL,
    user_id uuid,
    session_id uuid,
    kind text NOT NULL,
    occurred_at timestamp with time zone NOT NULL,
    details jsonb NOT NULL,
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    CONSTRAINT security_events_kind_check CHECK ((kind = ANY (ARRAY['signed_in'::text, 'session_ended'::text, 'reuse_detected'::text, 'sessions_ended_everywhere'::text, 'session_renamed'::text, 'all_sessions_ended'::text, 'account_deleted'::text, 'account_closed'::text, 'account_blocked'::text, 'account_unblocked'::text, 'phone_released'::text, 'provider_linked'::text, 'provider_unlinked'::text, 'provider_notice'::text, 'account_found'::text, 'account_exported'::text, 'provider_token_revoked'::text, 'phone_proven'::text, 'phone_taken'::text, 'phone_conflict'::text, 'account_opening'::text, 'account_opened'::text, 'deletion_scheduled'::text, 'deletion_cancelled'::text])))
);


ALTER TABLE identity.security_events OWNER TO vestibule_identity_owner;

--
-- Name: session_epoch; Type: TABLE; Schema: identity; Owner: vestibule_identity_owner
--

CREATE TABLE identity.session_epoch (
    is_only boolean DEFAULT true NOT NULL,
    sessions_from timestamp with time zone NOT NULL,
    CONSTRAINT session_epoch_is_only_check CHECK (is_only)
);


ALTER TABLE identity.session_epoch OWNER TO vestibule_identity_owner;

--
-- Name: sessions; Type: TABLE; Schema: identity; Owner: vestibule_identity_owner
--

CREATE TABLE identity.sessions (
    session_id uuid NOT NULL,
    user_id uuid NOT NULL,
    provider text NOT NULL,
    client_id text NOT NULL,
    device_name text,
    opened_account boolean NOT NULL,
    nonce bytea NOT NULL,
    generation bigint DEFAULT 0 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    last_used_at timestamp with time zone NOT NULL,
    rotated_at timestamp with time zone,
    expires_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone,
    revoke_reason text,
    proof text NOT NULL,
    dialect text,
    base bigint,
    previous bigint,
    first_child bigint,
    acknowledged_at timestamp with time zone,
    CONSTRAINT sessions_check CHECK (((revoked_at IS NULL) = (revoke_reason IS NULL))),
    CONSTRAINT sessions_generation_check CHECK (((generation >= 0) AND (generation <= '4294967295'::bigint))),
    CONSTRAINT sessions_nonce_check CHECK ((octet_length(nonce) = 16)),
    CONSTRAINT sessions_numbers_check CHECK (((previous <= base) AND (base < first_child) AND (first_child <= (generation + 1)))),
    CONSTRAINT sessions_proof_check CHECK (((proof = ANY (ARRAY['nonce'::text, 'code'::text, 'fresh'::text, 'access_token'::text, 'unproven'::text])) AND ((proof = 'unproven'::text) = (dialect IS NOT NULL)))),
    CONSTRAINT sessions_revoke_reason_check CHECK ((revoke_reason = ANY (ARRAY['sign_out'::text, 'reuse'::text, 'end_all'::text, 'proven'::text, 'ended'::text, 'too_many'::text, 'operator'::text, 'account_deleted'::text, 'provider'::text, 'unlinked'::text])))
)
WITH (fillfactor='80');


ALTER TABLE identity.sessions OWNER TO vestibule_identity_owner;

--
-- Name: sign_ins; Type: TABLE; Schema: identity; Owner: vestibule_identity_owner
--

CREATE TABLE identity.sign_ins (
    fingerprint bytea NOT NULL,
    session_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT sign_ins_fingerprint_check CHECK ((octet_length(fingerprint) = 32))
);


ALTER TABLE identity.sign_ins OWNER TO vestibule_identity_owner;

--
-- Name: told_once; Type: TABLE; Schema: identity; Owner: vestibule_identity_owner
--

CREATE TABLE identity.told_once (
    fingerprint bytea NOT NULL,
    provider text NOT NULL,
    full_name text,
    email text,
    address_key bytea,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    subject text,
    client_id text,
    device_name text,
    sealed_token bytea,
    CONSTRAINT told_once_fingerprint_check CHECK ((octet_length(fingerprint) = 32))
);


ALTER TABLE identity.told_once OWNER TO vestibule_identity_owner;

--
-- Name: told_phones; Type: TABLE; Schema: identity; Owner: vestibule_identity_owner
--

CREATE TABLE identity.told_phones (
    provider text NOT NULL,
    subject text NOT NULL,
    phone_hash bytea NOT NULL,
    told_at timestamp with time zone NOT NULL,
    event_id uuid,
    before_hash bytea,
    CONSTRAINT told_phones_before_hash_check CHECK ((length(before_hash) = 32)),
    CONSTRAINT told_phones_phone_hash_check CHECK ((length(phone_hash) = 32))
);


ALTER TABLE identity.told_phones OWNER TO vestibule_identity_owner;

--
-- Name: user_metadata; Type: TABLE; Schema: identity; Owner: vestibule_identity_owner
--

CREATE TABLE identity.user_metadata (
    user_id uuid NOT NULL,
    metadata text NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT user_metadata_metadata_check CHECK ((octet_length(metadata) <= 16384))
);


ALTER TABLE identity.user_metadata OWNER TO vestibule_identity_owner;

--
-- Name: web_tickets; Type: TABLE; Schema: identity; Owner: vestibule_identity_owner
--

CREATE TABLE identity.web_tickets (
    ticket_hash bytea NOT NULL,
    code_ticket_hash bytea NOT NULL,
    token_fingerprint bytea NOT NULL,
    client_id text NOT NULL,
    code_challenge text,
    content bytea NOT NULL,
    address_key bytea,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT web_tickets_code_ticket_hash_check CHECK ((octet_length(code_ticket_hash) = 32)),
    CONSTRAINT web_tickets_ticket_hash_check CHECK ((octet_length(ticket_hash) = 32)),
    CONSTRAINT web_tickets_token_fingerprint_check CHECK ((octet_length(token_fingerprint) = 32))
);


ALTER TABLE identity.web_tickets OWNER TO vestibule_identity_owner;

--
-- Name: webhook_targets; Type: TABLE; Schema: identity; Owner: vestibule_identity_owner
--

CREATE TABLE identity.webhook_targets (
    name text NOT NULL,
    types text[] NOT NULL,
    seen_at timestamp with time zone NOT NULL,
    stopped_at timestamp with time zone
);


ALTER TABLE identity.webhook_targets OWNER TO vestibule_identity_owner;

--
-- Name: work; Type: TABLE; Schema: identity; Owner: vestibule_identity_owner
--

CREATE TABLE identity.work (
    id bigint NOT NULL,
    queue text NOT NULL COLLATE pg_catalog."C",
    key text,
    event_id uuid NOT NULL,
    user_id uuid,
    data jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    retried_at timestamp with time zone,
    tries integer DEFAULT 0 NOT NULL,
    failure text,
    parked_at timestamp with time zone,
    trace text,
    CONSTRAINT work_tries_check CHECK ((tries >= 0))
);


ALTER TABLE identity.work OWNER TO vestibule_identity_owner;

--
-- Name: work_id_seq; Type: SEQUENCE; Schema: identity; Owner: vestibule_identity_owner
--

ALTER TABLE identity.work ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME identity.work_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: asked_numbers; Type: TABLE; Schema: invites; Owner: vestibule_invites_owner
--

CREATE TABLE invites.asked_numbers (
    user_id uuid NOT NULL,
    number_code bytea NOT NULL,
    asked_at timestamp with time zone NOT NULL,
    CONSTRAINT asked_numbers_number_code_check CHECK ((octet_length(number_code) = 16))
);


ALTER TABLE invites.asked_numbers OWNER TO vestibule_invites_owner;

--
-- Name: blocked_inviters; Type: TABLE; Schema: invites; Owner: vestibule_invites_owner
--

CREATE TABLE invites.blocked_inviters (
    user_id uuid NOT NULL,
    inviter_user_id uuid NOT NULL,
    blocked_at timestamp with time zone NOT NULL
);


ALTER TABLE invites.blocked_inviters OWNER TO vestibule_invites_owner;

--
-- Name: closed_accounts; Type: TABLE; Schema: invites; Owner: vestibule_invites_owner
--

CREATE TABLE invites.closed_accounts (
    user_id uuid NOT NULL,
    closed_at timestamp with time zone NOT NULL,
    swept_at timestamp with time zone,
    due_at timestamp with time zone DEFAULT now() NOT NULL,
    tries integer DEFAULT 0 NOT NULL
);


ALTER TABLE invites.closed_accounts OWNER TO vestibule_invites_owner;

--
-- Name: group_event_epoch; Type: TABLE; Schema: invites; Owner: vestibule_invites_owner
--

CREATE UNLOGGED TABLE invites.group_event_epoch (
    singleton boolean DEFAULT true NOT NULL,
    epoch uuid DEFAULT gen_random_uuid() NOT NULL,
    CONSTRAINT group_event_epoch_singleton_check CHECK (singleton)
);


ALTER TABLE invites.group_event_epoch OWNER TO vestibule_invites_owner;

--
-- Name: group_events; Type: TABLE; Schema: invites; Owner: vestibule_invites_owner
--

CREATE TABLE invites.group_events (
    id bigint NOT NULL,
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    kind text NOT NULL,
    user_id uuid,
    group_id uuid,
    member_id uuid,
    made_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT group_events_kind_check CHECK ((kind = ANY (ARRAY['group.joined'::text, 'group.left'::text, 'group.changed'::text, 'member.changed'::text, 'invitation.changed'::text])))
);


ALTER TABLE invites.group_events OWNER TO vestibule_invites_owner;

--
-- Name: group_events_id_seq; Type: SEQUENCE; Schema: invites; Owner: vestibule_invites_owner
--

ALTER TABLE invites.group_events ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME invites.group_events_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: group_keys; Type: TABLE; Schema: invites; Owner: vestibule_invites_owner
--

CREATE TABLE invites.group_keys (
    user_id uuid NOT NULL,
    idempotency_key uuid NOT NULL,
    group_id uuid NOT NULL,
    request_hash bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT group_keys_request_hash_check CHECK ((length(request_hash) = 32))
);


ALTER TABLE invites.group_keys OWNER TO vestibule_invites_owner;

--
-- Name: group_link_uses; Type: TABLE; Schema: invites; Owner: vestibule_invites_owner
--

CREATE TABLE invites.group_link_uses (
    link_id uuid NOT NULL,
    user_id uuid NOT NULL,
    used_at timestamp with time zone NOT NULL
);


ALTER TABLE invites.group_link_uses OWNER TO vestibule_invites_owner;

--
-- Name: group_links; Type: TABLE; Schema: invites; Owner: vestibule_invites_owner
--

CREATE TABLE invites.group_links (
    link_id uuid NOT NULL,
    group_id uuid NOT NULL,
    secret_hash bytea NOT NULL,
    created_by uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone,
    uses_max integer,
    uses integer DEFAULT 0 NOT NULL,
    CONSTRAINT group_links_check CHECK (((uses >= 0) AND (uses <= uses_max))),
    CONSTRAINT group_links_secret_hash_check CHECK ((octet_length(secret_hash) = 32)),
    CONSTRAINT group_links_uses_max_check CHECK ((uses_max > 0))
);


ALTER TABLE invites.group_links OWNER TO vestibule_invites_owner;

--
-- Name: groups; Type: TABLE; Schema: invites; Owner: vestibule_invites_owner
--

CREATE TABLE invites.groups (
    group_id uuid NOT NULL,
    name text NOT NULL,
    owner_user_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    openness text DEFAULT 'open'::text NOT NULL,
    created_by uuid NOT NULL,
    CONSTRAINT groups_openness_check CHECK ((openness = ANY (ARRAY['open'::text, 'confirm'::text, 'consent'::text])))
);


ALTER TABLE invites.groups OWNER TO vestibule_invites_owner;

--
-- Name: held_accounts; Type: TABLE; Schema: invites; Owner: vestibule_invites_owner
--

CREATE TABLE invites.held_accounts (
    user_id uuid NOT NULL,
    absorption_id uuid NOT NULL,
    held_at timestamp with time zone NOT NULL
);


ALTER TABLE invites.held_accounts OWNER TO vestibule_invites_owner;

--
-- Name: inbox; Type: TABLE; Schema: invites; Owner: vestibule_invites_owner
--

CREATE TABLE invites.inbox (
    event_id uuid NOT NULL,
    applied_at timestamp with time zone NOT NULL
);


ALTER TABLE invites.inbox OWNER TO vestibule_invites_owner;

--
-- Name: join_requests; Type: TABLE; Schema: invites; Owner: vestibule_invites_owner
--

CREATE TABLE invites.join_requests (
    group_id uuid NOT NULL,
    user_id uuid NOT NULL,
    member_id uuid NOT NULL,
    requested_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone
);


ALTER TABLE invites.join_requests OWNER TO vestibule_invites_owner;

--
-- Name: members; Type: TABLE; Schema: invites; Owner: vestibule_invites_owner
--

CREATE TABLE invites.members (
    group_id uuid NOT NULL,
    member_id uuid NOT NULL,
    user_id uuid,
    phone text,
    display_name text,
    added_by uuid NOT NULL,
    added_at timestamp with time zone NOT NULL,
    linked_at timestamp with time zone,
    role text DEFAULT 'member'::text NOT NULL,
    confirmed_by uuid,
    unconfirmed_at timestamp with time zone,
    expires_at timestamp with time zone,
    declined_by uuid,
    also_added_by uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    CONSTRAINT members_linked CHECK (((user_id IS NULL) = (linked_at IS NULL))),
    CONSTRAINT members_phone_check CHECK ((phone ~ '^[1-9][0-9]{3,14}$'::text)),
    CONSTRAINT members_role_check CHECK ((role = ANY (ARRAY['member'::text, 'admin'::text]))),
    CONSTRAINT members_user_or_phone CHECK (((user_id IS NOT NULL) OR (phone IS NOT NULL)))
);


ALTER TABLE invites.members OWNER TO vestibule_invites_owner;

--
-- Name: merged_numbers; Type: TABLE; Schema: invites; Owner: vestibule_invites_owner
--

CREATE TABLE invites.merged_numbers (
    user_id uuid NOT NULL,
    phone text NOT NULL,
    group_id uuid NOT NULL,
    member_id uuid NOT NULL,
    display_name text,
    added_by uuid NOT NULL,
    added_at timestamp with time zone NOT NULL,
    CONSTRAINT merged_numbers_phone_check CHECK ((phone ~ '^[1-9][0-9]{3,14}$'::text))
);


ALTER TABLE invites.merged_numbers OWNER TO vestibule_invites_owner;

--
-- Name: ordered_queues; Type: TABLE; Schema: invites; Owner: vestibule_invites_owner
--

CREATE TABLE invites.ordered_queues (
    queue text NOT NULL,
    leased_until timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL
);


ALTER TABLE invites.ordered_queues OWNER TO vestibule_invites_owner;

--
-- Name: phones; Type: TABLE; Schema: invites; Owner: vestibule_invites_owner
--

CREATE TABLE invites.phones (
    phone text NOT NULL,
    user_id uuid,
    proven_by uuid,
    CONSTRAINT phones_phone_check CHECK ((phone ~ '^[1-9][0-9]{3,14}$'::text))
);


ALTER TABLE invites.phones OWNER TO vestibule_invites_owner;

--
-- Name: quotas; Type: TABLE; Schema: invites; Owner: vestibule_invites_owner
--

CREATE TABLE invites.quotas (
    subject bytea NOT NULL,
    kind text NOT NULL,
    count integer NOT NULL,
    ends_at timestamp with time zone NOT NULL,
    CONSTRAINT quotas_count_check CHECK ((count > 0)),
    CONSTRAINT quotas_subject_check CHECK (((octet_length(subject) >= 16) AND (octet_length(subject) <= 32)))
);


ALTER TABLE invites.quotas OWNER TO vestibule_invites_owner;

--
-- Name: refused_absorptions; Type: TABLE; Schema: invites; Owner: vestibule_invites_owner
--

CREATE TABLE invites.refused_absorptions (
    absorption_id uuid NOT NULL,
    refused_at timestamp with time zone NOT NULL
);


ALTER TABLE invites.refused_absorptions OWNER TO vestibule_invites_owner;

--
-- Name: schema_migrations; Type: TABLE; Schema: invites; Owner: vestibule_invites_owner
--

CREATE TABLE invites.schema_migrations (
    number integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);


ALTER TABLE invites.schema_migrations OWNER TO vestibule_invites_owner;

--
-- Name: user_locks; Type: TABLE; Schema: invites; Owner: vestibule_invites_owner
--

CREATE TABLE invites.user_locks (
    lock smallint NOT NULL
);


ALTER TABLE invites.user_locks OWNER TO vestibule_invites_owner;

--
-- Name: wanted_events; Type: TABLE; Schema: invites; Owner: vestibule_invites_owner
--

CREATE TABLE invites.wanted_events (
    type text NOT NULL
);


ALTER TABLE invites.wanted_events OWNER TO vestibule_invites_owner;

--
-- Name: work; Type: TABLE; Schema: invites; Owner: vestibule_invites_owner
--

CREATE TABLE invites.work (
    id bigint NOT NULL,
    queue text NOT NULL COLLATE pg_catalog."C",
    key text,
    event_id uuid NOT NULL,
    user_id uuid,
    data jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    retried_at timestamp with time zone,
    tries integer DEFAULT 0 NOT NULL,
    failure text,
    parked_at timestamp with time zone,
    trace text,
    CONSTRAINT work_tries_check CHECK ((tries >= 0))
);


ALTER TABLE invites.work OWNER TO vestibule_invites_owner;

--
-- Name: work_id_seq; Type: SEQUENCE; Schema: invites; Owner: vestibule_invites_owner
--

ALTER TABLE invites.work ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME invites.work_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: account_imports; Type: TABLE; Schema: profile; Owner: vestibule_profile_owner
--

CREATE TABLE profile.account_imports (
    digest bytea NOT NULL,
    "position" text NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT account_imports_digest_check CHECK ((length(digest) = 32))
);


ALTER TABLE profile.account_imports OWNER TO vestibule_profile_owner;

--
-- Name: avatars; Type: TABLE; Schema: profile; Owner: vestibule_profile_owner
--

CREATE TABLE profile.avatars (
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    type text NOT NULL,
    bytes bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT avatars_bytes_check CHECK ((octet_length(bytes) > 0)),
    CONSTRAINT avatars_type_check CHECK ((type = ANY (ARRAY['image/png'::text, 'image/jpeg'::text, 'image/webp'::text])))
);
ALTER TABLE ONLY profile.avatars ALTER COLUMN bytes SET STORAGE EXTERNAL;


ALTER TABLE profile.avatars OWNER TO vestibule_profile_owner;

--
-- Name: closed_accounts; Type: TABLE; Schema: profile; Owner: vestibule_profile_owner
--

CREATE TABLE profile.closed_accounts (
    user_id uuid NOT NULL,
    closed_at timestamp with time zone NOT NULL
);


ALTER TABLE profile.closed_accounts OWNER TO vestibule_profile_owner;

--
-- Name: ordered_queues; Type: TABLE; Schema: profile; Owner: vestibule_profile_owner
--

CREATE TABLE profile.ordered_queues (
    queue text NOT NULL,
    leased_until timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL
);


ALTER TABLE profile.ordered_queues OWNER TO vestibule_profile_owner;

--
-- Name: phone_cool_downs; Type: TABLE; Schema: profile; Owner: vestibule_profile_owner
--

CREATE TABLE profile.phone_cool_downs (
    phone text NOT NULL,
    user_id uuid NOT NULL,
    until timestamp with time zone NOT NULL,
    was_proven boolean NOT NULL
);


ALTER TABLE profile.phone_cool_downs OWNER TO vestibule_profile_owner;

--
-- Name: phone_disputes; Type: TABLE; Schema: profile; Owner: vestibule_profile_owner
--

CREATE TABLE profile.phone_disputes (
    claimant_user_id uuid NOT NULL,
    holder_user_id uuid NOT NULL,
    phone text NOT NULL,
    proof text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT phone_disputes_proof_check CHECK ((proof = ANY (ARRAY['provider'::text, 'assertion'::text, 'import'::text])))
);


ALTER TABLE profile.phone_disputes OWNER TO vestibule_profile_owner;

--
-- Name: phones; Type: TABLE; Schema: profile; Owner: vestibule_profile_owner
--

CREATE TABLE profile.phones (
    phone text NOT NULL,
    user_id uuid NOT NULL,
    claimed_at timestamp with time zone NOT NULL,
    proven_at timestamp with time zone,
    proof text,
    CONSTRAINT phones_phone_check CHECK ((phone ~ '^[1-9][0-9]{3,14}$'::text)),
    CONSTRAINT phones_proof_check CHECK ((proof = ANY (ARRAY['provider'::text, 'assertion'::text, 'import'::text])))
);


ALTER TABLE profile.phones OWNER TO vestibule_profile_owner;

--
-- Name: profiles; Type: TABLE; Schema: profile; Owner: vestibule_profile_owner
--

CREATE TABLE profile.profiles (
    user_id uuid NOT NULL,
    display_name text,
    username text,
    phone text,
    updated_at timestamp with time zone,
    phone_tries integer DEFAULT 0 NOT NULL,
    phone_tries_since timestamp with time zone,
    phone_claims integer DEFAULT 0 NOT NULL,
    phone_claims_since timestamp with time zone,
    proven_phone text,
    phone_taken_at timestamp with time zone,
    avatar text,
    revision bigint DEFAULT 0 NOT NULL,
    imported_at timestamp with time zone,
    phone_chosen_at timestamp with time zone,
    CONSTRAINT profiles_avatar_check CHECK ((octet_length(avatar) <= 512)),
    CONSTRAINT profiles_phone_check CHECK ((phone ~ '^[1-9][0-9]{3,14}$'::text)),
    CONSTRAINT profiles_phone_claims_check CHECK ((phone_claims >= 0)),
    CONSTRAINT profiles_phone_tries_check CHECK ((phone_tries >= 0)),
    CONSTRAINT profiles_proven_phone_check CHECK ((proven_phone ~ '^[1-9][0-9]{3,14}$'::text)),
    CONSTRAINT profiles_revision_check CHECK ((revision >= 0))
);


ALTER TABLE profile.profiles OWNER TO vestibule_profile_owner;

--
-- Name: proven_claims; Type: TABLE; Schema: profile; Owner: vestibule_profile_owner
--

CREATE TABLE profile.proven_claims (
    event_id uuid NOT NULL,
    user_id uuid NOT NULL,
    outcome text NOT NULL,
    taken_from uuid,
    applied_at timestamp with time zone NOT NULL,
    also_taken_from uuid,
    CONSTRAINT proven_claims_outcome_check CHECK ((outcome = ANY (ARRAY['proven'::text, 'conflict'::text, 'outdated'::text])))
);


ALTER TABLE profile.proven_claims OWNER TO vestibule_profile_owner;

--
-- Name: quotas; Type: TABLE; Schema: profile; Owner: vestibule_profile_owner
--

CREATE TABLE profile.quotas (
    subject bytea NOT NULL,
    kind text NOT NULL,
    count integer NOT NULL,
    ends_at timestamp with time zone NOT NULL,
    CONSTRAINT quotas_count_check CHECK ((count > 0)),
    CONSTRAINT quotas_subject_check CHECK (((octet_length(subject) >= 16) AND (octet_length(subject) <= 32)))
);


ALTER TABLE profile.quotas OWNER TO vestibule_profile_owner;

--
-- Name: refused_absorptions; Type: TABLE; Schema: profile; Owner: vestibule_profile_owner
--

CREATE TABLE profile.refused_absorptions (
    absorption_id uuid NOT NULL,
    refused_at timestamp with time zone NOT NULL
);


ALTER TABLE profile.refused_absorptions OWNER TO vestibule_profile_owner;

--
-- Name: schema_migrations; Type: TABLE; Schema: profile; Owner: vestibule_profile_owner
--

CREATE TABLE profile.schema_migrations (
    number integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);


ALTER TABLE profile.schema_migrations OWNER TO vestibule_profile_owner;

--
-- Name: usernames; Type: TABLE; Schema: profile; Owner: vestibule_profile_owner
--

CREATE TABLE profile.usernames (
    username_key text NOT NULL,
    user_id uuid NOT NULL,
    claimed_at timestamp with time zone NOT NULL,
    CONSTRAINT usernames_username_key_check CHECK ((username_key ~ '^[a-z0-9_]{3,20}$'::text))
);


ALTER TABLE profile.usernames OWNER TO vestibule_profile_owner;

--
-- Name: wanted_events; Type: TABLE; Schema: profile; Owner: vestibule_profile_owner
--

CREATE TABLE profile.wanted_events (
    type text NOT NULL
);


ALTER TABLE profile.wanted_events OWNER TO vestibule_profile_owner;

--
-- Name: work; Type: TABLE; Schema: profile; Owner: vestibule_profile_owner
--

CREATE TABLE profile.work (
    id bigint NOT NULL,
    queue text NOT NULL COLLATE pg_catalog."C",
    key text,
    event_id uuid NOT NULL,
    user_id uuid,
    data jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    retried_at timestamp with time zone,
    tries integer DEFAULT 0 NOT NULL,
    failure text,
    parked_at timestamp with time zone,
    trace text,
    CONSTRAINT work_tries_check CHECK ((tries >= 0))
);


ALTER TABLE profile.work OWNER TO vestibule_profile_owner;

--
-- Name: work_id_seq; Type: SEQUENCE; Schema: profile; Owner: vestibule_profile_owner
--

ALTER TABLE profile.work ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME profile.work_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: accounts number; Type: DEFAULT; Schema: identity; Owner: vestibule_identity_owner
--

ALTER TABLE ONLY identity.accounts ALTER COLUMN number SET DEFAULT nextval('identity.account_numbers'::regclass);


--
-- Data for Name: absorptions; Type: TABLE DATA; Schema: identity; Owner: vestibule_identity_owner
--

COPY identity.absorptions (absorption_id, absorbed, absorber, asker, fingerprints, state, may_turn, begun_at, held_until, failures, retry_at) FROM stdin;
38af27c2-7349-462b-8006-4fae3155e62f	01a220ca-cddb-7f81-9a93-a62e59237398	01a220ca-cdfd-70df-81d4-4013a6e6ef61	01a220ca-cdfd-70df-81d4-4013a6e6ef61	{}	asking	t	2026-11-28 06:14:55.000008+00	2026-11-29 06:14:55.000008+00	1	2026-11-29 06:14:55.000008+00
\.


--
-- Data for Name: account_closings; Type: TABLE DATA; Schema: identity; Owner: vestibule_identity_owner
--

COPY identity.account_closings (user_id, why, closed_at, consents_left, profile_done_at, invites_done_at) FROM stdin;
01a220ca-aac6-7e33-b3eb-d853e1b4c37a	deleted	2026-11-28 06:14:45.973+00	{}	2026-11-28 06:14:46.011+00	2026-11-28 06:14:46.102+00
d4bb4bea-43cc-4c0c-844d-3660062a6b69	deleted	2026-11-28 06:14:55.000008+00	{}	2026-11-28 06:14:55.000008+00	2026-11-28 06:14:55.000008+00
\.


--
-- Data for Name: account_openings; Type: TABLE DATA; Schema: identity; Owner: vestibule_identity_owner
--

COPY identity.account_openings (absorption_id, ground, operator) FROM stdin;
38af27c2-7349-462b-8006-4fae3155e62f	operator	operator
\.


--
-- Data for Name: accounts; Type: TABLE DATA; Schema: identity; Owner: vestibule_identity_owner
--

COPY identity.accounts (user_id, created_at, number, blocked_at, block_reason, imported_at) FROM stdin;
01a220ca-aac6-703f-a279-db1c16494402	2026-11-28 06:14:42.63+00	1	\N	\N	\N
01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:42.63+00	2	\N	\N	\N
01a220ca-b223-7b19-8967-c95656832c6c	2026-11-28 06:14:44.515+00	4	\N	\N	\N
01a220ca-b81f-722e-a6fb-e0de1c829850	2026-11-28 06:14:46.047+00	5	\N	\N	\N
01a220ca-bab3-7bd8-8324-fe957faba627	2026-11-28 06:14:46.707+00	6	\N	\N	\N
01a220ca-c0fe-71db-b072-2edfff01a4e9	2026-11-28 06:14:48.318+00	7	\N	\N	\N
01a220ca-c4af-721c-b6d9-9daaef7d6e22	2026-11-28 06:14:49.263+00	8	\N	\N	\N
01a220ca-cddb-7f81-9a93-a62e59237398	2026-11-28 06:14:51.611+00	9	\N	\N	\N
01a220ca-cdfd-70df-81d4-4013a6e6ef61	2026-11-28 06:14:51.644+00	10	\N	\N	\N
01a220ca-ce17-7cbd-847f-20b642ce7bb4	2026-11-28 06:14:51.671+00	11	\N	\N	\N
\.


--
-- Data for Name: apple_transfers; Type: TABLE DATA; Schema: identity; Owner: vestibule_identity_owner
--

COPY identity.apple_transfers (provider, subject, from_team, to_team, transfer_sub, exported_at, imported_at) FROM stdin;
apple	353865.385c141e50a36a9da37a75f24de0657f.3964	TEAM000001	TEAM000002	transfer	2026-11-28 06:14:55.000008+00	\N
\.


--
-- Data for Name: code_exchanges; Type: TABLE DATA; Schema: identity; Owner: vestibule_identity_owner
--

COPY identity.code_exchanges (code_hash, claim_id, claimed_until, exchanged_at, content, expires_at) FROM stdin;
\\x855af7310624832e7e3742f64091c7e6026d127f076705bf593510c533adf66a	f31232cd-3d4e-38a8-213d-14f21cdd7d9a	2026-11-28 06:14:50.655392+00	2026-11-28 06:14:42.671+00	\\x0430d6b85de1e7c3a579e8892dd462cd9a55cfe8ec6e1ca68fbeb2aae1550e10b5008b16bc34e48e74cc1dad397e7f19ffcca6550e6a4ef2c1583982161d54915fccdc3f7ee749b73e209eb0997edc43401d4502bbe1c92d78259d68e5ca93fa6995fc801e4c2fbfac4e8fb8cfb85d1712a9f886c803f9b26bbee99685785ee8b1cfad99d3e7ef7603d4d64327a8c0f3457a97aecb92518102fdf1ad65a1da11b2af18af3bc77f791af0208c6b4624d32653e05a4352aca97e15385b910a043910fbb12faed3e18a438f61fa740be02f0159d119ee233d156364cf7de79349393ca36014bf341c45f4436517a9ff8940add8ee5203b93ff1886dce603fec42f1ea485ba0ccd578ec54690bd6c244890c581ecbfc5a6049975c6da1868ae0c80b6c07c1f771a59c6007ba49b85836f808523992530ce337b463abbb406a4d4f024b6a611b7002bc2964b484ebc3c806e8375f231f3bdab1294a46e0c2b7c5419250cc9a5937fbae0f4a5daa8584dc5ac9a6d8028785a7982b54ca250fb8c5596eb83ff779d25ac99b063087f661621175f72564b0965ae222851e85837bf7c695b5100f74ef4d04a81502d824348ffe3cb4cb53af071ffb67f0b1d20f45b55ab96488c9851bd9ee3a779ec75f1b842039c01d11f356106ea4d84443036e5870ff939fbd4940e2ae72d105a61a15c914c53efa82a95538144906225ec2644f7c87f89da9f58d503a15e85554c9ca2fd12fd78c44e858a97b75244beeacecb2f24d096eba3c39408f0620b5770d63e136b1b4dcdceea711fe4d8b73f877abf16cc694c3a07ab73fb93236f6477db7fc131f47add99329a8b566fa9f7a9f35be3dd029cd9422ff7cc110b09382ec8a8c9a76333c0d1ffcc49eb25e28da73f942edc17b0d62725f5ba1f3b4470914bd33fc1edf24968709f342ec2b1678b8c0c756a7d28b1ce6ecaecf36460de110464ea68b38fbeda8408426b91ac12c3685e3e1569082b5c65a36963fe4874f0dcad46ad1425774eaea05283520a2c3557cf44198222ae647d04e6809d55cf7f83b2ac5d06934721aa4617af4494dc232c2b50a4144eeb81623f7ea06e9251e7b0812bcc89a42b35f6684324570eb7541d4f638d3db27e01ac40729d4dcba8f22cbd5c0116d2871522430a43fed1b3be99bfbf23a325a2c7dac57fe9ae80f35b9a8c847d8da65899961cd48cdbb158cbc8b8b6d964c92765f9005cfb832581158a6006cdb9058b8b2888bfa682ffb0ff925237506f040d615ec5b1b4338d4f290e71a557b1457bff0a5b7e3e60be0bdce8f230741a29d69bb809bd7d455eb73bfaec29b9b0abff6a1d7a650b4eb2020b7fbab1d72467d5a352f9054fc285c0a8120fae7e1650846c2a4760ef2890f0793bf59ca2af3662d4fda91df6c034109f86faebf6b94a2	2026-11-28 06:29:42.671+00
\\x2b36b26d00b2861c18522e4a1feb8872b6b3da41a767740d487bfbe8db444c6e	4f4be5a9-af17-81ac-ceb2-ce5e07b20b89	2026-11-28 06:14:54.053943+00	2026-11-28 06:14:46.063+00	\\x0beadcc232cb670edfbf3a5b185f464bc9becdb3f8220e1ce87134ce5c91d110447742f1bef0984739fc216d63b6b4ab96acd8aa5fd539e7c9bbe20c06f3cb8f2adb4c061e219ff32d34fd9ebd6997a1cf9814ae030f92b0c33e18c59b2d0eaecb29e4d0d572ca0e0b7e973f5b28c4fc6ce058aa1746ae9da9e9799c23c98f593a2d330ec489767376d9e8867ec588e5fc95b95bb91c676f40b619626aefe3e78b26e8d618b3faa98c10384d2a650dc2a10e25abb4aa58241bdaa8f276ee62b8e403b03b0ca5e6e2a2395edaf3e75f9c8937756287a7fe835d44a0cab8624e1d5822b60cf8dfa1eb980faa3a3cd51ed749d149dbf4cc2aea28545df8a78a054113d77b83422943ff324ae3ccdedef19e2e9abf31fc3c02141594faee2a54b841e4f6ddd9750f7668263afb0fb9273ab6db7c088a173942a8ee51f6be74ed697a747e9b0826d190d3d75987cc30f04817f854f7c9e41d9abe1d24f8940ea82255b6fcdfe8a9adfc081c1eca61b7917ecbf10bc9f4a36045cf98651c9d65dba41001ae0758d094417dbba1221b64e931b7c2a25c2f3eb4f438e538c105a2e0532755f3bf415dd9fad54163f36467e67bc02b186ec8ce724184dbbdefa4d8958633e71e052f918578f36e2a0f4e850d28a87f05f0a8096b214d82f63ce88a94c31c4126fdbe11b0a8cff2a9fee5a6ef2b1b719c88d7d0267a6d9492cedc2f89866f1c794be1ed93e726b074496207c8d0a19388c37b220f0b95803dbc285e6103c11a72ca43ba3c75ec2a91e85bdabbd9c9d55dab7cb5a1c12ccb8293cd957706320991f2ceb2a02f07e373b37253547e1c3315c71b203baae5a9de3323a108f7525f9ceede5489f923f1a94a006707110546a0b9b71fc602c5bae08538ecab1298473685f51c07c7b1c892e87ed60402e575050615afba6be482cf288c6677b7023173861208d29c92e474b784cd02604279b7898be8fc8477a9bc476c06ce0eb9ace21963e5915ca7bf32f629b9350e39d67a7db81f0c300cf3370c737e2c247f221beb42f2afd5779791322587d4406e7f38e3917ce87912d2970e3de3c077b92909b7d7b635de560510085062647a2e3f2015e316d78af1c03a7c116a53e9d90dcc67b4e99565575ff536f8778d222d18412c6d16563bc67994818bcb483b6b216700368f69b566d6b63da17b48ed6970dcec4fe6f977c44959e0b5c1ad5af69aec268a193c5b1db2451996d9aa0c80f1248f0be16140136ba59db0c693d17ad5b8ec37961dec636f6ef2686a9ebd28e59220a407e509b61134ee7964c468018181831ed196e10f635391731bb383824194bc3708f200b59b9faa10fe98259d1de9a5c5200a06e5c092d2b092dabee421ca609cc728def4203f11fb36ae8c9f510aa88d7e11895d33c563ff33b5af32b00b	2026-11-28 06:29:46.063+00
\\x7265275440a1afbca42ce633f8d28ffdbb1705da129fce0074712c0fa6b9af1f	1c19a3f2-ed8a-9f7f-eed7-558018b1d31f	2026-11-28 06:14:56.32777+00	2026-11-28 06:14:48.342+00	\\x7d4dfa68a9697016d301f42c77be73273e48f3e7fb3dceaf31291de780e57202f914324c0223fd211811484629715a82dcb88a06dcf216c56e26c91a29d9fcb78679924a36e6e0e825e1ad1494e23ec33b91db528108cd871eefaa9dbdc185eb8acebb8109e7dba565f2e6cc69050a253d7ef1261182718ff6ef04baf810c33d8dffc1c8b6322e830461813f9efaf219f3c5c667bef28b407d012869135a05a0ce0a43e9a2a04267e521deb7e743486037b93d7df7383110221515abd48c9aba8749421348b74c575fae0eb7ad25c9ead668ca580eb6a72d515e3588b97deac5518714b7592b383b04e33b5180f7f936a3efc1b1b8701b46f9b0086d078843d6048c64559cab7f9f19cfadddc94b4781c6fc1236d82c245ae13501286539ed5ab942ad20e88f38507e7704ab46e9040d7b45eb34f4721d24941e6fef2029f5490d5faddf39af5702c1756fa498c20e85e3276548021381f847208b5864550276c502e6a1fb78c41a6b51446a2502ff61f873f18bbad693fe13d1d30976deba6e5b1fe8134ffc11d5508bf29168eb181e2314545eb5b5c36182a93267c907869a5ec4b829ce6ebe3c6a41e1a32e5c7df695842aa76482a67e34ebaf7f574afcca0ff6d6d9635207d617480b3551a96f29a6e409645934e3bcbb175195cbd6db08207a601f9c4755e29485d4feaff8b0a338c395453588b62c4f84e9df9fa6ed4b04ea230de07dc6e48634e42d784da6ab61c6a22f446b874f4d917092874f3964758244251eb1cdf90e7f39ce1b7f8401f8e1ad09eb24f01d4f66b0df58f884ca05af7f7f20b0cc61f523d4c234836a2bd5a4a3ceed447977bcb151b2b6fff840fd28993bbc5907a5fe872399d10eb3647d03bca86d213052d2020058478eb93068888522565a776f65fb380bc652319f3df9c444f7541ff7b95cbe60b6fc620fed64881c9d21c161c9986f232fa69b5b0ad397ed7a7ddf6c0e927389fead796b31c98ac6182d8b3865ae8e761ac55c1fb33562b5155068edb07f95ae0a778403c8231c8bff12208fcf842939bcb9e9a3d91d83ad15d204d9c018ab25e7c1a78067fc38dd4cacf816e88839f1cffcbbe0cf3176ae2633fbd076a4833ec7e10483393762e97676feec0537c47eb252b338016aaeb46de2dd02a2351fdeed5d6268f24596e9b0d288bcd1721d8c7c63a5b4b75f6c45789637034062c90a9a0250209fa21696141d77c16984417a456e3e72a16314f47565a88e56b7dd251aee7942763a8354af8b39001c80641b278c6472c4e2e0c6aa515cac57abf72fb28f2d5c8d3e3312aeead39eae30e3156edb64a13dfe07f23c747d56396e943aaf5cc11aeceaef2895c73735cbef4b3c5f7a6e339200a298bcc629c3844d7f4cd1bc33908f2d809d0c514436b3c99a2d5560c17e7906	2026-11-28 06:29:48.342+00
\\x5694d08a2e53ffcae0c3103e5ad6f6076abd960eb1f8a56577040bc1028f702b	130d9cfb-6a0c-4776-8cf9-dce4f0f68c37	2026-11-28 06:15:55.000008+00	\N	\N	2026-11-29 06:14:55.000008+00
\.


--
-- Data for Name: email_reservations; Type: TABLE DATA; Schema: identity; Owner: vestibule_identity_owner
--

COPY identity.email_reservations (dialect, email, user_id, created_at, is_verified) FROM stdin;
wordpress	reserved@example.com	01a220ca-cddb-7f81-9a93-a62e59237398	2026-11-28 06:14:55.000008+00	t
\.


--
-- Data for Name: imported_ids; Type: TABLE DATA; Schema: identity; Owner: vestibule_identity_owner
--

COPY identity.imported_ids (source, old_id, user_id) FROM stdin;
wordpress	17	01a220ca-cddb-7f81-9a93-a62e59237398
\.


--
-- Data for Name: ordered_queues; Type: TABLE DATA; Schema: identity; Owner: vestibule_identity_owner
--

COPY identity.ordered_queues (queue, leased_until) FROM stdin;
phone_proofs	-infinity
\.


--
-- Data for Name: phone_assertions; Type: TABLE DATA; Schema: identity; Owner: vestibule_identity_owner
--

COPY identity.phone_assertions (fingerprint, event_id, user_id, expires_at, phone_hash) FROM stdin;
\\x2802c626f293c0b2e8e9553b688ae7b37a44dacb91452823a30dc3cc712d6307	01a220ca-b345-7212-8581-2089b5a1c4c7	01a220ca-aac6-703f-a279-db1c16494402	2026-11-28 06:20:14+00	\\x6236a9a6a6caeb2ad1abde29724bb6d27be2ddfd9511774fe6f2cc3669b3bfa6
\\xc5e4cd5a49ae0fc9846e239f4c59e45c8cff280cfdafc82b7428fdfae4f411aa	01a220ca-b592-7a4c-b442-daca6e440b87	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:20:15+00	\\xb5043214dac0bed1478eb3b366ed2934e58007afec6fde36abf00bd639c9d9b7
\\xbba9c82796f38d232c9b03a318e124817a6588eb037c83eb1bf27e7747bd1a91	01a220ca-b8f3-70aa-8e74-83ee683737b7	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:20:16+00	\\xb5043214dac0bed1478eb3b366ed2934e58007afec6fde36abf00bd639c9d9b7
\\x5f718d3d9170c121a58eecc5ca487a5ff391faca7b5cf7301bcc50aeb5bb14fa	01a220ca-bc88-7c70-9d0c-e03d526b61cf	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:20:16+00	\\x74400b1a2f33b3109377edaa9991ba4c521bc7f75b5c6ca9fec241656803ee96
\\x68bd04f4fbbd550b5ea28cc79fe54eb0cd9804bacca36c4686a6e5c5a47d315f	01a220ca-bed1-7d76-9547-52016f40c7d0	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:20:17+00	\\x74400b1a2f33b3109377edaa9991ba4c521bc7f75b5c6ca9fec241656803ee96
\\xe9b8f488d4d259cc6e64cab2cfd4f949aef9ff00af0d45d1289bc87e75b6db5f	01a220ca-c26b-7c7a-9fc7-296751fac706	01a220ca-b81f-722e-a6fb-e0de1c829850	2026-11-28 06:20:18+00	\\x8f16e6bf6f0a08849a070407a992b4d0e05a8c4608ca45457a2b2e490a882077
\\x22091dec241fcbdd49eea83967b90969aa0df7f8b2816a2a24259e87dc76aeee	01a220ca-c666-7e44-96c6-6757df7b3e7d	01a220ca-aac6-703f-a279-db1c16494402	2026-11-28 06:20:19+00	\\x4ea88530557772d764fb2d0f65271920e620f7bfe7e4ecea6e554ba0faf916f3
\\xdf1843240bc94d8c036f2b41f503237ff5a159f9ecae2ea4688fdc2470b02860	01a220ca-ca57-754f-8033-97550351030a	01a220ca-b81f-722e-a6fb-e0de1c829850	2026-11-28 06:20:20+00	\\x41c115221b49d6653b05d9560361d0120d83e6aa74aca88d4214daab7517fdc5
\\x54897a7d706ea8a8875643efd5189259db2d64fc632e9865cf7cffc25b4e4d40	01a220ca-caf6-7fab-a7ac-dee71fcda309	01a220ca-aac6-703f-a279-db1c16494402	2026-11-28 06:20:20+00	\\x4ea88530557772d764fb2d0f65271920e620f7bfe7e4ecea6e554ba0faf916f3
\\xc1dd82d5219efb839524feecedde861a8cdada8725d0241d8073d046c8351191	01a220ca-cd67-7c7a-abc1-04ef2100e429	01a220ca-b81f-722e-a6fb-e0de1c829850	2026-11-28 06:20:21+00	\\x41c115221b49d6653b05d9560361d0120d83e6aa74aca88d4214daab7517fdc5
\.


--
-- Data for Name: provider_checks; Type: TABLE DATA; Schema: identity; Owner: vestibule_identity_owner
--

COPY identity.provider_checks (provider, client_id, window_began_at, checked, refused, stop_reason, stopped_until, held_until) FROM stdin;
apple	com.example.app	2026-11-28 06:14:36.161+00	0	0	\N	-infinity	-infinity
apple	com.example.bare	2026-11-28 06:14:36.215+00	0	0	\N	-infinity	-infinity
apple	com.example.debug	2026-11-28 06:14:36.223+00	0	0	\N	-infinity	-infinity
apple	com.example.services	2026-11-28 06:14:36.226+00	0	0	\N	-infinity	-infinity
\.


--
-- Data for Name: provider_grants; Type: TABLE DATA; Schema: identity; Owner: vestibule_identity_owner
--

COPY identity.provider_grants (grant_id, user_id, provider, client_id, person, key_id, sealed_token, state, granted_at, checked_at, abandoned_at, tries, next_at) FROM stdin;
a601e927-9ac9-b4b4-d02f-a14f402241d5	01a220ca-b81f-722e-a6fb-e0de1c829850	apple	com.example.app	\\xbf798fbebabd849d9681d35aca77ed176fc54f6406d775d437cf2ac14c246c6e	4c4d5d2db40650f3	\\xd540dcd9a82a6b0e228641898ece0955e9afe9796219fa3d3ab75f9f0df51b59ef5d92d546d1f83e6f27f6a9f211e88bb5e60355d3f23a32a09ef4f2583b292ad003773f0160617240cd57b57cf6be9f929d299f680e75780d88d74cf4b87376	kept	2026-11-28 06:14:46.047+00	\N	\N	0	2026-11-29 07:34:11.221+00
3bf363a2-66b1-d5eb-0589-69f51a64333c	01a220ca-c0fe-71db-b072-2edfff01a4e9	apple	com.example.app	\\x74b7c2f35dd7ea6742780443ef8967c62e85d9369b7e6d5e2d768131b6807d99	4c4d5d2db40650f3	\\xf4c90774edfdfba7945f945b231a5888c9b69e3e1c28af7ef315c43ff1c69afe0678a1d9d12f8f7fc854bef411e598548515c3eb3258b0c257466def6ce7101dfaa553e3a9cd5346d3ade87d31063442371dbe26e36f3217b4393ef0ca1e4c8f	kept	2026-11-28 06:14:48.318+00	\N	\N	0	2026-11-29 06:22:12.129+00
\.


--
-- Data for Name: provider_identities; Type: TABLE DATA; Schema: identity; Owner: vestibule_identity_owner
--

COPY identity.provider_identities (provider, subject, user_id, email, is_email_verified, is_private_email, told_name, real_user_status, created_at, last_sign_in_at, is_email_told, unproven_dialect, tokens_from, disabled_at, account_told_at, is_email_unreachable, email_told_at, linked_at) FROM stdin;
google	134006460880467153154	01a220ca-aac6-703f-a279-db1c16494402	ywlmiedlxwru@example.com	t	f	Huplozejn Ogchymxjh	\N	2026-11-28 06:14:42.63+00	2026-11-28 06:14:44.011+00	f	\N	\N	\N	\N	f	\N	\N
google	129943024952573952147	01a220ca-b223-7b19-8967-c95656832c6c	oewmojjxcpyt@example.com	t	f	Mpdanarcn Aoyvewbnh	\N	2026-11-28 06:14:44.515+00	2026-11-28 06:14:44.515+00	f	\N	\N	\N	\N	f	\N	\N
apple	353865.385c141e50a36a9da37a75f24de0657f.3964	01a220ca-b81f-722e-a6fb-e0de1c829850	velvkpbijoxe@example.com	t	f	\N	2	2026-11-28 06:14:46.047+00	2026-11-28 06:14:46.047+00	f	\N	\N	\N	\N	f	\N	\N
google	151517430386379313089	01a220ca-bab3-7bd8-8324-fe957faba627	hmwniykzdtjw@example.com	t	f	Tjpfdxxkb Vbenhqnit	\N	2026-11-28 06:14:46.707+00	2026-11-28 06:14:46.707+00	f	\N	\N	\N	\N	f	\N	\N
apple	629948.27ff8a964d8531fb93e059e8377d2069.6639	01a220ca-c0fe-71db-b072-2edfff01a4e9	nehhbxzbzlij@example.com	t	f	\N	2	2026-11-28 06:14:48.318+00	2026-11-28 06:14:48.318+00	f	\N	\N	\N	\N	f	\N	\N
google	108185831167195455577	01a220ca-c4af-721c-b6d9-9daaef7d6e22	skpnnixjcunm@example.com	t	f	Mcirussdm Oswnbhlwi	\N	2026-11-28 06:14:49.263+00	2026-11-28 06:14:49.263+00	f	\N	\N	\N	\N	f	\N	\N
google	141042461978886010237	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	hsqxgujuixlv@example.com	t	f	Qiwqclgwj Ewdxdwgoj	\N	2026-11-28 06:14:42.63+00	2026-11-28 06:14:51.519+00	f	\N	\N	\N	\N	f	\N	\N
google	131598537868973636142	01a220ca-cddb-7f81-9a93-a62e59237398	ana@example.com	t	f	Ana Example	\N	2026-11-28 06:14:51.611+00	2026-11-28 06:14:51.611+00	f	\N	\N	\N	\N	f	\N	\N
google	135278401951827359770	01a220ca-cdfd-70df-81d4-4013a6e6ef61	ben@example.com	t	f	Ben Example	\N	2026-11-28 06:14:51.644+00	2026-11-28 06:14:51.644+00	f	\N	\N	\N	\N	f	\N	\N
google	129617370743852934400	01a220ca-ce17-7cbd-847f-20b642ce7bb4	eva@example.com	t	f	Eva Example	\N	2026-11-28 06:14:51.671+00	2026-11-28 06:14:51.671+00	f	\N	\N	\N	\N	f	\N	\N
\.


--
-- Data for Name: provider_notices; Type: TABLE DATA; Schema: identity; Owner: vestibule_identity_owner
--

COPY identity.provider_notices (provider, jti, number, kind, reason, subject, told_at, received_at, retry_at, failures, applied_at) FROM stdin;
apple	notice	1	consent-revoked	\N	subject	2026-11-28 06:14:55.000008+00	2026-11-28 06:14:55.000008+00	2026-11-29 06:14:55.000008+00	0	\N
\.


--
-- Data for Name: quotas; Type: TABLE DATA; Schema: identity; Owner: vestibule_identity_owner
--

COPY identity.quotas (subject, kind, count, ends_at) FROM stdin;
\\x01010101010101010101010101010101	phone_assertions	1	2026-11-29 06:14:55.000008+00
\.


--
-- Data for Name: revocations; Type: TABLE DATA; Schema: identity; Owner: vestibule_identity_owner
--

COPY identity.revocations (id, xid, session_id, reason, revoked_at) FROM stdin;
1	869	01a220ca-aac6-7567-b1d5-16dd342be32a	sign_out	2026-11-28 06:14:43.987735+00
2	986	01a220ca-aac6-76d4-947e-79286f541b94	account_deleted	2026-11-28 06:14:45.973188+00
3	1394	01a220ca-aac6-7954-b3eb-58c71419e0cd	sign_out	2026-11-28 06:14:50.860531+00
4	1432	01a220ca-cb04-707b-a342-03bd802b4113	sign_out	2026-11-28 06:14:51.51249+00
5	1540	7b951ec2-ddeb-48cf-b8a8-e7fc46984a03	sign_out	2026-11-28 06:14:55.000008+00
\.


--
-- Data for Name: scheduled_deletions; Type: TABLE DATA; Schema: identity; Owner: vestibule_identity_owner
--

COPY identity.scheduled_deletions (user_id, scheduled_at, deletes_at, next_at, failures) FROM stdin;
01a220ca-ce17-7cbd-847f-20b642ce7bb4	2026-11-28 06:14:55.000008+00	2026-12-28 06:14:55.000008+00	2026-12-28 06:14:55.000008+00	0
\.


--
-- Data for Name: schema_migrations; Type: TABLE DATA; Schema: identity; Owner: vestibule_identity_owner
--

COPY identity.schema_migrations (number, name, checksum, applied_at) FROM stdin;
1	schema of 0.9.0	993282b50a87f1ba	2026-11-28 06:14:33.92257+00
\.


--
-- Data for Name: security_events; Type: TABLE DATA; Schema: identity; Owner: vestibule_identity_owner
--

COPY identity.security_events (event_id, user_id, session_id, kind, occurred_at, details, xid) FROM stdin;
01a220ca-aac6-71e4-9366-84a884a3ac2f	01a220ca-aac6-703f-a279-db1c16494402	01a220ca-aac6-7567-b1d5-16dd342be32a	signed_in	2026-11-28 06:14:42.63+00	{"proof": "nonce", "provider": "google", "client_id": "example.apps.googleusercontent.com", "opened_account": true}	787
01a220ca-aac6-75f7-b036-51629b0e6773	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	01a220ca-aac6-7954-b3eb-58c71419e0cd	signed_in	2026-11-28 06:14:42.63+00	{"proof": "nonce", "provider": "google", "client_id": "example.apps.googleusercontent.com", "opened_account": true}	788
01a220ca-aac6-77d5-b359-be94023fb35c	01a220ca-aac6-7e33-b3eb-d853e1b4c37a	01a220ca-aac6-76d4-947e-79286f541b94	signed_in	2026-11-28 06:14:42.63+00	{"proof": "nonce", "provider": "apple", "client_id": "com.example.app", "opened_account": true}	789
01a220ca-b010-7ffd-bbe1-74981e7e441f	01a220ca-aac6-703f-a279-db1c16494402	01a220ca-aac6-7567-b1d5-16dd342be32a	session_ended	2026-11-28 06:14:43.984+00	{"reason": "sign_out"}	869
01a220ca-b02b-77b1-8652-5a41eb7d1898	01a220ca-aac6-703f-a279-db1c16494402	01a220ca-b02b-73d0-a693-5b4df263bcdc	signed_in	2026-11-28 06:14:44.011+00	{"proof": "nonce", "provider": "google", "client_id": "example.apps.googleusercontent.com", "opened_account": false}	875
01a220ca-b223-7d82-99fb-f76c1642acf5	01a220ca-b223-7b19-8967-c95656832c6c	01a220ca-b223-7f92-a6ca-901b3bad4938	signed_in	2026-11-28 06:14:44.515+00	{"proof": "nonce", "provider": "google", "client_id": "example.apps.googleusercontent.com", "opened_account": true}	901
01a220ca-b35d-7c71-8fac-51577089bb86	01a220ca-aac6-703f-a279-db1c16494402	\N	phone_proven	2026-11-28 06:14:44.829+00	{"proof": "assertion"}	924
01a220ca-b35d-7be8-9602-74b188b3a7ec	01a220ca-b223-7b19-8967-c95656832c6c	\N	phone_taken	2026-11-28 06:14:44.829+00	{"proof": "assertion"}	924
01a220ca-b35d-7a4e-ab11-61d8ccf4a8f9	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	\N	phone_taken	2026-11-28 06:14:44.829+00	{"proof": "assertion"}	924
01a220ca-b5b7-74e8-86fe-53bc05f5dbae	01a220ca-aac6-7e33-b3eb-d853e1b4c37a	\N	phone_proven	2026-11-28 06:14:45.431+00	{"proof": "assertion"}	955
01a220ca-b5db-725a-8d17-205dd8e03358	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	\N	phone_proven	2026-11-28 06:14:45.467+00	{"proof": "assertion"}	961
01a220ca-b7d5-7993-93fa-53e94059c4e0	01a220ca-aac6-7e33-b3eb-d853e1b4c37a	01a220ca-aac6-76d4-947e-79286f541b94	session_ended	2026-11-28 06:14:45.973+00	{"reason": "account_deleted"}	986
01a220ca-b7d5-7a77-8250-865d812c36c6	01a220ca-aac6-7e33-b3eb-d853e1b4c37a	\N	account_deleted	2026-11-28 06:14:45.973+00	{"by": "owner"}	986
01a220ca-b81f-707d-9329-0492e0cae344	01a220ca-b81f-722e-a6fb-e0de1c829850	01a220ca-b81f-739d-be24-896e86feaf70	signed_in	2026-11-28 06:14:46.047+00	{"proof": "nonce", "provider": "apple", "client_id": "com.example.app", "opened_account": true}	1003
01a220ca-b8d6-7c0c-b327-de8afa9d37b0	01a220ca-aac6-7e33-b3eb-d853e1b4c37a	\N	provider_token_revoked	2026-11-28 06:14:46.23+00	{"provider": "apple", "client_id": "com.example.app"}	1035
01a220ca-b901-70db-8a5d-7c977a04e8ff	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	\N	phone_proven	2026-11-28 06:14:46.273+00	{"proof": "assertion"}	1044
01a220ca-bab3-7f11-8688-9c489d43dbe8	01a220ca-bab3-7bd8-8324-fe957faba627	01a220ca-bab3-7927-8433-a329f369e488	signed_in	2026-11-28 06:14:46.707+00	{"proof": "nonce", "provider": "google", "client_id": "example.apps.googleusercontent.com", "opened_account": true}	1079
01a220ca-bc97-7f18-ad01-b19841deada1	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	\N	phone_proven	2026-11-28 06:14:47.191+00	{"proof": "assertion"}	1123
01a220ca-bc97-7a42-840c-38aa1a69455c	01a220ca-bab3-7bd8-8324-fe957faba627	\N	phone_taken	2026-11-28 06:14:47.191+00	{"proof": "assertion"}	1123
01a220ca-bc97-73c6-b0fa-fa8f5d0227f7	01a220ca-b81f-722e-a6fb-e0de1c829850	\N	phone_taken	2026-11-28 06:14:47.191+00	{"proof": "assertion"}	1123
01a220ca-beea-7350-88c3-f57127cb3738	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	\N	phone_proven	2026-11-28 06:14:47.786+00	{"proof": "assertion"}	1158
01a220ca-c0fe-7bed-8131-94f5e1917955	01a220ca-c0fe-71db-b072-2edfff01a4e9	01a220ca-c0fe-7534-a09e-5d6ce20f6236	signed_in	2026-11-28 06:14:48.318+00	{"proof": "nonce", "provider": "apple", "client_id": "com.example.app", "opened_account": true}	1177
01a220ca-c280-7cb7-86ef-1302a82c443c	01a220ca-b81f-722e-a6fb-e0de1c829850	\N	phone_proven	2026-11-28 06:14:48.704+00	{"proof": "assertion"}	1218
01a220ca-c280-7677-8250-069527e9dd1b	01a220ca-c0fe-71db-b072-2edfff01a4e9	\N	phone_taken	2026-11-28 06:14:48.704+00	{"proof": "assertion"}	1218
01a220ca-c280-7b41-be3b-ecd5449ccfd3	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	\N	phone_taken	2026-11-28 06:14:48.704+00	{"proof": "assertion"}	1218
01a220ca-c4af-778f-8a34-eefa31b4ffea	01a220ca-c4af-721c-b6d9-9daaef7d6e22	01a220ca-c4af-7b60-b4bd-42fa4cd81859	signed_in	2026-11-28 06:14:49.263+00	{"proof": "nonce", "provider": "google", "client_id": "example.apps.googleusercontent.com", "opened_account": true}	1260
01a220ca-c67a-72d0-a05d-c019ea997280	01a220ca-aac6-703f-a279-db1c16494402	\N	phone_proven	2026-11-28 06:14:49.722+00	{"proof": "assertion"}	1310
01a220ca-c67a-7250-b946-4c8165643e8a	01a220ca-c4af-721c-b6d9-9daaef7d6e22	\N	phone_taken	2026-11-28 06:14:49.722+00	{"proof": "assertion"}	1310
01a220ca-ca65-7290-bcf8-c69cea188b5c	01a220ca-b81f-722e-a6fb-e0de1c829850	\N	phone_proven	2026-11-28 06:14:50.725+00	{"proof": "assertion"}	1382
01a220ca-caec-7271-a381-80b1561aace3	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	01a220ca-aac6-7954-b3eb-58c71419e0cd	session_ended	2026-11-28 06:14:50.86+00	{"reason": "sign_out"}	1394
01a220ca-cb04-701d-8a0d-6f081295c3bb	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	01a220ca-cb04-707b-a342-03bd802b4113	signed_in	2026-11-28 06:14:50.884+00	{"proof": "nonce", "provider": "google", "client_id": "example.apps.googleusercontent.com", "opened_account": false}	1398
01a220ca-cb28-7f50-b051-8d05abc0edc2	01a220ca-aac6-703f-a279-db1c16494402	\N	phone_proven	2026-11-28 06:14:50.92+00	{"proof": "assertion"}	1400
01a220ca-cd72-7e7c-a1e9-918d70ad30af	01a220ca-b81f-722e-a6fb-e0de1c829850	\N	phone_proven	2026-11-28 06:14:51.506+00	{"proof": "assertion"}	1431
01a220ca-cd77-79a0-8da4-733a9ba8bb44	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	01a220ca-cb04-707b-a342-03bd802b4113	session_ended	2026-11-28 06:14:51.511+00	{"reason": "sign_out"}	1432
01a220ca-cd7f-7d32-a777-213975d15e7d	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	01a220ca-cd7f-75cf-97ef-aa77463f159b	signed_in	2026-11-28 06:14:51.519+00	{"proof": "nonce", "provider": "google", "client_id": "example.apps.googleusercontent.com", "opened_account": false}	1434
01a220ca-cddb-72fa-a21d-f70dfb6386d9	01a220ca-cddb-7f81-9a93-a62e59237398	01a220ca-cddb-7c27-8b75-a12fba89d0fc	signed_in	2026-11-28 06:14:51.611+00	{"proof": "nonce", "provider": "google", "client_id": "example.apps.googleusercontent.com", "opened_account": true}	1435
01a220ca-cdfc-78ac-af3f-40b0d3511607	01a220ca-cdfd-70df-81d4-4013a6e6ef61	01a220ca-cdfd-7fb4-8657-b3bcbd95cdaf	signed_in	2026-11-28 06:14:51.644+00	{"proof": "nonce", "provider": "google", "client_id": "example.apps.googleusercontent.com", "opened_account": true}	1458
01a220ca-ce17-7d1c-b308-1d132ffaa6d7	01a220ca-ce17-7cbd-847f-20b642ce7bb4	01a220ca-ce17-7d47-8552-1043ca68c999	signed_in	2026-11-28 06:14:51.671+00	{"proof": "nonce", "provider": "google", "client_id": "example.apps.googleusercontent.com", "opened_account": true}	1465
\.


--
-- Data for Name: session_epoch; Type: TABLE DATA; Schema: identity; Owner: vestibule_identity_owner
--

COPY identity.session_epoch (is_only, sessions_from) FROM stdin;
t	-infinity
\.


--
-- Data for Name: sessions; Type: TABLE DATA; Schema: identity; Owner: vestibule_identity_owner
--

COPY identity.sessions (session_id, user_id, provider, client_id, device_name, opened_account, nonce, generation, created_at, last_used_at, rotated_at, expires_at, revoked_at, revoke_reason, proof, dialect, base, previous, first_child, acknowledged_at) FROM stdin;
01a220ca-b81f-739d-be24-896e86feaf70	01a220ca-b81f-722e-a6fb-e0de1c829850	apple	com.example.app	\N	t	\\xdcc5274fa2eaa57fd30275d13bc6605a	1	2026-11-28 06:14:46.047+00	2026-11-28 06:14:50.214+00	2026-11-28 06:14:50.214+00	2027-05-27 06:14:46.047+00	\N	\N	nonce	\N	1	0	2	2026-11-28 06:14:50.432+00
01a220ca-bab3-7927-8433-a329f369e488	01a220ca-bab3-7bd8-8324-fe957faba627	google	example.apps.googleusercontent.com	\N	t	\\x6c64433d72423079aa6586f3c27ce500	0	2026-11-28 06:14:46.707+00	2026-11-28 06:14:46.707+00	\N	2027-05-27 06:14:46.707+00	\N	\N	nonce	\N	0	-1	1	2026-11-28 06:14:46.864+00
01a220ca-aac6-7954-b3eb-58c71419e0cd	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	google	example.apps.googleusercontent.com	\N	t	\\x4c219876de31b610b40e72285a131f33	12	2026-11-28 06:14:42.63+00	2026-11-28 06:14:50.176+00	2026-11-28 06:14:50.176+00	2026-11-28 06:14:50.86+00	2026-11-28 06:14:50.86+00	sign_out	nonce	\N	12	11	13	2026-11-28 06:14:50.266+00
01a220ca-aac6-7567-b1d5-16dd342be32a	01a220ca-aac6-703f-a279-db1c16494402	google	example.apps.googleusercontent.com	\N	t	\\x47bfb215a44cd8ba202a3ed5825cf7f2	2	2026-11-28 06:14:42.63+00	2026-11-28 06:14:43.854+00	2026-11-28 06:14:43.854+00	2026-11-28 06:14:43.984+00	2026-11-28 06:14:43.984+00	sign_out	nonce	\N	1	0	2	2026-11-28 06:14:43.854+00
01a220ca-c0fe-7534-a09e-5d6ce20f6236	01a220ca-c0fe-71db-b072-2edfff01a4e9	apple	com.example.app	\N	t	\\x2bb0980f7f615465457eaee06b8c91dd	0	2026-11-28 06:14:48.318+00	2026-11-28 06:14:48.318+00	\N	2027-05-27 06:14:48.318+00	\N	\N	nonce	\N	0	-1	1	2026-11-28 06:14:48.374+00
01a220ca-b02b-73d0-a693-5b4df263bcdc	01a220ca-aac6-703f-a279-db1c16494402	google	example.apps.googleusercontent.com	\N	f	\\x50b6d50f1e7ed4e3e778a4324e7bfe54	6	2026-11-28 06:14:44.011+00	2026-11-28 06:14:51.349+00	2026-11-28 06:14:51.349+00	2027-05-27 06:14:44.011+00	\N	\N	nonce	\N	6	5	7	2026-11-28 06:14:51.418+00
01a220ca-b223-7f92-a6ca-901b3bad4938	01a220ca-b223-7b19-8967-c95656832c6c	google	example.apps.googleusercontent.com	\N	t	\\x84086a29d73976fcf5610bb998034fc3	0	2026-11-28 06:14:44.515+00	2026-11-28 06:14:44.515+00	\N	2027-05-27 06:14:44.515+00	\N	\N	nonce	\N	0	-1	1	2026-11-28 06:14:44.598+00
01a220ca-cb04-707b-a342-03bd802b4113	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	google	example.apps.googleusercontent.com	\N	f	\\x5c184095458c3e037e431a9952d7d2e0	1	2026-11-28 06:14:50.884+00	2026-11-28 06:14:51.465+00	2026-11-28 06:14:51.465+00	2026-11-28 06:14:51.511+00	2026-11-28 06:14:51.511+00	sign_out	nonce	\N	0	-1	1	2026-11-28 06:14:51.053+00
01a220ca-cd7f-75cf-97ef-aa77463f159b	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	google	example.apps.googleusercontent.com	\N	f	\\xde7e8b06e546f73e0c0310500adbbe87	0	2026-11-28 06:14:51.519+00	2026-11-28 06:14:51.519+00	\N	2027-05-27 06:14:51.519+00	\N	\N	nonce	\N	\N	\N	\N	\N
01a220ca-cddb-7c27-8b75-a12fba89d0fc	01a220ca-cddb-7f81-9a93-a62e59237398	google	example.apps.googleusercontent.com	\N	t	\\x5818afe654550f5a3b25a67a2890f02a	0	2026-11-28 06:14:51.611+00	2026-11-28 06:14:51.611+00	\N	2027-05-27 06:14:51.611+00	\N	\N	nonce	\N	0	-1	1	2026-11-28 06:14:51.632+00
01a220ca-c4af-7b60-b4bd-42fa4cd81859	01a220ca-c4af-721c-b6d9-9daaef7d6e22	google	example.apps.googleusercontent.com	\N	t	\\xd023579732069e1f2ff87b4ccfcde4f1	0	2026-11-28 06:14:49.263+00	2026-11-28 06:14:49.263+00	\N	2027-05-27 06:14:49.263+00	\N	\N	nonce	\N	0	-1	1	2026-11-28 06:14:49.337+00
01a220ca-cdfd-7fb4-8657-b3bcbd95cdaf	01a220ca-cdfd-70df-81d4-4013a6e6ef61	google	example.apps.googleusercontent.com	\N	t	\\x9f67cd7061129085b86dcd1ef4c670ca	0	2026-11-28 06:14:51.644+00	2026-11-28 06:14:51.644+00	\N	2027-05-27 06:14:51.644+00	\N	\N	nonce	\N	0	-1	1	2026-11-28 06:14:51.656+00
01a220ca-ce17-7d47-8552-1043ca68c999	01a220ca-ce17-7cbd-847f-20b642ce7bb4	google	example.apps.googleusercontent.com	\N	t	\\x8a9db75011874fb41c2127d58379f18b	0	2026-11-28 06:14:51.671+00	2026-11-28 06:14:51.671+00	\N	2027-05-27 06:14:51.671+00	\N	\N	nonce	\N	0	-1	1	2026-11-28 06:14:51.688+00
\.


--
-- Data for Name: sign_ins; Type: TABLE DATA; Schema: identity; Owner: vestibule_identity_owner
--

COPY identity.sign_ins (fingerprint, session_id, created_at, expires_at) FROM stdin;
\\x5508a3228f33b907f482ab5f6d5c7eba71c108bdec046a59440ca601452bc76b	01a220ca-aac6-7567-b1d5-16dd342be32a	2026-11-28 06:14:42.63+00	2026-11-28 07:15:42+00
\\xbd64288d80ac98c1a3c66c002d8dbb928fa32eff4813b6667a0b8c26dfb87d1f	01a220ca-aac6-7954-b3eb-58c71419e0cd	2026-11-28 06:14:42.63+00	2026-11-28 07:15:41+00
\\xc4ce57dcc5a0d3e47c438dbede73377302c60fdfeb71b036601b6e4273a141a2	01a220ca-aac6-76d4-947e-79286f541b94	2026-11-28 06:14:42.63+00	2026-11-29 06:15:42+00
\\x5043ea8bd01f413b72acc278556011d2f7e121c5e411c37aa7fcf58eb2ad1f0b	01a220ca-b02b-73d0-a693-5b4df263bcdc	2026-11-28 06:14:44.011+00	2026-11-28 07:15:44+00
\\xb3b14cfff1a998f72b64738809a599d193f6e4f433653d598ee8d5be90eab919	01a220ca-b223-7f92-a6ca-901b3bad4938	2026-11-28 06:14:44.515+00	2026-11-28 07:15:44+00
\\x5da0109eaed58cfedfb9ae82d94e18e1d162fa5ba8b053a756d646cf959fa330	01a220ca-b81f-739d-be24-896e86feaf70	2026-11-28 06:14:46.047+00	2026-11-29 06:15:46+00
\\x1249178ffdb267503898feefa9fd93dbf844a75909980bae7ada6ca5d88df4ff	01a220ca-bab3-7927-8433-a329f369e488	2026-11-28 06:14:46.707+00	2026-11-28 07:15:46+00
\\x8f711a4a2bf2243620468f280670daa72ec6825ceb468799026e0ad19b222346	01a220ca-c0fe-7534-a09e-5d6ce20f6236	2026-11-28 06:14:48.318+00	2026-11-29 06:15:48+00
\\xbc66ccfde02b710a71eda666ba698e8e04ba3bc72a2240b2a7b784ef96d40593	01a220ca-c4af-7b60-b4bd-42fa4cd81859	2026-11-28 06:14:49.263+00	2026-11-28 07:15:49+00
\\x47811058a49867c35ea09a94539376d988ba4cc8c637a939ec2e9bbd217e25d2	01a220ca-cb04-707b-a342-03bd802b4113	2026-11-28 06:14:50.884+00	2026-11-28 07:15:50+00
\\xbca0bb42039ddc1de8cf930502da7414b2ae87b07c36ef5b81dffcf25315dbd2	01a220ca-cd7f-75cf-97ef-aa77463f159b	2026-11-28 06:14:51.519+00	2026-11-28 07:15:51+00
\\x73ab29fc505060d24c048ff04744cc1a787ed408ae6f8faa15aba00b60fc7008	01a220ca-cddb-7c27-8b75-a12fba89d0fc	2026-11-28 06:14:51.611+00	2026-11-28 07:15:51+00
\\x7b3ccebeaaf3c78e66d1f08e8a8d9345296f7ef25159a183cf2a678a69d9b4fc	01a220ca-cdfd-7fb4-8657-b3bcbd95cdaf	2026-11-28 06:14:51.644+00	2026-11-28 07:15:51+00
\\x74d3ceb6c3027afbdaa5db1095256b9f0a1b919c9b8bf7eb8a9df1b1626e7a8c	01a220ca-ce17-7d47-8552-1043ca68c999	2026-11-28 06:14:51.671+00	2026-11-28 07:15:51+00
\.


--
-- Data for Name: told_once; Type: TABLE DATA; Schema: identity; Owner: vestibule_identity_owner
--

COPY identity.told_once (fingerprint, provider, full_name, email, address_key, created_at, expires_at, subject, client_id, device_name, sealed_token) FROM stdin;
\\x3c469e9d6c5875d37a43f353d4f88e61fcf812c66eee3457465a40b0da4153e0	apple	Made Up	\N	\N	2026-11-28 06:14:55.000008+00	2026-11-29 06:14:55.000008+00	\N	\N	\N	\N
\.


--
-- Data for Name: told_phones; Type: TABLE DATA; Schema: identity; Owner: vestibule_identity_owner
--

COPY identity.told_phones (provider, subject, phone_hash, told_at, event_id, before_hash) FROM stdin;
google	131598537868973636142	\\x12886f9d00055adf24c40579e22d31b2b45f2023f892954ffd5567beb60825f8	2026-11-28 06:14:55.000008+00	\N	\N
\.


--
-- Data for Name: user_metadata; Type: TABLE DATA; Schema: identity; Owner: vestibule_identity_owner
--

COPY identity.user_metadata (user_id, metadata, updated_at) FROM stdin;
01a220ca-cddb-7f81-9a93-a62e59237398	{"a": 1}	2026-11-28 06:14:55.000008+00
\.


--
-- Data for Name: web_tickets; Type: TABLE DATA; Schema: identity; Owner: vestibule_identity_owner
--

COPY identity.web_tickets (ticket_hash, code_ticket_hash, token_fingerprint, client_id, code_challenge, content, address_key, created_at, expires_at) FROM stdin;
\\xca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb	\\x3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d	\\x2e7d2c03a9507ae265ecf5b5356885a53393a2029d241394997265a1a25aefc6	com.example.app	\N	\\x78	\N	2026-11-28 06:14:55.000008+00	2026-11-29 06:14:55.000008+00
\.


--
-- Data for Name: webhook_targets; Type: TABLE DATA; Schema: identity; Owner: vestibule_identity_owner
--

COPY identity.webhook_targets (name, types, seen_at, stopped_at) FROM stdin;
all	{account.created,account.deleted,group.joined,phone.changed,profile.completed,session.ended}	2026-11-28 06:14:36.174+00	\N
\.


--
-- Data for Name: work; Type: TABLE DATA; Schema: identity; Owner: vestibule_identity_owner
--

COPY identity.work (id, queue, key, event_id, user_id, data, created_at, due_at, retried_at, tries, failure, parked_at, trace) FROM stdin;
1	webhooks.all	\N	01a220ca-aac6-71e4-9366-84a884a3ac2f	01a220ca-aac6-703f-a279-db1c16494402	{"data": {"user_id": "01a220ca-aac6-703f-a279-db1c16494402", "provider": "google", "client_id": "example.apps.googleusercontent.com"}, "type": "account.created", "timestamp": "2026-11-28T06:14:42.630Z"}	2026-11-28 06:14:42.63+00	2026-11-28 06:15:45.422109+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
3	webhooks.all	\N	01a220ca-aac6-77d5-b359-be94023fb35c	01a220ca-aac6-7e33-b3eb-d853e1b4c37a	{"data": {"user_id": "01a220ca-aac6-7e33-b3eb-d853e1b4c37a", "provider": "apple", "client_id": "com.example.app"}, "type": "account.created", "timestamp": "2026-11-28T06:14:42.630Z"}	2026-11-28 06:14:42.63+00	2026-11-28 06:15:29.364386+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
6	webhooks.all	\N	01a220ca-abb0-72c2-9a8f-78faff783cf8	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	{"data": {"user_id": "01a220ca-aac6-7f8e-b9bc-5616f9d56fef"}, "type": "profile.completed", "timestamp": "2026-11-28T06:14:42.856Z"}	2026-11-28 06:14:43.011+00	2026-11-28 06:15:35.050232+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
4	webhooks.all	\N	01a220ca-aba0-78df-97d9-f81762ecc316	01a220ca-aac6-703f-a279-db1c16494402	{"data": {"user_id": "01a220ca-aac6-703f-a279-db1c16494402"}, "type": "phone.changed", "timestamp": "2026-11-28T06:14:42.846Z"}	2026-11-28 06:14:43.011+00	2026-11-28 06:15:46.983918+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
7	webhooks.all	\N	01a220ca-abb0-7f26-8329-1dd17628e036	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	{"data": {"user_id": "01a220ca-aac6-7f8e-b9bc-5616f9d56fef"}, "type": "phone.changed", "timestamp": "2026-11-28T06:14:42.856Z"}	2026-11-28 06:14:43.011+00	2026-11-28 06:15:35.889316+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
12	webhooks.all	\N	01a220ca-ac31-78a8-84bf-3f46ef7dd67c	01a220ca-aac6-7e33-b3eb-d853e1b4c37a	{"data": {"user_id": "01a220ca-aac6-7e33-b3eb-d853e1b4c37a"}, "type": "phone.changed", "timestamp": "2026-11-28T06:14:42.988Z"}	2026-11-28 06:14:44.022+00	2026-11-28 06:15:40.706063+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
16	webhooks.all	\N	01a220ca-b223-7d82-99fb-f76c1642acf5	01a220ca-b223-7b19-8967-c95656832c6c	{"data": {"user_id": "01a220ca-b223-7b19-8967-c95656832c6c", "provider": "google", "client_id": "example.apps.googleusercontent.com"}, "type": "account.created", "timestamp": "2026-11-28T06:14:44.515Z"}	2026-11-28 06:14:44.515+00	2026-11-28 06:15:45.497775+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
2	webhooks.all	\N	01a220ca-aac6-75f7-b036-51629b0e6773	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	{"data": {"user_id": "01a220ca-aac6-7f8e-b9bc-5616f9d56fef", "provider": "google", "client_id": "example.apps.googleusercontent.com"}, "type": "account.created", "timestamp": "2026-11-28T06:14:42.630Z"}	2026-11-28 06:14:42.63+00	2026-11-28 06:15:39.538221+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
49	webhooks.all	\N	01a220ca-bc81-797f-8227-7a1b8c870e30	01a220ca-b81f-722e-a6fb-e0de1c829850	{"data": {"user_id": "01a220ca-b81f-722e-a6fb-e0de1c829850", "group_id": "01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3", "member_id": "01a220ca-bc81-797f-8227-7a1b8c870e30"}, "type": "group.joined", "timestamp": "2026-11-28T06:14:47.162Z"}	2026-11-28 06:14:48.154+00	2026-11-28 06:15:42.183546+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
30	webhooks.all	\N	01a220ca-b81f-707d-9329-0492e0cae344	01a220ca-b81f-722e-a6fb-e0de1c829850	{"data": {"user_id": "01a220ca-b81f-722e-a6fb-e0de1c829850", "provider": "apple", "client_id": "com.example.app"}, "type": "account.created", "timestamp": "2026-11-28T06:14:46.047Z"}	2026-11-28 06:14:46.047+00	2026-11-28 06:15:47.068126+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
11	webhooks.all	\N	01a220ca-b010-7ffd-bbe1-74981e7e441f	01a220ca-aac6-703f-a279-db1c16494402	{"data": {"reason": "sign_out", "user_id": "01a220ca-aac6-703f-a279-db1c16494402", "session_id": "01a220ca-aac6-7567-b1d5-16dd342be32a"}, "type": "session.ended", "timestamp": "2026-11-28T06:14:43.984Z"}	2026-11-28 06:14:43.984+00	2026-11-28 06:15:42.447867+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
13	webhooks.all	\N	01a220ca-ae96-78e4-afdf-d705f521c9a4	01a220ca-aac6-703f-a279-db1c16494402	{"data": {"user_id": "01a220ca-aac6-703f-a279-db1c16494402"}, "type": "phone.changed", "timestamp": "2026-11-28T06:14:43.602Z"}	2026-11-28 06:14:44.022+00	2026-11-28 06:15:50.505906+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
71	webhooks.all	\N	01a220ca-c562-7000-ba3b-00a0b261c526	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	{"data": {"user_id": "01a220ca-aac6-7f8e-b9bc-5616f9d56fef"}, "type": "phone.changed", "timestamp": "2026-11-28T06:14:49.439Z"}	2026-11-28 06:14:50.252+00	2026-11-28 06:15:52.091002+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
37	webhooks.all	\N	8b277a52-3d33-4bc5-aaf1-4f6b678cb473	01a220ca-b81f-722e-a6fb-e0de1c829850	{"data": {"user_id": "01a220ca-b81f-722e-a6fb-e0de1c829850", "group_id": "01a220ca-b3dc-7e18-9701-96d262bba0cb", "member_id": "01a220ca-b83e-7693-8fcb-f6ee5c89c046"}, "type": "group.joined", "timestamp": "2026-11-28T06:14:46.118Z"}	2026-11-28 06:14:47.143+00	2026-11-28 06:15:43.07243+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
74	webhooks.all	\N	01a220ca-c675-7886-af83-631cb3668e27	01a220ca-c4af-721c-b6d9-9daaef7d6e22	{"data": {"user_id": "01a220ca-c4af-721c-b6d9-9daaef7d6e22"}, "type": "phone.changed", "timestamp": "2026-11-28T06:14:49.714Z"}	2026-11-28 06:14:50.252+00	2026-11-28 06:15:40.52044+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
72	webhooks.all	\N	01a220ca-c674-71e6-b756-0c13f34b4f12	01a220ca-b81f-722e-a6fb-e0de1c829850	{"data": {"user_id": "01a220ca-b81f-722e-a6fb-e0de1c829850"}, "type": "phone.changed", "timestamp": "2026-11-28T06:14:49.714Z"}	2026-11-28 06:14:50.252+00	2026-11-28 06:15:49.905261+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
19	webhooks.all	\N	01a220ca-b29a-7427-bf3b-409dc6587ea0	01a220ca-b223-7b19-8967-c95656832c6c	{"data": {"user_id": "01a220ca-b223-7b19-8967-c95656832c6c"}, "type": "profile.completed", "timestamp": "2026-11-28T06:14:44.634Z"}	2026-11-28 06:14:45.102+00	2026-11-28 06:15:46.510413+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
15	webhooks.all	\N	01a220ca-afd7-785e-a586-59f278a702c6	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	{"data": {"user_id": "01a220ca-aac6-7f8e-b9bc-5616f9d56fef"}, "type": "phone.changed", "timestamp": "2026-11-28T06:14:43.926Z"}	2026-11-28 06:14:44.022+00	2026-11-28 06:15:36.54158+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
20	webhooks.all	\N	01a220ca-b29a-7fd0-ae09-fd2f7f239792	01a220ca-b223-7b19-8967-c95656832c6c	{"data": {"user_id": "01a220ca-b223-7b19-8967-c95656832c6c"}, "type": "phone.changed", "timestamp": "2026-11-28T06:14:44.634Z"}	2026-11-28 06:14:45.102+00	2026-11-28 06:15:44.586347+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
18	webhooks.all	\N	01a220ca-b136-743c-afe0-5c66d179a8ec	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	{"data": {"user_id": "01a220ca-aac6-7f8e-b9bc-5616f9d56fef"}, "type": "phone.changed", "timestamp": "2026-11-28T06:14:44.274Z"}	2026-11-28 06:14:45.102+00	2026-11-28 06:15:42.328303+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
14	webhooks.all	\N	01a220ca-aefa-784a-9426-1008b04a32ec	01a220ca-aac6-7e33-b3eb-d853e1b4c37a	{"data": {"user_id": "01a220ca-aac6-7e33-b3eb-d853e1b4c37a"}, "type": "phone.changed", "timestamp": "2026-11-28T06:14:43.705Z"}	2026-11-28 06:14:44.022+00	2026-11-28 06:15:36.739132+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
40	webhooks.all	\N	01a220ca-b9c6-7c84-ad9c-71860a4f627d	01a220ca-b81f-722e-a6fb-e0de1c829850	{"data": {"user_id": "01a220ca-b81f-722e-a6fb-e0de1c829850"}, "type": "phone.changed", "timestamp": "2026-11-28T06:14:46.470Z"}	2026-11-28 06:14:47.186+00	2026-11-28 06:15:44.5584+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
29	webhooks.all	\N	01a220ca-b7d5-7a77-8250-865d812c36c6	01a220ca-aac6-7e33-b3eb-d853e1b4c37a	{"data": {"reason": "owner", "user_id": "01a220ca-aac6-7e33-b3eb-d853e1b4c37a"}, "type": "account.deleted", "timestamp": "2026-11-28T06:14:45.973Z"}	2026-11-28 06:14:45.973+00	2026-11-28 06:15:49.03587+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
32	webhooks.all	\N	01a220ca-b849-7df0-95af-f13dd616efd8	01a220ca-b81f-722e-a6fb-e0de1c829850	{"data": {"user_id": "01a220ca-b81f-722e-a6fb-e0de1c829850"}, "type": "phone.changed", "timestamp": "2026-11-28T06:14:46.086Z"}	2026-11-28 06:14:46.17+00	2026-11-28 06:15:44.761911+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
31	webhooks.all	\N	01a220ca-b4ba-7d4c-865e-f456851fae6a	01a220ca-aac6-703f-a279-db1c16494402	{"data": {"user_id": "01a220ca-aac6-703f-a279-db1c16494402", "group_id": "01a220ca-b3dc-7e18-9701-96d262bba0cb", "member_id": "01a220ca-b4ba-7d4c-865e-f456851fae6a"}, "type": "group.joined", "timestamp": "2026-11-28T06:14:45.178Z"}	2026-11-28 06:14:46.103+00	2026-11-28 06:15:44.327432+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
22	webhooks.all	\N	01a220ca-b34c-7162-a527-5826f4f67587	01a220ca-b223-7b19-8967-c95656832c6c	{"data": {"user_id": "01a220ca-b223-7b19-8967-c95656832c6c"}, "type": "phone.changed", "timestamp": "2026-11-28T06:14:44.810Z"}	2026-11-28 06:14:45.102+00	2026-11-28 06:15:49.156866+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
41	webhooks.all	\N	01a220ca-b9f4-74dd-a19a-65def4727186	01a220ca-b81f-722e-a6fb-e0de1c829850	{"data": {"user_id": "01a220ca-b81f-722e-a6fb-e0de1c829850"}, "type": "phone.changed", "timestamp": "2026-11-28T06:14:46.515Z"}	2026-11-28 06:14:47.186+00	2026-11-28 06:15:36.943525+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
33	webhooks.all	\N	01a220ca-b849-7f72-a121-d19b046f4c9f	01a220ca-b81f-722e-a6fb-e0de1c829850	{"data": {"user_id": "01a220ca-b81f-722e-a6fb-e0de1c829850"}, "type": "profile.completed", "timestamp": "2026-11-28T06:14:46.086Z"}	2026-11-28 06:14:46.17+00	2026-11-28 06:15:45.687484+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
21	webhooks.all	\N	01a220ca-b2ec-7fd7-88a4-2859fdf369b4	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	{"data": {"user_id": "01a220ca-aac6-7f8e-b9bc-5616f9d56fef"}, "type": "phone.changed", "timestamp": "2026-11-28T06:14:44.714Z"}	2026-11-28 06:14:45.102+00	2026-11-28 06:15:50.372933+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
75	webhooks.all	\N	01a220ca-c6f3-7464-903c-50f7334b478b	01a220ca-b81f-722e-a6fb-e0de1c829850	{"data": {"user_id": "01a220ca-b81f-722e-a6fb-e0de1c829850"}, "type": "phone.changed", "timestamp": "2026-11-28T06:14:49.839Z"}	2026-11-28 06:14:50.252+00	2026-11-28 06:15:40.79098+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
26	webhooks.all	\N	01a220ca-b7d5-7993-93fa-53e94059c4e0	01a220ca-aac6-7e33-b3eb-d853e1b4c37a	{"data": {"reason": "account_deleted", "user_id": "01a220ca-aac6-7e33-b3eb-d853e1b4c37a", "session_id": "01a220ca-aac6-76d4-947e-79286f541b94"}, "type": "session.ended", "timestamp": "2026-11-28T06:14:45.973Z"}	2026-11-28 06:14:45.973+00	2026-11-28 06:15:48.815501+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
39	webhooks.all	\N	01a220ca-b8a9-755e-bc5a-a1a691381ec5	01a220ca-aac6-703f-a279-db1c16494402	{"data": {"user_id": "01a220ca-aac6-703f-a279-db1c16494402"}, "type": "phone.changed", "timestamp": "2026-11-28T06:14:46.176Z"}	2026-11-28 06:14:47.186+00	2026-11-28 06:15:43.711698+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
61	webhooks.all	\N	01a220ca-c27f-7c0c-90ab-65337545d2a4	01a220ca-aac6-703f-a279-db1c16494402	{"data": {"user_id": "01a220ca-aac6-703f-a279-db1c16494402"}, "type": "phone.changed", "timestamp": "2026-11-28T06:14:48.702Z"}	2026-11-28 06:14:49.239+00	2026-11-28 06:15:35.422223+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
50	webhooks.all	\N	01a220ca-bee5-7ed9-8f42-d35ca6f84c59	01a220ca-b81f-722e-a6fb-e0de1c829850	{"data": {"user_id": "01a220ca-b81f-722e-a6fb-e0de1c829850"}, "type": "phone.changed", "timestamp": "2026-11-28T06:14:47.754Z"}	2026-11-28 06:14:48.214+00	2026-11-28 06:15:49.926606+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
9	webhooks.all	\N	01a220ca-abca-763f-bad3-ece658031fba	01a220ca-aac6-7e33-b3eb-d853e1b4c37a	{"data": {"user_id": "01a220ca-aac6-7e33-b3eb-d853e1b4c37a"}, "type": "phone.changed", "timestamp": "2026-11-28T06:14:42.864Z"}	2026-11-28 06:14:43.011+00	2026-11-28 06:15:37.590642+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
60	webhooks.all	\N	01a220ca-c27b-7e91-ab3c-03fbedbac4c5	01a220ca-b81f-722e-a6fb-e0de1c829850	{"data": {"user_id": "01a220ca-b81f-722e-a6fb-e0de1c829850"}, "type": "phone.changed", "timestamp": "2026-11-28T06:14:48.698Z"}	2026-11-28 06:14:49.239+00	2026-11-28 06:15:48.540724+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
10	webhooks.all	\N	01a220ca-ac1e-749c-8ad1-72af7b679708	01a220ca-aac6-703f-a279-db1c16494402	{"data": {"user_id": "01a220ca-aac6-703f-a279-db1c16494402"}, "type": "phone.changed", "timestamp": "2026-11-28T06:14:42.972Z"}	2026-11-28 06:14:43.011+00	2026-11-28 06:15:43.310385+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
45	webhooks.all	\N	01a220ca-bb79-712f-ae89-808068f3c5b0	01a220ca-bab3-7bd8-8324-fe957faba627	{"data": {"user_id": "01a220ca-bab3-7bd8-8324-fe957faba627"}, "type": "profile.completed", "timestamp": "2026-11-28T06:14:46.901Z"}	2026-11-28 06:14:47.186+00	2026-11-28 06:15:51.016145+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
69	webhooks.all	\N	01a220ca-c525-7531-bf44-9a0639a6839e	01a220ca-c4af-721c-b6d9-9daaef7d6e22	{"data": {"user_id": "01a220ca-c4af-721c-b6d9-9daaef7d6e22"}, "type": "profile.completed", "timestamp": "2026-11-28T06:14:49.373Z"}	2026-11-28 06:14:50.252+00	2026-11-28 06:15:38.295238+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
43	webhooks.all	\N	01a220ca-bb64-7089-af54-6096bbdfaec3	01a220ca-b81f-722e-a6fb-e0de1c829850	{"data": {"user_id": "01a220ca-b81f-722e-a6fb-e0de1c829850"}, "type": "phone.changed", "timestamp": "2026-11-28T06:14:46.884Z"}	2026-11-28 06:14:47.186+00	2026-11-28 06:15:51.931804+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
63	webhooks.all	\N	01a220ca-c37b-7b3b-b22e-567bc8168f2f	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	{"data": {"user_id": "01a220ca-aac6-7f8e-b9bc-5616f9d56fef"}, "type": "phone.changed", "timestamp": "2026-11-28T06:14:48.948Z"}	2026-11-28 06:14:49.239+00	2026-11-28 06:15:47.134824+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
70	webhooks.all	\N	01a220ca-c525-7e00-b833-c472fa0a5407	01a220ca-c4af-721c-b6d9-9daaef7d6e22	{"data": {"user_id": "01a220ca-c4af-721c-b6d9-9daaef7d6e22"}, "type": "phone.changed", "timestamp": "2026-11-28T06:14:49.373Z"}	2026-11-28 06:14:50.252+00	2026-11-28 06:15:39.899322+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
57	webhooks.all	\N	01a220ca-c17d-7076-9b0e-6e341987e349	01a220ca-c0fe-71db-b072-2edfff01a4e9	{"data": {"user_id": "01a220ca-c0fe-71db-b072-2edfff01a4e9"}, "type": "profile.completed", "timestamp": "2026-11-28T06:14:48.443Z"}	2026-11-28 06:14:49.239+00	2026-11-28 06:15:52.340073+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
42	webhooks.all	\N	01a220ca-bab2-780c-bfcb-184c9d64728f	01a220ca-b81f-722e-a6fb-e0de1c829850	{"data": {"user_id": "01a220ca-b81f-722e-a6fb-e0de1c829850"}, "type": "phone.changed", "timestamp": "2026-11-28T06:14:46.695Z"}	2026-11-28 06:14:47.186+00	2026-11-28 06:15:41.685734+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
51	webhooks.all	\N	01a220ca-c0fe-7bed-8131-94f5e1917955	01a220ca-c0fe-71db-b072-2edfff01a4e9	{"data": {"user_id": "01a220ca-c0fe-71db-b072-2edfff01a4e9", "provider": "apple", "client_id": "com.example.app"}, "type": "account.created", "timestamp": "2026-11-28T06:14:48.318Z"}	2026-11-28 06:14:48.318+00	2026-11-28 06:15:47.205888+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
59	webhooks.all	\N	01a220ca-c27b-716d-bc27-7990cd53f4c8	01a220ca-c0fe-71db-b072-2edfff01a4e9	{"data": {"user_id": "01a220ca-c0fe-71db-b072-2edfff01a4e9"}, "type": "phone.changed", "timestamp": "2026-11-28T06:14:48.698Z"}	2026-11-28 06:14:49.239+00	2026-11-28 06:15:58.213414+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
62	webhooks.all	\N	01a220ca-c2d2-7f50-af5e-7d2ecc54f2ed	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	{"data": {"user_id": "01a220ca-aac6-7f8e-b9bc-5616f9d56fef"}, "type": "phone.changed", "timestamp": "2026-11-28T06:14:48.786Z"}	2026-11-28 06:14:49.239+00	2026-11-28 06:15:42.409465+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
8	webhooks.all	\N	01a220ca-abca-7212-b1f1-ec60ff20c02e	01a220ca-aac6-7e33-b3eb-d853e1b4c37a	{"data": {"user_id": "01a220ca-aac6-7e33-b3eb-d853e1b4c37a"}, "type": "profile.completed", "timestamp": "2026-11-28T06:14:42.864Z"}	2026-11-28 06:14:43.011+00	2026-11-28 06:15:38.097631+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
85	webhooks.all	\N	01a220ca-ce17-7d1c-b308-1d132ffaa6d7	01a220ca-ce17-7cbd-847f-20b642ce7bb4	{"data": {"user_id": "01a220ca-ce17-7cbd-847f-20b642ce7bb4", "provider": "google", "client_id": "example.apps.googleusercontent.com"}, "type": "account.created", "timestamp": "2026-11-28T06:14:51.671Z"}	2026-11-28 06:14:51.671+00	2026-11-28 06:15:47.917759+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
54	webhooks.all	\N	2f1b3d0e-88b9-41fe-b4bc-8c149eed6605	01a220ca-c0fe-71db-b072-2edfff01a4e9	{"data": {"user_id": "01a220ca-c0fe-71db-b072-2edfff01a4e9", "group_id": "01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3", "member_id": "01a220ca-bcfe-7c86-97f1-1f3ec3780c1a"}, "type": "group.joined", "timestamp": "2026-11-28T06:14:48.470Z"}	2026-11-28 06:14:49.168+00	2026-11-28 06:15:45.934924+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
73	webhooks.all	\N	01a220ca-c675-76b9-bc78-465cd5340a50	01a220ca-aac6-703f-a279-db1c16494402	{"data": {"user_id": "01a220ca-aac6-703f-a279-db1c16494402"}, "type": "phone.changed", "timestamp": "2026-11-28T06:14:49.714Z"}	2026-11-28 06:14:50.252+00	2026-11-28 06:15:37.961357+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
67	webhooks.all	\N	787d0298-e195-47f8-8180-2d86b8692d6e	01a220ca-b81f-722e-a6fb-e0de1c829850	{"data": {"user_id": "01a220ca-b81f-722e-a6fb-e0de1c829850", "group_id": "01a220ca-b9be-74d4-985e-663b6907f34b", "member_id": "01a220ca-c4b3-7f69-9ee5-53a2c99b327b"}, "type": "group.joined", "timestamp": "2026-11-28T06:14:49.721Z"}	2026-11-28 06:14:50.188+00	2026-11-28 06:15:54.649178+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
84	webhooks.all	\N	01a220ca-cdfc-78ac-af3f-40b0d3511607	01a220ca-cdfd-70df-81d4-4013a6e6ef61	{"data": {"user_id": "01a220ca-cdfd-70df-81d4-4013a6e6ef61", "provider": "google", "client_id": "example.apps.googleusercontent.com"}, "type": "account.created", "timestamp": "2026-11-28T06:14:51.644Z"}	2026-11-28 06:14:51.644+00	2026-11-28 06:15:39.846915+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
56	webhooks.all	\N	cdeb3ffb-c33d-4017-b413-409eb34f92e9	01a220ca-aac6-703f-a279-db1c16494402	{"data": {"user_id": "01a220ca-aac6-703f-a279-db1c16494402", "group_id": "01a220ca-b9be-74d4-985e-663b6907f34b", "member_id": "01a220ca-c08a-7221-ad51-60f7f16ee22c"}, "type": "group.joined", "timestamp": "2026-11-28T06:14:48.844Z"}	2026-11-28 06:14:49.168+00	2026-11-28 06:15:57.506512+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
66	webhooks.all	\N	612d4a09-b412-4ce0-867d-86a06b128d0a	01a220ca-c4af-721c-b6d9-9daaef7d6e22	{"data": {"user_id": "01a220ca-c4af-721c-b6d9-9daaef7d6e22", "group_id": "01a220ca-b9be-74d4-985e-663b6907f34b", "member_id": "01a220ca-c4b3-7a5f-a3c8-8b4e8acc88f0"}, "type": "group.joined", "timestamp": "2026-11-28T06:14:49.410Z"}	2026-11-28 06:14:50.188+00	2026-11-28 06:15:59.538891+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
53	webhooks.all	\N	01a220ca-c135-7813-b672-8956c84042b7	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	{"data": {"user_id": "01a220ca-aac6-7f8e-b9bc-5616f9d56fef", "group_id": "01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3", "member_id": "01a220ca-c135-7813-b672-8956c84042b7"}, "type": "group.joined", "timestamp": "2026-11-28T06:14:48.372Z"}	2026-11-28 06:14:49.168+00	2026-11-28 06:15:48.813818+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
82	webhooks.all	\N	01a220ca-cd77-79a0-8da4-733a9ba8bb44	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	{"data": {"reason": "sign_out", "user_id": "01a220ca-aac6-7f8e-b9bc-5616f9d56fef", "session_id": "01a220ca-cb04-707b-a342-03bd802b4113"}, "type": "session.ended", "timestamp": "2026-11-28T06:14:51.511Z"}	2026-11-28 06:14:51.511+00	2026-11-28 06:15:56.837332+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
77	webhooks.all	\N	01a220ca-caec-7271-a381-80b1561aace3	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	{"data": {"reason": "sign_out", "user_id": "01a220ca-aac6-7f8e-b9bc-5616f9d56fef", "session_id": "01a220ca-aac6-7954-b3eb-58c71419e0cd"}, "type": "session.ended", "timestamp": "2026-11-28T06:14:50.860Z"}	2026-11-28 06:14:50.86+00	2026-11-28 06:15:45.63918+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
55	webhooks.all	\N	50e506e3-45bb-41d9-81c0-31a2f0bd7f5b	01a220ca-c0fe-71db-b072-2edfff01a4e9	{"data": {"user_id": "01a220ca-c0fe-71db-b072-2edfff01a4e9", "group_id": "01a220ca-b3dc-7e18-9701-96d262bba0cb", "member_id": "01a220ca-b675-721a-a0dc-1b13f3420ff4"}, "type": "group.joined", "timestamp": "2026-11-28T06:14:48.470Z"}	2026-11-28 06:14:49.168+00	2026-11-28 06:15:46.506495+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
36	webhooks.all	\N	4769b5e7-af9d-4da1-964c-c14cbeb7750b	01a220ca-aac6-703f-a279-db1c16494402	{"data": {"user_id": "01a220ca-aac6-703f-a279-db1c16494402", "group_id": "01a220ca-b3dc-7e18-9701-96d262bba0cb", "member_id": "01a220ca-b83e-7485-8d11-c8b42a837b6a"}, "type": "group.joined", "timestamp": "2026-11-28T06:14:46.203Z"}	2026-11-28 06:14:47.143+00	2026-11-28 06:15:32.962301+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
46	webhooks.all	\N	01a220ca-bc91-72f5-a23e-76ba203d1a7b	01a220ca-bab3-7bd8-8324-fe957faba627	{"data": {"user_id": "01a220ca-bab3-7bd8-8324-fe957faba627"}, "type": "phone.changed", "timestamp": "2026-11-28T06:14:47.180Z"}	2026-11-28 06:14:47.198+00	2026-11-28 06:15:39.96423+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
5	webhooks.all	\N	01a220ca-aba0-7b50-9d6f-6892a1b51441	01a220ca-aac6-703f-a279-db1c16494402	{"data": {"user_id": "01a220ca-aac6-703f-a279-db1c16494402"}, "type": "profile.completed", "timestamp": "2026-11-28T06:14:42.846Z"}	2026-11-28 06:14:43.011+00	2026-11-28 06:15:34.451425+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
64	webhooks.all	\N	01a220ca-c4af-778f-8a34-eefa31b4ffea	01a220ca-c4af-721c-b6d9-9daaef7d6e22	{"data": {"user_id": "01a220ca-c4af-721c-b6d9-9daaef7d6e22", "provider": "google", "client_id": "example.apps.googleusercontent.com"}, "type": "account.created", "timestamp": "2026-11-28T06:14:49.263Z"}	2026-11-28 06:14:49.263+00	2026-11-28 06:15:54.792911+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
44	webhooks.all	\N	01a220ca-bb79-70db-a8b9-def903445b0b	01a220ca-bab3-7bd8-8324-fe957faba627	{"data": {"user_id": "01a220ca-bab3-7bd8-8324-fe957faba627"}, "type": "phone.changed", "timestamp": "2026-11-28T06:14:46.901Z"}	2026-11-28 06:14:47.186+00	2026-11-28 06:15:39.09133+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
91	webhooks.all	\N	01a220ca-ce26-749e-8279-c780dc599639	01a220ca-ce17-7cbd-847f-20b642ce7bb4	{"data": {"user_id": "01a220ca-ce17-7cbd-847f-20b642ce7bb4"}, "type": "phone.changed", "timestamp": "2026-11-28T06:14:51.685Z"}	2026-11-28 06:14:52.289+00	2026-11-28 06:15:42.303844+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
23	webhooks.all	\N	01a220ca-b34c-7c43-a252-e7fe89a4e261	01a220ca-aac6-703f-a279-db1c16494402	{"data": {"user_id": "01a220ca-aac6-703f-a279-db1c16494402"}, "type": "phone.changed", "timestamp": "2026-11-28T06:14:44.810Z"}	2026-11-28 06:14:45.102+00	2026-11-28 06:15:45.210629+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
83	webhooks.all	\N	01a220ca-cddb-72fa-a21d-f70dfb6386d9	01a220ca-cddb-7f81-9a93-a62e59237398	{"data": {"user_id": "01a220ca-cddb-7f81-9a93-a62e59237398", "provider": "google", "client_id": "example.apps.googleusercontent.com"}, "type": "account.created", "timestamp": "2026-11-28T06:14:51.611Z"}	2026-11-28 06:14:51.611+00	2026-11-28 06:15:53.887991+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
87	webhooks.all	\N	01a220ca-cded-762b-9b89-b0f338fedaa2	01a220ca-cddb-7f81-9a93-a62e59237398	{"data": {"user_id": "01a220ca-cddb-7f81-9a93-a62e59237398"}, "type": "profile.completed", "timestamp": "2026-11-28T06:14:51.629Z"}	2026-11-28 06:14:52.289+00	2026-11-28 06:15:43.716996+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
89	webhooks.all	\N	01a220ca-ce06-728c-adb0-28ff5f7a2644	01a220ca-cdfd-70df-81d4-4013a6e6ef61	{"data": {"user_id": "01a220ca-cdfd-70df-81d4-4013a6e6ef61"}, "type": "profile.completed", "timestamp": "2026-11-28T06:14:51.653Z"}	2026-11-28 06:14:52.289+00	2026-11-28 06:15:47.775755+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
68	webhooks.all	\N	ca98bfda-a369-4556-a038-42bd02b56232	01a220ca-c4af-721c-b6d9-9daaef7d6e22	{"data": {"user_id": "01a220ca-c4af-721c-b6d9-9daaef7d6e22", "group_id": "01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3", "member_id": "01a220ca-bcfe-7ef1-8a1d-6ce8d5abee0c"}, "type": "group.joined", "timestamp": "2026-11-28T06:14:49.410Z"}	2026-11-28 06:14:50.188+00	2026-11-28 06:15:41.717498+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
90	webhooks.all	\N	01a220ca-ce06-79ed-91e5-8576caea28f7	01a220ca-cdfd-70df-81d4-4013a6e6ef61	{"data": {"user_id": "01a220ca-cdfd-70df-81d4-4013a6e6ef61"}, "type": "phone.changed", "timestamp": "2026-11-28T06:14:51.653Z"}	2026-11-28 06:14:52.289+00	2026-11-28 06:15:57.33415+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
88	webhooks.all	\N	01a220ca-cded-77b3-9839-5f7b0d627177	01a220ca-cddb-7f81-9a93-a62e59237398	{"data": {"user_id": "01a220ca-cddb-7f81-9a93-a62e59237398"}, "type": "phone.changed", "timestamp": "2026-11-28T06:14:51.629Z"}	2026-11-28 06:14:52.289+00	2026-11-28 06:15:47.479653+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
79	webhooks.all	\N	01a220ca-c935-7d7e-99f6-b374ab62367a	01a220ca-b81f-722e-a6fb-e0de1c829850	{"data": {"user_id": "01a220ca-b81f-722e-a6fb-e0de1c829850"}, "type": "phone.changed", "timestamp": "2026-11-28T06:14:50.420Z"}	2026-11-28 06:14:51.28+00	2026-11-28 06:15:57.828056+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
80	webhooks.all	\N	01a220ca-ca95-74be-afce-f4c03d822c17	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	{"data": {"user_id": "01a220ca-aac6-7f8e-b9bc-5616f9d56fef"}, "type": "phone.changed", "timestamp": "2026-11-28T06:14:50.771Z"}	2026-11-28 06:14:51.28+00	2026-11-28 06:15:44.223974+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
92	webhooks.all	\N	01a220ca-ce26-78e7-bea6-5678b2597323	01a220ca-ce17-7cbd-847f-20b642ce7bb4	{"data": {"user_id": "01a220ca-ce17-7cbd-847f-20b642ce7bb4"}, "type": "profile.completed", "timestamp": "2026-11-28T06:14:51.685Z"}	2026-11-28 06:14:52.289+00	2026-11-28 06:16:04.186096+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
93	webhooks.gone	\N	c5f5f314-2166-4f45-9070-f0f512fc02cc	01a220ca-cddb-7f81-9a93-a62e59237398	{"type": "kept"}	2026-11-28 06:14:55.000008+00	-infinity	\N	0	kept	2026-11-28 06:14:55.000008+00	\N
35	webhooks.all	\N	01a220ca-bab3-7f11-8688-9c489d43dbe8	01a220ca-bab3-7bd8-8324-fe957faba627	{"data": {"user_id": "01a220ca-bab3-7bd8-8324-fe957faba627", "provider": "google", "client_id": "example.apps.googleusercontent.com"}, "type": "account.created", "timestamp": "2026-11-28T06:14:46.707Z"}	2026-11-28 06:14:46.707+00	2026-11-28 06:15:44.934287+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
58	webhooks.all	\N	01a220ca-c17d-7f64-952d-6c82e6adfbc8	01a220ca-c0fe-71db-b072-2edfff01a4e9	{"data": {"user_id": "01a220ca-c0fe-71db-b072-2edfff01a4e9"}, "type": "phone.changed", "timestamp": "2026-11-28T06:14:48.443Z"}	2026-11-28 06:14:49.239+00	2026-11-28 06:15:53.985605+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
86	webhooks.all	\N	01a220ca-ce5b-7f5a-a438-b91caca389ec	01a220ca-cdfd-70df-81d4-4013a6e6ef61	{"data": {"user_id": "01a220ca-cdfd-70df-81d4-4013a6e6ef61", "group_id": "01a220ca-ce40-7bef-a9a6-41b363937d12", "member_id": "01a220ca-ce5b-7f5a-a438-b91caca389ec"}, "type": "group.joined", "timestamp": "2026-11-28T06:14:51.739Z"}	2026-11-28 06:14:52.211+00	2026-11-28 06:15:52.49204+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
47	webhooks.all	\N	01a220ca-bc91-7d54-b82e-9c18d550ba74	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	{"data": {"user_id": "01a220ca-aac6-7f8e-b9bc-5616f9d56fef"}, "type": "phone.changed", "timestamp": "2026-11-28T06:14:47.180Z"}	2026-11-28 06:14:47.198+00	2026-11-28 06:15:44.448257+00	\N	4	no connection: Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server	\N	\N
\.


--
-- Data for Name: asked_numbers; Type: TABLE DATA; Schema: invites; Owner: vestibule_invites_owner
--

COPY invites.asked_numbers (user_id, number_code, asked_at) FROM stdin;
01a220ca-aac6-7f8e-b9bc-5616f9d56fef	\\x1735f40d8dc83d64a5394c431e6db6ab	2026-11-28 06:14:45.178+00
01a220ca-aac6-7f8e-b9bc-5616f9d56fef	\\x19474f5cfff94e898a226d3a406660ce	2026-11-28 06:14:45.178+00
01a220ca-aac6-7f8e-b9bc-5616f9d56fef	\\x522673aecffd9129552b9682dab11bfa	2026-11-28 06:14:45.178+00
01a220ca-aac6-7f8e-b9bc-5616f9d56fef	\\x8b035de857aeae235d75b3fb9d4c6fdf	2026-11-28 06:14:45.178+00
01a220ca-aac6-7f8e-b9bc-5616f9d56fef	\\xbb41f5f6cf0a6921d93f7fbdaadb909f	2026-11-28 06:14:45.178+00
01a220ca-aac6-7f8e-b9bc-5616f9d56fef	\\xd2998f1eb0c5c2f88c6ad85553f0356d	2026-11-28 06:14:45.178+00
01a220ca-aac6-7f8e-b9bc-5616f9d56fef	\\x1839314a337d00a2e3245287e342bc12	2026-11-28 06:14:45.621+00
01a220ca-aac6-7f8e-b9bc-5616f9d56fef	\\xc47678b28698d1668f6be2e89e6cb411	2026-11-28 06:14:45.621+00
01a220ca-aac6-7f8e-b9bc-5616f9d56fef	\\x232bd35f2b89c8aaa542cbe9d6d5c0e8	2026-11-28 06:14:46.078+00
01a220ca-aac6-7f8e-b9bc-5616f9d56fef	\\x2a0d7b6c8944a1f5d7ea3473a88d97e0	2026-11-28 06:14:46.078+00
01a220ca-aac6-7f8e-b9bc-5616f9d56fef	\\x2c978ddc76c1b84d13fa05ded8a9b403	2026-11-28 06:14:46.078+00
01a220ca-aac6-7f8e-b9bc-5616f9d56fef	\\x7a340e577cf9bb6701a2333df6971402	2026-11-28 06:14:46.078+00
01a220ca-aac6-7f8e-b9bc-5616f9d56fef	\\xa6900bbbb3edfe5c1b7606ca00166230	2026-11-28 06:14:46.078+00
01a220ca-aac6-7f8e-b9bc-5616f9d56fef	\\xf3d55a75f5ae93717f7591ce580052ab	2026-11-28 06:14:46.078+00
01a220ca-aac6-703f-a279-db1c16494402	\\xed4a53cd0eef51c6cc0470548ed9307e	2026-11-28 06:14:46.502+00
01a220ca-aac6-703f-a279-db1c16494402	\\xa3445e457a5534039848b4024a5e5f21	2026-11-28 06:14:46.684+00
01a220ca-aac6-703f-a279-db1c16494402	\\x9a677f1ae794ec5449e2aec9fb4a9d0d	2026-11-28 06:14:46.982+00
01a220ca-aac6-703f-a279-db1c16494402	\\x02dfe17658ccebad69c69e4ccbe429a7	2026-11-28 06:14:47.294+00
01a220ca-aac6-703f-a279-db1c16494402	\\x43ddc711a2f9a15313ffe4669bac42be	2026-11-28 06:14:47.294+00
01a220ca-aac6-703f-a279-db1c16494402	\\xaa8bdbcee260acea95a7a94f8cd0338e	2026-11-28 06:14:47.294+00
01a220ca-aac6-703f-a279-db1c16494402	\\xb1ad4af220288fe8ca2192330d78efe7	2026-11-28 06:14:47.294+00
01a220ca-aac6-703f-a279-db1c16494402	\\xb37624e65f0dc8602ecfa23badec28c4	2026-11-28 06:14:47.294+00
01a220ca-aac6-703f-a279-db1c16494402	\\xbedd4239a7df17d5cbe5233558132459	2026-11-28 06:14:47.294+00
01a220ca-aac6-703f-a279-db1c16494402	\\xbf0d8e4dd7568547066b8581d21af847	2026-11-28 06:14:47.294+00
01a220ca-aac6-703f-a279-db1c16494402	\\xd5efbe558aea34281795961095399b4d	2026-11-28 06:14:47.294+00
01a220ca-aac6-703f-a279-db1c16494402	\\xe06ccab78d66e74874c47287032ebae8	2026-11-28 06:14:47.294+00
01a220ca-aac6-703f-a279-db1c16494402	\\xfa4c39e1b95bb7dffe0fdf763b8d29f5	2026-11-28 06:14:47.294+00
01a220ca-aac6-703f-a279-db1c16494402	\\xae85a63dc8c29486912a3fb216fc83af	2026-11-28 06:14:47.85+00
01a220ca-aac6-7f8e-b9bc-5616f9d56fef	\\x3c4d7c67a22543415a6926ab6002042a	2026-11-28 06:14:49.037+00
01a220ca-aac6-703f-a279-db1c16494402	\\x721a7af63d7b27de7a5f419a0c71f2da	2026-11-28 06:14:49.111+00
01a220ca-b81f-722e-a6fb-e0de1c829850	\\x8fddfa0811b20c218993ffdc73988358	2026-11-28 06:14:49.223+00
01a220ca-aac6-7f8e-b9bc-5616f9d56fef	\\x11601ddbfe914467304d10a3e1b2deed	2026-11-28 06:14:49.267+00
01a220ca-aac6-7f8e-b9bc-5616f9d56fef	\\x21e5b7945b081965ccd03912715250ff	2026-11-28 06:14:49.267+00
01a220ca-aac6-7f8e-b9bc-5616f9d56fef	\\x24509b3d5700518fd31b4796b95a1226	2026-11-28 06:14:49.267+00
01a220ca-aac6-7f8e-b9bc-5616f9d56fef	\\x38af9b68fe3964803a13584b4728a094	2026-11-28 06:14:49.267+00
01a220ca-aac6-7f8e-b9bc-5616f9d56fef	\\x4a0992e5ccafa254bd50e39b87ad6c48	2026-11-28 06:14:49.267+00
01a220ca-aac6-7f8e-b9bc-5616f9d56fef	\\x8c3dea2517faddf04cc84f1184e7373b	2026-11-28 06:14:49.267+00
01a220ca-aac6-7f8e-b9bc-5616f9d56fef	\\x94e75281fbf960a3e260c4ae53057a29	2026-11-28 06:14:49.267+00
01a220ca-aac6-7f8e-b9bc-5616f9d56fef	\\x977b7e344f43406f855ceafb4f61ccba	2026-11-28 06:14:49.267+00
01a220ca-aac6-7f8e-b9bc-5616f9d56fef	\\xf7da8fce7cd71ced402e0ff529f93eb2	2026-11-28 06:14:49.267+00
01a220ca-b81f-722e-a6fb-e0de1c829850	\\xef4b3479b2c28fbd0c23ec5c4ea61f7f	2026-11-28 06:14:49.425+00
01a220ca-aac6-703f-a279-db1c16494402	\\xf7939d5355d48654d096aec5f4dffe5a	2026-11-28 06:14:50.085+00
01a220ca-aac6-7f8e-b9bc-5616f9d56fef	\\xa3cded8f18f9fdd314c63ba429a968ef	2026-11-28 06:14:50.374+00
01a220ca-aac6-703f-a279-db1c16494402	\\x08a4e07b5b47f60118d9d035e7c0cc3f	2026-11-28 06:14:51.023+00
01a220ca-aac6-703f-a279-db1c16494402	\\x4f6323203e6a0a19b1079129f3eca4a9	2026-11-28 06:14:51.023+00
01a220ca-b81f-722e-a6fb-e0de1c829850	\\x10d6b7e5eef9350140477fc2716f1bd8	2026-11-28 06:14:51.09+00
01a220ca-aac6-703f-a279-db1c16494402	\\xc0076e83fad61304fd492141a75b3af7	2026-11-28 06:14:51.223+00
01a220ca-cddb-7f81-9a93-a62e59237398	\\xbf8da54a637b26063da9ed311f7ff3ab	2026-11-28 06:14:51.739+00
01a220ca-cddb-7f81-9a93-a62e59237398	\\x8b9f83545aa0c0b28db6d68beedad898	2026-11-28 06:14:51.75+00
\.


--
-- Data for Name: blocked_inviters; Type: TABLE DATA; Schema: invites; Owner: vestibule_invites_owner
--

COPY invites.blocked_inviters (user_id, inviter_user_id, blocked_at) FROM stdin;
01a220ca-cddb-7f81-9a93-a62e59237398	01a220ca-cdfd-70df-81d4-4013a6e6ef61	2026-11-28 06:14:55.000008+00
\.


--
-- Data for Name: closed_accounts; Type: TABLE DATA; Schema: invites; Owner: vestibule_invites_owner
--

COPY invites.closed_accounts (user_id, closed_at, swept_at, due_at, tries) FROM stdin;
01a220ca-aac6-7e33-b3eb-d853e1b4c37a	2026-11-28 06:14:46.008+00	\N	2026-11-28 06:15:46.008+00	0
3e2fed87-70fc-4d1b-a203-3f1d3eb8d043	2026-11-28 06:14:55.000008+00	2026-11-28 06:14:55.000008+00	2026-11-28 06:14:55.000008+00	0
\.


--
-- Data for Name: group_event_epoch; Type: TABLE DATA; Schema: invites; Owner: vestibule_invites_owner
--

COPY invites.group_event_epoch (singleton, epoch) FROM stdin;
t	ea28f259-6dc6-493f-a230-c4984cac1ae9
\.


--
-- Data for Name: group_events; Type: TABLE DATA; Schema: invites; Owner: vestibule_invites_owner
--

COPY invites.group_events (id, xid, kind, user_id, group_id, member_id, made_at) FROM stdin;
1	902	group.joined	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	01a220ca-b266-7970-98dd-529928be1b97	01a220ca-b266-7462-9314-96d8238b3030	2026-11-28 06:14:44.594215+00
2	902	member.changed	\N	01a220ca-b266-7970-98dd-529928be1b97	01a220ca-b266-7462-9314-96d8238b3030	2026-11-28 06:14:44.596915+00
3	934	group.joined	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b3dc-73cb-bc4e-c1491fc604dc	2026-11-28 06:14:44.95863+00
4	934	member.changed	\N	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b3dc-73cb-bc4e-c1491fc604dc	2026-11-28 06:14:44.95876+00
6	939	group.joined	01a220ca-aac6-703f-a279-db1c16494402	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b4ba-7d4c-865e-f456851fae6a	2026-11-28 06:14:45.191151+00
7	939	member.changed	\N	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b4ba-7080-80f0-1ef98bf41f7f	2026-11-28 06:14:45.19118+00
8	939	member.changed	\N	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b4ba-7b28-8691-e05c237d774c	2026-11-28 06:14:45.191188+00
9	939	member.changed	\N	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b4ba-7c76-b90e-c6f1301307bd	2026-11-28 06:14:45.191191+00
10	939	member.changed	\N	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b4ba-7d4c-865e-f456851fae6a	2026-11-28 06:14:45.191193+00
11	939	member.changed	\N	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b4ba-7e18-95b0-2cd8836c36fa	2026-11-28 06:14:45.191195+00
12	956	member.changed	\N	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b4ba-7c76-b90e-c6f1301307bd	2026-11-28 06:14:45.461697+00
13	966	member.changed	\N	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b675-721a-a0dc-1b13f3420ff4	2026-11-28 06:14:45.650263+00
14	966	member.changed	\N	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b675-7622-89be-4a39ff5c112e	2026-11-28 06:14:45.650289+00
16	969	member.changed	\N	01a220ca-b6a1-7bef-bbf4-b1311cad9bdc	01a220ca-b6a1-7627-a0e7-6b4f89172a5b	2026-11-28 06:14:45.687435+00
17	974	member.changed	\N	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b76b-752e-b4e4-dfa18789f85a	2026-11-28 06:14:45.87785+00
18	980	member.changed	\N	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b7a4-76e2-8594-692d60557a98	2026-11-28 06:14:45.924808+00
19	980	member.changed	\N	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b4ba-7c76-b90e-c6f1301307bd	2026-11-28 06:14:45.925028+00
20	980	member.changed	\N	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b675-7622-89be-4a39ff5c112e	2026-11-28 06:14:45.928898+00
22	981	group.joined	01a220ca-aac6-703f-a279-db1c16494402	01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-b7ae-775a-9a7e-82fef190bda1	2026-11-28 06:14:45.936244+00
23	981	member.changed	\N	01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-b7ae-775a-9a7e-82fef190bda1	2026-11-28 06:14:45.936282+00
26	996	member.changed	\N	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b4ba-7c76-b90e-c6f1301307bd	2026-11-28 06:14:46.025278+00
27	996	member.changed	\N	01a220ca-b6a1-7bef-bbf4-b1311cad9bdc	01a220ca-b6a1-7627-a0e7-6b4f89172a5b	2026-11-28 06:14:46.025283+00
28	1010	member.changed	\N	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b83e-700b-b93c-98b626dd17bd	2026-11-28 06:14:46.084467+00
29	1010	member.changed	\N	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b83e-70ea-9f14-b1dfc7272919	2026-11-28 06:14:46.08449+00
30	1010	member.changed	\N	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b83e-7485-8d11-c8b42a837b6a	2026-11-28 06:14:46.084493+00
31	1010	member.changed	\N	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b83e-7693-8fcb-f6ee5c89c046	2026-11-28 06:14:46.084495+00
32	1010	member.changed	\N	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b83e-78d5-9e5a-07a1e86f443c	2026-11-28 06:14:46.084497+00
33	1010	member.changed	\N	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b83e-7cd6-95f6-1440710f9c74	2026-11-28 06:14:46.084498+00
34	1010	member.changed	\N	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b83e-7d35-a0d9-0af375f90e3e	2026-11-28 06:14:46.084501+00
35	1018	group.left	01a220ca-aac6-703f-a279-db1c16494402	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b4ba-7d4c-865e-f456851fae6a	2026-11-28 06:14:46.115559+00
36	1018	member.changed	\N	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b4ba-7d4c-865e-f456851fae6a	2026-11-28 06:14:46.11562+00
37	1020	group.joined	01a220ca-b81f-722e-a6fb-e0de1c829850	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b83e-7693-8fcb-f6ee5c89c046	2026-11-28 06:14:46.150895+00
38	1020	member.changed	\N	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b83e-7693-8fcb-f6ee5c89c046	2026-11-28 06:14:46.15093+00
39	1031	group.joined	01a220ca-aac6-703f-a279-db1c16494402	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b83e-7485-8d11-c8b42a837b6a	2026-11-28 06:14:46.214314+00
40	1031	member.changed	\N	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b83e-7485-8d11-c8b42a837b6a	2026-11-28 06:14:46.214341+00
41	1067	group.joined	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-b9be-712e-9d9a-58fbb0fc4604	2026-11-28 06:14:46.466137+00
42	1067	member.changed	\N	01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-b9be-712e-9d9a-58fbb0fc4604	2026-11-28 06:14:46.466174+00
43	1071	member.changed	\N	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b9cc-7a14-9c6a-226989b15779	2026-11-28 06:14:46.476912+00
44	1071	member.changed	\N	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b83e-7693-8fcb-f6ee5c89c046	2026-11-28 06:14:46.476966+00
45	1071	member.changed	\N	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b83e-7d35-a0d9-0af375f90e3e	2026-11-28 06:14:46.49181+00
46	1071	invitation.changed	01a220ca-b81f-722e-a6fb-e0de1c829850	\N	\N	2026-11-28 06:14:46.491859+00
47	1072	member.changed	\N	01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-b9e6-7752-bdcd-da1e2bcd62ad	2026-11-28 06:14:46.519037+00
48	1077	member.changed	\N	01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-ba9c-7a44-b156-f45408f53f84	2026-11-28 06:14:46.71028+00
49	1081	member.changed	\N	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b83e-7d35-a0d9-0af375f90e3e	2026-11-28 06:14:46.814728+00
50	1087	member.changed	\N	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b4ba-7b28-8691-e05c237d774c	2026-11-28 06:14:46.85756+00
51	1087	invitation.changed	01a220ca-b81f-722e-a6fb-e0de1c829850	\N	\N	2026-11-28 06:14:46.8576+00
52	1097	member.changed	\N	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b4ba-7b28-8691-e05c237d774c	2026-11-28 06:14:46.901639+00
53	1097	member.changed	\N	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b83e-7693-8fcb-f6ee5c89c046	2026-11-28 06:14:46.905117+00
54	1097	member.changed	\N	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b9cc-7a14-9c6a-226989b15779	2026-11-28 06:14:46.905186+00
55	1097	invitation.changed	01a220ca-b81f-722e-a6fb-e0de1c829850	\N	\N	2026-11-28 06:14:46.905202+00
56	1105	member.changed	\N	01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-bbc6-7e64-b715-ed1674a5c401	2026-11-28 06:14:46.98456+00
57	1114	group.joined	01a220ca-b81f-722e-a6fb-e0de1c829850	01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-bc81-797f-8227-7a1b8c870e30	2026-11-28 06:14:47.174+00
58	1114	member.changed	\N	01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-bc81-797f-8227-7a1b8c870e30	2026-11-28 06:14:47.174033+00
59	1122	member.changed	\N	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b4ba-785d-8b64-72b84d8acffb	2026-11-28 06:14:47.192768+00
60	1130	member.changed	\N	01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-bcfe-71b2-8f6b-0f05085ea996	2026-11-28 06:14:47.298657+00
61	1130	member.changed	\N	01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-bcfe-71f7-897e-c2b28f03bd8a	2026-11-28 06:14:47.298681+00
62	1130	member.changed	\N	01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-bcfe-73f5-b514-e51bfc8ef1bd	2026-11-28 06:14:47.298684+00
63	1130	member.changed	\N	01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-bcfe-7642-b70d-f0a5eb607b0f	2026-11-28 06:14:47.298686+00
64	1130	member.changed	\N	01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-bcfe-7658-b9cf-0763ed8ac189	2026-11-28 06:14:47.298691+00
65	1130	member.changed	\N	01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-bcfe-77a4-824e-d69e1d2e85be	2026-11-28 06:14:47.298693+00
66	1130	member.changed	\N	01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-bcfe-7923-bf5a-dceb280d0073	2026-11-28 06:14:47.298695+00
67	1130	member.changed	\N	01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-bcfe-7c86-97f1-1f3ec3780c1a	2026-11-28 06:14:47.298697+00
68	1130	member.changed	\N	01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-bcfe-7ea9-9737-fc42977b3ac4	2026-11-28 06:14:47.298699+00
69	1130	member.changed	\N	01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-bcfe-7ef1-8a1d-6ce8d5abee0c	2026-11-28 06:14:47.298701+00
70	1160	member.changed	\N	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-bf1c-7653-a09c-547de437997a	2026-11-28 06:14:47.836748+00
71	1160	member.changed	\N	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b83e-7693-8fcb-f6ee5c89c046	2026-11-28 06:14:47.836807+00
72	1161	member.changed	\N	01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-bf2a-7fe4-b6b3-448caf063966	2026-11-28 06:14:47.860054+00
73	1162	member.changed	\N	01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-bf33-74fc-b17f-e4dd8b366c0a	2026-11-28 06:14:47.896997+00
74	1172	member.changed	\N	01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-c08a-7221-ad51-60f7f16ee22c	2026-11-28 06:14:48.211091+00
75	1183	group.joined	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-c135-7813-b672-8956c84042b7	2026-11-28 06:14:48.385922+00
76	1183	member.changed	\N	01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-c135-7813-b672-8956c84042b7	2026-11-28 06:14:48.385994+00
77	1203	group.joined	01a220ca-c0fe-71db-b072-2edfff01a4e9	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b675-721a-a0dc-1b13f3420ff4	2026-11-28 06:14:48.475313+00
78	1203	member.changed	\N	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b675-721a-a0dc-1b13f3420ff4	2026-11-28 06:14:48.475376+00
79	1203	group.joined	01a220ca-c0fe-71db-b072-2edfff01a4e9	01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-bcfe-7c86-97f1-1f3ec3780c1a	2026-11-28 06:14:48.475456+00
80	1203	member.changed	\N	01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-bcfe-7c86-97f1-1f3ec3780c1a	2026-11-28 06:14:48.475465+00
81	1222	group.left	01a220ca-c0fe-71db-b072-2edfff01a4e9	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b675-721a-a0dc-1b13f3420ff4	2026-11-28 06:14:48.732303+00
82	1222	member.changed	\N	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b675-721a-a0dc-1b13f3420ff4	2026-11-28 06:14:48.732337+00
83	1222	group.left	01a220ca-c0fe-71db-b072-2edfff01a4e9	01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-bcfe-7c86-97f1-1f3ec3780c1a	2026-11-28 06:14:48.747618+00
84	1222	member.changed	\N	01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-bcfe-7c86-97f1-1f3ec3780c1a	2026-11-28 06:14:48.747678+00
85	1224	group.joined	01a220ca-aac6-703f-a279-db1c16494402	01a220ca-c2bc-7613-a32e-d9c527873964	01a220ca-c2bc-769f-836e-ffa7e2eba3a8	2026-11-28 06:14:48.766913+00
86	1224	member.changed	\N	01a220ca-c2bc-7613-a32e-d9c527873964	01a220ca-c2bc-769f-836e-ffa7e2eba3a8	2026-11-28 06:14:48.767325+00
103	1250	member.changed	\N	01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-c44f-7e2f-a0c2-44b7a8b41484	2026-11-28 06:14:49.170548+00
154	1401	group.joined	01a220ca-b81f-722e-a6fb-e0de1c829850	01a220ca-cb7a-72c2-bd0f-849a8a992a06	01a220ca-cb7a-73ac-b75d-9d4c4732f7cb	2026-11-28 06:14:51.006778+00
155	1401	member.changed	\N	01a220ca-cb7a-72c2-bd0f-849a8a992a06	01a220ca-cb7a-73ac-b75d-9d4c4732f7cb	2026-11-28 06:14:51.006816+00
159	1407	member.changed	\N	01a220ca-c802-7397-86cf-c5896f7ec1aa	01a220ca-cbd2-7ac7-8d17-ae7562671e61	2026-11-28 06:14:51.110611+00
160	1409	group.joined	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	01a220ca-cc26-7c3d-8714-9c214c6e6568	01a220ca-cc26-7f05-acef-aabe099d4825	2026-11-28 06:14:51.175143+00
161	1409	member.changed	\N	01a220ca-cc26-7c3d-8714-9c214c6e6568	01a220ca-cc26-7f05-acef-aabe099d4825	2026-11-28 06:14:51.175178+00
165	1475	group.joined	01a220ca-cdfd-70df-81d4-4013a6e6ef61	01a220ca-ce40-7bef-a9a6-41b363937d12	01a220ca-ce5b-7f5a-a438-b91caca389ec	2026-11-28 06:14:51.740852+00
166	1475	member.changed	\N	01a220ca-ce40-7bef-a9a6-41b363937d12	01a220ca-ce5b-7f5a-a438-b91caca389ec	2026-11-28 06:14:51.740931+00
87	1222	member.changed	\N	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b675-721a-a0dc-1b13f3420ff4	2026-11-28 06:14:48.78458+00
88	1222	member.changed	\N	01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-bcfe-7c86-97f1-1f3ec3780c1a	2026-11-28 06:14:48.788646+00
89	1222	invitation.changed	01a220ca-b81f-722e-a6fb-e0de1c829850	\N	\N	2026-11-28 06:14:48.788752+00
146	1336	group.joined	01a220ca-b81f-722e-a6fb-e0de1c829850	01a220ca-c802-7397-86cf-c5896f7ec1aa	01a220ca-c802-7e77-844f-8d3ef25404c6	2026-11-28 06:14:50.11825+00
147	1336	member.changed	\N	01a220ca-c802-7397-86cf-c5896f7ec1aa	01a220ca-c802-7e77-844f-8d3ef25404c6	2026-11-28 06:14:50.118648+00
90	1232	member.changed	\N	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-c30d-7e5a-89ac-bfb4ba3b0a9d	2026-11-28 06:14:48.845542+00
91	1232	member.changed	\N	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b83e-7485-8d11-c8b42a837b6a	2026-11-28 06:14:48.84571+00
92	1232	group.joined	01a220ca-aac6-703f-a279-db1c16494402	01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-c08a-7221-ad51-60f7f16ee22c	2026-11-28 06:14:48.84828+00
93	1232	member.changed	\N	01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-c08a-7221-ad51-60f7f16ee22c	2026-11-28 06:14:48.848324+00
94	1232	member.changed	\N	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b4ba-7e18-95b0-2cd8836c36fa	2026-11-28 06:14:48.848531+00
95	1232	member.changed	\N	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b76b-752e-b4e4-dfa18789f85a	2026-11-28 06:14:48.848563+00
96	1232	member.changed	\N	01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-bcfe-7658-b9cf-0763ed8ac189	2026-11-28 06:14:48.848566+00
97	1232	invitation.changed	01a220ca-aac6-703f-a279-db1c16494402	\N	\N	2026-11-28 06:14:48.84865+00
98	1232	invitation.changed	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	\N	\N	2026-11-28 06:14:48.848653+00
99	1241	member.changed	\N	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b76b-752e-b4e4-dfa18789f85a	2026-11-28 06:14:48.98175+00
100	1241	member.changed	\N	01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-bcfe-7658-b9cf-0763ed8ac189	2026-11-28 06:14:48.98178+00
101	1245	member.changed	\N	01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-c3cd-7a19-96eb-38280f61b7d0	2026-11-28 06:14:49.046561+00
102	1247	member.changed	\N	01a220ca-c2bc-7613-a32e-d9c527873964	01a220ca-c417-7c5f-8ee7-a888789d5165	2026-11-28 06:14:49.113677+00
104	1254	member.changed	\N	01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-c487-7e52-a77b-b77295cb752e	2026-11-28 06:14:49.227903+00
105	1259	member.changed	\N	01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-c4b3-7055-8056-d56b5d39659a	2026-11-28 06:14:49.286209+00
106	1259	member.changed	\N	01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-c4b3-73ef-a10b-1bcf93f40a75	2026-11-28 06:14:49.28624+00
107	1259	member.changed	\N	01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-c4b3-7586-a4a7-d65e390b06df	2026-11-28 06:14:49.286243+00
108	1259	member.changed	\N	01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-c4b3-769b-ab85-df487fc0488c	2026-11-28 06:14:49.286245+00
109	1259	member.changed	\N	01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-c4b3-76e3-ad9d-365e89a7b8cf	2026-11-28 06:14:49.28625+00
110	1259	member.changed	\N	01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-c4b3-77d2-bda8-1725ab44619a	2026-11-28 06:14:49.286253+00
111	1259	member.changed	\N	01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-c4b3-78ed-b250-4a69d4b3845a	2026-11-28 06:14:49.286255+00
112	1259	member.changed	\N	01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-c4b3-7a05-a067-63828b850bb9	2026-11-28 06:14:49.286257+00
113	1259	member.changed	\N	01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-c4b3-7a5f-a3c8-8b4e8acc88f0	2026-11-28 06:14:49.286259+00
114	1259	member.changed	\N	01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-c4b3-7ab3-8853-ddd6dfed65bc	2026-11-28 06:14:49.28626+00
115	1259	member.changed	\N	01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-c4b3-7f69-9ee5-53a2c99b327b	2026-11-28 06:14:49.286262+00
116	1259	member.changed	\N	01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-c4b3-7f9b-8e73-61745215abf2	2026-11-28 06:14:49.286264+00
117	1267	group.joined	01a220ca-c4af-721c-b6d9-9daaef7d6e22	01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-bcfe-7ef1-8a1d-6ce8d5abee0c	2026-11-28 06:14:49.422552+00
118	1267	member.changed	\N	01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-bcfe-7ef1-8a1d-6ce8d5abee0c	2026-11-28 06:14:49.42258+00
119	1267	group.joined	01a220ca-c4af-721c-b6d9-9daaef7d6e22	01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-c4b3-7a5f-a3c8-8b4e8acc88f0	2026-11-28 06:14:49.422618+00
120	1267	member.changed	\N	01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-c4b3-7a5f-a3c8-8b4e8acc88f0	2026-11-28 06:14:49.422625+00
121	1274	member.changed	\N	01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-c4b3-728a-aae6-c06ce987d1f9	2026-11-28 06:14:49.453532+00
122	1309	member.changed	\N	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b675-721a-a0dc-1b13f3420ff4	2026-11-28 06:14:49.72352+00
123	1309	member.changed	\N	01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-bcfe-7c86-97f1-1f3ec3780c1a	2026-11-28 06:14:49.723544+00
124	1309	group.joined	01a220ca-b81f-722e-a6fb-e0de1c829850	01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-c4b3-7f69-9ee5-53a2c99b327b	2026-11-28 06:14:49.724492+00
125	1309	member.changed	\N	01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-c4b3-7f69-9ee5-53a2c99b327b	2026-11-28 06:14:49.72451+00
126	1309	member.changed	\N	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b83e-78d5-9e5a-07a1e86f443c	2026-11-28 06:14:49.724669+00
127	1309	member.changed	\N	01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-bcfe-7ea9-9737-fc42977b3ac4	2026-11-28 06:14:49.724691+00
128	1309	invitation.changed	01a220ca-b81f-722e-a6fb-e0de1c829850	\N	\N	2026-11-28 06:14:49.724763+00
129	1315	group.left	01a220ca-c4af-721c-b6d9-9daaef7d6e22	01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-bcfe-7ef1-8a1d-6ce8d5abee0c	2026-11-28 06:14:49.728897+00
130	1315	member.changed	\N	01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-bcfe-7ef1-8a1d-6ce8d5abee0c	2026-11-28 06:14:49.728923+00
131	1315	group.left	01a220ca-c4af-721c-b6d9-9daaef7d6e22	01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-c4b3-7a5f-a3c8-8b4e8acc88f0	2026-11-28 06:14:49.72895+00
132	1315	member.changed	\N	01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-c4b3-7a5f-a3c8-8b4e8acc88f0	2026-11-28 06:14:49.728958+00
133	1315	member.changed	\N	01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-c681-75fb-9e77-ee322c09e301	2026-11-28 06:14:49.729415+00
134	1315	member.changed	\N	01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-c08a-7221-ad51-60f7f16ee22c	2026-11-28 06:14:49.729449+00
135	1315	member.changed	\N	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b4ba-7e18-95b0-2cd8836c36fa	2026-11-28 06:14:49.73266+00
136	1315	member.changed	\N	01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-bcfe-7ef1-8a1d-6ce8d5abee0c	2026-11-28 06:14:49.739148+00
137	1315	member.changed	\N	01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-c4b3-7a5f-a3c8-8b4e8acc88f0	2026-11-28 06:14:49.739171+00
138	1315	invitation.changed	01a220ca-aac6-703f-a279-db1c16494402	\N	\N	2026-11-28 06:14:49.73919+00
139	1323	member.changed	\N	01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-c70d-781d-ae58-20264333d9dc	2026-11-28 06:14:49.872852+00
140	1323	member.changed	\N	01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-c4b3-7f69-9ee5-53a2c99b327b	2026-11-28 06:14:49.87291+00
141	1323	member.changed	\N	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b83e-78d5-9e5a-07a1e86f443c	2026-11-28 06:14:49.875614+00
142	1323	member.changed	\N	01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-bcfe-7ea9-9737-fc42977b3ac4	2026-11-28 06:14:49.875629+00
143	1323	member.changed	\N	01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-bf33-74fc-b17f-e4dd8b366c0a	2026-11-28 06:14:49.878553+00
144	1323	invitation.changed	01a220ca-b81f-722e-a6fb-e0de1c829850	\N	\N	2026-11-28 06:14:49.878584+00
145	1335	member.changed	\N	01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-c7e5-7473-9a08-5b6d70e75f07	2026-11-28 06:14:50.108169+00
148	1349	member.changed	\N	01a220ca-b266-7970-98dd-529928be1b97	01a220ca-c906-7c56-81df-2c633745a444	2026-11-28 06:14:50.375979+00
149	1355	member.changed	\N	01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-bf33-74fc-b17f-e4dd8b366c0a	2026-11-28 06:14:50.454422+00
150	1355	member.changed	\N	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b4ba-7b28-8691-e05c237d774c	2026-11-28 06:14:50.456701+00
151	1355	member.changed	\N	01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-bcfe-7642-b70d-f0a5eb607b0f	2026-11-28 06:14:50.456725+00
152	1355	member.changed	\N	01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-c4b3-769b-ab85-df487fc0488c	2026-11-28 06:14:50.456729+00
153	1355	invitation.changed	01a220ca-b81f-722e-a6fb-e0de1c829850	\N	\N	2026-11-28 06:14:50.456764+00
156	1402	member.changed	\N	01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-cb8f-753f-9957-fa83ed2bd0de	2026-11-28 06:14:51.034878+00
157	1402	member.changed	\N	01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-cb8f-76d6-93e1-b28adc5b4fab	2026-11-28 06:14:51.034907+00
158	1402	member.changed	\N	01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-cb8f-77c6-aec8-bac0926a12bd	2026-11-28 06:14:51.034911+00
162	1414	member.changed	\N	01a220ca-c2bc-7613-a32e-d9c527873964	01a220ca-cc57-7c55-adef-f056943acfe5	2026-11-28 06:14:51.224678+00
163	1473	group.joined	01a220ca-cddb-7f81-9a93-a62e59237398	01a220ca-ce40-7bef-a9a6-41b363937d12	01a220ca-ce40-73cd-bebb-55fae02600fd	2026-11-28 06:14:51.712573+00
164	1473	member.changed	\N	01a220ca-ce40-7bef-a9a6-41b363937d12	01a220ca-ce40-73cd-bebb-55fae02600fd	2026-11-28 06:14:51.71261+00
167	1476	member.changed	\N	01a220ca-ce40-7bef-a9a6-41b363937d12	01a220ca-ce66-773e-a562-65dfa35efb72	2026-11-28 06:14:51.751246+00
168	1540	invitation.changed	12ef9144-cfeb-4ef3-9fc8-5bc47833a0a7	\N	\N	2026-11-28 06:14:55.046345+00
169	1540	member.changed	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	01a220ca-b266-7970-98dd-529928be1b97	a36f8b32-010b-4de7-9508-d53a7adf49fa	2026-11-28 06:14:55.046501+00
\.


--
-- Data for Name: group_keys; Type: TABLE DATA; Schema: invites; Owner: vestibule_invites_owner
--

COPY invites.group_keys (user_id, idempotency_key, group_id, request_hash, created_at) FROM stdin;
01a220ca-aac6-7f8e-b9bc-5616f9d56fef	b5087a3b-120a-4c08-8e24-42267a8657a1	01a220ca-b266-7970-98dd-529928be1b97	\\x4cd74e589a16241f21c96c671daf92adf868a17818026fe346c5145fb2958ea6	2026-11-28 06:14:44.582+00
01a220ca-aac6-7f8e-b9bc-5616f9d56fef	d8c9bdac-1046-4a77-a1f6-8bb9411e4659	01a220ca-b3dc-7e18-9701-96d262bba0cb	\\x47926bc5a7c14aad4d58ef35027c18d61dbd64fc819e05eda12184bfac396572	2026-11-28 06:14:44.956+00
01a220ca-aac6-703f-a279-db1c16494402	8e0c9b45-2384-488a-8e66-8d13cf0b54e0	01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	\\x76104b5a47e0d2ab51bc4430d1d4b180fc5dcf74728a64276b492703cba924c3	2026-11-28 06:14:45.934+00
01a220ca-aac6-7f8e-b9bc-5616f9d56fef	3bb8806d-dfdb-45d1-8e5c-52751366700c	01a220ca-b9be-74d4-985e-663b6907f34b	\\xcf4325989539a01c4f0f0ad0909761090f6b5f10bb6c57589ff010122cd23683	2026-11-28 06:14:46.462+00
01a220ca-aac6-703f-a279-db1c16494402	cc1984ba-7604-4168-9e42-c352a8038eb5	01a220ca-c2bc-7613-a32e-d9c527873964	\\xca2b75c728683160d685884a3b35078b626fcac7e02f9e20ef016e2c1870ed62	2026-11-28 06:14:48.764+00
01a220ca-b81f-722e-a6fb-e0de1c829850	6f2e80ef-5c7f-441a-893a-4fb9d9de2b41	01a220ca-c802-7397-86cf-c5896f7ec1aa	\\x69ce2081a8f9e99cdaeffc5a6cda89f1d8771c09e911c20654b527a0f5bc09ed	2026-11-28 06:14:50.114+00
01a220ca-b81f-722e-a6fb-e0de1c829850	f10f4219-3150-4083-b7fe-c800c78aae71	01a220ca-cb7a-72c2-bd0f-849a8a992a06	\\xd075db20502933ba9478481e8ddae42d0db0fbbb190a43bf76a6b08f9ac3c83b	2026-11-28 06:14:51.002+00
01a220ca-aac6-7f8e-b9bc-5616f9d56fef	8b29f287-de97-47eb-b98b-2b2bee84b5ee	01a220ca-cc26-7c3d-8714-9c214c6e6568	\\xa5a1f9a069c7df8e1644a58540fcd1f7652261bf1647e4b7f9702b3cd71d60fd	2026-11-28 06:14:51.174+00
\.


--
-- Data for Name: group_link_uses; Type: TABLE DATA; Schema: invites; Owner: vestibule_invites_owner
--

COPY invites.group_link_uses (link_id, user_id, used_at) FROM stdin;
01a220ca-b719-7771-8343-a02c5e416d1d	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:45.785+00
01a220ca-b80b-7490-aed3-0ec34c7311cc	01a220ca-aac6-703f-a279-db1c16494402	2026-11-28 06:14:46.027+00
01a220ca-bb63-7d5f-a9c2-5712a68ecee7	01a220ca-aac6-703f-a279-db1c16494402	2026-11-28 06:14:46.883+00
01a220ca-bb63-7d5f-a9c2-5712a68ecee7	01a220ca-b81f-722e-a6fb-e0de1c829850	2026-11-28 06:14:47.162+00
01a220ca-bb63-7d5f-a9c2-5712a68ecee7	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:48.372+00
01a220ca-c9c2-7564-a267-1ba711ae8e0c	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:50.562+00
\.


--
-- Data for Name: group_links; Type: TABLE DATA; Schema: invites; Owner: vestibule_invites_owner
--

COPY invites.group_links (link_id, group_id, secret_hash, created_by, created_at, expires_at, revoked_at, uses_max, uses) FROM stdin;
01a220ca-b719-7771-8343-a02c5e416d1d	01a220ca-b266-7970-98dd-529928be1b97	\\xc08cc44255adfc94c97107dbb972ee543507dc312e5f232d38c97c7ce66cdc5e	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:45.785+00	2026-12-05 06:14:45.785+00	\N	5	0
01a220ca-b80b-7490-aed3-0ec34c7311cc	01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	\\x1c4edde0b74458d267ea47257eb1fe801c55e67f7dca3d39363050e4d8be6fd7	01a220ca-aac6-703f-a279-db1c16494402	2026-11-28 06:14:46.027+00	2026-12-05 06:14:46.027+00	\N	5	0
01a220ca-bb63-7d5f-a9c2-5712a68ecee7	01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	\\x8741e8b01d5ba3592009122d77535e830336e7a6338bea82cd54e3bd9ecf6812	01a220ca-aac6-703f-a279-db1c16494402	2026-11-28 06:14:46.883+00	2026-12-05 06:14:46.883+00	\N	5	2
01a220ca-c9c2-7564-a267-1ba711ae8e0c	01a220ca-b266-7970-98dd-529928be1b97	\\x25ccd6fdbd231bfe9231dc8b5cf62f75a1c33e48b8763b176f0a2d980a3800a7	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:50.562+00	2026-12-05 06:14:50.562+00	\N	5	0
\.


--
-- Data for Name: groups; Type: TABLE DATA; Schema: invites; Owner: vestibule_invites_owner
--

COPY invites.groups (group_id, name, owner_user_id, created_at, openness, created_by) FROM stdin;
01a220ca-b266-7970-98dd-529928be1b97	Group hgzynoccs	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:44.582+00	open	01a220ca-aac6-7f8e-b9bc-5616f9d56fef
01a220ca-b3dc-7e18-9701-96d262bba0cb	Group bftyskxwi	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:44.956+00	open	01a220ca-aac6-7f8e-b9bc-5616f9d56fef
01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	Group zcndzrpei	01a220ca-aac6-703f-a279-db1c16494402	2026-11-28 06:14:45.934+00	open	01a220ca-aac6-703f-a279-db1c16494402
01a220ca-b9be-74d4-985e-663b6907f34b	Group hranneveo	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:46.462+00	open	01a220ca-aac6-7f8e-b9bc-5616f9d56fef
01a220ca-c2bc-7613-a32e-d9c527873964	Group jkunhxzbo	01a220ca-aac6-703f-a279-db1c16494402	2026-11-28 06:14:48.764+00	open	01a220ca-aac6-703f-a279-db1c16494402
01a220ca-c802-7397-86cf-c5896f7ec1aa	Group cwfmxwela	01a220ca-b81f-722e-a6fb-e0de1c829850	2026-11-28 06:14:50.114+00	open	01a220ca-b81f-722e-a6fb-e0de1c829850
01a220ca-cb7a-72c2-bd0f-849a8a992a06	Group ipvyqpkgf	01a220ca-b81f-722e-a6fb-e0de1c829850	2026-11-28 06:14:51.002+00	open	01a220ca-b81f-722e-a6fb-e0de1c829850
01a220ca-cc26-7c3d-8714-9c214c6e6568	Group zzjfhxmrw	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:51.174+00	consent	01a220ca-aac6-7f8e-b9bc-5616f9d56fef
01a220ca-ce40-7bef-a9a6-41b363937d12	Family	01a220ca-cddb-7f81-9a93-a62e59237398	2026-11-28 06:14:51.712+00	open	01a220ca-cddb-7f81-9a93-a62e59237398
\.


--
-- Data for Name: held_accounts; Type: TABLE DATA; Schema: invites; Owner: vestibule_invites_owner
--

COPY invites.held_accounts (user_id, absorption_id, held_at) FROM stdin;
2d22d03c-f296-415b-adbf-e7bd70cbbdda	8405fecd-df32-4efa-b20f-052e4fe194b9	2026-11-28 06:14:55.000008+00
\.


--
-- Data for Name: inbox; Type: TABLE DATA; Schema: invites; Owner: vestibule_invites_owner
--

COPY invites.inbox (event_id, applied_at) FROM stdin;
01a220ca-aba0-7f99-a55b-6700448fad1e	2026-11-28 06:14:42.898+00
01a220ca-abb0-7414-ae67-357c6aa63272	2026-11-28 06:14:42.898+00
01a220ca-abca-7745-ae19-b0cd46cff34c	2026-11-28 06:14:42.91+00
01a220ca-ac1e-7bb7-b481-142b59001cec	2026-11-28 06:14:42.988+00
01a220ca-ac1e-7ebe-9a07-3156c5c81d93	2026-11-28 06:14:42.988+00
01a220ca-ac31-71b4-8deb-77e99aa8b96c	2026-11-28 06:14:43.093+00
01a220ca-ac31-7c7a-b040-8d696826a6f6	2026-11-28 06:14:43.093+00
01a220ca-ae96-7af1-8909-072372afc8be	2026-11-28 06:14:43.713+00
01a220ca-ae96-7c08-b40f-a71df1993b7e	2026-11-28 06:14:43.713+00
01a220ca-aefa-73fb-8c08-b6b56ff43c55	2026-11-28 06:14:43.815+00
01a220ca-aefa-76cd-bb67-b84049d8b261	2026-11-28 06:14:43.815+00
01a220ca-afd7-7c21-b136-fbdf721d6624	2026-11-28 06:14:43.969+00
01a220ca-afd7-7c3f-a8d8-c2294af5ea30	2026-11-28 06:14:43.969+00
01a220ca-b136-7399-a499-57d337c9908b	2026-11-28 06:14:44.285+00
01a220ca-b136-7d6c-bfe4-0da5e60127f4	2026-11-28 06:14:44.285+00
01a220ca-b29a-7c7f-8180-12d5502918dc	2026-11-28 06:14:44.642+00
01a220ca-b2ec-7a09-87ce-e3d958137057	2026-11-28 06:14:44.738+00
01a220ca-b2ec-7fa5-81cf-2b2d99d278d1	2026-11-28 06:14:44.738+00
01a220ca-b34c-758a-9c7b-6299ebbcc04b	2026-11-28 06:14:44.854+00
01a220ca-b34c-75a0-880a-3795059b09e5	2026-11-28 06:14:44.854+00
01a220ca-b34c-7b7d-89e3-5da170af13b7	2026-11-28 06:14:44.854+00
01a220ca-b597-7943-8207-0c3b353e71cc	2026-11-28 06:14:45.46+00
01a220ca-b5c9-756c-9721-0e3a7a840c68	2026-11-28 06:14:45.484+00
01a220ca-b79c-7e30-975f-3ef6cafa6163	2026-11-28 06:14:45.923+00
01a220ca-b79c-7fbe-8b2a-da68babdd057	2026-11-28 06:14:45.923+00
01a220ca-b7f7-7817-bf4f-4e04bbe0f1d4	2026-11-28 06:14:46.014+00
01a220ca-b849-7965-87b5-cf4f53ca96d4	2026-11-28 06:14:46.118+00
01a220ca-b8a9-79f2-835a-a96c0e131fc4	2026-11-28 06:14:46.203+00
01a220ca-b8a9-7ae5-afff-9e884b55d812	2026-11-28 06:14:46.203+00
01a220ca-b9c6-763d-9d7b-ebc4a8e40314	2026-11-28 06:14:46.475+00
01a220ca-b9c6-7b12-8ffc-a563a2a6e050	2026-11-28 06:14:46.475+00
01a220ca-b9f4-7177-8c87-7ec9535cef8d	2026-11-28 06:14:46.718+00
01a220ca-b9f4-7baa-9688-e8d00e31c600	2026-11-28 06:14:46.718+00
01a220ca-bab2-7990-8d72-6470db61767d	2026-11-28 06:14:46.854+00
01a220ca-bab2-7c2d-955c-bfd63fbfa17d	2026-11-28 06:14:46.854+00
01a220ca-bb64-70f9-969b-60ce3f91145d	2026-11-28 06:14:46.894+00
01a220ca-bb64-7db4-b37f-c4ee4825469f	2026-11-28 06:14:46.894+00
01a220ca-bb79-707f-a201-c86fa1a1d51d	2026-11-28 06:14:46.961+00
01a220ca-bc91-7310-804d-89699830eafa	2026-11-28 06:14:47.191+00
01a220ca-bc91-77ac-9a81-8b89e32cee5e	2026-11-28 06:14:47.191+00
01a220ca-bc91-7d24-b9bb-2d196f4aba71	2026-11-28 06:14:47.191+00
01a220ca-bee5-7c87-b81c-337cc9d67a6e	2026-11-28 06:14:47.818+00
01a220ca-bee5-7ca7-b769-a7f4faac9318	2026-11-28 06:14:47.818+00
01a220ca-c17d-710c-9306-bb6983638bae	2026-11-28 06:14:48.47+00
01a220ca-c27b-72fa-9eb1-3c9839efec47	2026-11-28 06:14:48.707+00
01a220ca-c27b-78b2-bacd-af70469385f5	2026-11-28 06:14:48.707+00
01a220ca-c27b-7d1b-a49a-602b09a0511f	2026-11-28 06:14:48.707+00
01a220ca-c27f-7311-8156-8a560caa91b3	2026-11-28 06:14:48.844+00
01a220ca-c27f-7ecd-b11a-57a5db85ee51	2026-11-28 06:14:48.844+00
01a220ca-c2d2-704a-a740-5c6c3c658787	2026-11-28 06:14:48.844+00
01a220ca-c2d2-7381-b035-86610f3e41d5	2026-11-28 06:14:48.844+00
01a220ca-c37b-72fb-87bf-0f274ac888bd	2026-11-28 06:14:48.969+00
01a220ca-c37b-7b1b-b67c-268b8f871753	2026-11-28 06:14:48.969+00
01a220ca-c525-7bc5-b9af-193e08cbe307	2026-11-28 06:14:49.41+00
01a220ca-c562-73f5-8a4a-b45160e3b4f4	2026-11-28 06:14:49.452+00
01a220ca-c562-78c9-9762-0f00a4fc567a	2026-11-28 06:14:49.452+00
01a220ca-c674-72e4-bff1-8ea7e7cb252a	2026-11-28 06:14:49.721+00
01a220ca-c674-73b8-9658-7e4922b0a8a2	2026-11-28 06:14:49.721+00
01a220ca-c675-771f-9109-09a1cfc184d1	2026-11-28 06:14:49.727+00
01a220ca-c675-778d-b383-09f8885d462d	2026-11-28 06:14:49.727+00
01a220ca-c6f3-77ac-9fb6-69b970b19523	2026-11-28 06:14:49.849+00
01a220ca-c6f3-7ef9-8971-084cdb5d4ca6	2026-11-28 06:14:49.849+00
01a220ca-c935-7145-a66c-17733f3f2093	2026-11-28 06:14:50.446+00
01a220ca-c935-7403-8d0e-14b5c7672433	2026-11-28 06:14:50.446+00
01a220ca-ca61-7179-8331-63b618e24b37	2026-11-28 06:14:50.738+00
01a220ca-ca95-7313-8bda-8e5ef445f4e6	2026-11-28 06:14:50.787+00
01a220ca-ca95-7573-b134-2bc07af8b2fc	2026-11-28 06:14:50.787+00
01a220ca-cded-7201-a414-842976ad4345	2026-11-28 06:14:51.632+00
01a220ca-ce06-798e-b06d-069f57ca44ae	2026-11-28 06:14:51.655+00
01a220ca-ce26-7d59-982e-8bf56fb9a0f0	2026-11-28 06:14:51.688+00
\.


--
-- Data for Name: join_requests; Type: TABLE DATA; Schema: invites; Owner: vestibule_invites_owner
--

COPY invites.join_requests (group_id, user_id, member_id, requested_at, expires_at) FROM stdin;
01a220ca-b266-7970-98dd-529928be1b97	12ef9144-cfeb-4ef3-9fc8-5bc47833a0a7	a36f8b32-010b-4de7-9508-d53a7adf49fa	2026-11-28 06:14:55.000008+00	2026-12-28 06:14:55.000008+00
\.


--
-- Data for Name: members; Type: TABLE DATA; Schema: invites; Owner: vestibule_invites_owner
--

COPY invites.members (group_id, member_id, user_id, phone, display_name, added_by, added_at, linked_at, role, confirmed_by, unconfirmed_at, expires_at, declined_by, also_added_by) FROM stdin;
01a220ca-b266-7970-98dd-529928be1b97	01a220ca-b266-7462-9314-96d8238b3030	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	\N	Name osqmesierz	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:44.582+00	2026-11-28 06:14:44.582+00	member	\N	\N	\N	\N	{}
01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b3dc-73cb-bc4e-c1491fc604dc	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	\N	Name osqmesierz	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:44.956+00	2026-11-28 06:14:44.956+00	member	\N	\N	\N	\N	{}
01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b4ba-7080-80f0-1ef98bf41f7f	\N	639171474301	Some One	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:45.178+00	\N	member	\N	\N	\N	\N	{}
01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b7a4-76e2-8594-692d60557a98	\N	639171556769	Some One	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:45.923+00	\N	member	\N	\N	\N	\N	{}
01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-c135-7813-b672-8956c84042b7	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	\N	\N	01a220ca-aac6-703f-a279-db1c16494402	2026-11-28 06:14:48.372+00	2026-11-28 06:14:48.372+00	member	01a220ca-aac6-703f-a279-db1c16494402	\N	\N	\N	{}
01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-b7ae-775a-9a7e-82fef190bda1	01a220ca-aac6-703f-a279-db1c16494402	\N	Name djkeqhdjmj	01a220ca-aac6-703f-a279-db1c16494402	2026-11-28 06:14:45.934+00	2026-11-28 06:14:45.934+00	member	\N	\N	\N	\N	{}
01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b83e-700b-b93c-98b626dd17bd	\N	639177544478	Some One	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:46.078+00	\N	member	\N	\N	\N	\N	{}
01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b83e-7cd6-95f6-1440710f9c74	\N	639175501969	Some One	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:46.078+00	\N	member	\N	\N	\N	\N	{}
01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b83e-70ea-9f14-b1dfc7272919	\N	639171434285	Some One	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:46.078+00	\N	member	\N	\N	\N	\N	{}
01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-b9be-712e-9d9a-58fbb0fc4604	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	\N	Name yiqbtnrhiw	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:46.462+00	2026-11-28 06:14:46.462+00	member	\N	\N	\N	\N	{}
01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-b9e6-7752-bdcd-da1e2bcd62ad	\N	639171539063	Some One	01a220ca-aac6-703f-a279-db1c16494402	2026-11-28 06:14:46.502+00	\N	member	\N	\N	\N	\N	{}
01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b83e-7d35-a0d9-0af375f90e3e	\N	639176657287	Some One	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:46.078+00	\N	member	\N	\N	\N	\N	{}
01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-bbc6-7e64-b715-ed1674a5c401	\N	639177730489	Some One	01a220ca-aac6-703f-a279-db1c16494402	2026-11-28 06:14:46.982+00	\N	member	\N	\N	\N	\N	{}
01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-bc81-797f-8227-7a1b8c870e30	01a220ca-b81f-722e-a6fb-e0de1c829850	\N	\N	01a220ca-aac6-703f-a279-db1c16494402	2026-11-28 06:14:47.162+00	2026-11-28 06:14:47.162+00	member	01a220ca-aac6-703f-a279-db1c16494402	\N	\N	\N	{}
01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b4ba-785d-8b64-72b84d8acffb	\N	639170532278	Some One	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:45.178+00	\N	member	\N	\N	\N	\N	{}
01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-bcfe-7923-bf5a-dceb280d0073	\N	639171434285	Some One	01a220ca-aac6-703f-a279-db1c16494402	2026-11-28 06:14:47.294+00	\N	member	\N	\N	\N	\N	{}
01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-bcfe-73f5-b514-e51bfc8ef1bd	\N	639176657287	Some One	01a220ca-aac6-703f-a279-db1c16494402	2026-11-28 06:14:47.294+00	\N	member	\N	\N	\N	\N	{}
01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-bcfe-71b2-8f6b-0f05085ea996	\N	639178513046	Some One	01a220ca-aac6-703f-a279-db1c16494402	2026-11-28 06:14:47.294+00	\N	member	\N	\N	\N	\N	{}
01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-bcfe-77a4-824e-d69e1d2e85be	\N	639170532278	Some One	01a220ca-aac6-703f-a279-db1c16494402	2026-11-28 06:14:47.294+00	\N	member	\N	\N	\N	\N	{}
01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-bf1c-7653-a09c-547de437997a	\N	639170501549	Some One	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:47.818+00	\N	member	\N	\N	\N	\N	{}
01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b83e-7693-8fcb-f6ee5c89c046	01a220ca-b81f-722e-a6fb-e0de1c829850	639170501549	Some One	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:46.078+00	2026-11-28 06:14:46.118+00	member	\N	2026-11-28 06:14:47.818+00	\N	\N	{}
01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-bf2a-7fe4-b6b3-448caf063966	\N	639176107703	Some One	01a220ca-aac6-703f-a279-db1c16494402	2026-11-28 06:14:47.85+00	\N	member	\N	\N	\N	\N	{}
01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-bcfe-71f7-897e-c2b28f03bd8a	\N	639171474301	Some One	01a220ca-aac6-703f-a279-db1c16494402	2026-11-28 06:14:47.294+00	\N	member	\N	\N	\N	\N	{01a220ca-b81f-722e-a6fb-e0de1c829850}
01a220ca-c2bc-7613-a32e-d9c527873964	01a220ca-c2bc-769f-836e-ffa7e2eba3a8	01a220ca-aac6-703f-a279-db1c16494402	\N	Name wnlmhgakai	01a220ca-aac6-703f-a279-db1c16494402	2026-11-28 06:14:48.764+00	2026-11-28 06:14:48.764+00	member	\N	\N	\N	\N	{}
01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-c30d-7e5a-89ac-bfb4ba3b0a9d	\N	639179079370	Some One	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:48.844+00	\N	member	\N	\N	\N	\N	{}
01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b83e-7485-8d11-c8b42a837b6a	01a220ca-aac6-703f-a279-db1c16494402	639179079370	Some One	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:46.078+00	2026-11-28 06:14:46.203+00	member	\N	2026-11-28 06:14:48.844+00	\N	\N	{}
01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-ba9c-7a44-b156-f45408f53f84	\N	639172598691	Some One	01a220ca-aac6-703f-a279-db1c16494402	2026-11-28 06:14:46.684+00	\N	member	\N	\N	\N	\N	{01a220ca-b81f-722e-a6fb-e0de1c829850}
01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b76b-752e-b4e4-dfa18789f85a	\N	639177704719	Some One	00000000-0000-0000-0000-000000000000	2026-11-28 06:14:45.867+00	\N	member	\N	\N	\N	\N	{}
01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-c3cd-7a19-96eb-38280f61b7d0	\N	639172598691	Some One	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:49.037+00	\N	member	\N	\N	\N	\N	{}
01a220ca-c2bc-7613-a32e-d9c527873964	01a220ca-c417-7c5f-8ee7-a888789d5165	\N	639178769024	Some One	01a220ca-aac6-703f-a279-db1c16494402	2026-11-28 06:14:49.111+00	\N	member	\N	\N	\N	\N	{}
01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-c44f-7e2f-a0c2-44b7a8b41484	\N	639176657287	Some One	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:49.167+00	\N	member	\N	\N	\N	\N	{}
01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-c4b3-7055-8056-d56b5d39659a	\N	639175476092	Some One	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:49.267+00	\N	member	\N	\N	\N	\N	{}
01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-c4b3-7a05-a067-63828b850bb9	\N	639172319923	Some One	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:49.267+00	\N	member	\N	\N	\N	\N	{}
01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-c4b3-77d2-bda8-1725ab44619a	\N	639177704719	Some One	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:49.267+00	\N	member	\N	\N	\N	\N	{}
01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-c4b3-7ab3-8853-ddd6dfed65bc	\N	639171539063	Some One	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:49.267+00	\N	member	\N	\N	\N	\N	{}
01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-c4b3-76e3-ad9d-365e89a7b8cf	\N	639171434285	Some One	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:49.267+00	\N	member	\N	\N	\N	\N	{}
01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-c4b3-7f9b-8e73-61745215abf2	\N	639171822825	Some One	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:49.267+00	\N	member	\N	\N	\N	\N	{}
01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-c4b3-78ed-b250-4a69d4b3845a	\N	639175404936	Some One	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:49.267+00	\N	member	\N	\N	\N	\N	{}
01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-c4b3-7586-a4a7-d65e390b06df	\N	639172029504	Some One	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:49.267+00	\N	member	\N	\N	\N	\N	{}
01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-c4b3-73ef-a10b-1bcf93f40a75	\N	639179079370	Some One	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:49.267+00	\N	member	\N	\N	\N	\N	{}
01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-c4b3-728a-aae6-c06ce987d1f9	\N	639179229800	Some One	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:49.267+00	\N	member	\N	\N	\N	\N	{}
01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b675-721a-a0dc-1b13f3420ff4	\N	639177533065	Some One	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:45.621+00	\N	member	\N	\N	\N	\N	{}
01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-bcfe-7c86-97f1-1f3ec3780c1a	\N	639177533065	Some One	01a220ca-aac6-703f-a279-db1c16494402	2026-11-28 06:14:47.294+00	\N	member	\N	\N	\N	\N	{}
01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-c08a-7221-ad51-60f7f16ee22c	01a220ca-aac6-703f-a279-db1c16494402	639177686758	Some One	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:48.202+00	2026-11-28 06:14:48.844+00	member	\N	2026-11-28 06:14:49.727+00	\N	\N	{}
01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-bcfe-7658-b9cf-0763ed8ac189	\N	639177704719	Some One	01a220ca-aac6-703f-a279-db1c16494402	2026-11-28 06:14:47.294+00	\N	member	\N	\N	\N	\N	{01a220ca-b81f-722e-a6fb-e0de1c829850}
01a220ca-c802-7397-86cf-c5896f7ec1aa	01a220ca-c802-7e77-844f-8d3ef25404c6	01a220ca-b81f-722e-a6fb-e0de1c829850	\N	Name bodxunoovm	01a220ca-b81f-722e-a6fb-e0de1c829850	2026-11-28 06:14:50.114+00	2026-11-28 06:14:50.114+00	member	\N	\N	\N	\N	{}
01a220ca-cb7a-72c2-bd0f-849a8a992a06	01a220ca-cb7a-73ac-b75d-9d4c4732f7cb	01a220ca-b81f-722e-a6fb-e0de1c829850	\N	Name hggirszsoh	01a220ca-b81f-722e-a6fb-e0de1c829850	2026-11-28 06:14:51.002+00	2026-11-28 06:14:51.002+00	member	\N	\N	\N	\N	{}
01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-c487-7e52-a77b-b77295cb752e	\N	639177591655	Some One	01a220ca-b81f-722e-a6fb-e0de1c829850	2026-11-28 06:14:49.223+00	\N	member	\N	\N	\N	\N	{01a220ca-aac6-703f-a279-db1c16494402}
01a220ca-c802-7397-86cf-c5896f7ec1aa	01a220ca-cbd2-7ac7-8d17-ae7562671e61	\N	639171822825	Some One	01a220ca-b81f-722e-a6fb-e0de1c829850	2026-11-28 06:14:51.09+00	\N	member	\N	\N	\N	\N	{}
01a220ca-cc26-7c3d-8714-9c214c6e6568	01a220ca-cc26-7f05-acef-aabe099d4825	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	\N	Name yiqbtnrhiw	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:51.174+00	2026-11-28 06:14:51.174+00	member	\N	\N	\N	\N	{}
01a220ca-ce40-7bef-a9a6-41b363937d12	01a220ca-ce5b-7f5a-a438-b91caca389ec	01a220ca-cdfd-70df-81d4-4013a6e6ef61	639171110002	Ben Example	01a220ca-cddb-7f81-9a93-a62e59237398	2026-11-28 06:14:51.739+00	2026-11-28 06:14:51.739+00	member	\N	\N	\N	\N	{}
01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-c681-75fb-9e77-ee322c09e301	\N	639177686758	Some One	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:49.727+00	\N	member	\N	\N	\N	\N	{}
01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b4ba-7e18-95b0-2cd8836c36fa	\N	639177686758	Some One	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:45.178+00	\N	member	\N	\N	\N	\N	{}
01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-c70d-781d-ae58-20264333d9dc	\N	639175276893	Some One	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:49.849+00	\N	member	\N	\N	\N	\N	{}
01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-c4b3-7f69-9ee5-53a2c99b327b	01a220ca-b81f-722e-a6fb-e0de1c829850	639175276893	Some One	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:49.267+00	2026-11-28 06:14:49.721+00	member	\N	2026-11-28 06:14:49.849+00	\N	\N	{}
01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b83e-78d5-9e5a-07a1e86f443c	\N	639175276893	Some One	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:46.078+00	\N	member	\N	\N	\N	\N	{}
01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-bcfe-7ea9-9737-fc42977b3ac4	\N	639175276893	Some One	01a220ca-aac6-703f-a279-db1c16494402	2026-11-28 06:14:47.294+00	\N	member	\N	\N	\N	\N	{}
01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-c7e5-7473-9a08-5b6d70e75f07	\N	639179079370	Some One	01a220ca-aac6-703f-a279-db1c16494402	2026-11-28 06:14:50.085+00	\N	member	\N	\N	\N	\N	{}
01a220ca-b266-7970-98dd-529928be1b97	01a220ca-c906-7c56-81df-2c633745a444	\N	639177591655	Some One	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:50.374+00	\N	member	\N	\N	\N	\N	{}
01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-bf33-74fc-b17f-e4dd8b366c0a	\N	639174884343	Some One	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:47.859+00	\N	member	\N	\N	\N	\N	{}
01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-cb8f-76d6-93e1-b28adc5b4fab	\N	639178769024	Some One	01a220ca-aac6-703f-a279-db1c16494402	2026-11-28 06:14:51.023+00	\N	member	\N	\N	\N	\N	{}
01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-cb8f-77c6-aec8-bac0926a12bd	\N	639172944736	Some One	01a220ca-aac6-703f-a279-db1c16494402	2026-11-28 06:14:51.023+00	\N	member	\N	\N	\N	\N	{}
01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-cb8f-753f-9957-fa83ed2bd0de	\N	639175291312	Some One	01a220ca-aac6-703f-a279-db1c16494402	2026-11-28 06:14:51.023+00	\N	member	\N	\N	\N	\N	{}
01a220ca-c2bc-7613-a32e-d9c527873964	01a220ca-cc57-7c55-adef-f056943acfe5	\N	639176601868	Some One	01a220ca-aac6-703f-a279-db1c16494402	2026-11-28 06:14:51.223+00	\N	member	\N	\N	\N	\N	{}
01a220ca-ce40-7bef-a9a6-41b363937d12	01a220ca-ce40-73cd-bebb-55fae02600fd	01a220ca-cddb-7f81-9a93-a62e59237398	\N	Ana Example	01a220ca-cddb-7f81-9a93-a62e59237398	2026-11-28 06:14:51.712+00	2026-11-28 06:14:51.712+00	member	\N	\N	\N	\N	{}
01a220ca-ce40-7bef-a9a6-41b363937d12	01a220ca-ce66-773e-a562-65dfa35efb72	\N	639171110004	Not Here	01a220ca-cddb-7f81-9a93-a62e59237398	2026-11-28 06:14:51.75+00	\N	member	\N	\N	\N	\N	{}
\.


--
-- Data for Name: merged_numbers; Type: TABLE DATA; Schema: invites; Owner: vestibule_invites_owner
--

COPY invites.merged_numbers (user_id, phone, group_id, member_id, display_name, added_by, added_at) FROM stdin;
01a220ca-aac6-703f-a279-db1c16494402	639171797810	01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-bcfe-7ef1-8a1d-6ce8d5abee0c	Some One	01a220ca-aac6-703f-a279-db1c16494402	2026-11-28 06:14:47.294+00
01a220ca-aac6-703f-a279-db1c16494402	639171797810	01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-c4b3-7a5f-a3c8-8b4e8acc88f0	Some One	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:49.267+00
01a220ca-b81f-722e-a6fb-e0de1c829850	639171219280	01a220ca-b3dc-7e18-9701-96d262bba0cb	01a220ca-b4ba-7b28-8691-e05c237d774c	Some One	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:45.178+00
01a220ca-b81f-722e-a6fb-e0de1c829850	639171219280	01a220ca-b7ae-70a8-8ab5-0106a7ccb8b3	01a220ca-bcfe-7642-b70d-f0a5eb607b0f	Some One	01a220ca-aac6-703f-a279-db1c16494402	2026-11-28 06:14:47.294+00
01a220ca-b81f-722e-a6fb-e0de1c829850	639171219280	01a220ca-b9be-74d4-985e-663b6907f34b	01a220ca-c4b3-769b-ab85-df487fc0488c	Some One	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:49.267+00
01a220ca-cddb-7f81-9a93-a62e59237398	639170000001	01a220ca-b266-7970-98dd-529928be1b97	b993c54c-265e-4b03-b0dc-807db709eaa5	Made Up	01a220ca-cdfd-70df-81d4-4013a6e6ef61	2026-11-28 06:14:55.000008+00
\.


--
-- Data for Name: ordered_queues; Type: TABLE DATA; Schema: invites; Owner: vestibule_invites_owner
--

COPY invites.ordered_queues (queue, leased_until) FROM stdin;
kept	-infinity
\.


--
-- Data for Name: phones; Type: TABLE DATA; Schema: invites; Owner: vestibule_invites_owner
--

COPY invites.phones (phone, user_id, proven_by) FROM stdin;
639171539063	\N	\N
639172029504	\N	\N
639172319923	\N	\N
639172598691	\N	\N
639175404936	\N	\N
639175476092	\N	\N
639171556769	\N	\N
639175501969	\N	\N
639177544478	\N	\N
639179229800	\N	\N
639177533065	\N	\N
639171797810	01a220ca-aac6-703f-a279-db1c16494402	01a220ca-aac6-703f-a279-db1c16494402
639177686758	\N	\N
639177730489	\N	\N
639178513046	\N	\N
639177704719	\N	\N
639170501549	\N	\N
639176107703	\N	\N
639171474301	\N	\N
639179079370	\N	\N
639174884343	\N	\N
639171219280	01a220ca-b81f-722e-a6fb-e0de1c829850	01a220ca-b81f-722e-a6fb-e0de1c829850
639174295671	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	\N
639170532278	\N	\N
639172944736	\N	\N
639175276893	\N	\N
639175291312	\N	\N
639177591655	\N	\N
639178769024	\N	\N
639171434285	\N	\N
639171822825	\N	\N
639176657287	\N	\N
639176601868	\N	\N
639171110001	01a220ca-cddb-7f81-9a93-a62e59237398	\N
639171110003	01a220ca-ce17-7cbd-847f-20b642ce7bb4	\N
639171110002	01a220ca-cdfd-70df-81d4-4013a6e6ef61	\N
639171110004	\N	\N
\.


--
-- Data for Name: quotas; Type: TABLE DATA; Schema: invites; Owner: vestibule_invites_owner
--

COPY invites.quotas (subject, kind, count, ends_at) FROM stdin;
\\x01a220caaac6703fa279db1c16494402	links	2	2026-11-29 06:14:46.027+00
\\x01a220caaac6703fa279db1c16494402	groups	2	2026-11-29 06:14:45.934+00
\\x01a220caaac67f8eb9bc5616f9d56fef	adds	35	2026-11-29 06:14:45.178+00
\\x01a220caaac67f8eb9bc5616f9d56fef	numbers	25	2026-12-28 06:14:45.178+00
\\x01a220caaac67f8eb9bc5616f9d56fef	links	2	2026-11-29 06:14:45.785+00
\\x01a220cab81f722ea6fbe0de1c829850	groups	2	2026-11-29 06:14:50.114+00
\\x01a220cab81f722ea6fbe0de1c829850	adds	3	2026-11-29 06:14:49.223+00
\\x01a220cab81f722ea6fbe0de1c829850	numbers	3	2026-12-28 06:14:49.223+00
\\x01a220caaac67f8eb9bc5616f9d56fef	groups	4	2026-11-29 06:14:44.582+00
\\x01a220caaac6703fa279db1c16494402	adds	20	2026-11-29 06:14:46.502+00
\\x01a220caaac6703fa279db1c16494402	numbers	19	2026-12-28 06:14:46.502+00
\\x01a220cacddb7f819a93a62e59237398	groups	1	2026-11-29 06:14:51.712+00
\\x01a220cacddb7f819a93a62e59237398	adds	2	2026-11-29 06:14:51.739+00
\\x01a220cacddb7f819a93a62e59237398	numbers	2	2026-12-28 06:14:51.739+00
\.


--
-- Data for Name: refused_absorptions; Type: TABLE DATA; Schema: invites; Owner: vestibule_invites_owner
--

COPY invites.refused_absorptions (absorption_id, refused_at) FROM stdin;
512402c7-7bfa-423c-aee0-a690a813aff3	2026-11-28 06:14:55.000008+00
\.


--
-- Data for Name: schema_migrations; Type: TABLE DATA; Schema: invites; Owner: vestibule_invites_owner
--

COPY invites.schema_migrations (number, name, checksum, applied_at) FROM stdin;
1	schema of 0.9.0	b4514577bdff2c5d	2026-11-28 06:14:35.196093+00
\.


--
-- Data for Name: user_locks; Type: TABLE DATA; Schema: invites; Owner: vestibule_invites_owner
--

COPY invites.user_locks (lock) FROM stdin;
0
1
2
3
4
5
6
7
8
9
10
11
12
13
14
15
16
17
18
19
20
21
22
23
24
25
26
27
28
29
30
31
32
33
34
35
36
37
38
39
40
41
42
43
44
45
46
47
48
49
50
51
52
53
54
55
56
57
58
59
60
61
62
63
64
65
66
67
68
69
70
71
72
73
74
75
76
77
78
79
80
81
82
83
84
85
86
87
88
89
90
91
92
93
94
95
96
97
98
99
100
101
102
103
104
105
106
107
108
109
110
111
112
113
114
115
116
117
118
119
120
121
122
123
124
125
126
127
128
129
130
131
132
133
134
135
136
137
138
139
140
141
142
143
144
145
146
147
148
149
150
151
152
153
154
155
156
157
158
159
160
161
162
163
164
165
166
167
168
169
170
171
172
173
174
175
176
177
178
179
180
181
182
183
184
185
186
187
188
189
190
191
192
193
194
195
196
197
198
199
200
201
202
203
204
205
206
207
208
209
210
211
212
213
214
215
216
217
218
219
220
221
222
223
224
225
226
227
228
229
230
231
232
233
234
235
236
237
238
239
240
241
242
243
244
245
246
247
248
249
250
251
252
253
254
255
256
257
258
259
260
261
262
263
264
265
266
267
268
269
270
271
272
273
274
275
276
277
278
279
280
281
282
283
284
285
286
287
288
289
290
291
292
293
294
295
296
297
298
299
300
301
302
303
304
305
306
307
308
309
310
311
312
313
314
315
316
317
318
319
320
321
322
323
324
325
326
327
328
329
330
331
332
333
334
335
336
337
338
339
340
341
342
343
344
345
346
347
348
349
350
351
352
353
354
355
356
357
358
359
360
361
362
363
364
365
366
367
368
369
370
371
372
373
374
375
376
377
378
379
380
381
382
383
384
385
386
387
388
389
390
391
392
393
394
395
396
397
398
399
400
401
402
403
404
405
406
407
408
409
410
411
412
413
414
415
416
417
418
419
420
421
422
423
424
425
426
427
428
429
430
431
432
433
434
435
436
437
438
439
440
441
442
443
444
445
446
447
448
449
450
451
452
453
454
455
456
457
458
459
460
461
462
463
464
465
466
467
468
469
470
471
472
473
474
475
476
477
478
479
480
481
482
483
484
485
486
487
488
489
490
491
492
493
494
495
496
497
498
499
500
501
502
503
504
505
506
507
508
509
510
511
512
513
514
515
516
517
518
519
520
521
522
523
524
525
526
527
528
529
530
531
532
533
534
535
536
537
538
539
540
541
542
543
544
545
546
547
548
549
550
551
552
553
554
555
556
557
558
559
560
561
562
563
564
565
566
567
568
569
570
571
572
573
574
575
576
577
578
579
580
581
582
583
584
585
586
587
588
589
590
591
592
593
594
595
596
597
598
599
600
601
602
603
604
605
606
607
608
609
610
611
612
613
614
615
616
617
618
619
620
621
622
623
624
625
626
627
628
629
630
631
632
633
634
635
636
637
638
639
640
641
642
643
644
645
646
647
648
649
650
651
652
653
654
655
656
657
658
659
660
661
662
663
664
665
666
667
668
669
670
671
672
673
674
675
676
677
678
679
680
681
682
683
684
685
686
687
688
689
690
691
692
693
694
695
696
697
698
699
700
701
702
703
704
705
706
707
708
709
710
711
712
713
714
715
716
717
718
719
720
721
722
723
724
725
726
727
728
729
730
731
732
733
734
735
736
737
738
739
740
741
742
743
744
745
746
747
748
749
750
751
752
753
754
755
756
757
758
759
760
761
762
763
764
765
766
767
768
769
770
771
772
773
774
775
776
777
778
779
780
781
782
783
784
785
786
787
788
789
790
791
792
793
794
795
796
797
798
799
800
801
802
803
804
805
806
807
808
809
810
811
812
813
814
815
816
817
818
819
820
821
822
823
824
825
826
827
828
829
830
831
832
833
834
835
836
837
838
839
840
841
842
843
844
845
846
847
848
849
850
851
852
853
854
855
856
857
858
859
860
861
862
863
864
865
866
867
868
869
870
871
872
873
874
875
876
877
878
879
880
881
882
883
884
885
886
887
888
889
890
891
892
893
894
895
896
897
898
899
900
901
902
903
904
905
906
907
908
909
910
911
912
913
914
915
916
917
918
919
920
921
922
923
924
925
926
927
928
929
930
931
932
933
934
935
936
937
938
939
940
941
942
943
944
945
946
947
948
949
950
951
952
953
954
955
956
957
958
959
960
961
962
963
964
965
966
967
968
969
970
971
972
973
974
975
976
977
978
979
980
981
982
983
984
985
986
987
988
989
990
991
992
993
994
995
996
997
998
999
1000
1001
1002
1003
1004
1005
1006
1007
1008
1009
1010
1011
1012
1013
1014
1015
1016
1017
1018
1019
1020
1021
1022
1023
\.


--
-- Data for Name: wanted_events; Type: TABLE DATA; Schema: invites; Owner: vestibule_invites_owner
--

COPY invites.wanted_events (type) FROM stdin;
group.joined
\.


--
-- Data for Name: work; Type: TABLE DATA; Schema: invites; Owner: vestibule_invites_owner
--

COPY invites.work (id, queue, key, event_id, user_id, data, created_at, due_at, retried_at, tries, failure, parked_at, trace) FROM stdin;
14	webhooks.gone	\N	fb2c3cb3-580e-4f81-bdcf-c27fe6a74619	01a220ca-cddb-7f81-9a93-a62e59237398	{"type": "kept"}	2026-11-28 06:14:55.000008+00	-infinity	\N	0	kept	2026-11-28 06:14:55.000008+00	\N
\.


--
-- Data for Name: account_imports; Type: TABLE DATA; Schema: profile; Owner: vestibule_profile_owner
--

COPY profile.account_imports (digest, "position", updated_at) FROM stdin;
\\x3b9c358f36f0a31b6ad3e14f309c7cf198ac9246e8316f9ce543d5b19ac02b80	17	2026-11-28 06:14:55.000008+00
\.


--
-- Data for Name: avatars; Type: TABLE DATA; Schema: profile; Owner: vestibule_profile_owner
--

COPY profile.avatars (id, user_id, type, bytes, created_at) FROM stdin;
d47909ba-3fed-4ae1-ad53-24a8d5a9778f	01a220ca-cddb-7f81-9a93-a62e59237398	image/png	\\x78	2026-11-28 06:14:55.000008+00
\.


--
-- Data for Name: closed_accounts; Type: TABLE DATA; Schema: profile; Owner: vestibule_profile_owner
--

COPY profile.closed_accounts (user_id, closed_at) FROM stdin;
01a220ca-aac6-7e33-b3eb-d853e1b4c37a	2026-11-28 06:14:46.007+00
aaccc87d-a9ba-4eb2-a70e-6d64f4d4b6ce	2026-11-28 06:14:55.000008+00
\.


--
-- Data for Name: ordered_queues; Type: TABLE DATA; Schema: profile; Owner: vestibule_profile_owner
--

COPY profile.ordered_queues (queue, leased_until) FROM stdin;
phone_events	-infinity
\.


--
-- Data for Name: phone_cool_downs; Type: TABLE DATA; Schema: profile; Owner: vestibule_profile_owner
--

COPY profile.phone_cool_downs (phone, user_id, until, was_proven) FROM stdin;
639176657287	01a220ca-b81f-722e-a6fb-e0de1c829850	2026-11-28 06:14:46.515+00	f
639170501549	01a220ca-b81f-722e-a6fb-e0de1c829850	2026-11-28 06:14:47.754+00	f
639177591655	01a220ca-b81f-722e-a6fb-e0de1c829850	2026-11-28 06:14:48.698+00	f
639179079370	01a220ca-aac6-703f-a279-db1c16494402	2026-11-28 06:14:48.702+00	f
639177704719	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:48.948+00	f
639179229800	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:49.439+00	f
639177686758	01a220ca-aac6-703f-a279-db1c16494402	2026-11-28 06:14:49.714+00	f
639175276893	01a220ca-b81f-722e-a6fb-e0de1c829850	2026-11-28 06:14:49.839+00	f
639174884343	01a220ca-b81f-722e-a6fb-e0de1c829850	2026-11-28 06:14:50.42+00	f
639172426885	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:50.771+00	f
639170000002	01a220ca-cddb-7f81-9a93-a62e59237398	2026-11-29 06:14:55.000008+00	t
\.


--
-- Data for Name: phone_disputes; Type: TABLE DATA; Schema: profile; Owner: vestibule_profile_owner
--

COPY profile.phone_disputes (claimant_user_id, holder_user_id, phone, proof, created_at) FROM stdin;
01a220ca-cddb-7f81-9a93-a62e59237398	01a220ca-cdfd-70df-81d4-4013a6e6ef61	639170000003	assertion	2026-11-28 06:14:55.000008+00
\.


--
-- Data for Name: phones; Type: TABLE DATA; Schema: profile; Owner: vestibule_profile_owner
--

COPY profile.phones (phone, user_id, claimed_at, proven_at, proof) FROM stdin;
639174295671	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:50.771+00	\N	\N
639171797810	01a220ca-aac6-703f-a279-db1c16494402	2026-11-28 06:14:49.714+00	2026-11-28 06:14:50.883+00	assertion
639171219280	01a220ca-b81f-722e-a6fb-e0de1c829850	2026-11-28 06:14:50.42+00	2026-11-28 06:14:51.504+00	assertion
639171110001	01a220ca-cddb-7f81-9a93-a62e59237398	2026-11-28 06:14:51.629+00	\N	\N
639171110002	01a220ca-cdfd-70df-81d4-4013a6e6ef61	2026-11-28 06:14:51.653+00	\N	\N
639171110003	01a220ca-ce17-7cbd-847f-20b642ce7bb4	2026-11-28 06:14:51.685+00	\N	\N
\.


--
-- Data for Name: profiles; Type: TABLE DATA; Schema: profile; Owner: vestibule_profile_owner
--

COPY profile.profiles (user_id, display_name, username, phone, updated_at, phone_tries, phone_tries_since, phone_claims, phone_claims_since, proven_phone, phone_taken_at, avatar, revision, imported_at, phone_chosen_at) FROM stdin;
01a220ca-bab3-7bd8-8324-fe957faba627	Name ylavawuhtn	\N	\N	2026-11-28 06:14:47.18+00	0	\N	1	2026-11-28 06:14:46.901+00	\N	2026-11-28 06:14:47.18+00	\N	3	\N	2026-11-28 06:14:46.901+00
01a220ca-c0fe-71db-b072-2edfff01a4e9	Name zorajnpupz	\N	\N	2026-11-28 06:14:48.698+00	0	\N	1	2026-11-28 06:14:48.443+00	\N	2026-11-28 06:14:48.698+00	\N	3	\N	2026-11-28 06:14:48.443+00
01a220ca-c4af-721c-b6d9-9daaef7d6e22	Name gkwxgdzskc	\N	\N	2026-11-28 06:14:49.714+00	0	\N	1	2026-11-28 06:14:49.373+00	\N	2026-11-28 06:14:49.714+00	\N	3	\N	2026-11-28 06:14:49.373+00
01a220ca-b223-7b19-8967-c95656832c6c	Name tjszgbqakp	\N	\N	2026-11-28 06:14:44.81+00	0	\N	1	2026-11-28 06:14:44.634+00	\N	2026-11-28 06:14:44.81+00	\N	3	\N	2026-11-28 06:14:44.634+00
01a220ca-aac6-703f-a279-db1c16494402	Name qwemfiwkda	ajaetyldmfxhmpvf	639171797810	2026-11-28 06:14:49.99+00	0	\N	5	2026-11-28 06:14:42.846+00	639171797810	\N	\N	20	\N	2026-11-28 06:14:48.702+00
01a220ca-aac6-7f8e-b9bc-5616f9d56fef	Name ehbimsubdk	dpycrmquxsjunwrm	639174295671	2026-11-28 06:14:51.354+00	0	\N	8	2026-11-28 06:14:42.856+00	\N	\N	\N	20	\N	2026-11-28 06:14:50.771+00
01a220ca-b81f-722e-a6fb-e0de1c829850	Name xbghsxvvxv	\N	639171219280	2026-11-28 06:14:51.218+00	0	\N	9	2026-11-28 06:14:46.086+00	639171219280	\N	\N	23	\N	2026-11-28 06:14:50.42+00
01a220ca-cddb-7f81-9a93-a62e59237398	Ana Example	\N	639171110001	2026-11-28 06:14:51.629+00	0	\N	1	2026-11-28 06:14:51.629+00	\N	\N	\N	1	\N	2026-11-28 06:14:51.629+00
01a220ca-cdfd-70df-81d4-4013a6e6ef61	Ben Example	\N	639171110002	2026-11-28 06:14:51.653+00	0	\N	1	2026-11-28 06:14:51.653+00	\N	\N	\N	1	\N	2026-11-28 06:14:51.653+00
01a220ca-ce17-7cbd-847f-20b642ce7bb4	Eva Example	\N	639171110003	2026-11-28 06:14:51.685+00	0	\N	1	2026-11-28 06:14:51.685+00	\N	\N	\N	1	\N	2026-11-28 06:14:51.685+00
\.


--
-- Data for Name: proven_claims; Type: TABLE DATA; Schema: profile; Owner: vestibule_profile_owner
--

COPY profile.proven_claims (event_id, user_id, outcome, taken_from, applied_at, also_taken_from) FROM stdin;
01a220ca-b345-7212-8581-2089b5a1c4c7	01a220ca-aac6-703f-a279-db1c16494402	proven	01a220ca-b223-7b19-8967-c95656832c6c	2026-11-28 06:14:44.81+00	01a220ca-aac6-7f8e-b9bc-5616f9d56fef
01a220ca-b592-7a4c-b442-daca6e440b87	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	proven	\N	2026-11-28 06:14:45.427+00	\N
01a220ca-b8f3-70aa-8e74-83ee683737b7	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	proven	\N	2026-11-28 06:14:46.27+00	\N
01a220ca-bc88-7c70-9d0c-e03d526b61cf	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	proven	01a220ca-bab3-7bd8-8324-fe957faba627	2026-11-28 06:14:47.18+00	01a220ca-b81f-722e-a6fb-e0de1c829850
01a220ca-bed1-7d76-9547-52016f40c7d0	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	proven	\N	2026-11-28 06:14:47.771+00	\N
01a220ca-c26b-7c7a-9fc7-296751fac706	01a220ca-b81f-722e-a6fb-e0de1c829850	proven	01a220ca-c0fe-71db-b072-2edfff01a4e9	2026-11-28 06:14:48.698+00	01a220ca-aac6-7f8e-b9bc-5616f9d56fef
01a220ca-c666-7e44-96c6-6757df7b3e7d	01a220ca-aac6-703f-a279-db1c16494402	proven	01a220ca-c4af-721c-b6d9-9daaef7d6e22	2026-11-28 06:14:49.714+00	\N
01a220ca-ca57-754f-8033-97550351030a	01a220ca-b81f-722e-a6fb-e0de1c829850	proven	\N	2026-11-28 06:14:50.717+00	\N
01a220ca-caf6-7fab-a7ac-dee71fcda309	01a220ca-aac6-703f-a279-db1c16494402	proven	\N	2026-11-28 06:14:50.883+00	\N
01a220ca-cd67-7c7a-abc1-04ef2100e429	01a220ca-b81f-722e-a6fb-e0de1c829850	proven	\N	2026-11-28 06:14:51.504+00	\N
\.


--
-- Data for Name: quotas; Type: TABLE DATA; Schema: profile; Owner: vestibule_profile_owner
--

COPY profile.quotas (subject, kind, count, ends_at) FROM stdin;
\\x01010101010101010101010101010101	phone_tries	1	2026-11-29 06:14:55.000008+00
\.


--
-- Data for Name: refused_absorptions; Type: TABLE DATA; Schema: profile; Owner: vestibule_profile_owner
--

COPY profile.refused_absorptions (absorption_id, refused_at) FROM stdin;
a3187f83-694c-4df2-aa9b-2a4c1f42aafe	2026-11-28 06:14:55.000008+00
\.


--
-- Data for Name: schema_migrations; Type: TABLE DATA; Schema: profile; Owner: vestibule_profile_owner
--

COPY profile.schema_migrations (number, name, checksum, applied_at) FROM stdin;
1	schema of 0.9.0	69827807af994b2a	2026-11-28 06:14:34.621902+00
\.


--
-- Data for Name: usernames; Type: TABLE DATA; Schema: profile; Owner: vestibule_profile_owner
--

COPY profile.usernames (username_key, user_id, claimed_at) FROM stdin;
dpycrmquxsjunwrm	01a220ca-aac6-7f8e-b9bc-5616f9d56fef	2026-11-28 06:14:43.65+00
ajaetyldmfxhmpvf	01a220ca-aac6-703f-a279-db1c16494402	2026-11-28 06:14:49.99+00
\.


--
-- Data for Name: wanted_events; Type: TABLE DATA; Schema: profile; Owner: vestibule_profile_owner
--

COPY profile.wanted_events (type) FROM stdin;
profile.completed
phone.changed
\.


--
-- Data for Name: work; Type: TABLE DATA; Schema: profile; Owner: vestibule_profile_owner
--

COPY profile.work (id, queue, key, event_id, user_id, data, created_at, due_at, retried_at, tries, failure, parked_at, trace) FROM stdin;
123	webhooks.gone	\N	5162bdcb-7a98-4718-8816-d807edd7b9db	01a220ca-cddb-7f81-9a93-a62e59237398	{"type": "kept"}	2026-11-28 06:14:55.000008+00	-infinity	\N	0	kept	2026-11-28 06:14:55.000008+00	\N
\.


--
-- Name: account_numbers; Type: SEQUENCE SET; Schema: identity; Owner: vestibule_identity_owner
--

SELECT pg_catalog.setval('identity.account_numbers', 11, true);


--
-- Name: revocations_id_seq; Type: SEQUENCE SET; Schema: identity; Owner: vestibule_identity_owner
--

SELECT pg_catalog.setval('identity.revocations_id_seq', 5, true);


--
-- Name: work_id_seq; Type: SEQUENCE SET; Schema: identity; Owner: vestibule_identity_owner
--

SELECT pg_catalog.setval('identity.work_id_seq', 93, true);


--
-- Name: group_events_id_seq; Type: SEQUENCE SET; Schema: invites; Owner: vestibule_invites_owner
--

SELECT pg_catalog.setval('invites.group_events_id_seq', 169, true);


--
-- Name: work_id_seq; Type: SEQUENCE SET; Schema: invites; Owner: vestibule_invites_owner
--

SELECT pg_catalog.setval('invites.work_id_seq', 14, true);


--
-- Name: work_id_seq; Type: SEQUENCE SET; Schema: profile; Owner: vestibule_profile_owner
--

SELECT pg_catalog.setval('profile.work_id_seq', 123, true);


--
-- Name: absorptions absorptions_absorbed_key; Type: CONSTRAINT; Schema: identity; Owner: vestibule_identity_owner
--

ALTER TABLE ONLY identity.absorptions
    ADD CONSTRAINT absorptions_absorbed_key UNIQUE (absorbed);


--
-- Name: absorptions absorptions_absorber_key; Type: CONSTRAINT; Schema: identity; Owner: vestibule_identity_owner
--

ALTER TABLE ONLY identity.absorptions
    ADD CONSTRAINT absorptions_absorber_key UNIQUE (absorber);


--
-- Name: absorptions absorptions_pkey; Type: CONSTRAINT; Schema: identity; Owner: vestibule_identity_owner
--

ALTER TABLE ONLY identity.absorptions
    ADD CONSTRAINT absorptions_pkey PRIMARY KEY (absorption_id);


--
-- Name: account_closings account_closings_pkey; Type: CONSTRAINT; Schema: identity; Owner: vestibule_identity_owner
--

ALTER TABLE ONLY identity.account_closings
    ADD CONSTRAINT account_closings_pkey PRIMARY KEY (user_id);


--
-- Name: account_openings account_openings_pkey; Type: CONSTRAINT; Schema: identity; Owner: vestibule_identity_owner
--

ALTER TABLE ONLY identity.account_openings
    ADD CONSTRAINT account_openings_pkey PRIMARY KEY (absorption_id);


--
-- Name: accounts accounts_pkey; Type: CONSTRAINT; Schema: identity; Owner: vestibule_identity_owner
--

ALTER TABLE ONLY identity.accounts
    ADD CONSTRAINT accounts_pkey PRIMARY KEY (user_id);


--
-- Name: apple_transfers apple_transfers_pkey; Type: CONSTRAINT; Schema: identity; Owner: vestibule_identity_owner
--

ALTER TABLE ONLY identity.apple_transfers
    ADD CONSTRAINT apple_transfers_pkey PRIMARY KEY (provider, subject);


--
-- Name: code_exchanges code_exchanges_pkey; Type: CONSTRAINT; Schema: identity; Owner: vestibule_identity_owner
--

ALTER TABLE ONLY identity.code_exchanges
    ADD CONSTRAINT code_exchanges_pkey PRIMARY KEY (code_hash);


--
-- Name: email_reservations email_reservations_pkey; Type: CONSTRAINT; Schema: identity; Owner: vestibule_identity_owner
--

ALTER TABLE ONLY identity.email_reservations
    ADD CONSTRAINT email_reservations_pkey PRIMARY KEY (dialect, email);


--
-- Name: imported_ids imported_ids_pkey; Type: CONSTRAINT; Schema: identity; Owner: vestibule_identity_owner
--

ALTER TABLE ONLY identity.imported_ids
    ADD CONSTRAINT imported_ids_pkey PRIMARY KEY (source, old_id);


--
-- Name: ordered_queues ordered_queues_pkey; Type: CONSTRAINT; Schema: identity; Owner: vestibule_identity_owner
--

ALTER TABLE ONLY identity.ordered_queues
    ADD CONSTRAINT ordered_queues_pkey PRIMARY KEY (queue);


--
-- Name: phone_assertions phone_assertions_pkey; Type: CONSTRAINT; Schema: identity; Owner: vestibule_identity_owner
--

ALTER TABLE ONLY identity.phone_assertions
    ADD CONSTRAINT phone_assertions_pkey PRIMARY KEY (fingerprint);


--
-- Name: provider_checks provider_checks_pkey; Type: CONSTRAINT; Schema: identity; Owner: vestibule_identity_owner
--

ALTER TABLE ONLY identity.provider_checks
    ADD CONSTRAINT provider_checks_pkey PRIMARY KEY (provider, client_id);


--
-- Name: provider_grants provider_grants_pkey; Type: CONSTRAINT; Schema: identity; Owner: vestibule_identity_owner
--

ALTER TABLE ONLY identity.provider_grants
    ADD CONSTRAINT provider_grants_pkey PRIMARY KEY (grant_id);


--
-- Name: provider_identities provider_identities_pkey; Type: CONSTRAINT; Schema: identity; Owner: vestibule_identity_owner
--

ALTER TABLE ONLY identity.provider_identities
    ADD CONSTRAINT provider_identities_pkey PRIMARY KEY (provider, subject);


--
-- Name: provider_notices provider_notices_pkey; Type: CONSTRAINT; Schema: identity; Owner: vestibule_identity_owner
--

ALTER TABLE ONLY identity.provider_notices
    ADD CONSTRAINT provider_notices_pkey PRIMARY KEY (provider, jti, number);


--
-- Name: quotas quotas_pkey; Type: CONSTRAINT; Schema: identity; Owner: vestibule_identity_owner
--

ALTER TABLE ONLY identity.quotas
    ADD CONSTRAINT quotas_pkey PRIMARY KEY (subject, kind);


--
-- Name: revocations revocations_pkey; Type: CONSTRAINT; Schema: identity; Owner: vestibule_identity_owner
--

ALTER TABLE ONLY identity.revocations
    ADD CONSTRAINT revocations_pkey PRIMARY KEY (id);


--
-- Name: scheduled_deletions scheduled_deletions_pkey; Type: CONSTRAINT; Schema: identity; Owner: vestibule_identity_owner
--

ALTER TABLE ONLY identity.scheduled_deletions
    ADD CONSTRAINT scheduled_deletions_pkey PRIMARY KEY (user_id);


--
-- Name: schema_migrations schema_migrations_pkey; Type: CONSTRAINT; Schema: identity; Owner: vestibule_identity_owner
--

ALTER TABLE ONLY identity.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (number);


--
-- Name: security_events security_events_pkey; Type: CONSTRAINT; Schema: identity; Owner: vestibule_identity_owner
--

ALTER TABLE ONLY identity.security_events
    ADD CONSTRAINT security_events_pkey PRIMARY KEY (event_id);


--
-- Name: session_epoch session_epoch_pkey; Type: CONSTRAINT; Schema: identity; Owner: vestibule_identity_owner
--

ALTER TABLE ONLY identity.session_epoch
    ADD CONSTRAINT session_epoch_pkey PRIMARY KEY (is_only);


--
-- Name: sessions sessions_pkey; Type: CONSTRAINT; Schema: identity; Owner: vestibule_identity_owner
--

ALTER TABLE ONLY identity.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (session_id);


--
-- Name: sign_ins sign_ins_pkey; Type: CONSTRAINT; Schema: identity; Owner: vestibule_identity_owner
--

ALTER TABLE ONLY identity.sign_ins
    ADD CONSTRAINT sign_ins_pkey PRIMARY KEY (fingerprint);


--
-- Name: told_once told_once_pkey; Type: CONSTRAINT; Schema: identity; Owner: vestibule_identity_owner
--

ALTER TABLE ONLY identity.told_once
    ADD CONSTRAINT told_once_pkey PRIMARY KEY (fingerprint);


--
-- Name: told_phones told_phones_pkey; Type: CONSTRAINT; Schema: identity; Owner: vestibule_identity_owner
--

ALTER TABLE ONLY identity.told_phones
    ADD CONSTRAINT told_phones_pkey PRIMARY KEY (provider, subject);


--
-- Name: user_metadata user_metadata_pkey; Type: CONSTRAINT; Schema: identity; Owner: vestibule_identity_owner
--

ALTER TABLE ONLY identity.user_metadata
    ADD CONSTRAINT user_metadata_pkey PRIMARY KEY (user_id);


--
-- Name: web_tickets web_tickets_pkey; Type: CONSTRAINT; Schema: identity; Owner: vestibule_identity_owner
--

ALTER TABLE ONLY identity.web_tickets
    ADD CONSTRAINT web_tickets_pkey PRIMARY KEY (ticket_hash);


--
-- Name: web_tickets web_tickets_token_fingerprint_key; Type: CONSTRAINT; Schema: identity; Owner: vestibule_identity_owner
--

ALTER TABLE ONLY identity.web_tickets
    ADD CONSTRAINT web_tickets_token_fingerprint_key UNIQUE (token_fingerprint);


--
-- Name: webhook_targets webhook_targets_pkey; Type: CONSTRAINT; Schema: identity; Owner: vestibule_identity_owner
--

ALTER TABLE ONLY identity.webhook_targets
    ADD CONSTRAINT webhook_targets_pkey PRIMARY KEY (name);


--
-- Name: work work_pkey; Type: CONSTRAINT; Schema: identity; Owner: vestibule_identity_owner
--

ALTER TABLE ONLY identity.work
    ADD CONSTRAINT work_pkey PRIMARY KEY (id);


--
-- Name: work work_queue_event_id_key; Type: CONSTRAINT; Schema: identity; Owner: vestibule_identity_owner
--

ALTER TABLE ONLY identity.work
    ADD CONSTRAINT work_queue_event_id_key UNIQUE (queue, event_id);


--
-- Name: asked_numbers asked_numbers_pkey; Type: CONSTRAINT; Schema: invites; Owner: vestibule_invites_owner
--

ALTER TABLE ONLY invites.asked_numbers
    ADD CONSTRAINT asked_numbers_pkey PRIMARY KEY (user_id, number_code);


--
-- Name: blocked_inviters blocked_inviters_pkey; Type: CONSTRAINT; Schema: invites; Owner: vestibule_invites_owner
--

ALTER TABLE ONLY invites.blocked_inviters
    ADD CONSTRAINT blocked_inviters_pkey PRIMARY KEY (user_id, inviter_user_id);


--
-- Name: closed_accounts closed_accounts_pkey; Type: CONSTRAINT; Schema: invites; Owner: vestibule_invites_owner
--

ALTER TABLE ONLY invites.closed_accounts
    ADD CONSTRAINT closed_accounts_pkey PRIMARY KEY (user_id);


--
-- Name: group_event_epoch group_event_epoch_pkey; Type: CONSTRAINT; Schema: invites; Owner: vestibule_invites_owner
--

ALTER TABLE ONLY invites.group_event_epoch
    ADD CONSTRAINT group_event_epoch_pkey PRIMARY KEY (singleton);


--
-- Name: group_events group_events_pkey; Type: CONSTRAINT; Schema: invites; Owner: vestibule_invites_owner
--

ALTER TABLE ONLY invites.group_events
    ADD CONSTRAINT group_events_pkey PRIMARY KEY (xid, id);


--
-- Name: group_keys group_keys_pkey; Type: CONSTRAINT; Schema: invites; Owner: vestibule_invites_owner
--

ALTER TABLE ONLY invites.group_keys
    ADD CONSTRAINT group_keys_pkey PRIMARY KEY (user_id, idempotency_key);


--
-- Name: group_link_uses group_link_uses_pkey; Type: CONSTRAINT; Schema: invites; Owner: vestibule_invites_owner
--

ALTER TABLE ONLY invites.group_link_uses
    ADD CONSTRAINT group_link_uses_pkey PRIMARY KEY (link_id, user_id);


--
-- Name: group_links group_links_pkey; Type: CONSTRAINT; Schema: invites; Owner: vestibule_invites_owner
--

ALTER TABLE ONLY invites.group_links
    ADD CONSTRAINT group_links_pkey PRIMARY KEY (link_id);


--
-- Name: groups groups_pkey; Type: CONSTRAINT; Schema: invites; Owner: vestibule_invites_owner
--

ALTER TABLE ONLY invites.groups
    ADD CONSTRAINT groups_pkey PRIMARY KEY (group_id);


--
-- Name: held_accounts held_accounts_pkey; Type: CONSTRAINT; Schema: invites; Owner: vestibule_invites_owner
--

ALTER TABLE ONLY invites.held_accounts
    ADD CONSTRAINT held_accounts_pkey PRIMARY KEY (user_id);


--
-- Name: inbox inbox_pkey; Type: CONSTRAINT; Schema: invites; Owner: vestibule_invites_owner
--

ALTER TABLE ONLY invites.inbox
    ADD CONSTRAINT inbox_pkey PRIMARY KEY (event_id);


--
-- Name: join_requests join_requests_pkey; Type: CONSTRAINT; Schema: invites; Owner: vestibule_invites_owner
--

ALTER TABLE ONLY invites.join_requests
    ADD CONSTRAINT join_requests_pkey PRIMARY KEY (group_id, user_id);


--
-- Name: members members_pkey; Type: CONSTRAINT; Schema: invites; Owner: vestibule_invites_owner
--

ALTER TABLE ONLY invites.members
    ADD CONSTRAINT members_pkey PRIMARY KEY (group_id, member_id);


--
-- Name: merged_numbers merged_numbers_pkey; Type: CONSTRAINT; Schema: invites; Owner: vestibule_invites_owner
--

ALTER TABLE ONLY invites.merged_numbers
    ADD CONSTRAINT merged_numbers_pkey PRIMARY KEY (user_id, phone, group_id);


--
-- Name: ordered_queues ordered_queues_pkey; Type: CONSTRAINT; Schema: invites; Owner: vestibule_invites_owner
--

ALTER TABLE ONLY invites.ordered_queues
    ADD CONSTRAINT ordered_queues_pkey PRIMARY KEY (queue);


--
-- Name: phones phones_pkey; Type: CONSTRAINT; Schema: invites; Owner: vestibule_invites_owner
--

ALTER TABLE ONLY invites.phones
    ADD CONSTRAINT phones_pkey PRIMARY KEY (phone);


--
-- Name: quotas quotas_pkey; Type: CONSTRAINT; Schema: invites; Owner: vestibule_invites_owner
--

ALTER TABLE ONLY invites.quotas
    ADD CONSTRAINT quotas_pkey PRIMARY KEY (subject, kind);


--
-- Name: refused_absorptions refused_absorptions_pkey; Type: CONSTRAINT; Schema: invites; Owner: vestibule_invites_owner
--

ALTER TABLE ONLY invites.refused_absorptions
    ADD CONSTRAINT refused_absorptions_pkey PRIMARY KEY (absorption_id);


--
-- Name: schema_migrations schema_migrations_pkey; Type: CONSTRAINT; Schema: invites; Owner: vestibule_invites_owner
--

ALTER TABLE ONLY invites.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (number);


--
-- Name: user_locks user_locks_pkey; Type: CONSTRAINT; Schema: invites; Owner: vestibule_invites_owner
--

ALTER TABLE ONLY invites.user_locks
    ADD CONSTRAINT user_locks_pkey PRIMARY KEY (lock);


--
-- Name: wanted_events wanted_events_pkey; Type: CONSTRAINT; Schema: invites; Owner: vestibule_invites_owner
--

ALTER TABLE ONLY invites.wanted_events
    ADD CONSTRAINT wanted_events_pkey PRIMARY KEY (type);


--
-- Name: work work_pkey; Type: CONSTRAINT; Schema: invites; Owner: vestibule_invites_owner
--

ALTER TABLE ONLY invites.work
    ADD CONSTRAINT work_pkey PRIMARY KEY (id);


--
-- Name: work work_queue_event_id_key; Type: CONSTRAINT; Schema: invites; Owner: vestibule_invites_owner
--

ALTER TABLE ONLY invites.work
    ADD CONSTRAINT work_queue_event_id_key UNIQUE (queue, event_id);


--
-- Name: account_imports account_imports_pkey; Type: CONSTRAINT; Schema: profile; Owner: vestibule_profile_owner
--

ALTER TABLE ONLY profile.account_imports
    ADD CONSTRAINT account_imports_pkey PRIMARY KEY (digest);


--
-- Name: avatars avatars_pkey; Type: CONSTRAINT; Schema: profile; Owner: vestibule_profile_owner
--

ALTER TABLE ONLY profile.avatars
    ADD CONSTRAINT avatars_pkey PRIMARY KEY (id);


--
-- Name: avatars avatars_user_id_key; Type: CONSTRAINT; Schema: profile; Owner: vestibule_profile_owner
--

ALTER TABLE ONLY profile.avatars
    ADD CONSTRAINT avatars_user_id_key UNIQUE (user_id);


--
-- Name: closed_accounts closed_accounts_pkey; Type: CONSTRAINT; Schema: profile; Owner: vestibule_profile_owner
--

ALTER TABLE ONLY profile.closed_accounts
    ADD CONSTRAINT closed_accounts_pkey PRIMARY KEY (user_id);


--
-- Name: ordered_queues ordered_queues_pkey; Type: CONSTRAINT; Schema: profile; Owner: vestibule_profile_owner
--

ALTER TABLE ONLY profile.ordered_queues
    ADD CONSTRAINT ordered_queues_pkey PRIMARY KEY (queue);


--
-- Name: phone_cool_downs phone_cool_downs_pkey; Type: CONSTRAINT; Schema: profile; Owner: vestibule_profile_owner
--

ALTER TABLE ONLY profile.phone_cool_downs
    ADD CONSTRAINT phone_cool_downs_pkey PRIMARY KEY (phone);


--
-- Name: phone_disputes phone_disputes_pkey; Type: CONSTRAINT; Schema: profile; Owner: vestibule_profile_owner
--

ALTER TABLE ONLY profile.phone_disputes
    ADD CONSTRAINT phone_disputes_pkey PRIMARY KEY (claimant_user_id);


--
-- Name: phones phones_pkey; Type: CONSTRAINT; Schema: profile; Owner: vestibule_profile_owner
--

ALTER TABLE ONLY profile.phones
    ADD CONSTRAINT phones_pkey PRIMARY KEY (phone);


--
-- Name: profiles profiles_pkey; Type: CONSTRAINT; Schema: profile; Owner: vestibule_profile_owner
--

ALTER TABLE ONLY profile.profiles
    ADD CONSTRAINT profiles_pkey PRIMARY KEY (user_id);


--
-- Name: proven_claims proven_claims_pkey; Type: CONSTRAINT; Schema: profile; Owner: vestibule_profile_owner
--

ALTER TABLE ONLY profile.proven_claims
    ADD CONSTRAINT proven_claims_pkey PRIMARY KEY (event_id);


--
-- Name: quotas quotas_pkey; Type: CONSTRAINT; Schema: profile; Owner: vestibule_profile_owner
--

ALTER TABLE ONLY profile.quotas
    ADD CONSTRAINT quotas_pkey PRIMARY KEY (subject, kind);


--
-- Name: refused_absorptions refused_absorptions_pkey; Type: CONSTRAINT; Schema: profile; Owner: vestibule_profile_owner
--

ALTER TABLE ONLY profile.refused_absorptions
    ADD CONSTRAINT refused_absorptions_pkey PRIMARY KEY (absorption_id);


--
-- Name: schema_migrations schema_migrations_pkey; Type: CONSTRAINT; Schema: profile; Owner: vestibule_profile_owner
--

ALTER TABLE ONLY profile.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (number);


--
-- Name: usernames usernames_pkey; Type: CONSTRAINT; Schema: profile; Owner: vestibule_profile_owner
--

ALTER TABLE ONLY profile.usernames
    ADD CONSTRAINT usernames_pkey PRIMARY KEY (username_key);


--
-- Name: wanted_events wanted_events_pkey; Type: CONSTRAINT; Schema: profile; Owner: vestibule_profile_owner
--

ALTER TABLE ONLY profile.wanted_events
    ADD CONSTRAINT wanted_events_pkey PRIMARY KEY (type);


--
-- Name: work work_pkey; Type: CONSTRAINT; Schema: profile; Owner: vestibule_profile_owner
--

ALTER TABLE ONLY profile.work
    ADD CONSTRAINT work_pkey PRIMARY KEY (id);


--
-- Name: work work_queue_event_id_key; Type: CONSTRAINT; Schema: profile; Owner: vestibule_profile_owner
--

ALTER TABLE ONLY profile.work
    ADD CONSTRAINT work_queue_event_id_key UNIQUE (queue, event_id);


--
-- Name: absorptions_held_until; Type: INDEX; Schema: identity; Owner: vestibule_identity_owner
--

CREATE INDEX absorptions_held_until ON identity.absorptions USING btree (held_until);


--
-- Name: account_closings_closed_at; Type: INDEX; Schema: identity; Owner: vestibule_identity_owner
--

CREATE INDEX account_closings_closed_at ON identity.account_closings USING btree (closed_at);


--
-- Name: accounts_number; Type: INDEX; Schema: identity; Owner: vestibule_identity_owner
--

CREATE UNIQUE INDEX accounts_number ON identity.accounts USING btree (number);


--
-- Name: apple_transfers_at; Type: INDEX; Schema: identity; Owner: vestibule_identity_owner
--

CREATE INDEX apple_transfers_at ON identity.apple_transfers USING btree (GREATEST(exported_at, imported_at));


--
-- Name: apple_transfers_transfer_sub; Type: INDEX; Schema: identity; Owner: vestibule_identity_owner
--

CREATE UNIQUE INDEX apple_transfers_transfer_sub ON identity.apple_transfers USING btree (transfer_sub);


--
-- Name: apple_transfers_waiting; Type: INDEX; Schema: identity; Owner: vestibule_identity_owner
--

CREATE INDEX apple_transfers_waiting ON identity.apple_transfers USING btree (from_team, to_team, subject) WHERE (imported_at IS NULL);


--
-- Name: code_exchanges_expires_at; Type: INDEX; Schema: identity; Owner: vestibule_identity_owner
--

CREATE INDEX code_exchanges_expires_at ON identity.code_exchanges USING btree (expires_at);


--
-- Name: email_reservations_user_id; Type: INDEX; Schema: identity; Owner: vestibule_identity_owner
--

CREATE INDEX email_reservations_user_id ON identity.email_reservations USING btree (user_id);


--
-- Name: imported_ids_user_id; Type: INDEX; Schema: identity; Owner: vestibule_identity_owner
--

CREATE INDEX imported_ids_user_id ON identity.imported_ids USING btree (user_id);


--
-- Name: phone_assertions_expires_at; Type: INDEX; Schema: identity; Owner: vestibule_identity_owner
--

CREATE INDEX phone_assertions_expires_at ON identity.phone_assertions USING btree (expires_at);


--
-- Name: phone_assertions_user; Type: INDEX; Schema: identity; Owner: vestibule_identity_owner
--

CREATE INDEX phone_assertions_user ON identity.phone_assertions USING btree (user_id);


--
-- Name: provider_grants_check; Type: INDEX; Schema: identity; Owner: vestibule_identity_owner
--

CREATE INDEX provider_grants_check ON identity.provider_grants USING btree (provider, client_id, next_at) WHERE (state = 'kept'::text);


--
-- Name: provider_grants_kept; Type: INDEX; Schema: identity; Owner: vestibule_identity_owner
--

CREATE UNIQUE INDEX provider_grants_kept ON identity.provider_grants USING btree (user_id, provider, client_id) WHERE (state = 'kept'::text);


--
-- Name: provider_grants_key_id; Type: INDEX; Schema: identity; Owner: vestibule_identity_owner
--

CREATE INDEX provider_grants_key_id ON identity.provider_grants USING btree (key_id, grant_id);


--
-- Name: provider_grants_person; Type: INDEX; Schema: identity; Owner: vestibule_identity_owner
--

CREATE INDEX provider_grants_person ON identity.provider_grants USING btree (person);


--
-- Name: provider_grants_revoke; Type: INDEX; Schema: identity; Owner: vestibule_identity_owner
--

CREATE INDEX provider_grants_revoke ON identity.provider_grants USING btree (next_at) WHERE (state = 'revoking'::text);


--
-- Name: provider_identities_email; Type: INDEX; Schema: identity; Owner: vestibule_identity_owner
--

CREATE INDEX provider_identities_email ON identity.provider_identities USING btree (lower(email));


--
-- Name: provider_identities_user_id; Type: INDEX; Schema: identity; Owner: vestibule_identity_owner
--

CREATE INDEX provider_identities_user_id ON identity.provider_identities USING btree (user_id, created_at);


--
-- Name: provider_notices_received_at; Type: INDEX; Schema: identity; Owner: vestibule_identity_owner
--

CREATE INDEX provider_notices_received_at ON identity.provider_notices USING btree (received_at);


--
-- Name: provider_notices_waiting; Type: INDEX; Schema: identity; Owner: vestibule_identity_owner
--

CREATE INDEX provider_notices_waiting ON identity.provider_notices USING btree (retry_at) WHERE (applied_at IS NULL);


--
-- Name: quotas_ends_at; Type: INDEX; Schema: identity; Owner: vestibule_identity_owner
--

CREATE INDEX quotas_ends_at ON identity.quotas USING btree (ends_at);


--
-- Name: revocations_revoked_at; Type: INDEX; Schema: identity; Owner: vestibule_identity_owner
--

CREATE INDEX revocations_revoked_at ON identity.revocations USING btree (revoked_at);


--
-- Name: revocations_xid_id; Type: INDEX; Schema: identity; Owner: vestibule_identity_owner
--

CREATE INDEX revocations_xid_id ON identity.revocations USING btree (xid, id);


--
-- Name: scheduled_deletions_next_at; Type: INDEX; Schema: identity; Owner: vestibule_identity_owner
--

CREATE INDEX scheduled_deletions_next_at ON identity.scheduled_deletions USING btree (next_at);


--
-- Name: security_events_rare; Type: INDEX; Schema: identity; Owner: vestibule_identity_owner
--

CREATE INDEX security_events_rare ON identity.security_events USING btree (user_id, event_id) WHERE (kind <> ALL (ARRAY['signed_in'::text, 'session_ended'::text]));


--
-- Name: security_events_rare_xid; Type: INDEX; Schema: identity; Owner: vestibule_identity_owner
--

CREATE INDEX security_events_rare_xid ON identity.security_events USING btree (xid) WHERE (kind <> ALL (ARRAY['signed_in'::text, 'session_ended'::text]));


--
-- Name: security_events_user_id; Type: INDEX; Schema: identity; Owner: vestibule_identity_owner
--

CREATE INDEX security_events_user_id ON identity.security_events USING btree (user_id, event_id);


--
-- Name: sessions_expires_at; Type: INDEX; Schema: identity; Owner: vestibule_identity_owner
--

CREATE INDEX sessions_expires_at ON identity.sessions USING btree (expires_at);


--
-- Name: sessions_user_id; Type: INDEX; Schema: identity; Owner: vestibule_identity_owner
--

CREATE INDEX sessions_user_id ON identity.sessions USING btree (user_id);


--
-- Name: sign_ins_expires_at; Type: INDEX; Schema: identity; Owner: vestibule_identity_owner
--

CREATE INDEX sign_ins_expires_at ON identity.sign_ins USING btree (expires_at);


--
-- Name: told_once_address_key; Type: INDEX; Schema: identity; Owner: vestibule_identity_owner
--

CREATE INDEX told_once_address_key ON identity.told_once USING btree (address_key);


--
-- Name: told_once_expires_at; Type: INDEX; Schema: identity; Owner: vestibule_identity_owner
--

CREATE INDEX told_once_expires_at ON identity.told_once USING btree (expires_at);


--
-- Name: told_once_person; Type: INDEX; Schema: identity; Owner: vestibule_identity_owner
--

CREATE INDEX told_once_person ON identity.told_once USING btree (provider, subject) WHERE (subject IS NOT NULL);


--
-- Name: told_phones_event; Type: INDEX; Schema: identity; Owner: vestibule_identity_owner
--

CREATE INDEX told_phones_event ON identity.told_phones USING btree (event_id) WHERE (event_id IS NOT NULL);


--
-- Name: web_tickets_address_key; Type: INDEX; Schema: identity; Owner: vestibule_identity_owner
--

CREATE INDEX web_tickets_address_key ON identity.web_tickets USING btree (address_key);


--
-- Name: web_tickets_expires_at; Type: INDEX; Schema: identity; Owner: vestibule_identity_owner
--

CREATE INDEX web_tickets_expires_at ON identity.web_tickets USING btree (expires_at);


--
-- Name: work_due; Type: INDEX; Schema: identity; Owner: vestibule_identity_owner
--

CREATE INDEX work_due ON identity.work USING btree (queue, due_at, id) WHERE (parked_at IS NULL);


--
-- Name: work_key; Type: INDEX; Schema: identity; Owner: vestibule_identity_owner
--

CREATE INDEX work_key ON identity.work USING btree (queue, key, id) WHERE (key IS NOT NULL);


--
-- Name: work_oldest; Type: INDEX; Schema: identity; Owner: vestibule_identity_owner
--

CREATE INDEX work_oldest ON identity.work USING btree (queue, created_at) WHERE (parked_at IS NULL);


--
-- Name: work_parked; Type: INDEX; Schema: identity; Owner: vestibule_identity_owner
--

CREATE INDEX work_parked ON identity.work USING btree (queue, parked_at) WHERE (parked_at IS NOT NULL);


--
-- Name: work_user; Type: INDEX; Schema: identity; Owner: vestibule_identity_owner
--

CREATE INDEX work_user ON identity.work USING btree (user_id) WHERE (user_id IS NOT NULL);


--
-- Name: asked_numbers_asked_at; Type: INDEX; Schema: invites; Owner: vestibule_invites_owner
--

CREATE INDEX asked_numbers_asked_at ON invites.asked_numbers USING btree (asked_at);


--
-- Name: blocked_inviters_inviter; Type: INDEX; Schema: invites; Owner: vestibule_invites_owner
--

CREATE INDEX blocked_inviters_inviter ON invites.blocked_inviters USING btree (inviter_user_id);


--
-- Name: closed_accounts_closed_at; Type: INDEX; Schema: invites; Owner: vestibule_invites_owner
--

CREATE INDEX closed_accounts_closed_at ON invites.closed_accounts USING btree (closed_at);


--
-- Name: closed_accounts_due_at; Type: INDEX; Schema: invites; Owner: vestibule_invites_owner
--

CREATE INDEX closed_accounts_due_at ON invites.closed_accounts USING btree (due_at) WHERE (swept_at IS NULL);


--
-- Name: group_events_group; Type: INDEX; Schema: invites; Owner: vestibule_invites_owner
--

CREATE INDEX group_events_group ON invites.group_events USING btree (group_id, xid) WHERE (user_id IS NULL);


--
-- Name: group_events_made_at; Type: INDEX; Schema: invites; Owner: vestibule_invites_owner
--

CREATE INDEX group_events_made_at ON invites.group_events USING btree (made_at);


--
-- Name: group_events_user; Type: INDEX; Schema: invites; Owner: vestibule_invites_owner
--

CREATE INDEX group_events_user ON invites.group_events USING btree (user_id, xid) WHERE (user_id IS NOT NULL);


--
-- Name: group_keys_created_at; Type: INDEX; Schema: invites; Owner: vestibule_invites_owner
--

CREATE INDEX group_keys_created_at ON invites.group_keys USING btree (created_at);


--
-- Name: group_link_uses_user; Type: INDEX; Schema: invites; Owner: vestibule_invites_owner
--

CREATE INDEX group_link_uses_user ON invites.group_link_uses USING btree (user_id);


--
-- Name: group_links_created_by; Type: INDEX; Schema: invites; Owner: vestibule_invites_owner
--

CREATE INDEX group_links_created_by ON invites.group_links USING btree (created_by);


--
-- Name: group_links_expires_at; Type: INDEX; Schema: invites; Owner: vestibule_invites_owner
--

CREATE INDEX group_links_expires_at ON invites.group_links USING btree (expires_at);


--
-- Name: group_links_group; Type: INDEX; Schema: invites; Owner: vestibule_invites_owner
--

CREATE INDEX group_links_group ON invites.group_links USING btree (group_id, link_id);


--
-- Name: groups_created_by; Type: INDEX; Schema: invites; Owner: vestibule_invites_owner
--

CREATE INDEX groups_created_by ON invites.groups USING btree (created_by);


--
-- Name: groups_owner; Type: INDEX; Schema: invites; Owner: vestibule_invites_owner
--

CREATE INDEX groups_owner ON invites.groups USING btree (owner_user_id);


--
-- Name: inbox_applied_at; Type: INDEX; Schema: invites; Owner: vestibule_invites_owner
--

CREATE INDEX inbox_applied_at ON invites.inbox USING btree (applied_at);


--
-- Name: join_requests_expires_at; Type: INDEX; Schema: invites; Owner: vestibule_invites_owner
--

CREATE INDEX join_requests_expires_at ON invites.join_requests USING btree (expires_at) WHERE (expires_at IS NOT NULL);


--
-- Name: join_requests_user; Type: INDEX; Schema: invites; Owner: vestibule_invites_owner
--

CREATE INDEX join_requests_user ON invites.join_requests USING btree (user_id);


--
-- Name: members_added_by; Type: INDEX; Schema: invites; Owner: vestibule_invites_owner
--

CREATE INDEX members_added_by ON invites.members USING btree (added_by, group_id);


--
-- Name: members_also_added_by; Type: INDEX; Schema: invites; Owner: vestibule_invites_owner
--

CREATE INDEX members_also_added_by ON invites.members USING gin (also_added_by) WHERE (also_added_by <> '{}'::uuid[]);


--
-- Name: members_confirmed_by; Type: INDEX; Schema: invites; Owner: vestibule_invites_owner
--

CREATE INDEX members_confirmed_by ON invites.members USING btree (confirmed_by, group_id) WHERE (confirmed_by IS NOT NULL);


--
-- Name: members_declined_by; Type: INDEX; Schema: invites; Owner: vestibule_invites_owner
--

CREATE INDEX members_declined_by ON invites.members USING btree (declined_by) WHERE (declined_by IS NOT NULL);


--
-- Name: members_pending_added_by; Type: INDEX; Schema: invites; Owner: vestibule_invites_owner
--

CREATE INDEX members_pending_added_by ON invites.members USING btree (added_by) WHERE (user_id IS NULL);


--
-- Name: members_pending_expires_at; Type: INDEX; Schema: invites; Owner: vestibule_invites_owner
--

CREATE INDEX members_pending_expires_at ON invites.members USING btree (expires_at) WHERE ((user_id IS NULL) AND (expires_at IS NOT NULL));


--
-- Name: members_pending_phone; Type: INDEX; Schema: invites; Owner: vestibule_invites_owner
--

CREATE UNIQUE INDEX members_pending_phone ON invites.members USING btree (phone, group_id) WHERE (user_id IS NULL);


--
-- Name: members_user; Type: INDEX; Schema: invites; Owner: vestibule_invites_owner
--

CREATE UNIQUE INDEX members_user ON invites.members USING btree (user_id, group_id) WHERE (user_id IS NOT NULL);


--
-- Name: merged_numbers_added_by; Type: INDEX; Schema: invites; Owner: vestibule_invites_owner
--

CREATE INDEX merged_numbers_added_by ON invites.merged_numbers USING btree (added_by, group_id);


--
-- Name: merged_numbers_group; Type: INDEX; Schema: invites; Owner: vestibule_invites_owner
--

CREATE INDEX merged_numbers_group ON invites.merged_numbers USING btree (group_id);


--
-- Name: phones_nobody; Type: INDEX; Schema: invites; Owner: vestibule_invites_owner
--

CREATE INDEX phones_nobody ON invites.phones USING btree (phone) WHERE (user_id IS NULL);


--
-- Name: phones_user; Type: INDEX; Schema: invites; Owner: vestibule_invites_owner
--

CREATE INDEX phones_user ON invites.phones USING btree (user_id) WHERE (user_id IS NOT NULL);


--
-- Name: quotas_ends_at; Type: INDEX; Schema: invites; Owner: vestibule_invites_owner
--

CREATE INDEX quotas_ends_at ON invites.quotas USING btree (ends_at);


--
-- Name: refused_absorptions_refused_at; Type: INDEX; Schema: invites; Owner: vestibule_invites_owner
--

CREATE INDEX refused_absorptions_refused_at ON invites.refused_absorptions USING btree (refused_at);


--
-- Name: work_due; Type: INDEX; Schema: invites; Owner: vestibule_invites_owner
--

CREATE INDEX work_due ON invites.work USING btree (queue, due_at, id) WHERE (parked_at IS NULL);


--
-- Name: work_key; Type: INDEX; Schema: invites; Owner: vestibule_invites_owner
--

CREATE INDEX work_key ON invites.work USING btree (queue, key, id) WHERE (key IS NOT NULL);


--
-- Name: work_oldest; Type: INDEX; Schema: invites; Owner: vestibule_invites_owner
--

CREATE INDEX work_oldest ON invites.work USING btree (queue, created_at) WHERE (parked_at IS NULL);


--
-- Name: work_parked; Type: INDEX; Schema: invites; Owner: vestibule_invites_owner
--

CREATE INDEX work_parked ON invites.work USING btree (queue, parked_at) WHERE (parked_at IS NOT NULL);


--
-- Name: work_user; Type: INDEX; Schema: invites; Owner: vestibule_invites_owner
--

CREATE INDEX work_user ON invites.work USING btree (user_id) WHERE (user_id IS NOT NULL);


--
-- Name: closed_accounts_closed_at; Type: INDEX; Schema: profile; Owner: vestibule_profile_owner
--

CREATE INDEX closed_accounts_closed_at ON profile.closed_accounts USING btree (closed_at);


--
-- Name: phone_cool_downs_proven_until; Type: INDEX; Schema: profile; Owner: vestibule_profile_owner
--

CREATE INDEX phone_cool_downs_proven_until ON profile.phone_cool_downs USING btree (until) WHERE was_proven;


--
-- Name: phone_cool_downs_until; Type: INDEX; Schema: profile; Owner: vestibule_profile_owner
--

CREATE INDEX phone_cool_downs_until ON profile.phone_cool_downs USING btree (until);


--
-- Name: phone_cool_downs_user; Type: INDEX; Schema: profile; Owner: vestibule_profile_owner
--

CREATE INDEX phone_cool_downs_user ON profile.phone_cool_downs USING btree (user_id);


--
-- Name: phone_disputes_created_at; Type: INDEX; Schema: profile; Owner: vestibule_profile_owner
--

CREATE INDEX phone_disputes_created_at ON profile.phone_disputes USING btree (created_at);


--
-- Name: phone_disputes_holder; Type: INDEX; Schema: profile; Owner: vestibule_profile_owner
--

CREATE INDEX phone_disputes_holder ON profile.phone_disputes USING btree (holder_user_id);


--
-- Name: proven_claims_also_taken_from; Type: INDEX; Schema: profile; Owner: vestibule_profile_owner
--

CREATE INDEX proven_claims_also_taken_from ON profile.proven_claims USING btree (also_taken_from) WHERE (also_taken_from IS NOT NULL);


--
-- Name: proven_claims_applied_at; Type: INDEX; Schema: profile; Owner: vestibule_profile_owner
--

CREATE INDEX proven_claims_applied_at ON profile.proven_claims USING btree (applied_at);


--
-- Name: proven_claims_taken_from; Type: INDEX; Schema: profile; Owner: vestibule_profile_owner
--

CREATE INDEX proven_claims_taken_from ON profile.proven_claims USING btree (taken_from) WHERE (taken_from IS NOT NULL);


--
-- Name: proven_claims_user; Type: INDEX; Schema: profile; Owner: vestibule_profile_owner
--

CREATE INDEX proven_claims_user ON profile.proven_claims USING btree (user_id);


--
-- Name: quotas_ends_at; Type: INDEX; Schema: profile; Owner: vestibule_profile_owner
--

CREATE INDEX quotas_ends_at ON profile.quotas USING btree (ends_at);


--
-- Name: refused_absorptions_refused_at; Type: INDEX; Schema: profile; Owner: vestibule_profile_owner
--

CREATE INDEX refused_absorptions_refused_at ON profile.refused_absorptions USING btree (refused_at);


--
-- Name: work_due; Type: INDEX; Schema: profile; Owner: vestibule_profile_owner
--

CREATE INDEX work_due ON profile.work USING btree (queue, due_at, id) WHERE (parked_at IS NULL);


--
-- Name: work_key; Type: INDEX; Schema: profile; Owner: vestibule_profile_owner
--

CREATE INDEX work_key ON profile.work USING btree (queue, key, id) WHERE (key IS NOT NULL);


--
-- Name: work_oldest; Type: INDEX; Schema: profile; Owner: vestibule_profile_owner
--

CREATE INDEX work_oldest ON profile.work USING btree (queue, created_at) WHERE (parked_at IS NULL);


--
-- Name: work_parked; Type: INDEX; Schema: profile; Owner: vestibule_profile_owner
--

CREATE INDEX work_parked ON profile.work USING btree (queue, parked_at) WHERE (parked_at IS NOT NULL);


--
-- Name: work_taken_from; Type: INDEX; Schema: profile; Owner: vestibule_profile_owner
--

CREATE INDEX work_taken_from ON profile.work USING btree ((((data ->> 'taken_from'::text))::uuid)) WHERE ((data ->> 'taken_from'::text) IS NOT NULL);


--
-- Name: work_user; Type: INDEX; Schema: profile; Owner: vestibule_profile_owner
--

CREATE INDEX work_user ON profile.work USING btree (user_id) WHERE (user_id IS NOT NULL);


--
-- Name: provider_identities provider_identities_proven; Type: TRIGGER; Schema: identity; Owner: vestibule_identity_owner
--

CREATE TRIGGER provider_identities_proven AFTER UPDATE ON identity.provider_identities FOR EACH ROW WHEN (((old.unproven_dialect IS NOT NULL) AND (new.unproven_dialect IS NULL))) EXECUTE FUNCTION identity.end_unproven_sessions();


--
-- Name: security_events security_events_told; Type: TRIGGER; Schema: identity; Owner: vestibule_identity_owner
--

CREATE TRIGGER security_events_told AFTER INSERT ON identity.security_events FOR EACH ROW WHEN (((new.kind = ANY (ARRAY['session_ended'::text, 'reuse_detected'::text, 'all_sessions_ended'::text, 'account_deleted'::text, 'account_closed'::text, 'provider_linked'::text, 'provider_unlinked'::text, 'deletion_scheduled'::text, 'deletion_cancelled'::text])) OR ((new.kind = 'signed_in'::text) AND (new.details @> '{"opened_account": true}'::jsonb)))) EXECUTE FUNCTION identity.tell_webhooks();


--
-- Name: sessions sessions_all_removed; Type: TRIGGER; Schema: identity; Owner: vestibule_identity_owner
--

CREATE TRIGGER sessions_all_removed BEFORE TRUNCATE ON identity.sessions FOR EACH STATEMENT EXECUTE FUNCTION identity.log_all_revocations();


--
-- Name: sessions sessions_begun; Type: TRIGGER; Schema: identity; Owner: vestibule_identity_owner
--

CREATE TRIGGER sessions_begun AFTER INSERT ON identity.sessions FOR EACH ROW EXECUTE FUNCTION identity.tell_of_session();


--
-- Name: sessions sessions_ended; Type: TRIGGER; Schema: identity; Owner: vestibule_identity_owner
--

CREATE TRIGGER sessions_ended AFTER UPDATE OF revoked_at ON identity.sessions FOR EACH ROW WHEN (((old.revoked_at IS NULL) AND (new.revoked_at IS NOT NULL))) EXECUTE FUNCTION identity.tell_of_session();


--
-- Name: sessions sessions_removed; Type: TRIGGER; Schema: identity; Owner: vestibule_identity_owner
--

CREATE TRIGGER sessions_removed AFTER DELETE ON identity.sessions FOR EACH ROW WHEN (((old.revoked_at IS NULL) AND (old.expires_at > now()))) EXECUTE FUNCTION identity.log_revocation();


--
-- Name: sessions sessions_revoked; Type: TRIGGER; Schema: identity; Owner: vestibule_identity_owner
--

CREATE TRIGGER sessions_revoked AFTER UPDATE OF revoked_at ON identity.sessions FOR EACH ROW WHEN (((old.revoked_at IS NULL) AND (new.revoked_at IS NOT NULL))) EXECUTE FUNCTION identity.log_revocation();


--
-- Name: groups groups_changed; Type: TRIGGER; Schema: invites; Owner: vestibule_invites_owner
--

CREATE TRIGGER groups_changed AFTER UPDATE OF name, openness, owner_user_id ON invites.groups FOR EACH ROW WHEN ((((old.name IS DISTINCT FROM new.name) OR (old.openness IS DISTINCT FROM new.openness)) OR (old.owner_user_id IS DISTINCT FROM new.owner_user_id))) EXECUTE FUNCTION invites.log_changed_group();


--
-- Name: join_requests join_requests_changed; Type: TRIGGER; Schema: invites; Owner: vestibule_invites_owner
--

CREATE TRIGGER join_requests_changed AFTER INSERT OR DELETE OR UPDATE ON invites.join_requests FOR EACH ROW EXECUTE FUNCTION invites.log_join_request();


--
-- Name: members members_added; Type: TRIGGER; Schema: invites; Owner: vestibule_invites_owner
--

CREATE TRIGGER members_added AFTER INSERT ON invites.members REFERENCING NEW TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION invites.log_added_members();


--
-- Name: members members_changed; Type: TRIGGER; Schema: invites; Owner: vestibule_invites_owner
--

CREATE TRIGGER members_changed AFTER UPDATE ON invites.members FOR EACH ROW WHEN (((((((((old.user_id IS DISTINCT FROM new.user_id) OR (old.phone IS DISTINCT FROM new.phone)) OR (old.display_name IS DISTINCT FROM new.display_name)) OR (old.role IS DISTINCT FROM new.role)) OR (old.confirmed_by IS DISTINCT FROM new.confirmed_by)) OR (old.unconfirmed_at IS DISTINCT FROM new.unconfirmed_at)) OR (old.declined_by IS DISTINCT FROM new.declined_by)) OR (old.expires_at IS DISTINCT FROM new.expires_at))) EXECUTE FUNCTION invites.log_changed_member();


--
-- Name: members members_removed; Type: TRIGGER; Schema: invites; Owner: vestibule_invites_owner
--

CREATE TRIGGER members_removed AFTER DELETE ON invites.members REFERENCING OLD TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION invites.log_removed_members();


--
-- Name: phones phones_added; Type: TRIGGER; Schema: invites; Owner: vestibule_invites_owner
--

CREATE TRIGGER phones_added AFTER INSERT ON invites.phones FOR EACH ROW WHEN ((new.user_id IS NOT NULL)) EXECUTE FUNCTION invites.log_number();


--
-- Name: phones phones_changed; Type: TRIGGER; Schema: invites; Owner: vestibule_invites_owner
--

CREATE TRIGGER phones_changed AFTER UPDATE OF user_id ON invites.phones FOR EACH ROW WHEN ((old.user_id IS DISTINCT FROM new.user_id)) EXECUTE FUNCTION invites.log_number();


--
-- Name: phones phones_proof_ended; Type: TRIGGER; Schema: invites; Owner: vestibule_invites_owner
--

CREATE TRIGGER phones_proof_ended BEFORE UPDATE OF user_id ON invites.phones FOR EACH ROW WHEN (((new.proven_by IS NOT NULL) AND (new.proven_by IS DISTINCT FROM new.user_id))) EXECUTE FUNCTION invites.end_proof();


--
-- Name: phones phones_proven; Type: TRIGGER; Schema: invites; Owner: vestibule_invites_owner
--

CREATE TRIGGER phones_proven AFTER UPDATE OF proven_by ON invites.phones FOR EACH ROW WHEN (((old.user_id = new.user_id) AND (old.proven_by IS DISTINCT FROM new.proven_by))) EXECUTE FUNCTION invites.log_proof();


--
-- Name: phones phones_removed; Type: TRIGGER; Schema: invites; Owner: vestibule_invites_owner
--

CREATE TRIGGER phones_removed AFTER DELETE ON invites.phones FOR EACH ROW WHEN ((old.user_id IS NOT NULL)) EXECUTE FUNCTION invites.log_number();


--
-- Name: account_openings account_openings_absorption_id_fkey; Type: FK CONSTRAINT; Schema: identity; Owner: vestibule_identity_owner
--

ALTER TABLE ONLY identity.account_openings
    ADD CONSTRAINT account_openings_absorption_id_fkey FOREIGN KEY (absorption_id) REFERENCES identity.absorptions(absorption_id) ON DELETE CASCADE;


--
-- Name: apple_transfers apple_transfers_provider_subject_fkey; Type: FK CONSTRAINT; Schema: identity; Owner: vestibule_identity_owner
--

ALTER TABLE ONLY identity.apple_transfers
    ADD CONSTRAINT apple_transfers_provider_subject_fkey FOREIGN KEY (provider, subject) REFERENCES identity.provider_identities(provider, subject) ON UPDATE CASCADE ON DELETE CASCADE;


--
-- Name: email_reservations email_reservations_user_id_fkey; Type: FK CONSTRAINT; Schema: identity; Owner: vestibule_identity_owner
--

ALTER TABLE ONLY identity.email_reservations
    ADD CONSTRAINT email_reservations_user_id_fkey FOREIGN KEY (user_id) REFERENCES identity.accounts(user_id) ON DELETE CASCADE;


--
-- Name: imported_ids imported_ids_user_id_fkey; Type: FK CONSTRAINT; Schema: identity; Owner: vestibule_identity_owner
--

ALTER TABLE ONLY identity.imported_ids
    ADD CONSTRAINT imported_ids_user_id_fkey FOREIGN KEY (user_id) REFERENCES identity.accounts(user_id) ON DELETE CASCADE;


--
-- Name: phone_assertions phone_assertions_user_id_fkey; Type: FK CONSTRAINT; Schema: identity; Owner: vestibule_identity_owner
--

ALTER TABLE ONLY identity.phone_assertions
    ADD CONSTRAINT phone_assertions_user_id_fkey FOREIGN KEY (user_id) REFERENCES identity.accounts(user_id) ON DELETE CASCADE;


--
-- Name: provider_identities provider_identities_user_id_fkey; Type: FK CONSTRAINT; Schema: identity; Owner: vestibule_identity_owner
--

ALTER TABLE ONLY identity.provider_identities
    ADD CONSTRAINT provider_identities_user_id_fkey FOREIGN KEY (user_id) REFERENCES identity.accounts(user_id) ON DELETE CASCADE;


--
-- Name: scheduled_deletions scheduled_deletions_user_id_fkey; Type: FK CONSTRAINT; Schema: identity; Owner: vestibule_identity_owner
--

ALTER TABLE ONLY identity.scheduled_deletions
    ADD CONSTRAINT scheduled_deletions_user_id_fkey FOREIGN KEY (user_id) REFERENCES identity.accounts(user_id) ON DELETE CASCADE;


--
-- Name: sessions sessions_user_id_fkey; Type: FK CONSTRAINT; Schema: identity; Owner: vestibule_identity_owner
--

ALTER TABLE ONLY identity.sessions
    ADD CONSTRAINT sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES identity.accounts(user_id) ON DELETE CASCADE;


--
-- Name: told_phones told_phones_provider_subject_fkey; Type: FK CONSTRAINT; Schema: identity; Owner: vestibule_identity_owner
--

ALTER TABLE ONLY identity.told_phones
    ADD CONSTRAINT told_phones_provider_subject_fkey FOREIGN KEY (provider, subject) REFERENCES identity.provider_identities(provider, subject) ON UPDATE CASCADE ON DELETE CASCADE;


--
-- Name: user_metadata user_metadata_user_id_fkey; Type: FK CONSTRAINT; Schema: identity; Owner: vestibule_identity_owner
--

ALTER TABLE ONLY identity.user_metadata
    ADD CONSTRAINT user_metadata_user_id_fkey FOREIGN KEY (user_id) REFERENCES identity.accounts(user_id) ON DELETE CASCADE;


--
-- Name: group_link_uses group_link_uses_link_id_fkey; Type: FK CONSTRAINT; Schema: invites; Owner: vestibule_invites_owner
--

ALTER TABLE ONLY invites.group_link_uses
    ADD CONSTRAINT group_link_uses_link_id_fkey FOREIGN KEY (link_id) REFERENCES invites.group_links(link_id) ON DELETE CASCADE;


--
-- Name: group_links group_links_group_id_fkey; Type: FK CONSTRAINT; Schema: invites; Owner: vestibule_invites_owner
--

ALTER TABLE ONLY invites.group_links
    ADD CONSTRAINT group_links_group_id_fkey FOREIGN KEY (group_id) REFERENCES invites.groups(group_id) ON DELETE CASCADE;


--
-- Name: join_requests join_requests_group_id_fkey; Type: FK CONSTRAINT; Schema: invites; Owner: vestibule_invites_owner
--

ALTER TABLE ONLY invites.join_requests
    ADD CONSTRAINT join_requests_group_id_fkey FOREIGN KEY (group_id) REFERENCES invites.groups(group_id) ON DELETE CASCADE;


--
-- Name: members members_group_id_fkey; Type: FK CONSTRAINT; Schema: invites; Owner: vestibule_invites_owner
--

ALTER TABLE ONLY invites.members
    ADD CONSTRAINT members_group_id_fkey FOREIGN KEY (group_id) REFERENCES invites.groups(group_id);


--
-- Name: merged_numbers merged_numbers_group_id_fkey; Type: FK CONSTRAINT; Schema: invites; Owner: vestibule_invites_owner
--

ALTER TABLE ONLY invites.merged_numbers
    ADD CONSTRAINT merged_numbers_group_id_fkey FOREIGN KEY (group_id) REFERENCES invites.groups(group_id) ON DELETE CASCADE;


--
-- Name: avatars avatars_user_id_fkey; Type: FK CONSTRAINT; Schema: profile; Owner: vestibule_profile_owner
--

ALTER TABLE ONLY profile.avatars
    ADD CONSTRAINT avatars_user_id_fkey FOREIGN KEY (user_id) REFERENCES profile.profiles(user_id) ON DELETE CASCADE;


--
-- Name: SCHEMA identity; Type: ACL; Schema: -; Owner: vestibule_identity_owner
--

GRANT USAGE ON SCHEMA identity TO vestibule_identity;


--
-- Name: SCHEMA invites; Type: ACL; Schema: -; Owner: vestibule_invites_owner
--

GRANT USAGE ON SCHEMA invites TO vestibule_invites;


--
-- Name: SCHEMA profile; Type: ACL; Schema: -; Owner: vestibule_profile_owner
--

GRANT USAGE ON SCHEMA profile TO vestibule_profile;


--
-- Name: TABLE absorptions; Type: ACL; Schema: identity; Owner: vestibule_identity_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE identity.absorptions TO vestibule_identity;


--
-- Name: TABLE account_closings; Type: ACL; Schema: identity; Owner: vestibule_identity_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE identity.account_closings TO vestibule_identity;


--
-- Name: TABLE accounts; Type: ACL; Schema: identity; Owner: vestibule_identity_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE identity.accounts TO vestibule_identity;


--
-- Name: SEQUENCE account_numbers; Type: ACL; Schema: identity; Owner: vestibule_identity_owner
--

GRANT USAGE ON SEQUENCE identity.account_numbers TO vestibule_identity;


--
-- Name: TABLE account_openings; Type: ACL; Schema: identity; Owner: vestibule_identity_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE identity.account_openings TO vestibule_identity;


--
-- Name: TABLE apple_transfers; Type: ACL; Schema: identity; Owner: vestibule_identity_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE identity.apple_transfers TO vestibule_identity;


--
-- Name: TABLE code_exchanges; Type: ACL; Schema: identity; Owner: vestibule_identity_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE identity.code_exchanges TO vestibule_identity;


--
-- Name: TABLE email_reservations; Type: ACL; Schema: identity; Owner: vestibule_identity_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE identity.email_reservations TO vestibule_identity;


--
-- Name: TABLE imported_ids; Type: ACL; Schema: identity; Owner: vestibule_identity_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE identity.imported_ids TO vestibule_identity;


--
-- Name: TABLE ordered_queues; Type: ACL; Schema: identity; Owner: vestibule_identity_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE identity.ordered_queues TO vestibule_identity;


--
-- Name: TABLE phone_assertions; Type: ACL; Schema: identity; Owner: vestibule_identity_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE identity.phone_assertions TO vestibule_identity;


--
-- Name: TABLE provider_checks; Type: ACL; Schema: identity; Owner: vestibule_identity_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE identity.provider_checks TO vestibule_identity;


--
-- Name: TABLE provider_grants; Type: ACL; Schema: identity; Owner: vestibule_identity_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE identity.provider_grants TO vestibule_identity;


--
-- Name: TABLE provider_identities; Type: ACL; Schema: identity; Owner: vestibule_identity_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE identity.provider_identities TO vestibule_identity;


--
-- Name: TABLE provider_notices; Type: ACL; Schema: identity; Owner: vestibule_identity_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE identity.provider_notices TO vestibule_identity;


--
-- Name: TABLE quotas; Type: ACL; Schema: identity; Owner: vestibule_identity_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE identity.quotas TO vestibule_identity;


--
-- Name: TABLE revocations; Type: ACL; Schema: identity; Owner: vestibule_identity_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE identity.revocations TO vestibule_identity;


--
-- Name: SEQUENCE revocations_id_seq; Type: ACL; Schema: identity; Owner: vestibule_identity_owner
--

GRANT USAGE ON SEQUENCE identity.revocations_id_seq TO vestibule_identity;


--
-- Name: TABLE scheduled_deletions; Type: ACL; Schema: identity; Owner: vestibule_identity_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE identity.scheduled_deletions TO vestibule_identity;


--
-- Name: TABLE schema_migrations; Type: ACL; Schema: identity; Owner: vestibule_identity_owner
--

GRANT SELECT ON TABLE identity.schema_migrations TO vestibule_identity;


--
-- Name: TABLE security_events; Type: ACL; Schema: identity; Owner: vestibule_identity_owner
--

GRANT SELECT,INSERT ON TABLE identity.security_events TO vestibule_identity;


--
-- Name: TABLE session_epoch; Type: ACL; Schema: identity; Owner: vestibule_identity_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE identity.session_epoch TO vestibule_identity;


--
-- Name: TABLE sessions; Type: ACL; Schema: identity; Owner: vestibule_identity_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE identity.sessions TO vestibule_identity;


--
-- Name: TABLE sign_ins; Type: ACL; Schema: identity; Owner: vestibule_identity_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE identity.sign_ins TO vestibule_identity;


--
-- Name: TABLE told_once; Type: ACL; Schema: identity; Owner: vestibule_identity_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE identity.told_once TO vestibule_identity;


--
-- Name: TABLE told_phones; Type: ACL; Schema: identity; Owner: vestibule_identity_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE identity.told_phones TO vestibule_identity;


--
-- Name: TABLE user_metadata; Type: ACL; Schema: identity; Owner: vestibule_identity_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE identity.user_metadata TO vestibule_identity;


--
-- Name: TABLE web_tickets; Type: ACL; Schema: identity; Owner: vestibule_identity_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE identity.web_tickets TO vestibule_identity;


--
-- Name: TABLE webhook_targets; Type: ACL; Schema: identity; Owner: vestibule_identity_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE identity.webhook_targets TO vestibule_identity;


--
-- Name: TABLE work; Type: ACL; Schema: identity; Owner: vestibule_identity_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE identity.work TO vestibule_identity;


--
-- Name: SEQUENCE work_id_seq; Type: ACL; Schema: identity; Owner: vestibule_identity_owner
--

GRANT USAGE ON SEQUENCE identity.work_id_seq TO vestibule_identity;


--
-- Name: TABLE asked_numbers; Type: ACL; Schema: invites; Owner: vestibule_invites_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE invites.asked_numbers TO vestibule_invites;


--
-- Name: TABLE blocked_inviters; Type: ACL; Schema: invites; Owner: vestibule_invites_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE invites.blocked_inviters TO vestibule_invites;


--
-- Name: TABLE closed_accounts; Type: ACL; Schema: invites; Owner: vestibule_invites_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE invites.closed_accounts TO vestibule_invites;


--
-- Name: TABLE group_event_epoch; Type: ACL; Schema: invites; Owner: vestibule_invites_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE invites.group_event_epoch TO vestibule_invites;


--
-- Name: TABLE group_events; Type: ACL; Schema: invites; Owner: vestibule_invites_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE invites.group_events TO vestibule_invites;


--
-- Name: SEQUENCE group_events_id_seq; Type: ACL; Schema: invites; Owner: vestibule_invites_owner
--

GRANT USAGE ON SEQUENCE invites.group_events_id_seq TO vestibule_invites;


--
-- Name: TABLE group_keys; Type: ACL; Schema: invites; Owner: vestibule_invites_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE invites.group_keys TO vestibule_invites;


--
-- Name: TABLE group_link_uses; Type: ACL; Schema: invites; Owner: vestibule_invites_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE invites.group_link_uses TO vestibule_invites;


--
-- Name: TABLE group_links; Type: ACL; Schema: invites; Owner: vestibule_invites_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE invites.group_links TO vestibule_invites;


--
-- Name: TABLE groups; Type: ACL; Schema: invites; Owner: vestibule_invites_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE invites.groups TO vestibule_invites;


--
-- Name: TABLE held_accounts; Type: ACL; Schema: invites; Owner: vestibule_invites_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE invites.held_accounts TO vestibule_invites;


--
-- Name: TABLE inbox; Type: ACL; Schema: invites; Owner: vestibule_invites_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE invites.inbox TO vestibule_invites;


--
-- Name: TABLE join_requests; Type: ACL; Schema: invites; Owner: vestibule_invites_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE invites.join_requests TO vestibule_invites;


--
-- Name: TABLE members; Type: ACL; Schema: invites; Owner: vestibule_invites_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE invites.members TO vestibule_invites;


--
-- Name: TABLE merged_numbers; Type: ACL; Schema: invites; Owner: vestibule_invites_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE invites.merged_numbers TO vestibule_invites;


--
-- Name: TABLE ordered_queues; Type: ACL; Schema: invites; Owner: vestibule_invites_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE invites.ordered_queues TO vestibule_invites;


--
-- Name: TABLE phones; Type: ACL; Schema: invites; Owner: vestibule_invites_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE invites.phones TO vestibule_invites;


--
-- Name: TABLE quotas; Type: ACL; Schema: invites; Owner: vestibule_invites_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE invites.quotas TO vestibule_invites;


--
-- Name: TABLE refused_absorptions; Type: ACL; Schema: invites; Owner: vestibule_invites_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE invites.refused_absorptions TO vestibule_invites;


--
-- Name: TABLE schema_migrations; Type: ACL; Schema: invites; Owner: vestibule_invites_owner
--

GRANT SELECT ON TABLE invites.schema_migrations TO vestibule_invites;


--
-- Name: TABLE user_locks; Type: ACL; Schema: invites; Owner: vestibule_invites_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE invites.user_locks TO vestibule_invites;


--
-- Name: TABLE wanted_events; Type: ACL; Schema: invites; Owner: vestibule_invites_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE invites.wanted_events TO vestibule_invites;


--
-- Name: TABLE work; Type: ACL; Schema: invites; Owner: vestibule_invites_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE invites.work TO vestibule_invites;


--
-- Name: SEQUENCE work_id_seq; Type: ACL; Schema: invites; Owner: vestibule_invites_owner
--

GRANT USAGE ON SEQUENCE invites.work_id_seq TO vestibule_invites;


--
-- Name: TABLE account_imports; Type: ACL; Schema: profile; Owner: vestibule_profile_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE profile.account_imports TO vestibule_profile;


--
-- Name: TABLE avatars; Type: ACL; Schema: profile; Owner: vestibule_profile_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE profile.avatars TO vestibule_profile;


--
-- Name: TABLE closed_accounts; Type: ACL; Schema: profile; Owner: vestibule_profile_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE profile.closed_accounts TO vestibule_profile;


--
-- Name: TABLE ordered_queues; Type: ACL; Schema: profile; Owner: vestibule_profile_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE profile.ordered_queues TO vestibule_profile;


--
-- Name: TABLE phone_cool_downs; Type: ACL; Schema: profile; Owner: vestibule_profile_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE profile.phone_cool_downs TO vestibule_profile;


--
-- Name: TABLE phone_disputes; Type: ACL; Schema: profile; Owner: vestibule_profile_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE profile.phone_disputes TO vestibule_profile;


--
-- Name: TABLE phones; Type: ACL; Schema: profile; Owner: vestibule_profile_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE profile.phones TO vestibule_profile;


--
-- Name: TABLE profiles; Type: ACL; Schema: profile; Owner: vestibule_profile_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE profile.profiles TO vestibule_profile;


--
-- Name: TABLE proven_claims; Type: ACL; Schema: profile; Owner: vestibule_profile_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE profile.proven_claims TO vestibule_profile;


--
-- Name: TABLE quotas; Type: ACL; Schema: profile; Owner: vestibule_profile_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE profile.quotas TO vestibule_profile;


--
-- Name: TABLE refused_absorptions; Type: ACL; Schema: profile; Owner: vestibule_profile_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE profile.refused_absorptions TO vestibule_profile;


--
-- Name: TABLE schema_migrations; Type: ACL; Schema: profile; Owner: vestibule_profile_owner
--

GRANT SELECT ON TABLE profile.schema_migrations TO vestibule_profile;


--
-- Name: TABLE usernames; Type: ACL; Schema: profile; Owner: vestibule_profile_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE profile.usernames TO vestibule_profile;


--
-- Name: TABLE wanted_events; Type: ACL; Schema: profile; Owner: vestibule_profile_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE profile.wanted_events TO vestibule_profile;


--
-- Name: TABLE work; Type: ACL; Schema: profile; Owner: vestibule_profile_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE profile.work TO vestibule_profile;


--
-- Name: SEQUENCE work_id_seq; Type: ACL; Schema: profile; Owner: vestibule_profile_owner
--

GRANT USAGE ON SEQUENCE profile.work_id_seq TO vestibule_profile;


--
-- Name: DEFAULT PRIVILEGES FOR SEQUENCES; Type: DEFAULT ACL; Schema: identity; Owner: vestibule_identity_owner
--

ALTER DEFAULT PRIVILEGES FOR ROLE vestibule_identity_owner IN SCHEMA identity GRANT USAGE ON SEQUENCES  TO vestibule_identity;


--
-- Name: DEFAULT PRIVILEGES FOR TABLES; Type: DEFAULT ACL; Schema: identity; Owner: vestibule_identity_owner
--

ALTER DEFAULT PRIVILEGES FOR ROLE vestibule_identity_owner IN SCHEMA identity GRANT SELECT,INSERT,DELETE,UPDATE ON TABLES  TO vestibule_identity;


--
-- Name: DEFAULT PRIVILEGES FOR SEQUENCES; Type: DEFAULT ACL; Schema: invites; Owner: vestibule_invites_owner
--

ALTER DEFAULT PRIVILEGES FOR ROLE vestibule_invites_owner IN SCHEMA invites GRANT USAGE ON SEQUENCES  TO vestibule_invites;


--
-- Name: DEFAULT PRIVILEGES FOR TABLES; Type: DEFAULT ACL; Schema: invites; Owner: vestibule_invites_owner
--

ALTER DEFAULT PRIVILEGES FOR ROLE vestibule_invites_owner IN SCHEMA invites GRANT SELECT,INSERT,DELETE,UPDATE ON TABLES  TO vestibule_invites;


--
-- Name: DEFAULT PRIVILEGES FOR SEQUENCES; Type: DEFAULT ACL; Schema: profile; Owner: vestibule_profile_owner
--

ALTER DEFAULT PRIVILEGES FOR ROLE vestibule_profile_owner IN SCHEMA profile GRANT USAGE ON SEQUENCES  TO vestibule_profile;


--
-- Name: DEFAULT PRIVILEGES FOR TABLES; Type: DEFAULT ACL; Schema: profile; Owner: vestibule_profile_owner
--

ALTER DEFAULT PRIVILEGES FOR ROLE vestibule_profile_owner IN SCHEMA profile GRANT SELECT,INSERT,DELETE,UPDATE ON TABLES  TO vestibule_profile;


--
-- PostgreSQL database dump complete
--


