import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { AlertRule } from '../../config/index.ts';
import type { Finding } from '../finding.ts';
import type { ListOwner } from '../list/finding-store.ts';

const ALERT_STATUSES = ['firing', 'resolved'] as const;

/** What a person is alerted to. Its id stays from `firing` to `resolved`. */
export const alertSchema = z.strictObject({
  id: z.string().meta({ description: 'The same for `firing` and `resolved`.' }),
  status: z.enum(ALERT_STATUSES).meta({ description: 'Whether it is so, or over.' }),
  severity: z.enum(['info', 'warning', 'critical']).meta({ description: '`critical`: work stands still or is lost.' }),
  kind: z.string().meta({ description: 'The code of the finding.' }),
  tenant: z.string().nullable().meta({ description: 'Whose it is; null for the installation.' }),
  summary: z.string().meta({ description: 'What was found, in a sentence.' }),
  helps: z.string().meta({ description: 'What helps, for people.' }),
  since: z.iso.datetime().meta({ description: 'Since when.' }),
});
export type Alert = z.infer<typeof alertSchema>;

/** As it is kept between its two messages, under the name of its rule. */
export const keptAlertSchema = z.object({ rule: z.string(), finding: z.string(), alert: alertSchema });
export type KeptAlert = z.infer<typeof keptAlertSchema>;

const ID_CHARACTERS = 24;

/** The alert of a finding. The same finding has the same id, also when a process died while it was sent. */
export function alertOf(rule: Pick<AlertRule, 'name'>, owner: ListOwner, finding: Finding & { since: number }): Alert {
  const { id, severity, code, text, helps, since } = finding;
  const digest = createHash('sha256')
    .update(JSON.stringify([rule.name, owner, id, since]))
    .digest('hex');
  const alert = { id: `alert_${digest.slice(0, ID_CHARACTERS)}`, status: 'firing' as const, severity, kind: code, tenant: owner };
  return { ...alert, summary: text, helps, since: new Date(since).toISOString() };
}

const RANKS: Readonly<Record<Alert['severity'], number>> = { info: 0, warning: 1, critical: 2 };

/** Whether a rule is about a finding. That its own receiver fails is for the others: it would go the way that failed. */
export function concerns(
  { name, severity, tenants }: Pick<AlertRule, 'name' | 'severity' | 'tenants'>,
  owner: ListOwner,
  finding: Finding,
): boolean {
  if (RANKS[finding.severity] < RANKS[severity]) return false;
  if (finding.code === 'alert.failing' && finding.subject === name) return false;
  return tenants === undefined || (owner !== null && tenants.includes(owner));
}
