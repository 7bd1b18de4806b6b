import type { Server } from 'node:http';
import { LATE, within } from '../time/index.ts';

/** Between two looks for connections that have become idle; the server itself looks only once. */
const IDLE_LOOK_MS = 50;

/** Stops taking connections, lets running requests end, and cuts what is left after `graceMs`. Never rejects. */
export async function closeServer(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  const look = setInterval(() => server.closeIdleConnections(), IDLE_LOOK_MS);
  try {
    if ((await within(closed, graceMs)) === LATE) {
      server.closeAllConnections();
      await closed;
    }
  } finally {
    clearInterval(look);
  }
}
