import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// The demo client's redirect URI is http://127.0.0.1/callback, at any port.
export default defineConfig({ plugins: [react()], server: { host: "127.0.0.1" } });
