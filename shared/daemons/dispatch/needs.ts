import { z } from 'zod';
import type { TaskBody, TaskState } from '../../tasks/index.ts';

/** What a task needs of the machine that runs it. */
export interface Needs {
  agent: string;
  capabilities: readonly string[];
  /** Name or id of the only daemon that may have it; null for any. */
  target: string | null;
  /** Names or ids of daemons that may not have it. */
  excluded: readonly string[];
  /** MiB; 0 for no requirement. */
  memoryMb: number;
  /** Whose task it is: daemons of other users do not get it. Null for nobody's. */
  user: string | null;
  isCpuIntensive: boolean;
  /** Whether only a daemon can run it, and no worker of the cluster. */
  isForDaemons: boolean;
}

/** `user` as `knownUser` has it. */
type NeedyTask = Pick<TaskBody, 'agent' | 'requirements' | 'user'>;

/** The needs of a task, and when they change because a daemon that failed it may have it again; null for never. */
export interface CurrentNeeds {
  needs: Needs;
  until: number | null;
}

/** What a task needs now, ms since the epoch by Redis's clock. */
export function needsOf(
  body: NeedyTask,
  { excluded = {} }: Pick<TaskState, 'excluded'>,
  { now, isForDaemons }: { now: number; isForDaemons: boolean },
): CurrentNeeds {
  const failed = Object.entries(excluded).filter(([, until]) => until > now);
  return {
    needs: {
      ...ownNeeds(body),
      excluded: [...new Set([...(body.requirements?.excludedDaemons ?? []), ...failed.map(([id]) => id)])].toSorted(),
      isForDaemons,
    },
    until: failed.length === 0 ? null : Math.min(...failed.map(([, until]) => until)),
  };
}

function ownNeeds({ agent, requirements, user }: NeedyTask): Omit<Needs, 'excluded' | 'isForDaemons'> {
  const { capabilities = [], targetDaemon = null, memoryMb = 0, cpuIntensive = false } = requirements ?? {};
  return { agent, capabilities: capabilities.toSorted(), target: targetDaemon, memoryMb, user, isCpuIntensive: cpuIntensive };
}

/** As the ledger lists what holds a task: short names, and nothing that is not needed. */
const keySchema = z.object({
  a: z.string(),
  c: z.array(z.string()).default([]),
  t: z.string().nullable().default(null),
  x: z.array(z.string()).default([]),
  m: z.number().default(0),
  u: z.string().nullable().default(null),
  i: z.literal(1).optional(),
  d: z.literal(1).optional(),
});

/** The same text for the same needs. */
export function needsKey({ agent, capabilities, target, excluded, memoryMb, user, isCpuIntensive, isForDaemons }: Needs): string {
  return JSON.stringify({
    a: agent,
    ...(capabilities.length > 0 ? { c: capabilities } : {}),
    ...(target === null ? {} : { t: target }),
    ...(excluded.length > 0 ? { x: excluded } : {}),
    ...(memoryMb > 0 ? { m: memoryMb } : {}),
    ...(user === null ? {} : { u: user }),
    ...(isCpuIntensive ? { i: 1 } : {}),
    ...(isForDaemons ? { d: 1 } : {}),
  });
}

/** Null for a text of another version. */
export function parseNeeds(key: string): Needs | null {
  try {
    const { a: agent, c: capabilities, t: target, x: excluded, m: memoryMb, u: user, i, d } = keySchema.parse(JSON.parse(key));
    return { agent, capabilities, target, excluded, memoryMb, user, isCpuIntensive: i === 1, isForDaemons: d === 1 };
  } catch {
    return null;
  }
}
