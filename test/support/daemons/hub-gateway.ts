import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** The one address of several hubs, as an ingress gives it to daemons. */
export interface HubGateway {
  readonly url: string;
  /** New connections go to these, in turn. None: nobody answers. */
  lead(hubs: readonly { url: string }[]): void;
  /** Every connection ends without a word, as when the network changes. Returns how many. */
  cutAll(): number;
  /** Ends one of the open connections, which `choose` picks by their number. */
  cutOne(choose: (count: number) => number): void;
  close(): Promise<void>;
}

export async function startHubGateway(): Promise<HubGateway> {
  const open = new Set<Socket>();
  let ports: number[] = [];
  let next = 0;
  const server = createServer((client) => {
    const port = ports[(next += 1) % ports.length];
    client.on('error', () => undefined);
    if (port === undefined) return void client.destroy();
    open.add(client);
    const upstream = connect(port, '127.0.0.1');
    upstream.on('error', () => client.destroy());
    upstream.on('close', () => client.destroy());
    client.on('close', () => {
      open.delete(client);
      upstream.destroy();
    });
    client.pipe(upstream).pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cutAll = (): number => {
    const count = open.size;
    for (const socket of open) socket.destroy();
    return count;
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lead: (hubs) => void (ports = hubs.map(({ url }) => Number(new URL(url).port))),
    cutAll,
    cutOne: (choose) => void [...open][choose(open.size)]?.destroy(),
    close: async () => {
      cutAll();
      server.close();
      await once(server, 'close');
    },
  };
}
