import type { TaskQueue } from '../config/index.ts';
import type { ClaimIsolation } from '../ledger/index.ts';
import { ForeignAgents, type HandleTicket, type JobSource, type SlotPolicy, SlotWorker, versionsOf } from '../queue/index.ts';
import { systemClock } from '../time/index.ts';
import type { Parts } from './open-parts.ts';

/** Something that takes jobs from BullMQ. */
export interface JobTaker {
  start(): void;
  /** Takes no more jobs; those it has continue. */
  quiet(): Promise<void>;
  stop(graceMs: number): Promise<void>;
  /** Why it takes no jobs, in words; null while it takes them. */
  readonly problem: string | null;
}

interface SlotsOptions {
  /** The process as records show it. */
  worker: string;
  /** Its slots, and the queues that share them. */
  policy: SlotPolicy;
  handle: HandleTicket;
  source: JobSource;
  /** Without it suspects are claimed like any other. */
  isolation?: () => ClaimIsolation | undefined;
}

/** Who runs a remote task is chosen once a slot has its ticket. */
const APART: ReadonlySet<TaskQueue> = new Set<TaskQueue>(['remote']);

/** Opens the slots of a process for tasks, on all shards. */
export function openSlotWorker(
  { ledger, relay, redis, keys, config, log }: Parts,
  { isolation = () => undefined, ...own }: SlotsOptions,
): SlotWorker {
  const { agents } = config.settings;
  const foreign = new ForeignAgents({ redis, keys, own: [...Object.keys(agents), ...versionsOf(agents)], log });
  return new SlotWorker({ ...own, isolation, ledger, relay, apart: APART, foreign, clock: systemClock });
}
