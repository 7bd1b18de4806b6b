import { afterEach, expect, it } from 'vitest';
import type { FakeHttpEndpoint } from '../../../support/fake-http-endpoint.ts';
import { answer, startFakeApi } from '../fake-api.ts';
import { runMuster } from '../run-muster.ts';

let api: FakeHttpEndpoint | undefined;
afterEach(async () => {
  await api?.close();
  api = undefined;
});

const PREVIEW = {
  tasks: 240,
  wouldHaveWaited: 12,
  wouldHaveBeenRefused: 3,
  longestMs: 4000,
  byLimit: [{ limit: 'running', waited: 12, refused: 0, longestMs: 4000 }],
  since: '2026-05-01T09:00:00.000Z',
};

it('shows what limits would have done, limit by limit', async () => {
  api = await startFakeApi({ 'POST /v1/tenants/acme/limits/preview': (response) => answer(response, 200, PREVIEW) });
  const env = { MUSTER_URL: api.url, MUSTER_API_KEY: 'a-key' };
  const args = ['limits', 'preview', 'acme', '--running', '5', '--class', 'user=3', '--agent', 'echo=1', '--agent', 'other=2'];
  const { stdout, code } = await runMuster(args, { env });
  expect(code).toBe(0);
  expect(stdout).toMatch(/^Of 240 tasks since 2026-05-01T09:00:00.000Z, 12 would have waited .*, and 3 would have been refused.$/m);
  expect(stdout).toMatch(/^running +12 +0 +4\.0 s$/m);
  expect(JSON.parse(api.requests[0]?.body ?? '')).toEqual({
    limits: { running: 5, runningByClass: { user: 3 }, runningByAgent: { echo: 1, other: 2 } },
  });
});

it('refuses figures that are none before it asks', async () => {
  const { code, stderr } = await runMuster(['limits', 'preview', 'acme', '--class', 'user'], { env: {} });
  expect(code).toBe(2);
  expect(stderr).toContain('expected a number');
});
