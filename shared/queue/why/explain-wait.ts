import type { Ledger } from '../../ledger/index.ts';
import { clockSkew, describeSkew } from '../../redis/index.ts';
import { isTerminal, type TaskStatus } from '../../tasks/index.ts';
import { systemClock } from '../../time/index.ts';
import type { Queues } from '../queues.ts';
import { estimateStart } from './estimate-start.ts';
import { explainCaps, explainLane } from './explain-lanes-and-caps.ts';
import { explainQueue } from './explain-queue.ts';
import { type Waiting, waitingSince, type WaitingTask, type WaitReason } from './wait-reason.ts';

/** Smaller differences of clocks, and later starts, are not mentioned. */
const NOTABLE_MS = 2000;

export interface WaitExplanation {
  status: TaskStatus;
  /** None once it runs or ended. */
  reasons: WaitReason[];
  /** Milliseconds until it will start, at the pace of the tenant's last tasks; null when unknown. */
  estimatedStartMs: number | null;
}

/** Why a task does not run yet. The fleet moves on, so it may be outdated when it is read. */
export async function explainWait(parts: { ledger: Ledger; queues: Queues }, task: WaitingTask): Promise<WaitExplanation> {
  const { status } = task.state;
  if (isTerminal(status) || status === 'running' || status === 'scheduled') return { status, reasons: [], estimatedStartMs: null };
  const { reasons, ahead } = await explain(parts, task);
  const due = { tenant: task.body.tenant, scheduledFor: task.state.notBefore ?? null };
  return { status, reasons, estimatedStartMs: await estimateStart(parts.ledger, due, { ahead, gate: reasons[0]?.gate ?? null }) };
}

async function explain(parts: { ledger: Ledger; queues: Queues }, task: WaitingTask): Promise<Waiting> {
  const { gate, notBefore } = task.state;
  if (gate === 'lane' || gate === 'steer') return await explainLane(parts.ledger, task);
  if (gate === 'cap') return await explainCaps(parts.ledger, task);
  if (notBefore !== undefined) return explainTime(task, notBefore, await clockSkew(parts.ledger.redis, systemClock));
  return await explainQueue(parts, task);
}

function explainTime(task: WaitingTask, notBefore: number, skewMs: number): Waiting {
  const { state } = task;
  const detail = [timeDetail(task, new Date(notBefore).toISOString()), ...clockNotes(notBefore, skewMs)].join('; ');
  return { reasons: [{ gate: state.gate ?? 'time', detail, since: waitingSince(state), until: notBefore, taskId: null }], ahead: 0 };
}

function timeDetail({ state, attempts }: WaitingTask, at: string): string {
  if (state.gate === 'provider') return `provider cooldown until ${at}`;
  if (state.gate === 'suspect') return `lost with its worker; comes back in an isolated process, not before ${at}`;
  if (state.gate === 'debounce') return `collects messages until ${at}`;
  if (state.gate !== 'retry') return `not before ${at}`;
  return `retry after failure ${state.error?.code ?? attempts.at(-1)?.error?.code ?? 'of the last attempt'}, not before ${at}`;
}

/** Times are Redis's: people compare them with their own clock, so a difference is mentioned. */
function clockNotes(notBefore: number, skewMs: number): string[] {
  const overdueMs = Date.now() - skewMs - notBefore;
  return [
    ...(overdueMs > NOTABLE_MS ? ['its time has come, and no worker has seen it yet'] : []),
    ...(Math.abs(skewMs) > NOTABLE_MS ? [`by the clock of Redis; this server's is ${describeSkew(skewMs)}`] : []),
  ];
}
