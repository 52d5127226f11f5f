// Made of source/ and Generated/ by bundle.sh.

/** What an app does about an error. More may come: treat one that you don't know as `retry`. */
export type ErrorAction =
  /** Nothing: the kit has refreshed the session and tried again, without success. */
  | "refresh"
  /** It has the user sign in. */
  | "sign_in_again"
  /** It tries again after `retryAfter` seconds. */
  | "wait"
  /** It shows a text: `errorText` of vestibule-texts.js has one. */
  | "show"
  /** Nothing at run time: the app or the configuration has to be mended. */
  | "fix_request"
  /** It tries again later. */
  | "retry"
  | (string & {});

/** A code of the server's (docs/reference/error-codes.md), or one of the kit's own. */
export type ErrorCode =
  /** No whole response came. */
  | "NETWORK"
  /** The deadline has passed. */
  | "TIMEOUT"
  /** There is no session, or another user's than the one that a call or a stream of events began with. */
  | "SIGNED_OUT"
  /** `signInAsGuest` while somebody is signed in. */
  | "SIGNED_IN"
  /** The store failed, or has a record of a newer version of the kit, which is left alone. */
  | "STORE_FAILED"
  /** The reason of a signed-out state: the record couldn't be read. It is kept beside. */
  | "STORE_UNREADABLE"
  /** A response that is not the server's, such as a portal's page or a redirect. */
  | "BAD_RESPONSE"
  /** 429 or 5xx without an error of the server. */
  | "UNAVAILABLE"
  /** The user turned back at the hosted page, or closed its window. */
  | "CANCELLED"
  /** The hosted page's code was used before. */
  | "INVALID_GRANT"
  /** An address that is not of a sign-in that this app began in the last hour. */
  | "WEB_STATE_INVALID"
  | (string & {});

/** Every error of the kit, but a cancellation: that is the reason of the `AbortSignal`, usually an `AbortError`. It has no token in it. */
export declare class VestibuleError extends Error {
  readonly name: "VestibuleError";
  readonly code: ErrorCode;
  readonly action: ErrorAction;
  /** The fields of the request that are wrong, by their names. Empty in vestibule-session.js. */
  readonly fields: Record<string, { code: string; message: string }>;
  /** More of the error, such as free user names beside `USERNAME_TAKEN`. Empty in vestibule-session.js. */
  readonly metadata: Record<string, string>;
  /** The seconds after which the same may succeed, a day at most. */
  readonly retryAfter?: number;
  /** The status of HTTP, if a response came. */
  readonly status?: number;
}

/** Where the session is kept. Values are texts; a write is whole, and durable when its promise resolves. */
export interface Store {
  read(key: string): Promise<string | null>;
  write(key: string, text: string): Promise<void>;
  remove(key: string): Promise<void>;
  /**
   * Runs the body while nobody else of this store does, in any tab or process. The lock is free when its owner has ended. The signal ends the
   * wait for the lock, and not the body.
   */
  withLock<Result>(key: string, body: () => Promise<Result>, signal?: AbortSignal): Promise<Result>;
  /**
   * Calls the listener when another tab has written, without a text when it has called `interrupt`, and without a key when something may have
   * been missed.
   */
  onChange?(listener: (key?: string, text?: string | null) => void): () => void;
  /** Has the other tabs give up the refreshes that hold the lock. */
  interrupt?(key: string): void;
}

/** A store for as long as the program runs. */
export declare function memoryStore(): Store;

/** A store that all tabs of an origin share, by IndexedDB and Web Locks: a page by https or on localhost. */
export declare function browserStore(): Store;

export interface VestibuleOptions {
  /** The server: `https://id.example.com`. By http only on this machine: localhost, 127.0.0.1, [::1], and 10.0.2.2 of Android's emulator. */
  url: string;
  /** The app's client id, for the hosted page. */
  clientId?: string;
  /** `browserStore()` where there is IndexedDB, `memoryStore()` in Node, Bun and Deno, unless it is given. Needed elsewhere. */
  store?: Store;
  /** How long a call may take with all its waits and tries, in milliseconds; 30,000. */
  deadlineMs?: number;
  /** The language of the server's messages (`Accept-Language`). */
  language?: string;
  /** In the place of the platform's `fetch`. */
  fetch?: typeof fetch;
}

export interface CallOptions {
  /** Ends the call. A refresh that other calls wait for goes on. */
  signal?: AbortSignal;
  /** How long the call may take with all its waits and tries, in milliseconds. */
  deadlineMs?: number;
}

export interface State {
  state: "signedIn" | "signedOut";
  /** The user's id, if one is signed in. */
  userId?: string;
  /** Whether the user is a guest; absent if not. */
  isGuest?: boolean;
  /** Why the server ended the session, such as `SESSION_REVOKED`; told once. Absent if the user signed out. */
  code?: string;
}

/** What a sign-in brings. */
export interface SignedIn {
  userId: string;
  /** Whether this sign-in created the account. */
  isNewUser: boolean;
  /** What to ask the user for, in this order: "display_name", "phone_number", "username". */
  missingFields: string[];
  /** Whether the profile could not be read: then `missingFields` says nothing. */
  missingFieldsUnknown?: boolean;
  /** The name from the provider, for the app to suggest. */
  suggestedDisplayName?: string;
}

/** A nonce of 32 random bytes: `nonce` for `signIn`, and for the provider `sha256` (Apple) or `nonce` (Google). */
export interface SignInNonce {
  readonly nonce: string;
  /** The hash of `nonce` in hexadecimal. */
  readonly sha256: string;
}

/** Creates a nonce for one sign-in. */
export declare function createNonce(): Promise<SignInNonce>;

/** Sign-in and the session. It does nothing until it is used, and keeps no program running. */
declare class SessionClient {
  constructor(options: VestibuleOptions);
  readonly url: string;
  readonly clientId?: string;

  /** Who is signed in, as the store has it. */
  state(): Promise<State>;
  /** Calls the listener with the state, and then at each change, in any tab, until the returned function is called. */
  onState(listener: (state: State) => void): () => void;

  /**
   * Opens a session for a provider's credentials, in the place of the one there is. `fullName` and `email`, which Apple sends once, are kept
   * until a sign-in of the same person has succeeded, for seven days at most. The session of a guest is kept beside: see `keptGuest` of
   * vestibule.js.
   */
  signIn(credentials: Credentials, options?: CallOptions): Promise<SignedIn>;
  /**
   * Signs out here at once, also without network; at the server as soon as it can be reached. Resolves when both are done, or at the deadline.
   * Rejects with `TIMEOUT` if another process held the store's lock until the deadline: then the user is signed out as soon as it is free. With
   * `STORE_FAILED` the user is still signed in.
   */
  signOut(options?: CallOptions): Promise<void>;

