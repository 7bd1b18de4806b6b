import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A connection between a service and Redis that can be cut without notice to either side. */
export interface RedisProxy {
  /** What the service takes as `REDIS_URL`. */
  readonly url: string;
  /** Forwards nothing from now on, in both directions. Connections stay open. */
  cut(): void;
  /** Forwards the first command that this is true of, and no answers from then on: Redis applies it, and nobody learns that. */
  loseAnswerTo(isFatal: (sent: string) => boolean): void;
  /** Both sides lose their connections, with what is on the wire. */
  reset(): void;
  /** Holds the second INFO of each connection, and the data after it, for so long; once per connection. */
  holdSecondInfo(ms: number): void;
  /** Forwards everything again, the held back data first. */
  repair(): void;
  close(): Promise<void>;
}

interface Link {
  client: Socket;
  upstream: Socket;
  /** INFO commands that came from the service. */
  infos: number;
  isHeld: boolean;
}

/** Counts those of the chunk, too. */
function isSecondInfo(link: Link, chunk: Buffer): boolean {
  const before = link.infos;
  link.infos += chunk.toString('latin1').match(/\$4\r\ninfo\r\n/gi)?.length ?? 0;
  return before < 2 && link.infos >= 2;
}

/** Starts a proxy on a free port in front of the Redis at this port. */
export async function startRedisProxy(port: number): Promise<RedisProxy> {
  const links = new Set<Link>();
  let isCut: 'both' | 'answers' | null = null;
  let isFatal: ((sent: string) => boolean) | null = null;
  let holdInfoMs = 0;
  const apply = ({ client, upstream, isHeld }: Link): void => {
    if (isCut === 'both' || isHeld) client.pause();
    else client.resume();
    if (isCut === null) upstream.resume();
    else upstream.pause();
  };
  const set = (next: typeof isCut): void => {
    isCut = next;
    isFatal = null;
    for (const link of links) apply(link);
  };
  const hold = (link: Link, chunk: Buffer): void => {
    link.isHeld = true;
    apply(link);
    setTimeout(() => {
      link.isHeld = false;
      link.upstream.write(chunk);
      apply(link);
    }, holdInfoMs).unref();
  };
  const server = createServer({ pauseOnConnect: true }, (client) => {
    const upstream = connect(port, '127.0.0.1');
    const link: Link = { client, upstream, infos: 0, isHeld: false };
    links.add(link);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.setNoDelay(true);
      from.on('data', (chunk) => {
        // Before the server has it, so that its answer finds the wire cut.
        if (from === client && isFatal?.(chunk.toString('latin1'))) set('answers');
        if (from === client && isSecondInfo(link, chunk) && holdInfoMs > 0) hold(link, chunk);
        else to.write(chunk);
      });
      from.on('error', () => undefined);
      from.on('close', () => {
        // A cut connection does not forward its end, which follows after the repair.
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
    loseAnswerTo: (isLast) => {
      isFatal = isLast;
    },
    reset,
    holdSecondInfo: (ms) => {
      holdInfoMs = ms;
    },
    repair: () => set(null),
    close: async () => {
      set(null);
      reset();
      server.close();
      await once(server, 'close');
    },
  };
}
