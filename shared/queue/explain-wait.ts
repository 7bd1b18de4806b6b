import { concurrencyOfShard } from '../ledger/claim-task.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Task } from '../tasks/task.ts';
import { isTerminal, type TaskStatus } from '../tasks/transitions.ts';
import { estimateStart } from './estimate-start.ts';
import { explainCaps } from './explain-caps.ts';
import { explainLane } from './explain-lane.ts';
import { explainQueue } from './explain-queue.ts';
import type { Queues } from './queues.ts';
import { waitingSince, type WaitReason, type Waiting } from './wait-reason.ts';

export interface WaitExplanation {
  status: TaskStatus;
  /** None once it runs or ended. */
  reasons: WaitReason[];
  /** Milliseconds until it will start, at the pace of the tenant's last tasks; null when nobody knows. */
  estimatedStartMs: number | null;
}

/** Why a task does not run yet. It is a look at a moving fleet: by the time it is read, it may be otherwise. */
export async function explainWait(parts: { ledger: Ledger; queues: Queues }, task: Task): Promise<WaitExplanation> {
  const { status } = task.state;
  if (isTerminal(status) || status === 'running' || status === 'scheduled') return { status, reasons: [], estimatedStartMs: null };
  const { reasons, ahead } = await explain(parts, task);
  // Something waits, so the tenant's own depth says nothing more: two stands for "not alone".
  const due = { ...task.body, scheduledFor: task.state.notBefore ?? null };
  return { status, reasons, estimatedStartMs: await estimateStart(parts.ledger, due, { ahead, depth: 2, gate: reasons[0]?.gate ?? null }) };
}

async function explain(parts: { ledger: Ledger; queues: Queues }, task: Task): Promise<Waiting> {
  const { gate, notBefore } = task.state;
  if (gate === 'lane' || gate === 'steer') return await explainLane(parts.ledger, task);
  if (gate === 'cap') return await explainCaps(parts.ledger, task);
  if (notBefore !== undefined && notBefore > Date.now()) return explainTime(task, notBefore);
  if (gate === 'fleet') return await explainFleet(parts.ledger, task);
  return await explainQueue(parts, task);
}

function explainTime({ state, attempts }: Task, notBefore: number): Waiting {
  const at = new Date(notBefore).toISOString();
  const code = state.error?.code ?? attempts.at(-1)?.error?.code ?? 'of the last attempt';
  const detail = {
    retry: `retry after failure ${code}, not before ${at}`,
    provider: `provider cooldown until ${at}`,
    debounce: `collects messages until ${at}`,
    other: `not before ${at}`,
  };
  const kind = state.gate === 'retry' || state.gate === 'provider' || state.gate === 'debounce' ? state.gate : 'other';
  return {
    reasons: [{ gate: state.gate ?? 'time', detail: detail[kind], since: waitingSince(state), until: notBefore, taskId: null }],
    ahead: 0,
  };
}

async function explainFleet(ledger: Ledger, { body, state }: Task): Promise<Waiting> {
  const { redis, keys } = ledger;
  const running = await redis.zcard(keys.shard(keys.shardOf(body.tenant)).leases);
  const most = concurrencyOfShard(ledger);
  return {
    reasons: [{ gate: 'fleet', detail: `fleet cap ${running}/${most}`, since: waitingSince(state), until: null, taskId: null }],
    ahead: 1,
  };
}
