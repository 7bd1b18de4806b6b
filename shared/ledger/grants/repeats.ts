import { z } from 'zod';
import type { Source } from '../../config/index.ts';
import type { TaskHold } from '../../errors/index.ts';
import { HOLD_ORDER, type HoldKind, type HoldReport } from '../gate-kind.ts';
import type { Ledger } from '../ledger.ts';
import { releaseHeld } from './release-held.ts';

/** As `repeats.lua` writes it. */
const recordSchema = z.object({
  held: z.record(
    z.string(),
    z.object({
      /** Tasks that it held. */
      count: z.int(),
      /** Equal ones in a row that ran before. */
      after: z.int(),
      /** Since when it is held, and when the last one came, ms since the epoch. */
      at: z.number(),
      last: z.number(),
    }),
  ),
});

/** An input that came too often in a row, as the scripts name what it holds. */
function readInput(what: string): { source: Source; agent: string; digest: string } {
  const [source = '', agent = '', digest = ''] = what.split('/');
  return { source: source as Source, agent, digest };
}

/** The input that holds a task, as the gate that holds it; null when further ones of it run again. */
async function explainRepeats({ redis, keys }: Pick<Ledger, 'redis' | 'keys'>, tenant: string, what: string): Promise<HoldReport | null> {
  const { source, agent, digest } = readInput(what);
  const text = await redis.get(keys.tenant(tenant).repeats(source, agent));
  const held = text === null ? undefined : recordSchema.parse(JSON.parse(text)).held[digest];
  if (!held) return null;
  const { count, after } = held;
  return {
    detail: `the same input came ${after + count} times in a row to the agent ${agent} by ${source}; those after the first ${after} start when a person retries one of them`,
    facts: { agent, source, inRow: after + count, heldSince: new Date(held.at).toISOString(), last: new Date(held.last).toISOString() },
    until: null,
  };
}

/** Releases all tasks of an input that came too often in a row, in their order. It counts from 0 again. */
async function releaseRepeats(ledger: Ledger, tenant: string, { what }: TaskHold): Promise<void> {
  const { source, agent, digest } = readInput(what);
  // First: what comes meanwhile is held no more.
  await ledger.run('forget-repeats', [ledger.keys.tenant(tenant).repeats(source, agent)], [digest]);
  await releaseHeld(ledger, tenant, { gate: 'repeats', what }, Infinity);
}

/** The gate of inputs that came too often in a row. */
export function repeatsKind(ports: Pick<Ledger, 'redis' | 'keys'>): HoldKind {
  return {
    gate: 'repeats',
    sort: 'hold',
    waits: 'until a person retries a task of its input, which [came too often in a row](money.md#equal-inputs)',
    limit: 'none',
    order: HOLD_ORDER,
    opens: 'a retry of one of them by hand, which releases all',
    foreseen: 'never',
    helps: 'All tasks of this input start when a person retries one of them. See to what sends it first, or cancel them.',
    explain: async (tenant, what) => await explainRepeats(ports, tenant, what),
    releaseByHand: releaseRepeats,
  };
}
