/** Runs one after another; the queue goes on after a failure. */
export function newQueue() {
  let last = Promise.resolve();
  return (body) => {
    const result = last.then(body);
    last = result.catch(() => {});
    return result;
  };
}

/** A store for as long as the program runs: tests, and servers that keep sessions elsewhere. */
export function memoryStore() {
  const values = new Map();
  const run = newQueue();
  return {
    read: async (key) => values.get(key),
    write: async (key, text) => values.set(key, text),
    remove: async (key) => values.delete(key),
    withLock: (key, body) => run(body),
  };
}
