import { z } from 'zod';

/** A block of the event loop stops everything that its process does. */
const blocksSchema = z.object({
  /** Since the process started. */
  count: z.int(),
  /** End of the last one by the worker's clock, ms since the epoch; null before the first. */
  lastAt: z.number().nullable(),
  longestMs: z.number(),
});
export type LoopBlocks = z.infer<typeof blocksSchema>;

export const NO_BLOCKS: LoopBlocks = { count: 0, lastAt: null, longestMs: 0 };

/** What a worker reports with each heartbeat. The defaults are for reports of releases before these fields. */
export const workerReportSchema = z.object({
  /** A hub is a worker whose agents run on daemons. */
  role: z.enum(['worker', 'hub']).default('worker'),
  host: z.string(),
  pid: z.int(),
  /** Milliseconds that its wall clock is ahead of Redis's; negative when behind. */
  skewMs: z.number(),
  version: z.string().nullable().default(null),
  /** By its own clock, ms since the epoch. */
  startedAt: z.number().nullable().default(null),
  /** The workers that it is scaled with; null for what is not scaled. */
  group: z.string().nullable().default(null),
  /** The queues that it serves. */
  queues: z.array(z.string()).default([]),
  /** Attempts that it may run at once, over all queues. */
  slots: z.int().nullable().default(null),
  /** Of these, by queue, the ones that it is sure of. */
  sure: z.record(z.string(), z.int()).nullable().default(null),
  /** Attempts that it runs, in its own process or in those for suspects. */
  running: z.int().nullable().default(null),
  /** Of these, the ones in processes for suspects. */
  suspects: z.int().default(0),
  /** Whether it takes nothing more. */
  isDraining: z.boolean().default(false),
  /** What does not move in its process although it should, in words. */
  stopped: z.array(z.string()).default([]),
  blocks: blocksSchema.default(NO_BLOCKS),
  /** Resident memory of its process, MiB. */
  memoryMb: z.number().nullable().default(null),
  /** Cores that its process used since the heartbeat before; 1 is one core. */
  cpu: z.number().nullable().default(null),
  /** 99th percentile since the heartbeat before. */
  eventLoopDelayMs: z.number().nullable().default(null),
});

export type WorkerReport = z.infer<typeof workerReportSchema>;
/** As it is written: what has a default may be left out. */
export type WorkerReportToWrite = z.input<typeof workerReportSchema>;

/** Reads a stored report; null when this version cannot read it. */
export function parseReport(text: string): WorkerReport | null {
  try {
    return workerReportSchema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

/** Field and value of what a worker's heartbeat notes of its group; null for a worker of none. */
export function groupNote({ group, queues = [], slots }: Pick<WorkerReportToWrite, 'group' | 'queues' | 'slots'>): [string, string] | null {
  return typeof group === 'string' ? [group, JSON.stringify({ queues, slots: slots ?? 0 })] : null;
}
