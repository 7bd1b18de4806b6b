import { gateText } from '../../errors/index.ts';
import { describeLoad, type Load } from '../../queue/index.ts';
import { durationText } from '../../time/index.ts';
import { findingOf, type Severity } from '../finding.ts';
import type { LoadFacts } from '../facts/load-facts.ts';
import type { Inspection, Verdict } from '../inspection.ts';

/** How much work the fleet has, and which tenants have too much. */
export const LOAD_INSPECTIONS: readonly Inspection<LoadFacts>[] = [
  {
    name: 'Load',
    codes: ['pressure.warning', 'pressure.critical'],
    look: async (facts) => judgeFleetLoad(await facts.pressure(), await facts.load(), facts.helpsAt),
  },
  { name: 'Tenants', codes: ['tenant.pressed'], look: async (facts) => judgeTenants(await facts.pressedTenants()) },
];

function judgeFleetLoad({ level, depth }: Awaited<ReturnType<LoadFacts['pressure']>>, load: Load, helpsAt: HelpsAt): Verdict {
  if (level === 'none') return { findings: [], note: `${depth} open tasks` };
  const text = `The fleet has ${depth} open tasks, which is more than it should have${describeCauses(load)}.`;
  const helps = helpsOf(load, level, helpsAt);
  return { findings: [findingOf({ code: `pressure.${level}`, severity: level, text, helps, count: Math.max(1, depth), link: '/' })] };
}

function judgeTenants(pressed: Awaited<ReturnType<LoadFacts['pressedTenants']>>): Verdict {
  return {
    findings: pressed.map(({ tenant, level }) =>
      findingOf({
        code: 'tenant.pressed',
        // It has a finding of its own, by its level; the installation is at no fault.
        severity: 'warning',
        text: `The load of the tenant ${tenant} is ${level}.`,
        helps: 'See what its tasks wait for; raise its caps where these hold them, else add workers or daemons.',
        subject: tenant,
        link: `/tenants/${encodeURIComponent(tenant)}`,
      }),
    ),
  };
}

/** What several tasks wait for. */
function ofMany(text: string): string {
  return text.replaceAll(/\bits\b/g, 'their').replaceAll(/\bit\b/g, 'them');
}

const MAX_NAMED = 3;

interface Cause {
  gate: string;
  count: number;
  oldestMs: number;
}

/** What most tasks wait for, the most first. */
function causesOf({ waiting }: Load): Cause[] {
  const groups = [...Map.groupBy(waiting, ({ gate }) => gate ?? 'queue')];
  return groups
    .map(([gate, all]) => ({
      gate,
      count: all.reduce((sum, { count }) => sum + count, 0),
      oldestMs: Math.max(...all.map(({ oldestMs }) => oldestMs ?? 0)),
    }))
    .toSorted((one, other) => other.count - one.count);
}

/** In words, behind a sentence about how many there are. */
export function describeCauses(load: Load): string {
  const named = causesOf(load).slice(0, MAX_NAMED);
  if (named.length === 0) return '';
  const parts = named.map(({ gate, count, oldestMs }) => {
    const first = oldestMs === 0 ? '' : `, the first for ${durationText(oldestMs)}`;
    return `${count} wait for ${ofMany(gateText(gate))}${first}`;
  });
  return `: ${parts.join('; ')}`;
}

/** What helps at a gate, for people. */
export type HelpsAt = (gate: string) => string;

/** What helps against most of it. */
export function helpsOf(load: Load, level: Severity, helpsAt: HelpsAt): string {
  const [first] = causesOf(load);
  const helps = first === undefined || first.gate === 'queue' ? '' : helpsAt(first.gate);
  if (helps !== '') return helps;
  const { recommendations } = describeLoad({ level, scope: 'fleet', load: { depth: 0, waitMs: null }, slowDown: null });
  return `${recommendations.toReversed().join('. ')}.`;
}
