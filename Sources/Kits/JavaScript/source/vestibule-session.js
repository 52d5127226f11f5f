export { SessionClient as Vestibule } from "./session-client.js";
export { VestibuleError } from "./errors.js";
export { createNonce } from "./sign-in.js";
export { browserStore } from "./browser-store.js";
export { memoryStore } from "./memory-store.js";
