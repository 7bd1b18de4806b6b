import { rm } from 'node:fs/promises';
import { createLog } from '#shared/log/create-log.ts';
import { connectRedis, type RedisClient } from '#shared/redis/connect-redis.ts';
import { waitFor } from '../wait-for.ts';
import type { RedisServer } from './start-redis.ts';

/** A way in which an operator, a disk or another client makes a Redis refuse, and its end. */
export interface RedisRefusal {
  begin(operator: Operator): Promise<unknown>;
  end(operator: Operator): Promise<unknown>;
}

/** A connection that no refusal reaches: of a user of its own, and opened before. */
export interface Operator {
  readonly client: RedisClient;
  /** Opens another one like it. */
  readonly open: () => RedisClient;
}

const log = createLog({ level: 'silent', service: 'test' });
const USER = { name: 'operator', password: 'a-password-of-tests' };

export async function openOperator({ url }: Pick<RedisServer, 'url'>): Promise<Operator> {
  const first = connectRedis({ url, name: 'test', log });
  await first.call('ACL', 'SETUSER', USER.name, 'on', `>${USER.password}`, '~*', '&*', '+@all');
  first.disconnect();
  // In another role, whose commands are not bounded.
  const open = (): RedisClient =>
    connectRedis({ url: url.replace('://', `://${USER.name}:${USER.password}@`), name: 'operator', log, role: 'blocking' });
  const client = open();
  await client.ping();
  return { client, open };
}

/** Sends commands one after the other. */
function commands(...lines: readonly string[]): RedisRefusal['begin'] {
  return async ({ client }) => {
    for (const line of lines) {
      const [name = '', ...words] = line.split(' ');
      await client.call(name, ...words.map((word) => (word === NOTHING ? '' : word)));
    }
  };
}

const NOTHING = '""';
/** Connections made before keep their rights; others meet the change. */
const DROP = 'CLIENT KILL SKIPME yes';
const BE_PRIMARY = 'REPLICAOF NO ONE';
/** Nobody listens there. */
const BE_REPLICA = 'REPLICAOF 127.0.0.1 1';

/** By the word that Muster names. */
export const REDIS_REFUSALS = {
  NOREPLICAS: { begin: commands('CONFIG SET min-replicas-to-write 1'), end: commands('CONFIG SET min-replicas-to-write 0') },
  OOM: { begin: commands('CONFIG SET maxmemory 1'), end: commands('CONFIG SET maxmemory 0') },
  READONLY: { begin: commands(BE_REPLICA), end: commands(BE_PRIMARY) },
  NOPERM: { begin: commands('ACL SETUSER default -@write'), end: commands('ACL SETUSER default +@all') },
  MISCONF: { begin: loseDisk, end: commands('CONFIG SET stop-writes-on-bgsave-error no') },
  MASTERDOWN: { begin: commands('CONFIG SET replica-serve-stale-data no', BE_REPLICA), end: commands(BE_PRIMARY) },
  NOAUTH: { begin: commands('CONFIG SET requirepass another', DROP), end: commands(`CONFIG SET requirepass ${NOTHING}`) },
  MAXCLIENTS: { begin: commands('CONFIG SET maxclients 1', DROP), end: commands('CONFIG SET maxclients 10000') },
  BUSY: { begin: runEndlessScript, end: endScript },
} as const satisfies Record<string, RedisRefusal>;

async function loseDisk({ client }: Operator): Promise<void> {
  const [, directory] = (await client.call('CONFIG', 'GET', 'dir')) as string[];
  await client.call('CONFIG', 'SET', 'save', '3600 1');
  await rm(directory ?? '', { recursive: true, force: true });
  await client.call('BGSAVE');
  const hasFailed = async (): Promise<boolean> => (await client.info('persistence')).includes('rdb_last_bgsave_status:err');
  await waitFor(hasFailed, { deadlineMs: 10_000, what: 'the snapshot to fail' });
}

/** Connections whose scripts do not end: one that was cut as dead sends its script again when it is back. */
const endless: RedisClient[] = [];

async function endScript(operator: Operator): Promise<void> {
  for (const client of endless.splice(0)) client.disconnect();
  await commands('SCRIPT KILL')(operator);
}

async function runEndlessScript({ client, open }: Operator): Promise<void> {
  const other = open();
  endless.push(other);
  await client.call('CONFIG', 'SET', 'lua-time-limit', '10');
  void other
    .eval('while true do end', 0)
    .catch(() => undefined)
    .finally(() => other.disconnect());
  const isBusy = async (): Promise<boolean> =>
    await client.ping().then(
      () => false,
      () => true,
    );
  await waitFor(isBusy, { deadlineMs: 10_000, what: 'the script to run' });
}