  /**
   * An access token that is good for a while, for calls to your own backend. Refreshes the session if need be. If your backend has refused a
   * token (401), ask once more with that token as `insteadOf`.
   */
  accessToken(options?: CallOptions & { insteadOf?: string }): Promise<string>;
  /** Refreshes the session although its access token is good, after a change of what is in it. Returns the new access token. */
  refresh(options?: CallOptions): Promise<string>;

  /** Ends what this object does. The session stays. */
  close(): void;
}

/** A provider's credentials. At least one of `id_token`, `authorization_code` and `access_token` is needed. */
export interface Credentials {
  /** The configured provider's name: "apple", "google", …. NOT_FOUND with PROVIDER_UNKNOWN for any other. */
  provider: string;
  /** The provider's ID token, or the ticket that Apple by web gave instead. */
  idToken?: string;
  /** The raw nonce, if the app created one or called CreateChallenge. Apple's tokens carry its SHA-256 in lowercase hexadecimal. */
  nonce?: string;
  /** The provider's authorization code: with an ID token, or with `client_id`. The ticket of the code if `id_token` is a ticket. */
  authorizationCode?: string;
  /** The provider's access token, with `client_id`. */
  accessToken?: string;
  /** The audience of a code or an access token without an ID token. */
  clientId?: string;
  /** The redirect URI that the code was issued for, if there was one. */
  redirectUri?: string;
  /** The PKCE verifier (RFC 7636) of the code or of the tickets. */
  codeVerifier?: string;
  /** The user's name as the app got it from the provider; Apple sends it with the first authorization only. */
  fullName?: string;
  /** The e-mail address as the app got it from the provider; stored only if no token has one. */
  email?: string;
  /** The app's name for the device, shown in the list of sessions. */
  deviceName?: string;
  /** Whether a new user gets an account; absent means true. */
  create?: boolean;
}

/** A store on React Native's AsyncStorage, or on anything with its three methods, such as an encrypted one. */
export declare function asyncStorageStore(storage: {
  getItem(key: string): Promise<string | null>;
  setItem(key: string, text: string): Promise<unknown>;
  removeItem(key: string): Promise<unknown>;
}): Store;

export interface HostedOptions extends CallOptions {
  /** Where the page sends the browser: one of the client's redirect URIs. In a browser, this page unless it is given. */
  redirectUri?: string;
  /** Skips the choice of a provider: "apple", "google", …. */
  provider?: string;
  /** `openid profile email offline_access` unless it is given. */
  scope?: string;
  /** More parameters of the page, such as `ui_locales` or `prompt`. */
  parameters?: Record<string, string>;
}

export declare interface Vestibule extends Methods {}

/** The server as an app calls it. Methods that aren't here by hand are in `Methods`. */
export declare class Vestibule extends SessionClient {
  constructor(options: VestibuleOptions & {
    /** The issuer of the hosted page's answers, if it isn't `url`. */
    issuer?: string;
  });

  /** The address of the hosted sign-in page. What the way back needs is in the store before it is returned. */
  beginSignIn(options: HostedOptions & { redirectUri: string }): Promise<string>;
  /**
   * Opens the session of the address that the page sent the browser to. Each is good once, within an hour. Rejects with `CANCELLED` if the user
   * turned back.
   */
  finishSignIn(callback: string, options?: CallOptions): Promise<{ userId: string }>;
  /**
   * Leads the window to the hosted page. `finishRedirect` on the redirect page does the rest. Rejects with an `AbortError` if the browser
   * brings this page back as it was.
   */
  signInWithRedirect(options?: HostedOptions): Promise<never>;
  /**
   * Opens the hosted page in a window of its own; to be called in a click's handler. The redirect page there calls `finishRedirect`. Rejects
   * with `CANCELLED` when the user closes the window, and with the error of the sign-in there.
   */
  signInWithPopup(options?: HostedOptions): Promise<{ userId: string }>;
  /** Finishes a sign-in if this page was opened on the way back, and takes the code out of the address; else undefined. */
  finishRedirect(): Promise<{ userId: string } | undefined>;

  /** Calls a method by its name, such as "AccountService/GetMe", and returns the whole response. */
  call(method: string, request?: object, options?: CallOptions): Promise<any>;

  /**
   * Deletes the user's account, and signs out, unless the deletion is only scheduled (`deletesAt`). Needs a sign-in of the last minutes
   * (`RECENT_SIGN_IN_REQUIRED`), or fresh credentials. If its response is lost and the session has ended, that is a success: the response is empty
   * but for its lists.
   */
  deleteAccount(request?: { credentials?: Credentials }, options?: CallOptions): Promise<DeleteMeResponse>;
  /** Ends all sessions of the user, with this one unless `exceptCurrent`. */
  signOutEverywhere(request?: { exceptCurrent?: boolean }, options?: CallOptions): Promise<void>;
  /** Links another provider to the account; returns the providers. A guest's account becomes a full one by it. Name and e-mail are kept as by `signIn`. */
  linkProvider(credentials: Credentials, options?: CallOptions): Promise<LinkedProvider[]>;

  /**
   * Opens an account that no provider opens, and its only session: when that is over, the account is lost. It does the proof of work that
   * the server demands, within the deadline, and leaves the page its turns. `linkProvider` makes it a full account with the same user id. Rejects with `SIGNED_IN` if somebody is signed in: a guest who is
   * replaced is lost.
   */
  signInAsGuest(deviceName?: string, options?: CallOptions): Promise<SignedIn>;
  /**
   * The user id of the guest who has signed in to another account since, until `absorbGuest` has decided about it; else undefined. A
   * sign-out signs that guest out, too.
   */
  keptGuest(): Promise<string | undefined>;
  /**
   * Merges the kept guest into the account that is signed in, or deletes ("drop") it with all it has. Ask the user which, and never merge
   * unasked: somebody else may have been the guest. Needs a sign-in of the last minutes by a nonce or a code (`RECENT_SIGN_IN_REQUIRED`,
   * `PROOF_REQUIRED`). The guest stays kept until it has succeeded, or failed with `GUEST_TOKEN_INVALID`.
   */
  absorbGuest(outcome: "merge" | "drop", options?: CallOptions): Promise<void>;

