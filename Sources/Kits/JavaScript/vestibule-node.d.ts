import type { Store } from "./vestibule.js";

/**
 * A store in a folder, for Node and Bun, which processes of one machine may share. Containers that share a folder, but not the network
 * namespace, don't share its lock.
 */
export declare function fileStore(folder: string): Store;
