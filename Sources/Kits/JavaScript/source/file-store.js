// A store in files, for Node and Bun. Not in the module for browsers, whose bundlers look for what is imported.
import { createHash, randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { link, mkdir, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join, resolve } from "node:path";

const POLL_MILLISECONDS = 10;
// Of macOS and BSD: `open` locks the file. The constant is in none of Node's tables.
const O_EXLOCK = 0x20;
const LOCKING = /^(darwin|freebsd|openbsd|netbsd)$/;

const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** A random text of the folder, which the first process there makes. */
async function secretOf(root) {
  const path = join(root, "lock.secret");
  for (;;) {
    try {
      const text = await readFile(path, "utf8");
      return text;
    } catch (error) {
      if (error.code !== "ENOENT") throw error;
    }
    // Whole at once, and never a second one: a link is made only where there is no file.
    const temporary = join(root, `${randomUUID()}.secret`);
    await writeFile(temporary, randomUUID(), { mode: 0o600 });
    try {
      await link(temporary, path);
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    } finally {
      await rm(temporary);
    }
  }
}

/** Takes the lock if it is free; what it returns frees it. The system frees it when the process ends, however it ends. */
async function tryLock(name, path) {
  if (process.platform === "linux" || process.platform === "win32") {
    const server = createServer((socket) => socket.destroy());
    const address = process.platform === "linux" ? `\0vestibule-${name}` : `\\\\.\\pipe\\vestibule-${name}`;
    const isMine = await new Promise((resolve, reject) => {
      server.once("error", (error) => (error.code === "EADDRINUSE" ? resolve(false) : reject(error)));
      // Not the one of a cluster's primary process, which all its workers would have.
      server.listen({ path: address, exclusive: true }, () => resolve(true));
    });
    if (!isMine) return undefined;
    server.unref();
    return () => new Promise((resolve) => server.close(resolve));
  }
  // Elsewhere the flag means something else.
  if (!LOCKING.test(process.platform)) throw new Error(`fileStore has no lock on ${process.platform}`);
  try {
    const file = await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_NONBLOCK | O_EXLOCK, 0o600);
    return () => file.close();
  } catch (error) {
    if (error.code === "EAGAIN" || error.code === "EWOULDBLOCK") return undefined;
    throw error;
  }
}

/**
 * A store in a folder, which processes of one machine and of one user may share. A record is replaced as a whole and flushed.
 *
 * The lock is what the system frees by itself: on Linux a socket of the abstract namespace, on Windows a named pipe, on macOS a locked
 * file. Its name has a secret of the folder in it, so that no other user can take it. Sockets are of a network namespace: containers
 * that share a folder share the lock only if they share the network, too.
 */
export function fileStore(folder) {
  const root = resolve(folder);
  const nameOf = (key) => createHash("sha256").update(key).digest("hex").slice(0, 32);
  // The second line of a key, if there is one, is the kind of the value.
  const pathOf = (key) => {
    const [name, kind = "json"] = key.split("\n");
    return join(root, `${nameOf(name)}.${kind}`);
  };

  const flushFolder = async () => {
    // Windows has no folders that can be opened, and flushes them itself.
    if (process.platform === "win32") return;
    const handle = await open(root, "r");
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  };

  return {
    async read(key) {
      try {
        return await readFile(pathOf(key), "utf8");
      } catch (error) {
        if (error.code === "ENOENT") return null;
        throw error;
      }
    },

    async write(key, text) {
      await mkdir(root, { recursive: true, mode: 0o700 });
      // One name is enough, as the caller holds the lock. What a killed process left is overwritten.
      const temporary = `${pathOf(key)}.new`;
      const handle = await open(temporary, "w", 0o600);
      try {
        await handle.writeFile(text);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(temporary, pathOf(key));
      await flushFolder();
    },

    async remove(key) {
      await rm(pathOf(key), { force: true });
    },

    async withLock(key, body, signal) {
      await mkdir(root, { recursive: true, mode: 0o700 });
      const name = nameOf(`${await secretOf(root)}\n${key}`);
      let free;
      while (!(free = await tryLock(name, join(root, `${nameOf(key)}.lock`)))) {
        await sleep(POLL_MILLISECONDS * (0.5 + Math.random()));
        signal?.throwIfAborted();
      }
      try {
        return await body();
      } finally {
        await free();
      }
    },
  };
}
