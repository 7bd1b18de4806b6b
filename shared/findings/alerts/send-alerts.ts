import { Webhook } from 'standardwebhooks';
import { createGuardedFetch, failureFromNetwork } from '../../agents/index.ts';
import type { AlertRule } from '../../config/index.ts';
import { MusterError } from '../../errors/index.ts';
import type { Alert } from './alert.ts';

/** Where mail goes out, by whom. */
export interface MailSettings {
  /** `smtp://user:password@host:587`; undefined where there is none. */
  readonly url: string | undefined;
  readonly from: string;
}

export interface SendOptions {
  readonly mail: MailSettings;
  /** Now, ms since the epoch. */
  readonly now: number;
}

/** What is sent at once: a webhook gets each by itself, other receivers take several in one message. */
export function messagesOf<T>({ to }: Pick<AlertRule, 'to'>, alerts: readonly T[]): (readonly T[])[] {
  if ('webhook' in to) return alerts.map((alert) => [alert]);
  return alerts.length === 0 ? [] : [alerts];
}

/** Sends one message of a rule. Errors: `alert.failed`. */
export async function sendAlerts({ to }: Pick<AlertRule, 'to'>, alerts: readonly Alert[], options: SendOptions): Promise<void> {
  if ('slack' in to) return await post(to.slack.url, { text: alerts.map(slackLine).join('\n') });
  if ('alertmanager' in to)
    return await post(
      `${to.alertmanager.url.replace(/\/+$/, '')}/api/v2/alerts`,
      alerts.map((each) => promAlert(each, options.now)),
    );
  if ('email' in to) return await mail([to.email.to].flat(), alerts, options.mail);
  for (const alert of alerts) await post(to.webhook.url, alert, signatureOf(to.webhook.secret, alert, options.now));
}

/** Alertmanager forgets what it does not hear of again. */
export const REPEAT_MS = 60_000;
const ENDS_AFTER_MS = 5 * REPEAT_MS;

function promAlert({ id, status, severity, kind, tenant, summary, helps, since }: Alert, now: number): object {
  return {
    labels: { alertname: kind, severity, alert_id: id, ...(tenant !== null && { tenant }) },
    annotations: { summary, description: helps },
    startsAt: since,
    endsAt: new Date(status === 'firing' ? now + ENDS_AFTER_MS : now).toISOString(),
  };
}

const MARKS: Readonly<Record<Alert['severity'], string>> = {
  critical: ':red_circle:',
  warning: ':large_yellow_circle:',
  info: ':large_blue_circle:',
};

function slackLine({ status, severity, tenant, summary, helps }: Alert): string {
  const of = tenant === null ? '' : ` (tenant ${escapeSlack(tenant)})`;
  return status === 'resolved'
    ? `:white_check_mark: Resolved${of}: ${escapeSlack(summary)}`
    : `${MARKS[severity]} *${severity}*${of}: ${escapeSlack(summary)}\n${escapeSlack(helps)}`;
}

/** The three characters that Slack reads as its own: https://docs.slack.dev/messaging/formatting-message-text. */
function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function signatureOf(secret: string | undefined, alert: Alert, now: number): Record<string, string> {
  const id = `${alert.id}-${alert.status}`;
  const headers = { 'webhook-id': id, 'webhook-timestamp': String(Math.floor(now / 1000)) };
  return secret === undefined
    ? headers
    : { ...headers, 'webhook-signature': new Webhook(secret).sign(id, new Date(now), JSON.stringify(alert)) };
}

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 65_536;
let fetchAnywhere: ReturnType<typeof createGuardedFetch> | undefined;

/** The addresses are the operator's own. */
async function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<void> {
  fetchAnywhere ??= createGuardedFetch({ allowNetworks: ['0.0.0.0/0', '::/0'], maxResponseBytes: MAX_BYTES });
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  let status: number;
  try {
    const all = { 'content-type': 'application/json', 'user-agent': 'muster', ...headers };
    const response = await fetchAnywhere(url, { method: 'POST', headers: all, body: JSON.stringify(body), signal });
    await response.body?.cancel().catch(() => undefined);
    ({ status } = response);
  } catch (error) {
    throw failed(signal.aborted ? `the receiver did not answer within ${TIMEOUT_MS} ms` : failureFromNetwork(error).message);
  }
  if (status < 200 || status > 299) throw failed(`the receiver answered with ${status}`);
}

async function mail(to: readonly string[], alerts: readonly Alert[], { url, from }: MailSettings): Promise<void> {
  if (url === undefined) throw failed('MUSTER_SMTP_URL is not set, through which mail goes out');
  // Only fleets that send mail load it.
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({ url, connectionTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS });
  try {
    await transport.sendMail({ from, to: [...to], subject: subjectOf(alerts), text: alerts.map(mailText).join('\n\n') });
  } catch (error) {
    throw failed(error instanceof Error ? error.message : String(error));
  } finally {
    transport.close();
  }
}

function subjectOf([first, ...others]: readonly Alert[]): string {
  const one = first === undefined ? '' : `${first.status === 'resolved' ? 'Resolved' : first.severity}: ${first.summary}`;
  return `[Muster] ${one}${others.length === 0 ? '' : ` and ${others.length} more`}`.replaceAll(/\s+/g, ' ').slice(0, MAX_SUBJECT);
}

const MAX_SUBJECT = 150;

function mailText({ status, severity, kind, tenant, summary, helps, since }: Alert): string {
  const head = `${status === 'resolved' ? 'Resolved' : severity}: ${summary}`;
  return [head, helps, `${kind}${tenant === null ? '' : `, tenant ${tenant}`}, since ${since}`].join('\n');
}

function failed(why: string): MusterError {
  return new MusterError('alert.failed', `The alert was not taken: ${why}`, { details: { why } });
}
