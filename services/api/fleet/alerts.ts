import pMap from 'p-map';
import { z } from 'zod';
import type { AlertRule } from '#shared/config/index.ts';
import { MusterError } from '#shared/errors/index.ts';
import {
  type Alert,
  alertOf,
  alertSchema,
  concerns,
  type KeptAlert,
  noteTested,
  readAlerts,
  readList,
  readReceivers,
  type ReceiverState,
  sendAlerts,
} from '#shared/findings/index.ts';
import type { Route } from '#shared/http/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { systemClock } from '#shared/time/index.ts';
import { answerList, onePageOf } from '../lists.ts';
import { fleetRoute } from './fleet-owner.ts';
import { mailOf } from './open-findings.ts';

const RECEIVERS = ['slack', 'webhook', 'email', 'alertmanager'] as const;

const alertViewSchema = alertSchema.meta({
  id: 'Alert',
  examples: [
    {
      id: 'alert_0c6b21f3a2c94e7d1f5b8a60',
      status: 'firing',
      severity: 'critical',
      kind: 'queue.unserved',
      tenant: null,
      summary: 'No worker serves the queue "chat", in which 3 tasks wait',
      helps: 'Start a worker that serves it.',
      since: '2026-05-01T09:00:00.000Z',
    },
  ],
});

const firingViewSchema = alertSchema
  .extend({
    finding: z
      .enum(['open', 'acknowledged', 'resolved'])
      .meta({ description: 'What became of what was found. `resolved`: it is over, which the receiver has not taken yet.' }),
    isSent: z.boolean().meta({ description: 'Whether the receiver took it as firing. If not, `failure` of the rule says why.' }),
  })
  .meta({ id: 'FiringAlert' });

const timeSchema = z.iso.datetime().nullable();

const ruleViewSchema = z
  .strictObject({
    name: z.string().meta({ description: 'Of the configuration.' }),
    to: z.enum(RECEIVERS).meta({ description: 'What receives its alerts.' }),
    severity: z.enum(['info', 'warning', 'critical']).meta({ description: 'The least that is sent.' }),
    tenants: z.array(z.string()).nullable().meta({ description: 'The only tenants that it is about; null for the installation and all.' }),
    firing: z.array(firingViewSchema).meta({
      description:
        'What is found and not acknowledged before it was sent, and what was sent as firing and not as resolved yet: as it reads now, the worst and newest first.',
    }),
    firingSentAt: timeSchema.meta({ description: 'When its receiver last took what fires; null for never.' }),
    resolvedSentAt: timeSchema.meta({ description: 'When its receiver last took what was resolved; null for never.' }),
    failure: z
      .strictObject({
        at: z.iso.datetime().meta({ description: 'When the last try failed.' }),
        times: z.int().min(1).meta({ description: 'Tries in a row that failed.' }),
        why: z.string().meta({ description: 'Why the last one did.' }),
      })
      .nullable()
      .meta({ description: 'Why its receiver takes nothing; null while it does. It is tried again, after 5 s up to 5 minutes.' }),
  })
  .meta({ id: 'AlertRule' });

const nameSchema = z.strictObject({ name: z.string().max(100).meta({ description: 'The name of the rule.' }) });

/** `/v1/alerts`: who is alerted, of what, and a test of it. */
export function alertRoutes(parts: Parts): Route[] {
  return [getAlerts(parts), postAlertTest(parts)];
}

function getAlerts(parts: Parts): Route {
  return fleetRoute({
    method: 'get',
    path: '/v1/alerts',
    operationId: 'getAlerts',
    summary: 'Who is alerted of what the fleet finds, and of what now',
    scope: 'read',
    responses: { 200: onePageOf(ruleViewSchema, 'As in the configuration.').meta({ id: 'AlertRules' }) },
    handle: async () => {
      const { alerts: rules } = parts.config.settings;
      const [kept, receivers] = await Promise.all([
        readAlerts(parts),
        readReceivers(
          parts,
          rules.map(({ name }) => name),
        ),
      ]);
      const lists = await readLists(parts, kept);
      const items = rules.map((rule) => {
        const sent = kept.filter((each) => each.rule === rule.name);
        return viewRule(rule, [...openOf(rule, lists, sent), ...overOf(lists, sent)].toSorted(worstFirst), receivers.get(rule.name));
      });
      return answerList(items);
    },
  });
}

const CONCURRENCY = 10;

type Lists = ReadonlyMap<string | null, Awaited<ReturnType<typeof readList>>>;
type Firing = z.infer<typeof firingViewSchema>;