  /**
   * The changes of the user's groups. It connects again by itself, for as long as it takes, and goes on at the last position. The first
   * message comes at once; read your lists after it, and again at each one (all of them at `isReset`). It throws when the session has ended,
   * and `SIGNED_OUT` when the user has signed out or another one has signed in.
   */
  events(options?: { signal?: AbortSignal; position?: string }): AsyncIterableIterator<WatchGroupsResponse>;

  /** Uploads a picture (PNG, JPEG or WebP); returns where it is. */
  setAvatar(image: Blob | ArrayBuffer | Uint8Array, options?: CallOptions & { type?: string }): Promise<string | undefined>;
  /** Removes the picture. */
  removeAvatar(options?: CallOptions): Promise<void>;
  /** The address of a picture of a profile or a member. */
  avatarURL(avatarUrl: string | undefined): string | undefined;
}

/** What becomes of a guest account. */
export type GuestOutcome =
  /** Not said; rejected. */
  | "GUEST_OUTCOME_UNSPECIFIED"
  /** It is deleted with all it has. */
  | "GUEST_OUTCOME_DROP"
  /** The user's account joins its groups, and gets the app's metadata of it if it has none; then it is deleted. */
  | "GUEST_OUTCOME_MERGE"
  | (string & {});
/** How a person who was added by phone number becomes a member. */
export type GroupOpenness =
  /** In requests: unchanged; for a new group the deployment's default. */
  | "GROUP_OPENNESS_UNSPECIFIED"
  /** At once, if a user has the number. */
  | "GROUP_OPENNESS_OPEN"
  /** When a member who may do so confirms that this user is the person meant. */
  | "GROUP_OPENNESS_CONFIRM"
  /** When the person accepts. Until then nobody learns whether a user has the number. */
  | "GROUP_OPENNESS_CONSENT"
  | (string & {});
/** What a member may do. */
export type GroupRole =
  /** For a person who isn't a member yet. */
  | "GROUP_ROLE_UNSPECIFIED"
  /** One in each group; may do everything. */
  | "GROUP_ROLE_OWNER"
  /** May rename the group, remove plain members, and decide about all pending members. */
  | "GROUP_ROLE_ADMIN"
  /** May see the members and add people. */
  | "GROUP_ROLE_MEMBER"
  | (string & {});
/** Whether a person is in a group yet. */
export type MemberState =
  /** Never sent. */
  | "MEMBER_STATE_UNSPECIFIED"
  /** The person is a user and in the group. */
  | "MEMBER_STATE_MEMBER"
  /** The group waits for a user with this phone number, or must confirm that the user who has it is the person meant. */
  | "MEMBER_STATE_PENDING"
  /** The person was invited and hasn't accepted, whether or not a user has the number. */
  | "MEMBER_STATE_INVITED"
  | (string & {});
/** What an invitation waits for. */
export type InvitationState =
  /** Never sent. */
  | "INVITATION_STATE_UNSPECIFIED"
  /** For the user: to accept it or not. */
  | "INVITATION_STATE_CONSENT"
  /** For a member who may confirm that the user is the person meant. */
  | "INVITATION_STATE_CONFIRMATION"
  | (string & {});
/** What is undecided about a person. */
export type PendingState =
  /** Never sent. */
  | "PENDING_STATE_UNSPECIFIED"
  /** The group waits for a number. */
  | "PENDING_STATE_NUMBER"
  /** A user asks to join by a link. */
  | "PENDING_STATE_REQUEST"
  /** A member no longer has the number by which they were added. */
  | "PENDING_STATE_DOUBT"
  | (string & {});
/** What can change in the user's groups. */
export type GroupChangeKind =
  /** Never sent. */
  | "GROUP_CHANGE_KIND_UNSPECIFIED"
  /** The user has become a member of the group. */
  | "GROUP_CHANGE_KIND_GROUP_JOINED"
  /** The user is no longer a member of the group, or the group is deleted. */
  | "GROUP_CHANGE_KIND_GROUP_LEFT"
  /** The group's name, openness or owner has changed. */
  | "GROUP_CHANGE_KIND_GROUP_CHANGED"
  /** A member or pending member was added, removed or changed; without a member's id there were many. */
  | "GROUP_CHANGE_KIND_MEMBER_CHANGED"
  /** The list of the user's invitations may have changed. */
  | "GROUP_CHANGE_KIND_INVITATION_CHANGED"
  | (string & {});
