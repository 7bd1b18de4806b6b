import { forgetWorkspaces } from '../../daemons/index.ts';
import { forgetPerson, removeVisitors } from '../../tenants/index.ts';
import type { Erasure } from './erasure.ts';
import { eraseEvents, eraseHookDeliveries } from './erase-streams.ts';
import type { EraseParts } from './erasure-step.ts';
import { addToErase, listToErase } from './to-erase.ts';

/** Names of the deliveries of a task, as `delivery.ts` makes them. */
const DELIVERIES = ['reply', 'callback', 'question'] as const;
const DELIVERY_STATUSES = ['pending', 'delivered', 'failed', 'unknown'] as const;

/** Removes what is left of the removed tasks elsewhere, and of the session or the person itself. Returns what was removed in all. */
export async function eraseRest(parts: EraseParts, erasure: Erasure): Promise<Erasure['removed']> {
  const { ledger } = parts;
  const deliveries = await eraseDeliveries(parts, erasure);
  const notifications = await eraseEvents(ledger, erasure);
  const webhooks = await eraseHookDeliveries(ledger, erasure);
  const sessions = await eraseSessions(parts, erasure);
  if (erasure.of !== null) {
    await removeVisitors(ledger, erasure.tenant, ({ id, name, session }) =>
      erasure.kind === 'session' ? session === erasure.of : id === erasure.of || name === erasure.of,
    );
    if (erasure.kind === 'person' && erasure.withSignIn) await forgetPerson(ledger, erasure.of);
  }
  const files = await eraseFiles(parts, erasure);
  return { tasks: await countTasks(parts, erasure), files, deliveries, notifications, webhooks, sessions };
}

async function countTasks({ ledger }: EraseParts, erasure: Erasure): Promise<number> {
  const seen = new Set<string>();
  for await (const names of listToErase(ledger, erasure, 'task')) for (const name of names) seen.add(name);
  return seen.size;
}

async function eraseDeliveries({ ledger }: EraseParts, erasure: Erasure): Promise<number> {
  const { redis, keys } = ledger;
  const { tenant } = erasure;
  const own = keys.tenant(tenant);
  const { deliveriesDue } = keys.shard(keys.shardOf(tenant));
  let removed = 0;
  for await (const tasks of listToErase(ledger, erasure, 'task')) {
    const named = tasks.flatMap((task) => DELIVERIES.map((kind) => ({ id: `${task}-${kind}`, kind })));
    removed += await redis.unlink(...named.map(({ id }) => own.delivery(id)));
    const lookups = named.flatMap(({ id, kind }) => [
      `all/${id}`,
      `kind=${kind}/${id}`,
      ...DELIVERY_STATUSES.map((status) => `status=${status}/${id}`),
    ]);
    await redis.zrem(own.deliveries, ...lookups);
    await redis.zrem(deliveriesDue, ...named.map(({ id }) => `${tenant}/${id}`));
  }
  return removed;
}

/** The sessions that are erased as a whole; of the others that a person wrote in goes what programs keep of them. */
async function eraseSessions(parts: EraseParts, erasure: Erasure): Promise<number> {
  const { redis, keys } = parts.ledger;
  const own = keys.tenant(erasure.tenant);
  let sessions = 0;
  for await (const ids of listToErase(parts.ledger, erasure, 'session')) {
    for (const id of ids) {
      await eraseKeptRuns(parts, erasure, id);
      await redis.unlink(own.session(id), own.sessionQuestions(id), own.albumParts(id), own.albumBatch(id), own.albumsTaken(id));
      await redis.unlink(own.conversation(id));
      await Promise.all([redis.zrem(own.sessionRecords, id), redis.zrem(own.conversations, id)]);
      sessions += 1;
    }
  }
  for await (const ids of listToErase(parts.ledger, erasure, 'with')) for (const id of ids) await eraseKeptRuns(parts, erasure, id);
  return sessions;
}

/** What coding agents keep of a session: their folder and what was said there. */
async function eraseKeptRuns({ ledger, files }: EraseParts, erasure: Erasure, session: string): Promise<void> {
  const own = ledger.keys.tenant(erasure.tenant);
  const kept = [...(await files.listKeptRuns(erasure.tenant, `session/${session}`)).values()];
  await addToErase(
    ledger,
    erasure,
    kept.map(({ file }) => `file/${file}` as const),
  );
  const owners = kept.map(({ file, task }) => `${file}/${task}`);
  if (owners.length > 0) await ledger.redis.zrem(own.fileOwners, ...owners);
  await ledger.redis.unlink(own.keptRuns(`session/${session}`));
  await forgetWorkspaces(ledger, erasure.tenant, `session/${session}`);
}

/** Their bytes in the storage too. A file that a task of another has as well stays. */
async function eraseFiles({ ledger, files }: EraseParts, erasure: Erasure): Promise<number> {
  const removed = new Set<string>();
  for await (const names of listToErase(ledger, erasure, 'file')) {
    for (const name of names) {
      await files.remove(erasure.tenant, name);
      if ((await ledger.redis.hexists(ledger.keys.tenant(erasure.tenant).files, name)) === 0) removed.add(name);
    }
  }
  return removed.size;
}
