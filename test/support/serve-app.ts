import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Express } from 'express';

export interface ServedApp {
  readonly url: string;
  close(): Promise<void>;
}

/** An Express app on a free port of this machine, without what the fleet's own server puts before it. */
export async function serveApp(app: Express): Promise<ServedApp> {
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
