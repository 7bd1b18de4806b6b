import { beforeEach, expect, it } from 'vitest';
import { alertOf } from '#shared/findings/alerts/alert.ts';
import { keepAlerts } from '#shared/findings/alerts/alert-store.ts';
import { noteFailed } from '#shared/findings/alerts/receiver-store.ts';
import { findingOf } from '#shared/findings/finding.ts';
import { openFindingLooks } from '#shared/findings/list/finding-watch.ts';
import { openAlerts, openFindings } from '../../../../services/api/fleet/open-findings.ts';
import { closeAfterTests } from '../../../support/close-after-tests.ts';
import { startFakeHttpEndpoint } from '../../../support/fake-http-endpoint.ts';
import { useApi } from '../support/use-api.ts';

let status = 200;
const receiver = closeAfterTests(await startFakeHttpEndpoint((response) => void response.writeHead(status).end()));
const api = await useApi({ alerts: [{ name: 'ops', to: { webhook: { url: receiver.url } } }] });
const { parts } = api;
const look = openFindingLooks({ ...parts, list: openFindings(parts), alerts: openAlerts(parts) });
const ofKind = (kind: string): unknown[] => receiver.requests.map(({ body }) => JSON.parse(body)).filter((alert) => alert.kind === kind);

beforeEach(() => {
  status = 200;
});

it('what the fleet finds is sent and listed as firing, until it is gone', async () => {
  await parts.redis.hset(parts.keys.fleet.unservedQueues, 'chat', 1, 'chat notified', 1);
  await look();
  expect(ofKind('queue.unserved')).toMatchObject([{ status: 'firing', tenant: null }]);
  const { body } = await api.call('GET', '/v1/alerts');
  expect(body.items).toMatchObject([
    { name: 'ops', to: 'webhook', severity: 'warning', tenants: null, resolvedSentAt: null, failure: null },
  ]);
  expect(body.items[0].firingSentAt).toEqual(expect.any(String));
  expect(body.items[0].firing.map(({ kind }: { kind: string }) => kind)).toContain('queue.unserved');
  expect(JSON.stringify(body)).not.toContain(receiver.url);
  await parts.redis.hdel(parts.keys.fleet.unservedQueues, 'chat', 'chat notified');
  await look();
  expect(ofKind('queue.unserved')).toMatchObject([{ status: 'firing' }, { status: 'resolved' }]);
});

it('that a receiver fails is listed with why, and what is over is listed so until it takes that', async () => {
  const unserved = async (): Promise<unknown> => {
    const { body } = await api.call('GET', '/v1/alerts');
    const { firing, failure } = body.items[0];
    return { failure, of: firing.filter(({ kind }: { kind: string }) => kind === 'queue.unserved') };
  };
  await parts.redis.hset(parts.keys.fleet.unservedQueues, 'chat', 1, 'chat notified', 1);
  await look();
  expect(await unserved()).toMatchObject({ failure: null, of: [{ finding: 'open' }] });
  await api.call('POST', '/v1/attention/queue.unserved:chat/acknowledge');
  expect(await unserved()).toMatchObject({ of: [{ finding: 'acknowledged' }] });
  status = 500;
  await parts.redis.hdel(parts.keys.fleet.unservedQueues, 'chat', 'chat notified');
  await look();
  expect(await unserved()).toMatchObject({
    failure: { times: 1, why: 'the receiver answered with 500' },
    of: [{ finding: 'resolved' }],
  });
});

it('what a receiver did not take is listed as it reads now, the worst first, and that it fails is a finding until a test arrives', async () => {
  const { redis, keys } = parts;
  status = 404;
  const since = Date.now();
  const findings = [
    findingOf({ code: 'redis.appendonly', severity: 'warning', text: 'Old.', helps: 'Wait.', since: since - 1000, link: '/health' }),
    findingOf({ code: 'seal.mixed', severity: 'warning', text: 'New.', helps: 'Wait.', since, link: '/health' }),
    findingOf({ code: 'data.foreign', severity: 'critical', text: 'Worst.', helps: 'Wait.', since: since - 2000, link: '/health' }),
    findingOf({ code: 'alert.failing', severity: 'warning', text: 'Itself.', helps: 'Wait.', subject: 'ops', link: '/alerts' }),
  ];
  await redis.del(keys.fleet.alerts, keys.fleet.findings, keys.fleet.acknowledged);
  const [rule] = parts.config.settings.alerts;
  const [sent] = findings;
  const alert = alertOf(rule!, null, { ...sent!, since: since - 1000, text: 'As it was.' });
  await keepAlerts(parts, [{ rule: 'ops', finding: sent!.id, alert }]);
  await redis.hset(keys.fleet.findings, ...findings.flatMap((finding) => [finding.id, JSON.stringify(finding)]));
  await noteFailed(parts, 'ops', { at: since, times: 2, why: 'the receiver answered with 404' });
  expect((await api.call('GET', '/v1/alerts')).body.items[0].firing).toMatchObject([
    { summary: 'Worst.', isSent: false, finding: 'open' },
    { summary: 'New.', isSent: false },
    { summary: 'Old.', isSent: true, id: alert.id },
  ]);
  const failing = async (): Promise<unknown[]> => {
    const { items } = (await api.call('GET', '/v1/attention')).body;
    return items.filter(({ code }: { code: string }) => code === 'alert.failing');
  };
  expect(await failing()).toMatchObject([{ text: 'The alert "ops" does not arrive: the receiver answered with 404.' }]);
  status = 200;
  await api.call('POST', '/v1/alerts/ops/test');
  expect(await failing()).toEqual([]);
  receiver.requests.splice(0);
});

it('a receiver is tested by whoever operates the fleet', async () => {
  expect(await api.call('POST', '/v1/alerts/ops/test')).toMatchObject({ status: 200, body: { kind: 'test', status: 'resolved' } });
  expect(ofKind('test')).toHaveLength(1);
  status = 500;
  expect(await api.call('POST', '/v1/alerts/ops/test')).toMatchObject({ status: 502, body: { code: 'alert.failed' } });
  expect(await api.call('POST', '/v1/alerts/nobody/test')).toMatchObject({ status: 404, body: { code: 'alert.not-found' } });
  const other = await api.keyOf('elsewhere', ['admin']);
  expect((await api.call('GET', '/v1/alerts', { key: other })).body.code).toBe('auth.forbidden');
});
