import { isIP } from 'node:net';
import { Redis } from 'ioredis';
import type { SentinelOptions } from './redis-address.ts';

/** What a Sentinel publishes once it has another primary: `<master> <old host> <old port> <new host> <new port>`. */
const SWITCHED = '+switch-master';

/** Connections to primaries by one address, and to its Sentinels. */
interface Followed {
  clients: Set<Redis>;
  sentinels: Redis[];
}

const all = new Map<string, Followed>();

/**
 * Has a connection leave the old primary as soon as a Sentinel names a new one. An old one that lives (after `SENTINEL FAILOVER`, or a break of the network) takes writes
 * until the Sentinels make it a replica some ten seconds later, and then drops them.
 */
export function followSwitches(client: Redis, url: string, options: SentinelOptions, reconnectDelay: (times: number) => number): void {
  const followed = all.get(url) ?? { clients: new Set(), sentinels: watchSentinels(url, options, reconnectDelay) };
  all.set(url, followed);
  followed.clients.add(client);
  client.on('end', () => {
    followed.clients.delete(client);
    if (followed.clients.size > 0 || all.get(url) !== followed) return;
    all.delete(url);
    for (const sentinel of followed.sentinels) sentinel.disconnect();
  });
}

function watchSentinels(url: string, options: SentinelOptions, reconnectDelay: (times: number) => number): Redis[] {
  const { sentinels, name, sentinelUsername, sentinelPassword, sentinelTLS } = options;
  return sentinels.map((address) => {
    const sentinel = new Redis({
      ...address,
      ...(sentinelUsername === undefined ? {} : { username: sentinelUsername }),
      ...(sentinelPassword === undefined ? {} : { password: sentinelPassword }),
      ...(sentinelTLS === undefined ? {} : { tls: sentinelTLS }),
      replyMapping: 'legacy',
      connectionName: 'muster:sentinel',
      enableReadyCheck: false,
      maxRetriesPerRequest: null,
      retryStrategy: reconnectDelay,
    });
    // One that is away is reconnected to; the others say the same.
    sentinel.on('error', () => undefined);
    sentinel.on('message', (_, text: string) => {
      const [master, host = '', port] = text.split(' ');
      if (master === name) leave(all.get(url)?.clients ?? [], host, Number(port));
    });
    sentinel.subscribe(SWITCHED).catch(() => undefined);
    return sentinel;
  });
}

/** Each Sentinel says so when it knows: a connection that another one still led to the old primary leaves it then. */
function leave(clients: Iterable<Redis>, host: string, port: number): void {
  for (const client of clients) {
    const stream: Redis['stream'] | undefined = client.stream;
    if (!stream || !('remotePort' in stream) || stream.remotePort !== port) continue;
    // A name may be that of any address.
    if (isIP(host) === 0 || stream.remoteAddress?.replace('::ffff:', '') === host) client.disconnect(true);
  }
}
