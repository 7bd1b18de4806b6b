import { contextKeys, laneKeys, runInContext, shardKeys, type TaskPlace } from '../context.ts';
import { entryText, type NumberedEntry } from '../journal/entry.ts';
import { eventField } from '../journal/read-journal.ts';
import type { Ledger } from '../ledger.ts';
import { parseKnownState } from '../codec/state.ts';

/**
 * - `answered`: its run was not suspended, and goes on with the answer. `early`: its time is still to come. `gone`: it waits for no time. `failed`: the
 *   script failed for it, by `why`
 */
type PromoteAnswer = { kind: 'promoted' | 'answered' | 'early' | 'gone' } | { kind: 'failed'; why: string };

/**
 * Promotes tasks of one tenant whose time has come; `force` does it before, as the id of an action once for each task. Their tickets go to
 * `onTicket`. Answers in their order.
 */
export async function promoteDue(
  ledger: Ledger,
  tenant: string,
  ids: readonly string[],
  force: boolean | string = false,
): Promise<PromoteAnswer[]> {
  return await promoteParked(ledger, tenant, { ids, names: ids, force: typeof force === 'string' ? force : Number(force) });
}

/** Promotes tasks that are held, by their members in the live lookups. A member of a task that this holds no more is removed. */
export async function promoteHeld(ledger: Ledger, tenant: string, members: readonly string[]): Promise<PromoteAnswer[]> {
  return await promoteParked(ledger, tenant, { ids: members.map((member) => idInMember(member)), names: members, force: 'hold' });
}

/** The task of a live lookup. */
export function idInMember(member: string): string {
  return /[^/.]+$/.exec(member)?.[0] ?? '';
}

/** What a run waited for. */
export interface RunAnswer {
  id: string;
  /** The number of the entry in its journal that it waits at, and what that becomes. */
  entry: NumberedEntry;
  /** What the event of its resumption says besides. */
  fact?: Readonly<Record<string, string>>;
}

/**
 * Resumes suspended runs of one tenant, each with what it waited for, and answers one that runs while it asks: `gone` for one that does not wait there
 * any more. `event`: the id of the kept
 * event that does it, and counts in its `taken`; then `gone` also for a run that has had it, and where it is for one run and taken. Answers in their
 * order.
 */
export async function answerRuns(ledger: Ledger, tenant: string, answers: readonly RunAnswer[], event?: string): Promise<PromoteAnswer[]> {
  const ids = answers.map(({ id }) => id);
  if (event === undefined) return await promoteParked(ledger, tenant, { ids, names: ids, force: 'answer', answers });
  return await promoteParked(ledger, tenant, { ids, names: ids, force: eventField(event), answers, event });
}

/** Lets others of their lanes go before suspended runs of one tenant that hold these. Answers in their order; `early` for one that still waits. */
export async function yieldLanes(ledger: Ledger, tenant: string, ids: readonly string[]): Promise<PromoteAnswer[]> {
  return await promoteParked(ledger, tenant, { ids, names: ids, force: 'yield' });
}

interface Parked {
  ids: readonly string[];
  /** What the script is given for each. */
  names: readonly string[];
  force: string | number;
  /** Of runs that are answered. */
  answers?: readonly Omit<RunAnswer, 'id'>[];
  event?: string;
}

async function promoteParked(ledger: Ledger, tenant: string, parked: Parked): Promise<PromoteAnswer[]> {
  const { ids, names, answers } = parked;
  if (ids.length === 0) return [];
  const states = await ledger.redis.hmget(ledger.keys.tenant(tenant).states, ...ids);
  const places = names.map((name, position) => ({ name, lane: laneIn(states[position] ?? null), answer: answers?.[position] }));
  const replies = await promote(ledger, tenant, places, parked);
  // A task that got a lane since it was read keeps it.
  const again = places.flatMap(({ name }, at) =>
    replies[at * 2] === 'lane' ? [{ ...places[at], name, lane: replies[at * 2 + 1] ?? null, at }] : [],
  );
  const second = again.length === 0 ? [] : await promote(ledger, tenant, again, parked);
  for (const [position, { at }] of again.entries()) replies.splice(at * 2, 2, ...second.slice(position * 2, position * 2 + 2));
  return places.map((_, at) => promoteAnswer(replies[at * 2] ?? 'gone', replies[at * 2 + 1] ?? ''));
}

interface PromotedPlace extends Pick<TaskPlace, 'lane'> {
  name: string;
  answer?: Omit<RunAnswer, 'id'> | undefined;
}

async function promote(
  ledger: Ledger,
  tenant: string,
  places: readonly PromotedPlace[],
  { force, event }: Pick<Parked, 'force' | 'event'>,
): Promise<string[]> {
  const shard = shardKeys(ledger, tenant);
  const keysOf = ({ name, lane, answer }: PromotedPlace): string[] => [
    ...laneKeys(ledger, tenant, [{ lane }]),
    ...(answer ? [ledger.keys.tenant(tenant).journal(name)] : []),
  ];
  return (await runInContext(ledger, {
    script: 'promote-due',
    tenant,
    keys: [
      ...contextKeys(ledger, tenant),
      shard.due,
      shard.waits,
      ...(event === undefined ? [] : [ledger.keys.tenant(tenant).runEvent(event)]),
      ...places.flatMap(keysOf),
    ],
    args: [
      places.map(({ lane }) => (lane === null ? 0 : 1)).join(''),
      force,
      ...places.flatMap(({ name, answer }) => [name, ...(answer ? answerArguments(ledger, { tenant, id: name }, answer) : [])]),
    ],
  })) as string[];
}

function answerArguments({ seal }: Ledger, task: { tenant: string; id: string }, { entry, fact }: Omit<RunAnswer, 'id'>): string[] {
  return [`${entry.seq}`, entryText(seal, task, entry), fact ? JSON.stringify(fact) : 'null'];
}

/** The state of a task that waits for a time, or is held, has a tail. The script answers for one whose state cannot be read. */
function laneIn(state: string | null): string | null {
  if (state === null) return null;
  try {
    return parseKnownState(state).lane ?? null;
  } catch {
    return null;
  }
}

function promoteAnswer(kind: string, why: string): PromoteAnswer {
  return kind === 'failed' ? { kind, why } : { kind: kind as 'promoted' | 'answered' | 'early' | 'gone' };
}
