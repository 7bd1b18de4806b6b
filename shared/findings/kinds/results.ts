import { dollars } from '../../budgets/index.ts';
import { findingOf } from '../finding.ts';
import { MAX_READ, type TenantFacts } from '../facts/tenant-facts.ts';
import type { Inspection, Verdict } from '../inspection.ts';

/** What a tenant's tasks lead to: deliveries, runs of schedules, spending. */
export const RESULT_INSPECTIONS: readonly Inspection<TenantFacts>[] = [
  { name: 'Deliveries', codes: ['delivery.failed'], look: async (facts) => judgeDeliveries((await facts.failedDeliveries()).items.length) },
  { name: 'Endpoints', codes: ['endpoint.disabled'], look: async (facts) => judgeEndpoints(await facts.endpoints()) },
  {
    name: 'Schedules',
    codes: ['schedule.paused'],
    depth: 'usual',
    look: async (facts) => judgeSchedules((await facts.pausedSchedules()).items),
  },
  { name: 'Budgets', codes: ['budget.soft', 'budget.hard'], look: async (facts) => judgeBudgets(await facts.budgets()) },
];

function judgeDeliveries(count: number): Verdict {
  if (count === 0) return { findings: [] };
  const what = count === 1 ? 'reply or callback' : 'replies or callbacks';
  const text = `${count === MAX_READ ? 'At least ' : ''}${count} ${what} could not be delivered.`;
  const helps = 'See why, and send them again once their receiver takes them.';
  return { findings: [findingOf({ code: 'delivery.failed', severity: 'warning', text, helps, count, link: '/deliveries?status=failed' })] };
}

function judgeEndpoints(endpoints: Awaited<ReturnType<TenantFacts['endpoints']>>): Verdict {
  const disabled = endpoints.filter(({ disabledAt }) => disabledAt !== null);
  return {
    findings: disabled.map(({ url, disabledAt }) =>
      findingOf({
        code: 'endpoint.disabled',
        severity: 'critical',
        text: `The endpoint ${url} failed for too long; callbacks to it fail at once.`,
        helps: 'Repair it, then enable it again.',
        since: disabledAt,
        link: '/deliveries',
        subject: url,
      }),
    ),
  };
}

function judgeSchedules(paused: Awaited<ReturnType<TenantFacts['pausedSchedules']>>['items']): Verdict {
  return {
    findings: paused.map(({ id, number, name, pausedReason }) =>
      findingOf({
        code: 'schedule.paused',
        severity: 'warning',
        text: `The schedule ${name === null ? `#${number}` : `"${name}"`} is paused${pausedReason ? `: ${pausedReason}` : ''}.`,
        helps: 'Resume it when it may run again, or acknowledge that it rests.',
        link: '/schedules?status=paused',
        subject: id,
      }),
    ),
  };
}

function judgeBudgets(all: Awaited<ReturnType<TenantFacts['budgets']>>): Verdict {
  return {
    findings: all.flatMap(({ budget: { id, softMicroUsd, hardMicroUsd }, spending: { spentMicroUsd } }) => {
      const isHard = hardMicroUsd !== null && spentMicroUsd >= hardMicroUsd;
      if (!isHard && (softMicroUsd === null || spentMicroUsd < softMicroUsd)) return [];
      const line = isHard ? 'hard' : 'soft';
      const text = `The budget "${id}" is over its ${line} line: ${dollars(spentMicroUsd)} are spent.`;
      const helps = isHard ? 'Raise it, or wait for its next window.' : 'Spend less, or raise it before its hard line.';
      const severity = isHard ? 'critical' : 'warning';
      return [findingOf({ code: `budget.${line}`, severity, text, helps, link: '/usage', subject: id })];
    }),
  };
}
