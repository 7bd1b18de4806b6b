import { AlertSender, FindingList } from '#shared/findings/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { LoadReader } from '#shared/queue/index.ts';
import { openScheduleParts } from '#shared/schedules/index.ts';

/** The list of findings, as this process looks at it. */
export function openFindings(parts: Parts): FindingList {
  const { redis, keys, ledger, queues, budgets, log, config } = parts;
  const hasMail = config.env.MUSTER_SMTP_URL !== undefined;
  const ports = { redis, keys, ledger, queues, budgets, log, hasMail };
  return new FindingList({ ...ports, scheduling: openScheduleParts(parts), loads: new LoadReader(parts) });
}

/** What sends alerts of what is found. */
export function openAlerts({ redis, keys, config: { settings, env }, log }: Parts): AlertSender {
  return new AlertSender({ redis, keys, rules: settings.alerts, mail: mailOf(env), log });
}

/** How mail goes out. */
export function mailOf({ MUSTER_SMTP_URL: url, MUSTER_MAIL_FROM: from }: Parts['config']['env']): {
  url: string | undefined;
  from: string;
} {
  return { url, from };
}
