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
