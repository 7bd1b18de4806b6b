import type { AlertRule } from '../../config/index.ts';
import type { ReceiverState } from '../alerts/receiver-store.ts';
import { type Finding, findingOf } from '../finding.ts';
import type { InstallationFacts } from '../facts/installation-facts.ts';
import type { Inspection, Verdict } from '../inspection.ts';

/** A single failed try may be a restart of the receiver. */
const LEAST_FAILURES = 2;

/** Whether what is found reaches the receivers that the configuration names. */
export const ALERT_INSPECTIONS: readonly Inspection<InstallationFacts>[] = [
  {
    name: 'Alerts',
    codes: ['alert.failing'],
    look: async ({ alertRules, hasMail, alertReceivers }) => judgeReceivers(alertRules, await alertReceivers(), hasMail),
  },
];

function judgeReceivers(rules: readonly AlertRule[], receivers: ReadonlyMap<string, ReceiverState>, hasMail: boolean | undefined): Verdict {
  const findings = rules.flatMap((rule): Finding[] => {
    const { failure } = receivers.get(rule.name) ?? { failure: null };
    if ('email' in rule.to && hasMail === false)
      return [failing(rule, 'goes out by e-mail, and MUSTER_SMTP_URL is not set', 'Set MUSTER_SMTP_URL of the API.')];
    if (failure === null || failure.times < LEAST_FAILURES) return [];
    const helps = `See to its address and to what it answers; npx muster alerts test ${rule.name} tries it.`;
    return [failing(rule, `does not arrive: ${failure.why}`, helps)];
  });
  return { findings, note: rules.length === 0 || findings.length > 0 ? null : `${rules.length} in the configuration` };
}

function failing({ name }: AlertRule, what: string, helps: string): Finding {
  return findingOf({
    code: 'alert.failing',
    severity: 'warning',
    text: `The alert "${name}" ${what}.`,
    helps,
    subject: name,
    link: '/alerts',
  });
}
