// Time: clocks, pauses, and how long a caller waits.
import { VestibuleError } from "./errors.js";

/** The clocks and the pauses of the platform. Tests have others. */
export const systemClock = {
  wall: () => Date.now(),
  monotonic: () => performance.now(),
  delayFactor: 1,
};

/** Why a signal was aborted. Some platforms don't say. */
export const reasonOf = (signal) => signal.reason ?? Object.assign(new Error(), { name: "AbortError" });

// The most that `setTimeout` takes: with more it calls back at once.
const TIMER_MILLISECONDS_MAX = 2 ** 31 - 1;

export const TRIES_MAX = 3;
/** The longest pause before a request that no caller waits for. */
export const REST_SECONDS_MAX = 60;
const PAUSE_MILLISECONDS = 200;
const PAUSE_MILLISECONDS_MAX = 5000;

/** The pause after a try: full jitter below a bound that doubles, or as long as the server says. */
export function pauseAfter(tries, retryAfter, first = PAUSE_MILLISECONDS, most = PAUSE_MILLISECONDS_MAX) {
  const pause = Math.random() * Math.min(most, first * 2 ** (tries - 1));
  return Math.max(pause, (retryAfter ?? 0) * 1000);
}

/** Does it, and again after failures that may pass: a few times, and no more after so many milliseconds. */
export async function trying(wait, act, most = Infinity) {
  const last = wait.clock.monotonic() + most;
  for (let tries = 1; ; tries++) {
    try {
      return await act();
    } catch (error) {
      const isPassing = ["NETWORK", "BAD_RESPONSE", "UNAVAILABLE"].includes(error.code) || error.status === 429 || error.status >= 500;
      if (!isPassing || tries === TRIES_MAX || wait.clock.monotonic() > last) throw error;
      if (!(await wait.pause(pauseAfter(tries, error.retryAfter)))) throw error;
    }
  }
}

/** How long one caller waits: until the deadline, or until its signal. */
export class Wait {
  #timer;
  #listener;
  #over;
  #signal;

  constructor(clock, milliseconds, signal) {
    this.clock = clock;
    this.end = clock.monotonic() + milliseconds;
    this.#signal = signal;
    const controller = new AbortController();
    /** Aborted at the end, for requests of this caller alone. */
    this.signal = controller.signal;
    this.#over = new Promise((_, reject) => {
      const end = (reason) => {
        controller.abort(reason);
        reject(reason);
      };
      this.#listener = () => end(reasonOf(signal));
      if (milliseconds <= TIMER_MILLISECONDS_MAX) {
        this.#timer = setTimeout(() => end(new VestibuleError("TIMEOUT")), milliseconds);
      }
      if (signal?.aborted) this.#listener();
      else signal?.addEventListener("abort", this.#listener);
    });
    this.#over.catch(() => {});
  }

  /** What the promise gives, if it does in time. */
  for(promise) {
    return Promise.race([this.#over, promise]);
  }

  /** Milliseconds until the deadline. */
  get left() {
    return this.end - this.clock.monotonic();
  }

  /** Pauses; false at once if the pause would pass the deadline. */
  async pause(milliseconds) {
    const scaled = milliseconds * this.clock.delayFactor;
    if (scaled >= this.left) return false;
    let timer;
    try {
      await this.for(new Promise((resolve) => (timer = setTimeout(resolve, scaled))));
      return true;
    } finally {
      clearTimeout(timer);
    }
  }

  close() {
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener("abort", this.#listener);
  }
}
