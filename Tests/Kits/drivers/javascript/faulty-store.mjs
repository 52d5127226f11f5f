// A store whose owner dies at one of its operations.

const forever = () => new Promise(() => {});

/** What a client of a test has in the place of its store. */
export class FaultyStore {
  count = 0;
  isDead = false;
  #store;
  #faults;
  #onDeath;
  #running = new Set();
  #held = new Set();

  constructor(store, faults, onDeath) {
    this.#store = store;
    this.#faults = faults;
    this.#onDeath = onDeath;
  }

  read = (key) => this.#operate(() => this.#store.read(key));
  write = (key, text) => this.#operate(() => this.#store.write(key, text));
  remove = (key) => this.#operate(() => this.#store.remove(key));

  async withLock(key, body) {
    const held = await this.#operate(() => this.#take(key), true);
    try {
      return await body();
    } finally {
      // A dead client's lock is freed by `drop`.
      if (!this.isDead) await held.free();
    }
  }

  /** Takes the lock of the store, until what this gives is freed. */
  #take(key) {
    return new Promise((resolve, reject) => {
      const done = this.#store.withLock(key, () => new Promise((free) => {
        // Its process ended while it waited.
        if (this.isDead) return free();
        const held = { free: () => {
          this.#held.delete(held);
          free();
          return done;
        } };
        this.#held.add(held);
        resolve(held);
      }));
      done.catch(reject);
    });
  }

  async #operate(act, isLock = false) {
    if (this.isDead) return forever();
    this.count += 1;
    const isFaulty = this.count === this.#faults?.at;
    if (isFaulty && this.#faults.mode === "throw") throw new Error("a fault of the store");
    if (isFaulty && this.#faults.mode === "before") return this.#die();
    const running = act();
    if (!isLock) this.#running.add(running);
    let result;
    try {
      result = await running;
    } finally {
      this.#running.delete(running);
    }
    if (isFaulty) return this.#die();
    return this.isDead ? forever() : result;
  }

  #die() {
    this.isDead = true;
    this.#onDeath();
    return forever();
  }

  /** Ends the client as the end of its process would: what the system was doing is done, and its lock is free. */
  async drop() {
    this.isDead = true;
    await Promise.allSettled(this.#running);
    for (const held of this.#held) held.free();
  }
}