/** A user's profile. */
export interface Profile {
  /** The user's id, a UUID. */
  userId: string;
  /** 2 to 50 characters as people count them; absent if not set. */
  displayName?: string;
  /** 3 to 20 letters, digits or underscores; absent if not set. */
  username?: string;
  /** E.164 with the leading plus; absent if not set. */
  phoneNumber?: string;
  /** What to ask the user for, in this order: "display_name", "phone_number", "username". */
  missingFields: string[];
  /** When the profile last changed, in whole milliseconds; absent if never. */
  updatedAt?: string;
  /** Whether the phone number is proven to be the user's. Typing a number proves nothing. */
  phoneProven: boolean;
  /**
   * When another user took the user's number by proving it, in whole milliseconds; absent if none did, or the user has saved another
   * number since.
   */
  phoneTakenAt?: string;
  /** How often the profile was changed; 0 if never. */
  revision: number;
  /**
   * The user's picture, an https URL; absent if there is none. An uploaded picture is at the gateway's `/avatars/{id}`: with its public
   * URL in front, if one is configured.
   */
  avatarUrl?: string;
  /** Whether the user is a guest: no provider opens the account, and it is deleted when it goes unused. */
  isGuest: boolean;
}
/** The user's profile. */
export interface GetMeResponse {
  /** The profile. */
  profile: Profile;
}
/** The fields to change. An absent field stays; an empty one is removed if it is optional, else rejected. */
export interface UpdateMeRequest {
  /** The new display name; empty removes it if it is optional. */
  displayName?: string;
  /** The new phone number, in any notation of the configured region; empty removes it if it is optional. */
  phoneNumber?: string;
  /** The new username; empty removes it if it is optional. */
  username?: string;
  /** The new picture: an https URL of at most 512 bytes; empty removes the one there is. Images are uploaded by `PUT /me/avatar`. */
  avatarUrl?: string;
  /**
   * The revision to change. If the profile has another revision by now, and doesn't have the wanted values already: ABORTED with
   * REVISION_MISMATCH, and the profile's revision in the metadata `revision` of ErrorInfo.
   */
  expectedRevision?: number;
}
/** A phone number assertion of the app's own backend. */
export interface ProvePhoneRequest {
  /**
   * A JWT, signed by the app's backend: `iss` and `aud` as configured, `sub` the user's id, `phone_number` in E.164 with the leading
   * plus, `jti` used once, `iat` and `exp` at most five minutes apart.
   */
  assertion: string;
}
/** The number is the user's, or will be. */
export interface ProvePhoneResponse {
  /** The whole profile; absent while the profile service hasn't stored the number. */
  profile?: Profile;
  /** Whether the assertion was accepted and the number will be the user's in a moment. */
  isPending: boolean;
}
/** The changed profile. */
export interface UpdateMeResponse {
  /** The whole profile after the change. */
  profile: Profile;
}
/** The username to check. The user's own counts as free. */
export interface CheckUsernameRequest {
  /** The username; INVALID_ARGUMENT with the reason that UpdateMe gives if it isn't valid. */
  username: string;
}
/** Whether it is free. */
export interface CheckUsernameResponse {
  /** Whether no other user has it now. */
  isFree: boolean;
  /** Similar free usernames, at most 3; none if it is free itself. */
  suggestions: string[];
}
/** The account is deleted, or will be. */
export interface DeleteMeResponse {
  /**
   * Providers where the user must withdraw the consent themselves, for the app to say: "apple" or none. The server has no token of
   * these to revoke. An Apple user does it in the settings of their Apple Account; else Apple doesn't send name and e-mail again at
   * the next sign-in.
   */
  consentsLeft: string[];
  /** When the account will be deleted, if its deletion is scheduled; absent if it is deleted. */
  deletesAt?: string;
}
/** The guest account to merge or delete. */
export interface AbsorbGuestRequest {
  /** The refresh token of the guest's session, the last received. An access token is not enough: apps show it to other servers. */
  guestToken: string;
  /** What becomes of it. */
  guest: GuestOutcome;
}
/** The sign-in that a nonce is for. */
export interface CreateChallengeRequest {
  /** The configured provider's name: "apple", "google", …. NOT_FOUND with PROVIDER_UNKNOWN for any other. */
  provider: string;
  /** The audience of the ID token; may be empty if the provider has only one. */
  clientId?: string;
}
/** A nonce for one sign-in. */
export interface CreateChallengeResponse {
  /** The raw nonce, in base64url. */
  nonce: string;
  /** How long it is valid. */
  expiresInSeconds: number;
}
/** The user's sessions. */
export interface ListSessionsResponse {
  /** The sessions, the last used first. */
  sessions: Session[];
  /** Changes of the ways to sign in within the last thirty days, the newest first, at most 50, for the app to show. */
  recentChanges: AccountChange[];
  /** When the account will be deleted, if its deletion is scheduled, else absent. CancelDeletion cancels it until then. */
  deletesAt?: string;
}
/** A change of the ways to sign in to the user's account. */
export interface AccountChange {
  /**
   * The kind of change: `provider_linked`, `provider_unlinked`, `deletion_scheduled`, `deletion_cancelled`,
   * `recovery_codes_created`, `recovery_code_used`. More may be added: show
   * those that the app knows.
   */
  kind: string;
  /** The provider concerned; absent if none is. */
  provider?: string;
  /** When it happened. */
  occurredAt?: string;
  /** The id of the session that made the change, a UUID; absent if none did. The session may have ended. */
  sessionId?: string;
  /** The name of that session's device; absent if it has none, or the session is no longer known. Empty in WatchGroups. */
  deviceName?: string;
}
/** A session as the user sees it. */
export interface Session {
  /** The session's id, a UUID. */
  sessionId: string;
  /** The device's name by its app or the user; absent if it has none. */
  deviceName?: string;
  /** The name of the provider that the user signed in with. */
  provider: string;
  /** When it began. */
  createdAt?: string;
  /** When its tokens were last renewed. */
  lastUsedAt?: string;
  /** Whether it is the session of this call's access token. */
  isCurrent: boolean;
}
/** The new name of a session. */
export interface RenameSessionRequest {
  /** The session's id, a UUID. */
  sessionId: string;
  /** The user's name for the device: 2 to 50 characters as people count them. */
  deviceName: string;
}
/** The renamed session. */
export interface RenameSessionResponse {
  /** The session. */
  session: Session;
}
/** The session to end. */
export interface EndSessionRequest {
  /** The session's id, a UUID. */
  sessionId: string;
}
/** The providers of the user's account. */
export interface ListProvidersResponse {
  /** The providers, in the order in which they were linked. */
  providers: LinkedProvider[];
}
/** A provider by which the user can sign in. */
export interface LinkedProvider {
  /** The provider's name. */
  provider: string;
  /** The e-mail address that the provider sent last; absent if it sent none, or only a relay address. */
  email?: string;
  /** Whether the provider sends a relay address instead of the user's. */
  isPrivateEmail: boolean;
  /** When it was linked. */
  linkedAt?: string;
  /** When the user last signed in by it, or linked it. */
  lastSignInAt?: string;
  /** Whether the provider has disabled the user's account there: no sign-in by it until the provider enables it. */
  isDisabled: boolean;
}
/** The provider to unlink. */
export interface UnlinkProviderRequest {
  /** The provider's name. */
  provider: string;
}
/** A set of people. */
export interface Group {
  /** The group's id, a UUID. */
  groupId: string;
  /** 1 to 80 characters as people count them. */
  name: string;
  /** The user who owns it: its creator, or a later owner. */
  ownerUserId: string;
  /** When it was created, in whole milliseconds. */
  createdAt?: string;
  /** How people become members of it. */
  openness: GroupOpenness;
  /** The caller's role. */
  role: GroupRole;
}
/** A member or pending member of a group. */
export interface Member {
  /** The membership's id, a UUID; it stays when a pending member becomes a member. */
  memberId: string;
  /** The group's id, a UUID. */
  groupId: string;
  /** Whether the person is in the group yet. */
  state: MemberState;
  /** The user; absent while pending. */
  userId?: string;
  /**
   * The phone number by which the person was added, E.164 with the leading plus. Absent for the creator. Shown only to the person, to
   * the member who added them, to admins and to the owner.
   */
  phoneNumber?: string;
  /**
   * In lists the person's own name, if they are in the group and have one. Else, and in other responses, the name that the inviter
   * gave; for the creator the name that they had when they created the group.
   */
  displayName?: string;
  /** When the person was added, in whole milliseconds. */
  addedAt?: string;
  /** The member's role; unspecified until the person is a member. */
  role?: GroupRole;
  /**
   * Whether it is in doubt that the user is the person meant: they no longer have the number by which they were added, and no member
   * has confirmed them since.
   */
  isUnconfirmed: boolean;
  /** In lists the member's username; absent if there is none. */
  username?: string;
  /** In lists the member's picture, as in Profile; absent if there is none. */
  avatarUrl?: string;
  /**
   * Whether the user is a member only by a phone number that isn't proven to be theirs, and no member has confirmed them. They can't add
   * or confirm anybody (MEMBER_UNCONFIRMED) until ConfirmMember confirms them or the number is proven. Always false for admins, the
   * owner, and members who joined by a link.
   */
  isUnproven: boolean;
}
/** The group to create. */
export interface CreateGroupRequest {
  /** 1 to 80 characters as people count them. */
  name: string;
  /**
   * A UUID that the app chose for this group; may be empty. Calls with the same key create one group, while the server remembers the
   * key (a day unless configured otherwise). IDEMPOTENCY_KEY_REUSED for a key that came with another name before.
   */
  idempotencyKey?: string;
  /** How people become members. */
  openness?: GroupOpenness;
}
/** The created group. */
export interface CreateGroupResponse {
  /** The group. */
  group: Group;
}
/** The page of the user's groups to list. */
export interface ListGroupsRequest {
  /** Entries per page, at most 100; 0 means 50. */
  pageSize?: number;
  /** `next_page_token` of the previous page; empty for the first page. */
  pageToken?: string;
}
/** A page of groups. */
export interface ListGroupsResponse {
  /** The groups, newest first. */
  groups: Group[];
  /** The token of the next page; absent on the last page. */
  nextPageToken?: string;
}
/** The person to add. */
export interface AddMemberRequest {
  /** The group's id, a UUID. */
  groupId: string;
  /** The person's phone number, in any notation of the configured region. */
  phoneNumber: string;
  /** The person's name as the user knows it; 1 to 50 characters as people count them. */
  displayName: string;
}
/** The added or existing member. */
export interface AddMemberResponse {
  /** The member. */
  member?: Member;
  /** Whether the member was in the group before. */
  existed: boolean;
}
/** A person to add. */
export interface NewMember {
  /** The person's phone number, in any notation of the configured region. */
  phoneNumber?: string;
  /** The person's name as the user knows it; 1 to 50 characters as people count them. */
  displayName?: string;
}
/** The people to add. */
export interface AddMembersRequest {
  /** The group's id, a UUID. */
  groupId: string;
  /** 1 to 500 people. */
  members: NewMember[];
}
/** The result for each person, in the order of the request. */
export interface AddMembersResponse {
  /** One for each person. A number that occurs twice has the same member twice. */
  results: AddMembersResult[];
}
/** The result for a person to add. */
export interface AddMembersResult {
  /** The added or existing member. */
  member?: Member;
  /** Why the person wasn't added. */
  refusal?: AddMembersRefusal;
}
/** Why a person wasn't added. */
export interface AddMembersRefusal {
  /**
   * The reason that AddMember would give: PHONE_INVALID, DISPLAY_NAME_INVALID, GROUP_FULL, TOO_MANY_ATTEMPTS, TOO_MANY_PENDING,
   * MEMBER_GROUPS_FULL, ACCOUNT_HELD.
   */
  reason: string;
  /** A message for people. */
  message: string;
  /** The invalid field; absent if none is. */
  field?: string;
  /** After how many seconds another try may succeed; absent if none would. */
  retryAfterSeconds?: number;
}
/** The group to return. */
export interface GetGroupRequest {
  /** The group's id, a UUID. */
  groupId: string;
}
/** The group. */
export interface GetGroupResponse {
  /** The group. */
  group: Group;
}
/** The changes of a group. */
export interface UpdateGroupRequest {
  /** The group's id, a UUID. */
  groupId: string;
  /** The new name, 1 to 80 characters as people count them; if absent, the name stays. */
  name?: string;
  /** The new openness; if unspecified, it stays. */
  openness?: GroupOpenness;
}
/** The changed group. */
export interface UpdateGroupResponse {
  /** The group. */
  group: Group;
}
/** The group to delete. */
export interface DeleteGroupRequest {
  /** The group's id, a UUID. */
  groupId: string;
}
/** The member to remove. */
export interface RemoveMemberRequest {
  /** The group's id, a UUID. */
  groupId: string;
  /** The membership's id, a UUID. */
  memberId: string;
}
/** The group to leave. */
export interface LeaveGroupRequest {
  /** The group's id, a UUID. */
  groupId: string;
}
/** The member and their new role. */
export interface SetMemberRoleRequest {
  /** The group's id, a UUID. */
  groupId: string;
  /** The membership's id, a UUID. */
  memberId: string;
  /** Admin or member. */
  role: GroupRole;
}
/** The changed member. */
export interface SetMemberRoleResponse {
  /** The member. */
  member: Member;
}
/** The group to hand over, and the new owner. */
export interface HandOverGroupRequest {
  /** The group's id, a UUID. */
  groupId: string;
  /** The membership's id of the new owner, a UUID. */
  memberId: string;
}
/** The group with its new owner. */
export interface HandOverGroupResponse {
  /** The group. */
  group: Group;
}
/** The page of a group's members to list. */
export interface ListMembersRequest {
  /** The group's id, a UUID. */
  groupId: string;
  /** Entries per page, at most 100; 0 means 50. */
  pageSize?: number;
  /** `next_page_token` of the previous page; empty for the first page. */
  pageToken?: string;
}
/** A page of members. */
export interface ListMembersResponse {
  /** The members, oldest first. */
  members: Member[];
  /** The token of the next page; absent on the last page. */
  nextPageToken?: string;
}
/** A group that waits for the user, or that the user has asked to join. */
export interface Invitation {
  /** The invitation's id, a UUID; it becomes the membership's. */
  memberId: string;
  /** The group's id, a UUID. */
  groupId: string;
  /** The group's name. */
  groupName: string;
  /** What it waits for. */
  state: InvitationState;
  /** The user who added the number; absent for a request to join, and if that account is closed. */
  addedByUserId?: string;
  /** Whether it is the user's own request to join. */
  isRequest: boolean;
  /** When it was created, in whole milliseconds. */
  since?: string;
  /** When it expires, in whole milliseconds; absent if never. */
  expiresAt?: string;
}
/** A person whom a group waits for, or a member in doubt. */
export interface PendingPerson {
  /** The membership's id, a UUID; for a person who isn't a member the id that the membership will have. */
  memberId: string;
  /** The group's id, a UUID. */
  groupId: string;
  /** What is undecided. */
  state: PendingState;
  /**
   * The user for ConfirmMember: the user who has the number, who asks to join, or who is in doubt. Absent if no user has the number, or
   * the caller may not know.
   */
  userId?: string;
  /**
   * The phone number by which the person was added, E.164 with the leading plus. Absent for a request by a link. Shown only to the
   * person, to the member who added them, to admins and to the owner.
   */
  phoneNumber?: string;
  /** The name that the inviter gave; absent if there is none. */
  displayName?: string;
  /** The user who added the number; absent for a request by a link, and if that account is closed. */
  addedByUserId?: string;
  /** When the waiting or the doubt began, in whole milliseconds. */
  since?: string;
  /** When the waiting ends, in whole milliseconds; absent if never. */
  expiresAt?: string;
  /** Whether the caller may call ConfirmMember for the person now. */
  mayConfirm: boolean;
}
/** A link by which people join a group. */
export interface GroupLink {
  /** The link's id, a UUID. */
  linkId: string;
  /** The group's id, a UUID. */
  groupId: string;
  /** The user who created it; absent if that account is closed. */
  createdByUserId?: string;
  /** When it was created, in whole milliseconds. */
  createdAt?: string;
  /** When it expires, in whole milliseconds. */
  expiresAt?: string;
  /** How many users may join by it; absent for any number. */
  usesMax?: number;
  /** How many have joined by it. */
  uses: number;
}
/** The page of the user's invitations to list. */
export interface ListMyInvitationsRequest {
  /** Entries per page, at most 100; 0 means 50. */
  pageSize?: number;
  /** `next_page_token` of the previous page; empty for the first page. */
  pageToken?: string;
}
/** A page of invitations. */
export interface ListMyInvitationsResponse {
  /** The invitations, newest first. */
  invitations: Invitation[];
  /** The token of the next page; absent on the last page. */
  nextPageToken?: string;
}
/** The invitation to accept. */
export interface AcceptInvitationRequest {
  /** The group's id, a UUID. */
  groupId: string;
  /** The invitation's id, a UUID; it becomes the membership's. */
  memberId: string;
}
/** The user is a member. */
export interface AcceptInvitationResponse {
  /** The user's membership; its id is a different one if the user was a member already. */
  member: Member;
}
/** The invitation to decline. */
export interface DeclineInvitationRequest {
  /** The group's id, a UUID. */
  groupId: string;
  /** The invitation's id, a UUID; it becomes the membership's. */
  memberId: string;
}
/** The person to confirm. */
export interface ConfirmMemberRequest {
  /** The group's id, a UUID. */
  groupId: string;
  /** The id from ListPending, a UUID. */
  memberId: string;
  /** The user shown to the caller, a UUID: if another user has the number by now, nobody is confirmed. */
  confirmedUserId: string;
}
/** The person is a member. */
export interface ConfirmMemberResponse {
  /** The membership; its id is a different one if the user was a member already, or the group also waits for another number of theirs. */
  member: Member;
}
/** The page of a group's pending people to list. */
export interface ListPendingRequest {
  /** The group's id, a UUID. */
  groupId: string;
  /** Entries per page, at most 100; 0 means 50. */
  pageSize?: number;
  /** `next_page_token` of the previous page; empty for the first page. */
  pageToken?: string;
}
/** A page of pending people. */
export interface ListPendingResponse {
  /** The people, oldest first. */
  people: PendingPerson[];
  /** The token of the next page; absent on the last page. */
  nextPageToken?: string;
}
/** The link to create. */
export interface CreateGroupLinkRequest {
  /** The group's id, a UUID. */
  groupId: string;
  /** How many seconds it is valid: 60 to 7,776,000 (90 days); 0 means 604,800 (7 days). */
  lifetimeSeconds?: number;
  /** How many users may join by it: 1 to 1,000; absent for any number. */
  usesMax?: number;
}
/** The link. */
export interface CreateGroupLinkResponse {
  /** The link. */
  link?: GroupLink;
  /** The secret by which people join: 43 characters of base64url. Apps put it into a link of their own. */
  token: string;
}
/** The group whose links to list. */
export interface ListGroupLinksRequest {
  /** The group's id, a UUID. */
  groupId: string;
}
/** The valid links. */
export interface ListGroupLinksResponse {
  /** The links, newest first; at most 100. */
  links: GroupLink[];
}
/** The link to revoke. */
export interface RevokeGroupLinkRequest {
  /** The group's id, a UUID. */
  groupId: string;
  /** The link's id, a UUID. */
  linkId: string;
}
/** The link to preview. */
export interface PreviewGroupLinkRequest {
  /** The link's token. */
  token: string;
}
/** The group of the link. */
export interface PreviewGroupLinkResponse {
  /** The group's id, a UUID. */
  groupId: string;
  /** The group's name. */
  groupName: string;
  /** How people become members: joining makes a member (open, consent) or a request to join (confirm). */
  openness: GroupOpenness;
  /** Whether the user is a member already. */
  isMember: boolean;
  /** When the link expires, in whole milliseconds. */
  expiresAt?: string;
}
/** The link to join by. */
export interface JoinByLinkRequest {
  /** The link's token. */
  token: string;
}
/** The user's membership or request. */
export interface JoinByLinkResponse {
  /** The group's id, a UUID. */
  groupId: string;
  /** The group's name. */
  groupName: string;
  /** The id of the membership or of the request, a UUID. */
  memberId: string;
  /** Member, or pending until a member confirms the request. */
  state: MemberState;
}
/** The user to block. */
export interface BlockInviterRequest {
  /** The user, a UUID. */
  inviterUserId: string;
}
/** The user to unblock. */
export interface UnblockInviterRequest {
  /** The user, a UUID. */
  inviterUserId: string;
}
/** The page of blocked users to list. */
export interface ListBlockedInvitersRequest {
  /** Entries per page, at most 100; 0 means 50. */
  pageSize?: number;
  /** `next_page_token` of the previous page; empty for the first page. */
  pageToken?: string;
}
/** A page of blocked users. */
export interface ListBlockedInvitersResponse {
  /** The users, ordered by id. */
  inviters: BlockedInviter[];
  /** The token of the next page; absent on the last page. */
  nextPageToken?: string;
}
/** A blocked user. */
export interface BlockedInviter {
  /** The user, a UUID. */
  userId: string;
  /** When they were blocked, in whole milliseconds. */
  blockedAt?: string;
}
/**
 * A message of the stream. The first one comes at once with the position where the stream begins: lists that the app requests after
 * it have all earlier changes.
 */
