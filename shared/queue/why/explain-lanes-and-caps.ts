import { SOURCE_CLASSES } from '../../config/index.ts';
import { type Ledger, readSharedPlaces, type SharedPlace } from '../../ledger/index.ts';
import { CLASS_LETTERS } from '../../tasks/index.ts';
import { type Waiting, waitingSince, type WaitingTask, type WaitReason } from './wait-reason.ts';

interface Cap {
  name: string;
  limit: number;
  /** Beginnings of the grants it counts. */
  prefixes: string[];
}

/** Which of its tenant's caps a task waits for. */
export async function explainCaps(ledger: Ledger, task: WaitingTask): Promise<Waiting> {
  const { redis, keys } = ledger;
  const { live } = keys.tenant(task.body.tenant);
  const count = async (prefix: string): Promise<number> => await redis.zlexcount(live, `[${prefix}`, `(${prefix}\u00ff`);
  const since = waitingSince(task.state);
  const checks = capsOf(ledger, task).map(async ({ name, limit, prefixes }): Promise<WaitReason[]> => {
    const counts = await Promise.all(prefixes.map((prefix) => count(prefix)));
    const held = counts.reduce((sum, each) => sum + each, 0);
    return held >= limit ? [{ gate: 'cap', detail: `${name} cap ${held}/${limit}`, since, until: null, taskId: null }] : [];
  });
  const reasons = (await Promise.all(checks)).flat();
  if (reasons.length === 0) reasons.push({ gate: 'cap', detail: 'tenant caps; one has become free', since, until: null, taskId: null });
  return { reasons, ahead: Math.max(0, (await count('pending/')) - 1) };
}

/** The caps that hold for a task of this class, which is a letter and 0 for low priority, else 1. */
function capsOf(ledger: Ledger, { body, state }: WaitingTask): Cap[] {
  const limits = ledger.limitsOf(body.tenant);
  if (!limits) return [];
  const letter = state.class.slice(0, 1);
  const source = SOURCE_CLASSES.find((each) => CLASS_LETTERS[each] === letter);
  const byClass = source === undefined ? undefined : limits.runningByClass[source];
  const low = Object.values(CLASS_LETTERS).map((each) => `granted=${each}0`);
  return [
    ...(limits.running === null ? [] : [{ name: 'tenant', limit: limits.running, prefixes: ['granted='] }]),
    ...(byClass === undefined ? [] : [{ name: `tenant's ${source}`, limit: byClass, prefixes: [`granted=${letter}`] }]),
    ...(limits.runningLow === null || !state.class.endsWith('0')
      ? []
      : [{ name: "tenant's low priority", limit: limits.runningLow, prefixes: low }]),
  ];
}

/**
 * The task that a task waits for in each of its lanes: the running task that it was offered to, the task before it in line, or the holder
 * of the lane. The line is ordered by arrival, and tasks with a number of their platform by that number. See lanes.lua.
 */
export async function explainLane(ledger: Ledger, task: WaitingTask): Promise<Waiting> {
  const [own, shared] = await Promise.all([explainOwnLane(ledger, task), readSharedPlaces(ledger, task)]);
  const full = shared.filter(({ isFull, before }) => isFull || before !== null);
  const since = waitingSince(task.state);
  const reasons = [...own.reasons, ...full.map((place) => ({ ...behind(place.before, place.name, place.ahead), since, until: null }))];
  if (reasons.length > 0) return { reasons, ahead: Math.max(own.ahead, ...full.map(({ ahead }: SharedPlace) => ahead)) };
  return { reasons: [{ gate: 'lane', detail: 'next in all of its lanes', since, until: null, taskId: null }], ahead: 0 };
}

/** No reason when it holds its own lane, or has none. */
async function explainOwnLane({ redis, keys }: Ledger, { body, state }: WaitingTask): Promise<Waiting> {
  const { lane, steer } = state;
  if (lane === undefined) return { reasons: [], ahead: 0 };
  const tenant = keys.tenant(body.tenant);
  const since = waitingSince(state);
  const [rank, held] = await Promise.all([redis.zrank(tenant.laneWait(lane), body.id), redis.zrange(tenant.laneHeld(lane), '0', '-1')]);
  if (held.includes(body.id)) return { reasons: [], ahead: 0 };
  // When the one it was offered to has left the lane, it waits like any other.
  if (steer !== undefined && held.includes(steer)) {
    return { reasons: [{ gate: 'steer', detail: `offered to task ${steer}, not taken yet`, since, until: null, taskId: steer }], ahead: 1 };
  }
  const place = rank ?? 0;
  const before = place > 0 ? (await redis.zrange(tenant.laneWait(lane), String(place - 1), String(place - 1)))[0] : held[0];
  const reason = { ...behind(before ?? null, lane, place + held.length), since, until: null };
  return { reasons: [reason], ahead: place + held.length };
}

function behind(before: string | null, lane: string, ahead: number): Pick<WaitReason, 'gate' | 'detail' | 'taskId'> {
  const detail = before === null ? `next in ${nameOf(lane)}` : `behind task ${before} in ${nameOf(lane)}, ${ahead} before it`;
  return { gate: 'lane', detail, taskId: before };
}

function nameOf(lane: string): string {
  const [, kind, name] = /^(session|task|agent):(.*)$/s.exec(lane) ?? [];
  if (kind === 'session') return `session "${name}"`;
  if (kind === 'agent') return `the tasks of agent "${name}"`;
  return kind === 'task' ? `the lane of task ${name}` : `lane "${lane}"`;
}