/** The lists of findings that the rules are about, and those of tenants that are gone. */
async function readLists(parts: Parts, kept: readonly KeptAlert[]): Promise<Lists> {
  const tenants = parts.config.settings.alerts.flatMap((rule) => rule.tenants ?? parts.tenants.list().map(({ id }) => id));
  const owners = [...new Set([null, ...tenants, ...kept.map(({ alert }) => alert.tenant)])];
  return new Map(await pMap(owners, async (owner) => [owner, await readList(parts, owner)] as const, { concurrency: CONCURRENCY }));
}

/** What is found now that a rule is about, as it reads now. What was acknowledged before it was sent is not sent any more. */
function openOf(rule: AlertRule, lists: Lists, kept: readonly KeptAlert[]): Firing[] {
  const sent = new Map(kept.map((each) => [JSON.stringify([each.alert.tenant, each.finding]), each.alert]));
  return [...lists].flatMap(([owner, { findings, acknowledged }]) =>
    findings
      .filter((finding) => concerns(rule, owner, finding))
      .flatMap((finding): Firing[] => {
        const before = sent.get(JSON.stringify([owner, finding.id]));
        const isKnown = acknowledged.has(finding.id);
        if (before === undefined && isKnown) return [];
        const now = alertOf(rule, owner, { ...finding, since: finding.since ?? systemClock.now() });
        const { id, since } = before ?? now;
        return [{ ...now, id, since, finding: isKnown ? 'acknowledged' : 'open', isSent: before !== undefined }];
      }),
  );
}

/** What was sent as firing and is over. */
function overOf(lists: Lists, kept: readonly KeptAlert[]): Firing[] {
  const isOpen = ({ finding, alert }: KeptAlert): boolean => lists.get(alert.tenant)?.findings.some(({ id }) => id === finding) === true;
  return kept.flatMap((each): Firing[] => (isOpen(each) ? [] : [{ ...each.alert, finding: 'resolved', isSent: true }]));
}

const RANKS = ['critical', 'warning', 'info'];

function worstFirst(one: Firing, other: Firing): number {
  return RANKS.indexOf(one.severity) - RANKS.indexOf(other.severity) || Date.parse(other.since) - Date.parse(one.since);
}

function viewRule({ name, to, severity, tenants }: AlertRule, firing: RuleView['firing'], receiver: ReceiverState | undefined): RuleView {
  return {
    name,
    to: RECEIVERS.find((each) => each in to) ?? 'webhook',
    severity,
    tenants: tenants ?? null,
    firing,
    ...viewReceiver(receiver),
  };
}

type RuleView = z.infer<typeof ruleViewSchema>;

function viewReceiver(state: ReceiverState | undefined): Pick<RuleView, 'firingSentAt' | 'resolvedSentAt' | 'failure'> {
  const { firingSentAt = null, resolvedSentAt = null, failure = null } = state ?? {};
  return {
    firingSentAt: timeOf(firingSentAt),
    resolvedSentAt: timeOf(resolvedSentAt),
    failure: failure === null ? null : { ...failure, at: new Date(failure.at).toISOString() },
  };
}

function timeOf(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}

function postAlertTest(parts: Parts): Route {
  return fleetRoute({
    method: 'post',
    path: '/v1/alerts/:name/test',
    operationId: 'testAlert',
    summary: 'Send a test to a receiver of alerts',
    description: 'It gets an alert of the kind `test` that is resolved already.',
    scope: 'operate',
    errors: ['alert.not-found', 'alert.failed'],
    request: { params: nameSchema },
    responses: { 200: alertViewSchema },
    handle: async ({ params: { name } }) => {
      const { settings, env } = parts.config;
      const rule = settings.alerts.find((each) => each.name === name);
      if (!rule) throw new MusterError('alert.not-found', `The configuration has no alert "${name}"`, { details: { name } });
      const now = systemClock.now();
      const alert = testAlert(name, now);
      await sendAlerts(rule, [alert], { mail: mailOf(env), now });
      await noteTested(parts, name);
      return { status: 200, body: alert };
    },
  });
}

function testAlert(name: string, now: number): Alert {
  const about = { summary: `This is a test of the alert "${name}"`, helps: 'Nothing is to be done.' };
  return {
    id: `alert_test_${now}`,
    status: 'resolved',
    severity: 'info',
    kind: 'test',
    tenant: null,
    ...about,
    since: new Date(now).toISOString(),
  };
}