export interface WatchGroupsResponse {
  /** The position after these changes; opaque. */
  position: string;
  /** Whether earlier changes are unknown: the app requests all lists again. */
  isReset: boolean;
  /**
   * The changes since the previous message, in no particular order. Empty in the first message of a stream that missed nothing, and in
   * a heartbeat, which comes every twenty seconds.
   */
  changes: GroupChange[];
  /**
   * Changes of the ways to sign in, by another session of the user. A hint: changes from before the stream began, or while a service
   * restarts, are missing. AuthService/ListSessions has all of the last thirty days.
   */
  accountChanges: AccountChange[];
}
/** A change. The app requests the new state. */
export interface GroupChange {
  /** The kind of change. */
  kind: GroupChangeKind;
  /** The group's id, a UUID; empty for an invitation. */
  groupId: string;
  /** The membership's id, a UUID, if a membership has changed. */
  memberId: string;
}
/** The public keys that verify the server's tokens. */
export interface GetKeySetResponse {
  /** A JSON Web Key Set (RFC 7517 section 5). */
  jwksJson: string;
  /** For how long it may be cached. */
  maxAgeSeconds: number;
}

/** The methods of the services. */
export interface Methods {
  /** Returns the user's profile. A new user's is empty, with every required field missing. */
  getMe(request?: {}, options?: CallOptions): Promise<Profile>;
  /**
   * Changes the fields of the user's profile that are present, all or none, and returns the whole profile.
   *
   * The error USERNAME_TAKEN has free usernames in the metadata `suggestions` of its ErrorInfo, separated by commas.
   */
  updateMe(request?: UpdateMeRequest, options?: CallOptions): Promise<Profile>;
  /** Returns whether a username is free for the user now, and suggests others if it is taken. */
  checkUsername(request: CheckUsernameRequest, options?: CallOptions): Promise<CheckUsernameResponse>;
  /**
   * Proves that a phone number is the user's, by a signed assertion of the app's own backend (configured). The number is then the
   * user's, even if another user had it without proof. ALREADY_EXISTS with PHONE_TAKEN if another user has proven it; an operator
   * settles that. UNAUTHENTICATED with ACCOUNT_OPENED if the number belongs to an imported account, which has absorbed the user's:
   * sign in again. NOT_FOUND if no backend is configured.
   */
  provePhone(request: ProvePhoneRequest, options?: CallOptions): Promise<ProvePhoneResponse>;
  /** Cancels the scheduled deletion of the user's account. Succeeds if none is scheduled. */
  cancelDeletion(request?: {}, options?: CallOptions): Promise<{}>;
  /**
   * Creates a nonce for a sign-in, valid for some minutes. The app passes it to the provider, and then unchanged to
   * SignInWithProvider. Apple gets its SHA-256 in lowercase hexadecimal, Google the nonce itself, unless the audience is configured
   * otherwise. An app may be configured to accept only nonces from here. Needs no access token.
   */
  createChallenge(request: CreateChallengeRequest, options?: CallOptions): Promise<CreateChallengeResponse>;
  /** Lists the user's live sessions, the last used first, at most 200, and recent changes of the ways to sign in. */
  listSessions(request?: {}, options?: CallOptions): Promise<ListSessionsResponse>;
  /** Renames one of the user's live sessions. NOT_FOUND with SESSION_NOT_FOUND for any other session. */
  renameSession(request: RenameSessionRequest, options?: CallOptions): Promise<Session>;
  /**
   * Ends one of the user's sessions; succeeds if it has ended. NOT_FOUND with SESSION_NOT_FOUND for an unknown session or another
   * user's.
   */
  endSession(request: EndSessionRequest, options?: CallOptions): Promise<{}>;
  /** Lists the providers by which the user can sign in, in the order in which they were linked. */
  listProviders(request?: {}, options?: CallOptions): Promise<ListProvidersResponse>;
  /**
   * Unlinks a provider from the user's account. Its sessions end, including that of the access token. FAILED_PRECONDITION with
   * LAST_PROVIDER for the only provider that can sign in. Succeeds if the provider isn't linked.
   *
   * Needs a recent, proven sign-in as LinkProvider does. PERMISSION_DENIED with PROVIDER_LINKED_TOO_RECENTLY if a provider that was
   * linked less than a day ago would replace an older one; RetryInfo says when it will be possible.
   */
  unlinkProvider(request: UnlinkProviderRequest, options?: CallOptions): Promise<{}>;
  /**
   * Creates a group with the user, under their display name, as the first member. With an idempotency key the call may be
   * repeated after any failure, and creates one group. Without one, a call that failed with OUTCOME_UNKNOWN may have created a group.
   * NOT_A_MEMBER for a key whose group is deleted, or whose group the user has left.
   */
  createGroup(request: CreateGroupRequest, options?: CallOptions): Promise<Group>;
  /** Lists the groups that the user is a member of, newest first. */
  listGroups(request?: ListGroupsRequest, options?: CallOptions): Promise<ListGroupsResponse>;
  /**
   * Adds a person by phone number: as a member if the group is open and a user has that number, else as pending. Adding the same
   * number again returns the existing member. MEMBER_UNCONFIRMED for a caller who is a member only by an unproven number.
   * GUEST_NOT_ALLOWED for a guest: each addition says whether a user has the number.
   */
  addMember(request: AddMemberRequest, options?: CallOptions): Promise<AddMemberResponse>;
  /** Lists the members and pending members of a group, oldest first. For members only. */
  listMembers(request: ListMembersRequest, options?: CallOptions): Promise<ListMembersResponse>;
  /**
   * Adds up to 500 people by phone number, each as AddMember does, and returns the result of each. A rejected person doesn't affect
   * the others.
   */
  addMembers(request: AddMembersRequest, options?: CallOptions): Promise<AddMembersResponse>;
  /** Returns a group. For members only. */
  getGroup(request: GetGroupRequest, options?: CallOptions): Promise<Group>;
  /**
   * Changes the fields of a group that are present. Admins and the owner may rename it; only the owner may change its openness
   * (ROLE_INSUFFICIENT). TOO_MANY_ATTEMPTS for more changes than a user may make within a day.
   */
  updateGroup(request: UpdateGroupRequest, options?: CallOptions): Promise<Group>;
  /**
   * Deletes a group with all its members and pending members. For the owner only (ROLE_INSUFFICIENT). A repeated call gets
   * NOT_A_MEMBER, since nobody is a member any more.
   */
  deleteGroup(request: DeleteGroupRequest, options?: CallOptions): Promise<{}>;
  /**
   * Removes a member or a pending member. The owner may remove anybody else, an admin any plain member, and a member the pending
   * members that they added (ROLE_INSUFFICIENT). Succeeds if there is no such member. Links of the removed member end.
   */
  removeMember(request: RemoveMemberRequest, options?: CallOptions): Promise<{}>;
  /**
   * Leaves a group. An owner who created it must hand it over first (OWNER_MUST_HAND_OVER), unless nobody else is a member: then the
   * group is deleted. After an owner who got it from another owner it goes to an admin, else to the member who joined first. Succeeds
   * if the user isn't in the group.
   */
  leaveGroup(request: LeaveGroupRequest, options?: CallOptions): Promise<{}>;
  /**
   * Makes a member an admin, or an admin a plain member. For the owner only (ROLE_INSUFFICIENT), whose own role changes by
   * HandOverGroup. MEMBER_NOT_FOUND for a person who isn't a member. A change of role counts as a change by UpdateGroup does.
   */
  setMemberRole(request: SetMemberRoleRequest, options?: CallOptions): Promise<Member>;
  /**
   * Makes another member the owner; the old owner stays as an admin. For the owner only (ROLE_INSUFFICIENT). MEMBER_NOT_FOUND for a
   * person who isn't a member, MEMBER_NOT_CONFIRMED for a member by the number alone who is no admin. Naming the present owner changes
   * nothing; a new owner counts as a change by UpdateGroup does.
   *
   * Needs a recent, proven sign-in as LinkProvider does.
   */
  handOverGroup(request: HandOverGroupRequest, options?: CallOptions): Promise<Group>;
  /**
   * Lists the user's invitations and own requests to join, newest first. An invitation is a group that waits for a number of the
   * user and in which people accept or are confirmed, unless the user declined it or blocks the member who added the number. It has
   * the group's name, and nothing about its members.
   */
  listMyInvitations(request?: ListMyInvitationsRequest, options?: CallOptions): Promise<ListMyInvitationsResponse>;
  /**
   * Accepts an invitation: the user becomes a member, or stays one. CONFIRMATION_NEEDED if the group confirms people instead;
   * INVITATION_NOT_FOUND if the user has no invitation with this id.
   */
  acceptInvitation(request: AcceptInvitationRequest, options?: CallOptions): Promise<Member>;
  /**
   * Declines an invitation, or withdraws a request to join. The group keeps waiting for the number and doesn't learn that a user has
   * it; the user doesn't see the invitation again. INVITATION_NOT_FOUND if the user has no invitation with this id.
   */
  declineInvitation(request: DeclineInvitationRequest, options?: CallOptions): Promise<{}>;
  /**
   * Confirms that a user is the person meant. In a group that confirms people, a user who waits or asks to join becomes a member; a
   * member in doubt or with an unproven number stays one. MEMBER_UNCONFIRMED for a caller who is a member only by an unproven number.
   * PERSON_CHANGED if another user has the number by now than the one shown to the caller.
   */
  confirmMember(request: ConfirmMemberRequest, options?: CallOptions): Promise<Member>;
  /**
   * Lists the people whom a group waits for and the members in doubt, oldest first. For members only. The user who has a number is
   * shown only in groups that confirm people, and only to members who may confirm them.
   */
  listPending(request: ListPendingRequest, options?: CallOptions): Promise<ListPendingResponse>;
  /**
   * Creates a link by which people join without a number. For admins and the owner (ROLE_INSUFFICIENT). Each call creates one, and a
   * call that failed with OUTCOME_UNKNOWN may have created one. Only this response has its token.
   */
  createGroupLink(request: CreateGroupLinkRequest, options?: CallOptions): Promise<CreateGroupLinkResponse>;
  /** Lists a group's valid links, newest first. For admins and the owner (ROLE_INSUFFICIENT). */
  listGroupLinks(request: ListGroupLinksRequest, options?: CallOptions): Promise<ListGroupLinksResponse>;
  /** Revokes a link; members who joined by it stay. For admins and the owner (ROLE_INSUFFICIENT). Succeeds if it has ended. */
  revokeGroupLink(request: RevokeGroupLinkRequest, options?: CallOptions): Promise<{}>;
  /**
   * Returns the group of a link, before joining. LINK_INVALID for an unknown token, LINK_OVER for a link that has expired, was
   * revoked or is used up. The server counts wrong tokens, so this is no method for GET.
   */
  previewGroupLink(request: PreviewGroupLinkRequest, options?: CallOptions): Promise<PreviewGroupLinkResponse>;
  /**
   * Joins the group of a link: as a member, or with a request to join if the group confirms people. A user who is a member or has
   * asked already uses nothing up. A link works once for each user, and never for its creator: LINK_USED afterwards.
   */
  joinByLink(request: JoinByLinkRequest, options?: CallOptions): Promise<JoinByLinkResponse>;
  /**
   * Blocks a user from making the caller a member by number. What they add keeps waiting, as for a number that no user has, and they
   * see no difference. Memberships stay. TOO_MANY_BLOCKED for more than 1,000.
   */
  blockInviter(request: BlockInviterRequest, options?: CallOptions): Promise<{}>;
  /**
   * Unblocks a user: open groups that wait for the caller's number make the caller a member now. TOO_MANY_ATTEMPTS for more than
   * 1,000 within a day.
   */
  unblockInviter(request: UnblockInviterRequest, options?: CallOptions): Promise<{}>;
  /** Lists the users whom the caller blocks, ordered by id. */
  listBlockedInviters(request?: ListBlockedInvitersRequest, options?: CallOptions): Promise<ListBlockedInvitersResponse>;
  /** Returns the public keys that verify the server's tokens, as an RFC 7517 key set. Needs no access token. */
  getKeySet(request?: {}, options?: CallOptions): Promise<GetKeySetResponse>;
}
