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

export { SessionClient as Vestibule };
