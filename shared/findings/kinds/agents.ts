import { type AgentEnds, isFailing } from '../../metrics/index.ts';
import { type Finding, findingOf } from '../finding.ts';
import type { TenantFacts } from '../facts/tenant-facts.ts';
import type { HeldTasks } from '../facts/waits.ts';
import type { Inspection, Verdict } from '../inspection.ts';

const MINUTE_MS = 60_000;

/** A tenant's agents: those that start nothing until a person resumes them, and those whose attempts fail. */
export const AGENT_INSPECTIONS: readonly Inspection<TenantFacts>[] = [
  {
    name: 'Held agents',
    codes: ['agent.held', 'agent.paused'],
    look: async (facts) => judgeHolds(await facts.agentHolds(), await facts.held()),
  },
  {
    name: 'Failing agents',
    codes: ['agent.failing'],
    look: async (facts) => judgeEnds(await facts.agentEnds(), facts.settings.metrics),
  },
];

type AgentHolds = Awaited<ReturnType<TenantFacts['agentHolds']>>;

function judgeHolds(holds: AgentHolds, held: readonly HeldTasks[]): Verdict {
  return {
    findings: [...holds].map(([agent, { gate, since, reason }]) => {
      const count = held.find((each) => each.gate === gate && each.what === agent)?.count ?? 0;
      return findingOf({
        code: gate === 'agent' ? 'agent.paused' : 'agent.held',
        severity: gate === 'agent' ? 'warning' : 'critical',
        text: `Tasks of ${agent} wait until somebody resumes it: ${reason}.`,
        helps:
          gate === 'agent' ? 'Resume the agent.' : 'See to the cause of its failures, then resume the agent or retry one of its tasks.',
        count: Math.max(1, count),
        since,
        gate,
        subject: agent,
        link: `/agents/${encodeURIComponent(agent)}`,
      });
    }),
  };
}

type Bounds = TenantFacts['settings']['metrics'];

/** Long before failures in a row hold an agent. One that failed stays found until an attempt of it completes, however long none runs. */
export function judgeEnds(ends: readonly AgentEnds[], bounds: Bounds): Verdict {
  const completed = new Set(ends.filter((each) => each.completed > 0).map(({ agent }) => agent));
  return {
    findings: ends.filter((each) => isFailing(each, bounds)).map((each) => describe(each, Math.round(bounds.failingMs / MINUTE_MS))),
    keeps: ({ subject }) => subject !== null && !completed.has(subject),
  };
}

function describe({ agent, completed, failed, retried }: AgentEnds, minutes: number): Finding {
  const count = failed + retried;
  const end = failed === 0 ? 'all are tried again' : `${failed} of them for good`;
  const filter = `agent=${encodeURIComponent(agent)}`;
  return findingOf({
    code: 'agent.failing',
    severity: completed === 0 ? 'critical' : 'warning',
    text: `${count} of ${count + completed} attempts of ${agent} failed within ${minutes} minutes, ${end}.`,
    helps: 'See their errors, and pause the agent while its cause lasts.',
    count,
    subject: agent,
    link: failed === 0 ? `/tasks?${filter}&status=failed,timeout` : `/failures?${filter}`,
  });
}
