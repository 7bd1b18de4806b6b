import { CLASS_LETTERS } from '../tasks/index.ts';
import type { Ledger } from '../ledger/index.ts';
import { SOURCE_CLASSES } from '../config/index.ts';
import { waitingSince, type Waiting, type WaitReason, type WaitingTask } from './wait-reason.ts';

interface Cap {
  name: string;
  most: number;
  /** Beginnings of the grants it counts. */
  prefixes: string[];
}

/** Which of its tenant's caps a task waits for. */
export async function explainCaps(ledger: Ledger, task: WaitingTask): Promise<Waiting> {
  const { redis, keys } = ledger;
  const { live } = keys.tenant(task.body.tenant);
  const count = async (prefix: string): Promise<number> => await redis.zlexcount(live, `[${prefix}`, `(${prefix}\u00ff`);
  const since = waitingSince(task.state);
  const looks = capsOver(ledger, task).map(async ({ name, most, prefixes }): Promise<WaitReason[]> => {
    const counts = await Promise.all(prefixes.map((prefix) => count(prefix)));
    const held = counts.reduce((sum, each) => sum + each, 0);
    return held >= most ? [{ gate: 'cap', detail: `${name} cap ${held}/${most}`, since, until: null, taskId: null }] : [];
  });
  const reasons = (await Promise.all(looks)).flat();
  if (reasons.length === 0) reasons.push({ gate: 'cap', detail: 'tenant caps; one has become free', since, until: null, taskId: null });
  return { reasons, ahead: Math.max(0, (await count('pending/')) - 1) };
}

/** The caps that hold for a task of this class, which is a letter and 0 for low priority, else 1. */
function capsOver(ledger: Ledger, { body, state }: WaitingTask): Cap[] {
  const limits = ledger.limitsOf(body.tenant);
  if (!limits) return [];
  const letter = state.class.slice(0, 1);
  const source = SOURCE_CLASSES.find((each) => CLASS_LETTERS[each] === letter);
  const byClass = source === undefined ? undefined : limits.runningByClass[source];
  const low = Object.values(CLASS_LETTERS).map((each) => `granted=${each}0`);
  return [
    ...(limits.running === null ? [] : [{ name: 'tenant', most: limits.running, prefixes: ['granted='] }]),
    ...(byClass === undefined ? [] : [{ name: `tenant's ${source}`, most: byClass, prefixes: [`granted=${letter}`] }]),
    ...(limits.runningLow === null || !state.class.endsWith('0')
      ? []
      : [{ name: "tenant's low priority", most: limits.runningLow, prefixes: low }]),
  ];
}
