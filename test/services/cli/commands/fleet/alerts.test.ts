import { afterEach, expect, it } from 'vitest';
import type { FakeHttpEndpoint } from '../../../../support/fake-http-endpoint.ts';
import { answer, startFakeApi } from '../../fake-api.ts';
import { runMuster, type MusterResult } from '../../run-muster.ts';

let api: FakeHttpEndpoint | undefined;
afterEach(async () => {
  await api?.close();
});

const muster = (...args: string[]): Promise<MusterResult> =>
  runMuster(args, { env: { MUSTER_URL: api?.url ?? '', MUSTER_API_KEY: 'a-key' } });

it('muster alerts lists who is alerted, of what, and sends tests', async () => {
  const firing = [{ severity: 'critical', summary: 'No worker serves "chat"', since: '2026-05-01T09:00:00.000Z', tenant: null }];
  const items: Record<string, unknown>[] = [
    { name: 'ops', to: 'slack', severity: 'warning', tenants: null, firing, firingSentAt: '2026-05-01T09:00:02.000Z', failure: null },
  ];
  api = await startFakeApi({
    'GET /v1/alerts': (response) => answer(response, 200, { items, nextCursor: null }),
    'POST /v1/alerts/ops/test': (response) => answer(response, 200, firing[0] ?? {}),
  });
  const failure = { at: '2026-05-01T09:05:00.000Z', times: 3, why: 'the receiver answered with 500' };
  items.push({ ...items[0]!, name: 'pager', firing: [], firingSentAt: null, failure });
  const { stdout } = await muster('alerts');
  const [head, ops, pager, fails, open] = stdout.split('\n');
  expect(head).toMatch(/^NAME +TO +WHAT +TENANTS +FIRING +LAST SENT +FAILURES$/);
  expect(ops).toMatch(/^ops +slack +warning and worse +all +1 +\S.* 0$/);
  expect(pager).toMatch(/^pager +slack +warning and worse +all +0 +never +3$/);
  expect(fails).toMatch(/^pager: its receiver took none of the last 3 tries, the last at .*: the receiver answered with 500$/);
  expect(open).toMatch(/^ops: critical since .*: No worker serves "chat"$/);
  items[0]!['firing'] = [{ ...firing[0], isSent: false }];
  expect((await muster('alerts')).stdout).toMatch(/ No worker serves "chat" \(not sent yet\)$/m);
  expect((await muster('alerts', 'test', 'ops')).stdout).toBe('The receiver of ops took a test.\n');
});

it('ends with 1 where the receiver of a test refuses, because the fleet has answered', async () => {
  const detail = 'The alert was not taken: the receiver answered with 404';
  api = await startFakeApi({
    'POST /v1/alerts/ops/test': (response) => answer(response, 502, { code: 'alert.failed', detail }),
  });
  expect(await muster('alerts', 'test', 'ops')).toMatchObject({ code: 1, stderr: expect.stringContaining(detail) });
});
