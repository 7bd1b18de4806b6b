import type { Load } from '../../queue/index.ts';
import { durationText, timeText } from '../../time/index.ts';
import { type Finding, findingOf } from '../finding.ts';
import type { TenantFacts } from '../facts/tenant-facts.ts';
import type { HeldTasks, LongWait } from '../facts/waits.ts';
import type { Inspection, Verdict } from '../inspection.ts';
import { judgeTasksForDaemons } from './queues.ts';
import { describeCauses, type HelpsAt, helpsOf } from './load.ts';

const LINK = '/tasks?status=pending,queued';
const HOUR_MS = 3_600_000;
/** A provider that takes calls again sooner is how a rate is kept. */
const THROTTLED_MS = 10_000;

/** What tasks of a tenant wait for: something that holds them, or a gate where they wait for long. */
export const WAIT_INSPECTIONS: readonly Inspection<TenantFacts>[] = [
  {
    name: 'Held tasks',
    codes: ['task.held', 'input.held'],
    look: async (facts) => judgeHeld(await facts.held(), await facts.agentHolds(), await facts.now()),
  },
  { name: 'Long waits', codes: ['task.waiting'], look: async (facts) => judgeWaits(await facts.longWaits(), await facts.now()) },
  { name: 'Tasks for daemons', codes: ['daemon.missing'], look: async (facts) => judgeTasksForDaemons(await facts.waitingForDaemons()) },
  {
    name: 'Load',
    codes: ['pressure.warning', 'pressure.critical'],
    look: async (facts) => judgeLoad(await facts.pressure(), await facts.load(), facts.helpsAt),
  },
];

/** Gates of agents, which an inspection of their own names where what holds them is known. */
const AGENT_GATES: ReadonlySet<string> = new Set(['agent', 'failures']);

function judgeHeld(held: readonly HeldTasks[], agents: ReadonlyMap<string, unknown>, now: number): Verdict {
  const others = held.filter(({ gate, what }) => gate !== 'daemon' && !(AGENT_GATES.has(gate) && agents.has(what)));
  const repeated = others.filter(({ gate }) => gate === 'repeats');
  const lasting = others.filter((each) => each.gate !== 'repeats' && isLasting(each, now));
  return { findings: [...(repeated.length === 0 ? [] : [describeRepeated(repeated)]), ...lasting.map((each) => describeHeld(each, now))] };
}

/** How long the first has been there, or will be. */
function waitOf({ acceptedAt, until }: HeldTasks, now: number): number {
  return Math.max(now - acceptedAt, (until ?? 0) - now);
}

/** A run that waits without a slot is as it should be, until it has waited for long. */
function isLasting(held: HeldTasks, now: number): boolean {
  if (held.isSuspended) return now - held.since >= held.longMs;
  return held.gate !== 'provider' || waitOf(held, now) >= THROTTLED_MS;
}

function describeHeld(held: HeldTasks, now: number): Finding {
  const { gate, what, count, since, until, detail, helps } = held;
  // Some say themselves until when.
  const end = until === null || /\buntil\b|\bat \d{4}-/.test(detail) ? '' : `, until ${timeText(until)}`;
  return findingOf({
    code: 'task.held',
    severity: !held.isSuspended && waitOf(held, now) >= HOUR_MS ? 'critical' : 'warning',
    text: `${count === 1 ? '1 task waits' : `${count} tasks wait`}: ${detail}${end}.`,
    helps: count === 1 ? helps : ofMany(helps),
    count,
    since,
    gate,
    subject: what,
    link: LINK,
  });
}

/** What helps one task, of several. */
function ofMany(helps: string): string {
  return helps
    .replace(/^It starts\b/, 'They start')
    .replaceAll(/\b(Retry) it to (start|try) it\b/g, '$1 them to $2 them')
    .replaceAll(/\bRetry it\b/g, 'Retry them');
}

/** What a person has to release. */
function describeRepeated(repeated: readonly HeldTasks[]): Finding {
  const count = repeated.reduce((sum, each) => sum + each.count, 0);
  return {
    ...findingOf({
      code: 'input.held',
      severity: 'critical',
      text: `${count === 1 ? '1 task is' : `${count} tasks are`} held because the same input came too often in a row; retry one of them when its cause is gone.`,
      helps: repeated[0]?.helps ?? '',
      count,
      since: Math.min(...repeated.map(({ since }) => since)),
      link: LINK,
    }),
    gate: 'repeats',
  };
}

export function judgeWaits(waits: readonly LongWait[], now: number): Verdict {
  return {
    findings: waits.map(({ gate, count, oldestMs, detail, helps }) =>
      findingOf({
        code: 'task.waiting',
        severity: oldestMs >= HOUR_MS ? 'critical' : 'warning',
        text: `${count === 1 ? '1 task waits' : `${count} tasks wait, the first`} for ${durationText(oldestMs)}: ${detail}.`,
        helps: count === 1 ? helps : ofMany(helps),
        count,
        since: Math.round(now - oldestMs),
        gate,
        link: LINK,
      }),
    ),
  };
}

/** A tenant that has more work than it should, and what its tasks wait for. */
function judgeLoad({ level, depth }: Awaited<ReturnType<TenantFacts['pressure']>>, load: Load, helpsAt: HelpsAt): Verdict {
  if (level === 'none') return { findings: [] };
  const text = `There are ${depth} open tasks, which is more than there should be${describeCauses(load)}.`;
  const helps = helpsOf(load, level, helpsAt);
  return { findings: [findingOf({ code: `pressure.${level}`, severity: level, text, helps, count: Math.max(1, depth), link: '/' })] };
}
