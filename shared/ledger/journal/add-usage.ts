import { sumUsage, type TaskUsage, usageDay, usageRows } from '../../tasks/index.ts';
import { usageBounds } from '../context.ts';
import { parseKnownState, parseState, stateText } from '../codec/state.ts';
import type { Ledger } from '../ledger.ts';
import { readBody } from '../read/read-tasks.ts';
import { entryText, isOpenCall, type NumberedEntry, readEntryText } from './entry.ts';

interface UsedEntry {
  tenant: string;
  /** The task. */
  id: string;
  /** The number of an entry of its journal. */
  seq: number;
  usage: TaskUsage;
  /** When it was used, ms since the epoch. */
  now: number;
}

/** A suspended task changes by hand only. */
const MAX_TRIES = 10;

/**
 * Counts what a run used by an entry at which it waits, or waited, once: for its task while that waits there, and for the day always. Returns false
 * where that was done before, or the task is not kept any more.
 */
export async function addUsage(ledger: Ledger, used: UsedEntry): Promise<boolean> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const answer = await tryAdd(ledger, used);
    if (answer !== 'changed') return answer === 'added';
  }
  throw new Error(`The usage of entry ${used.seq} of ${used.id} could not be counted: its task changes again and again`);
}

async function tryAdd(ledger: Ledger, { tenant, id, seq, usage, now }: UsedEntry): Promise<'added' | 'known' | 'changed'> {
  const keys = ledger.keys.tenant(tenant);
  const [seen, written, body] = await Promise.all([
    ledger.redis.hget(keys.states, id),
    ledger.redis.hget(keys.journal(id), `${seq}`),
    readBody(ledger, tenant, id),
  ]);
  if (seen === null || body === null) return 'known';
  const known = written === null ? null : readEntryText(ledger.seal, { tenant, id }, seq, written);
  const waits = waitsAt(seen, seq, known);
  const next = waits ? withUsage(seen, usage) : '';
  // Whoever answers a run that waits writes the entry.
  const ended = waits || known === null ? '' : entryText(ledger.seal, { tenant, id }, { ...known, usage });
  const { byModel = {} } = usage;
  const calls = Object.fromEntries(Object.keys(byModel).map((model) => [model, 1]));
  const rows = usageRows({ agent: body.agent, source: body.source, usage, calls });
  return (await ledger.run(
    'add-usage',
    [keys.states, keys.journal(id), keys.usageDay(usageDay(now))],
    [id, seq, seen, next, written ?? '', ended, JSON.stringify(rows), JSON.stringify(usageBounds(ledger))],
  )) as 'added' | 'known' | 'changed';
}

/** Whether a run is suspended at an entry, or at a call that it makes together with that one. */
function waitsAt(state: string, seq: number, entry: NumberedEntry | null): boolean {
  const { suspended } = parseKnownState(state);
  return suspended !== undefined && (suspended.entry === seq || isOpenCall(entry));
}

/** The state of a suspended task with what it used. */
function withUsage(seen: string, usage: TaskUsage): string {
  const state = parseState(seen, null);
  return stateText({ ...state, usage: sumUsage(state.usage, usage) });
}
