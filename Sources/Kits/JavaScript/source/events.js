// The stream of a user's events, which connects again by itself.
import { complete } from "./calls.js";
import { REST_SECONDS_MAX, Wait, pauseAfter, reasonOf } from "./clock.js";
import { VestibuleError, connectError, signedOutError } from "./errors.js";
import { stream } from "./routes.js";

const METHOD = "GroupService/WatchGroups";
const RECONNECT_MILLISECONDS = 500;
const RECONNECT_MILLISECONDS_MAX = 30_000;
// A stream has a message every 20 seconds.
const SILENCE_MILLISECONDS_MAX = 60_000;
const HEAD_BYTES = 5;
const MESSAGE_BYTES_MAX = 4 << 20;
const END_FLAG = 2;
const COMPRESSED_FLAG = 1;

// Why a stream ends whose consumer stops.
const STOPPED = {};

const lost = (cause) => new VestibuleError("NETWORK", "The stream of events was lost.", { cause });

/** A message in an envelope of Connect. */
export function envelope(value) {
  const text = new TextEncoder().encode(JSON.stringify(value));
  const bytes = new Uint8Array(HEAD_BYTES + text.length);
  new DataView(bytes.buffer).setUint32(1, text.length);
  bytes.set(text, HEAD_BYTES);
  return bytes;
}

/** Takes envelopes out of bytes that come in pieces of any size. */
export class EnvelopeReader {
  #bytes = new Uint8Array(0);

  push(piece) {
    const bytes = new Uint8Array(this.#bytes.length + piece.length);
    bytes.set(this.#bytes);
    bytes.set(piece, this.#bytes.length);
    this.#bytes = bytes;
  }

  /** The next envelope, or undefined if it isn't complete. */
  next() {
    if (this.#bytes.length < HEAD_BYTES) return undefined;
    const flags = this.#bytes[0];
    const length = new DataView(this.#bytes.buffer, this.#bytes.byteOffset).getUint32(1);
    if (length > MESSAGE_BYTES_MAX || flags & COMPRESSED_FLAG) throw lost();
    if (this.#bytes.length < HEAD_BYTES + length) return undefined;
    const text = new TextDecoder().decode(this.#bytes.subarray(HEAD_BYTES, HEAD_BYTES + length));
    this.#bytes = this.#bytes.slice(HEAD_BYTES + length);
    try {
      return { isEnd: (flags & END_FLAG) !== 0, value: JSON.parse(text) };
    } catch (error) {
      throw lost(error);
    }
  }
}

const message = (value) => complete("WatchGroupsResponse", value);

/**
 * Messages until the consumer stops, the session ends, or another user signs in. Throws what can't pass by itself. An iterator and not a
 * generator, whose `return` would wait for the next message.
 */
export function watch(session, transport, clock, deadline, { signal, position } = {}) {
  const controller = new AbortController();
  const over = {
    signal: controller.signal,
    // Kept here, too: React Native's signals have none.
    abort(reason) {
      over.reason ??= reason;
      controller.abort(reason);
    },
  };
  const stream = read(session, transport, clock, deadline, position, over, signal);
  const stop = (value) => {
    over.abort(STOPPED);
    return stream.return(value);
  };
  return { next: () => stream.next(), return: stop, throw: stop, [Symbol.asyncIterator]() { return this; } };
}

async function* read(session, transport, clock, deadline, position = "", over, signal) {
  let isFirst = true;
  let failures = 0;
  let userId;
  // The token that the server refused last, so that a second refusal in a row pauses.
  let refused;
  const abort = () => over.abort(reasonOf(signal));
  const leave = (now) => userId !== undefined && now !== userId && over.abort(signedOutError());
  if (signal?.aborted) abort();
  signal?.addEventListener("abort", abort);
  session.watchers.add(leave);
  try {
    for (;;) {
      const connection = new AbortController();
      const close = () => connection.abort();
      over.signal.addEventListener("abort", close);
      const start = new Wait(clock, deadline, over.signal);
      let held;
      try {
        let response;
        try {
          held = await session.token(start, refused);
          if ((userId ??= held.userId) !== held.userId) throw signedOutError();
          refused = undefined;
          response = await start.for(stream(transport, METHOD, envelope({ position }), held.accessToken, connection.signal));
        } finally {
          start.close();
        }
        if (!response.body) throw new VestibuleError("UNIMPLEMENTED", "This platform's fetch has no streams; give the client another one.");
        for await (const value of messages(response.body.getReader(), clock, over.signal)) {
          failures = 0;
          const next = message(value);
          position = next.position || position;
          if (isFirst || next.isReset || next.changes.length + next.accountChanges.length > 0) {
            isFirst = false;
            yield next;
          }
        }
      } catch (error) {
        if (over.signal.aborted || !(error instanceof VestibuleError)) throw error;
        if (error.code === "TOO_SLOW") {
          yield message({ position, isReset: true });
        } else if (held && (error.status === 401 || error.action === "refresh")) {
          refused = held.accessToken;
          // At once; but a server that refuses each token is not asked without a pause.
          if (failures++ === 0) continue;
        } else if (!["retry", "wait"].includes(error.action)) {
          throw error;
        }
        const pause = new Wait(clock, Infinity, over.signal);
        try {
          const told = Math.min(error.retryAfter ?? 0, REST_SECONDS_MAX);
          await pause.pause(pauseAfter(++failures, told, RECONNECT_MILLISECONDS, RECONNECT_MILLISECONDS_MAX));
        } finally {
          pause.close();
        }
      } finally {
        over.signal.removeEventListener("abort", close);
        // Also if the consumer stops: the connection ends.
        connection.abort();
      }
    }
  } catch (error) {
    const reason = over.signal.aborted ? over.reason : error;
    if (reason !== STOPPED) throw reason;
  } finally {
    session.watchers.delete(leave);
    signal?.removeEventListener("abort", abort);
  }
}

/** The messages of one response. It ends by an error always, as a stream without an error ends in need of a new one. */
async function* messages(reader, clock, signal) {
  const envelopes = new EnvelopeReader();
  for (;;) {
    const { done, value } = await readInTime(reader, clock, signal);
    if (done) throw lost();
    envelopes.push(value);
    for (let found; (found = envelopes.next());) {
      if (!found.isEnd) {
        yield found.value;
        continue;
      }
      const { error } = found.value;
      throw connectError(error, error?.code === "unauthenticated" ? 401 : undefined) ?? lost();
    }
  }
}

async function readInTime(reader, clock, signal) {
  const wait = new Wait(clock, clock.silenceMilliseconds ?? SILENCE_MILLISECONDS_MAX, signal);
  try {
    return await wait.for(reader.read());
  } catch (error) {
    throw lost(error);
  } finally {
    wait.close();
  }
}
