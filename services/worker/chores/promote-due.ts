import { type DueTask, type Ledger, promoteDue, readDue } from '#shared/ledger/index.ts';
import type { Log } from '#shared/log/index.ts';
import { isRedisUnavailable } from '#shared/redis/index.ts';
import { eachShard } from './each-shard.ts';

interface DuePorts {
  ledger: Ledger;
  log: Log;
}

/** Tasks promoted by one round. */
const PAGE = 200;
/** After a task that could not be promoted, the next round waits at least so long. */
const AFTER_FAILURE_MS = 1000;

/**
 * Starts tasks whose time has come by Redis's clock, so that no worker's clock matters. Every worker looks; the first one promotes a task,
 * once. Returns when to look again, ms from now.
 */
export async function promoteDueTasks(ports: DuePorts): Promise<number> {
  const { ledger } = ports;
  let next = ledger.settings.worker.duePollMs;
  await eachShard(ledger.keys, async (shard) => {
    next = Math.min(next, await promoteShard(ports, shard));
  });
  return next;
}

async function promoteShard(ports: DuePorts, shard: number): Promise<number> {
  const { tasks, nextInMs } = await readDue(ports.ledger, shard, PAGE);
  let isAllDone = true;
  for (const [tenant, own] of Map.groupBy(tasks, (task) => task.tenant)) {
    isAllDone = (await promoteTenant(ports, tenant, own)) && isAllDone;
  }
  if (nextInMs === null) return Infinity;
  return isAllDone ? Math.max(nextInMs, 1) : AFTER_FAILURE_MS;
}

/** Returns whether each of the tasks goes on. What fails for one tenant keeps no other's waiting. */
async function promoteTenant({ ledger, log }: DuePorts, tenant: string, tasks: readonly DueTask[]): Promise<boolean> {
  const ids = tasks.map(({ id }) => id);
  const answers = await promoteDue(ledger, tenant, ids).catch((error: unknown) => {
    if (isRedisUnavailable(error)) throw error;
    return ids.map(() => ({ kind: 'failed', why: String(error) }) as const);
  });
  const failed = [...answers.entries()].flatMap(([position, answer]) =>
    answer.kind === 'failed' ? [{ task: ids[position], why: answer.why }] : [],
  );
  for (const each of failed) log.error({ ...each, tenant }, 'a task whose time has come could not be started');
  return failed.length === 0;
}
