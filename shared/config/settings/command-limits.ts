import { z } from 'zod';

const bound = (min: number, max: number): z.ZodUnion<[z.ZodLiteral<'none'>, z.ZodNumber]> =>
  z.union([z.literal('none'), z.number().int().min(min).max(max)]);

const limits = {
  /** Memory of all its processes, in MiB; a single process of more is refused it, where no cgroup counts all of them. */
  memoryMb: bound(16, 16_777_216),
  /** Its processes and threads at one time. */
  processes: bound(1, 4_000_000),
  /** Files that one of its processes may have open. */
  openFiles: bound(16, 1_048_576),
  /** The largest file that it may write, in MiB. */
  fileMb: bound(1, 16_777_216),
  /** Processor time of all its processes, in seconds. */
  cpuSeconds: bound(1, 100_000_000),
};

/** What one attempt of a `command` agent may use of its machine; `none` sets no limit. */
export const commandLimitsSchema = z.strictObject({
  memoryMb: limits.memoryMb.default(4096),
  processes: limits.processes.default(1024),
  openFiles: limits.openFiles.default(4096),
  fileMb: limits.fileMb.default(4096),
  cpuSeconds: limits.cpuSeconds.default(14_400),
});

export type CommandLimits = z.infer<typeof commandLimitsSchema>;

/** What an agent's own definition says instead. */
export const ownLimitsSchema = z.strictObject(limits).partial();
