import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A wire between a service and Redis that can be cut without either side being told. */
export interface FleetProxy {
  /** What the service takes as `REDIS_URL`. */
  readonly url: string;
  /** From here on nothing gets through, either way. Connections stay open. */
  cut(): void;
  /** Lets the first command that contains this text through and from then on no answers: what it did is done, and nobody is told. */
  loseAnswerTo(text: string): void;
  /** Both sides lose their connections, with what is on the wire. */
  reset(): void;
  /** Everything gets through again, what was held back first. */
  mend(): void;
  close(): Promise<void>;
}

/** Starts a proxy on a free port in front of the Redis at this port. */
export async function startFleetProxy(port: number): Promise<FleetProxy> {
  const links = new Set<{ client: Socket; upstream: Socket }>();
  let isCut: 'both' | 'answers' | null = null;
  let fatalText: string | null = null;
  const apply = ({ client, upstream }: { client: Socket; upstream: Socket }): void => {
    if (isCut === 'both') client.pause();
    else client.resume();
    if (isCut === null) upstream.resume();
    else upstream.pause();
  };
  const set = (next: typeof isCut): void => {
    isCut = next;
    fatalText = null;
    for (const link of links) apply(link);
  };
  const server = createServer({ pauseOnConnect: true }, (client) => {
    const upstream = connect(port, '127.0.0.1');
    const link = { client, upstream };
    links.add(link);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.setNoDelay(true);
      from.on('data', (chunk) => {
        // Before the server has it, so that its answer finds the wire cut.
        if (from === client && fatalText !== null && chunk.includes(fatalText)) set('answers');
        to.write(chunk);
      });
      from.on('error', () => undefined);
      from.on('close', () => {
        // A cut wire does not carry the end either; it shows when the wire is mended.
        if (isCut === null || from === client) to.destroy();
        links.delete(link);
      });
    }
    apply(link);
  });
  const reset = (): void => {
    for (const { client, upstream } of links) {
      client.destroy();
      upstream.destroy();
    }
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut: () => set('both'),
    loseAnswerTo: (text) => {
      fatalText = text;
    },
    reset,
    mend: () => set(null),
    close: async () => {
      set(null);
      reset();
      server.close();
      await once(server, 'close');
    },
  };
}
