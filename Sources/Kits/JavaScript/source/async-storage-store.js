import { newQueue } from "./memory-store.js";

/** A store on React Native's AsyncStorage, or on anything with its three methods, such as an encrypted one. */
export function asyncStorageStore(storage) {
  // An app is one process, in which every call and every copy of this module has one queue for a storage.
  const queues = (globalThis[Symbol.for("vestibule")] ??= new WeakMap());
  if (!queues.has(storage)) queues.set(storage, newQueue());
  return {
    read: (key) => storage.getItem(key),
    write: (key, text) => storage.setItem(key, text),
    remove: (key) => storage.removeItem(key),
    withLock: (key, body) => queues.get(storage)(body),
  };
}
