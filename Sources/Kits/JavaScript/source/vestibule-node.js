export { fileStore } from "./file-store.js";
