const DATABASE = "vestibule";
const TABLE = "records";

/** A store that all tabs of an origin share: IndexedDB, Web Locks, and a channel that carries what was written. */
export function browserStore() {
  if (!globalThis.navigator?.locks || !globalThis.indexedDB) {
    throw new Error("no IndexedDB or Web Locks: give a store");
  }
  let opening;
  const listeners = new Set();
  let channel;

  const database = () => (opening ??= (async () => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(TABLE);
    await new Promise((resolve, reject) => {
      request.onsuccess = resolve;
      request.onerror = () => reject(request.error);
    });
    const opened = request.result;
    // The browser may close it, and another tab may want to delete it.
    opened.onclose = opened.onversionchange = () => {
      opened.close();
      opening = undefined;
    };
    return opened;
  })());

  const transact = async (mode, act) => {
    try {
      const transaction = (await database()).transaction(TABLE, mode, { durability: "strict" });
      const done = new Promise((resolve, reject) => {
        transaction.oncomplete = resolve;
        // Not `onerror`: the error is there afterwards.
        transaction.onabort = () => reject(transaction.error);
      });
      const request = act(transaction.objectStore(TABLE));
      await done;
      return request.result;
    } catch (error) {
      // The browser may have lost the database without a word. The next operation opens it again.
      opening = undefined;
      throw error;
    }
  };

  const change = async (key, text, act) => {
    await transact("readwrite", act);
    open().postMessage({ key, text });
  };

  const tell = ({ key, text }) => listeners.forEach((listener) => listener(key, text));

  const open = () => {
    if (!channel) {
      channel = new BroadcastChannel(DATABASE);
      channel.onmessage = ({ data }) => tell(data);
      // Out of the cache of pages, which hear nothing in it.
      addEventListener("pageshow", ({ persisted }) => persisted && tell({}));
    }
    return channel;
  };

  return {
    read: async (key) => (await transact("readonly", (table) => table.get(key))) ?? null,
    write: (key, text) => change(key, text, (table) => table.put(text, key)),
    remove: (key) => change(key, null, (table) => table.delete(key)),
    withLock: (key, body, signal) => navigator.locks.request(`${DATABASE} ${key}`, { signal }, body),
    interrupt: (key) => open().postMessage({ key }),
    onChange(listener) {
      open();
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
