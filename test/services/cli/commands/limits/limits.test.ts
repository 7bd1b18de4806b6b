import { describe, expect, it } from 'vitest';
import { fleetLimitsPatchSchema, tenantLimitsPatchSchema } from '#shared/config/index.ts';
import { answer } from '../../fake-api.ts';
import { runMuster, type MusterResult } from '../../run-muster.ts';
import { type Handlers, useMuster } from '../../use-muster.ts';

const { muster: run, sent } = useMuster();
const muster = (handlers: Handlers, args: string[]): Promise<MusterResult> => run(handlers, ['limits', ...args]);

const SENTENCE = "With these limits, 12 of the last day's 240 tasks would have waited, the longest 4 s, and 3 would have been refused.";
const PREVIEW = {
  sentence: SENTENCE,
  tasks: 240,
  wouldHaveWaited: 12,
  wouldHaveBeenRefused: 3,
  longestMs: 4000,
  byLimit: [{ limit: 'running', waited: 12, refused: 0, longestMs: 4000 }],
  since: '2026-05-01T09:00:00.000Z',
};
const LIMITS = {
  maxConcurrent: 200,
  runningByClass: { proactive: 50 },
  runningLow: null,
  rates: { all: { perMinute: 500, perHour: 10_000 } },
};
const FLEET = { limits: LIMITS, configured: LIMITS, origin: 'api', changedAt: '2026-05-01T09:00:00.000Z', changedBy: 'k', running: 12 };

describe('the limits that hold', () => {
  const handlers: Handlers = {
    'GET /v1/limits': (response) => answer(response, 200, FLEET),
    'GET /v1/tenants/acme': (response) => answer(response, 200, { limits: null, effectiveLimits: LIMITS }),
  };

  it.each([[[]], [['show']]])('are those of the fleet: muster limits %j', async (args) => {
    const { code, stdout, stderr } = await muster(handlers, args);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^maxConcurrent +200$/m);
    expect(stderr).toContain('Changed by API at 2026-05-01 09:00:00 UTC.');
  });

  it.each([[['acme']], [['show', 'acme']]])('are those of a tenant: muster limits %j', async (args) => {
    const { code, stderr } = await muster(handlers, args);
    expect([code, stderr]).toEqual([0, 'By the configuration.\n']);
  });
});

describe('a preview', () => {
  it('shows what limits would have done, limit by limit', async () => {
    const args = ['preview', 'acme', '--running', '5', '--class', 'user=3', '--agent', 'echo=1', '--agent', 'other=2'];
    const { stdout, code } = await muster({ 'POST /v1/tenants/acme/limits/preview': (response) => answer(response, 200, PREVIEW) }, args);
    expect(code).toBe(0);
    expect(stdout).toContain(`${SENTENCE}\n`);
    expect(stdout).toMatch(/^running +12 +0 +4\.0 s$/m);
    expect(sent()).toEqual({ limits: { running: 5, runningByClass: { user: 3 }, runningByAgent: { echo: 1, other: 2 } } });
  });

  it('is of the fleet without a tenant', async () => {
    const { code } = await muster({ 'POST /v1/limits/preview': (response) => answer(response, 200, PREVIEW) }, [
      'preview',
      '--running',
      '5',
    ]);
    expect([code, sent()]).toEqual([0, { limits: { maxConcurrent: 5 } }]);
  });

  it.each([
    ['a preview of nothing', [], 'Name the limits to try'],
    ['a class without a figure', ['--class', 'user'], 'expected a number'],
    ['a rate that is none', ['--rate', 'user=often'], 'expected figures such as 60/1000'],
    ["a tenant's limit without a tenant", ['--waiting', '5'], 'are limits of a tenant'],
    ["the fleet's limit with a tenant", ['acme', '--max-concurrent', '5'], 'is a limit of the fleet'],
    ['both names of one limit', ['--running', '5', '--max-concurrent', '6'], 'name one of them'],
    ['a weight that is no number', ['acme', '--weight', 'heavy'], 'expected a number above 0'],
  ])('refuses %s before it asks', async (_what, args, problem) => {
    const { code, stderr } = await runMuster(['limits', 'preview', ...args], { env: {} });
    expect(code).toBe(2);
    expect(stderr).toContain(problem);
  });
});

describe('the limits of the fleet', () => {
  it('are shown with where they come from and what runs', async () => {
    const { stdout, stderr } = await muster({ 'GET /v1/limits': (response) => answer(response, 200, FLEET) }, ['show']);
    expect(stdout).toMatch(/^maxConcurrent +200$/m);
    expect(stdout).toMatch(/^runningByClass\.proactive +50$/m);
    expect(stdout).toMatch(/^rates\.all +500 a minute, 10000 an hour, 500 at once$/m);
    expect(stderr).toBe('12 of at most 200 attempts run now.\nChanged by API at 2026-05-01 09:00:00 UTC.\n');
  });

  it('are changed by name, and taken away by none', async () => {
    const args = ['set', '--running', '50', '--class', 'proactive=none', '--rate', 'user=60/1000/100', '--rate', 'all=none'];
    const { code } = await muster({ 'PATCH /v1/limits': (response) => answer(response, 200, FLEET) }, args);
    expect(code).toBe(0);
    const rates = { user: { perMinute: 60, perHour: 1000, burst: 100 }, all: null };
    expect(sent()).toEqual({ maxConcurrent: 50, runningByClass: { proactive: null }, rates });
  });

  it.each([
    ['--running', 'maxConcurrent'],
    ['--max-concurrent', 'maxConcurrent'],
    ['--low', 'runningLow'],
    ['--running-low', 'runningLow'],
  ])('take %s as %s', async (option, name) => {
    await muster({ 'PATCH /v1/limits': (response) => answer(response, 200, FLEET) }, ['set', option, '7']);
    expect(sent()).toEqual({ [name]: 7 });
  });

  it("are the configuration's again after a reset", async () => {
    const { stderr } = await muster({ 'DELETE /v1/limits': (response) => answer(response, 200, { ...FLEET, origin: 'config' }) }, [
      'set',
      '--reset',
    ]);
    expect(stderr).toContain('By the configuration.');
  });

  it('need a figure to be changed', async () => {
    expect((await muster({}, ['set'])).code).toBe(2);
  });
});

it("a tenant's limits are changed and shown", async () => {
  const tenant = { limits: { running: 5 }, effectiveLimits: { running: 5, waiting: null } };
  const { stdout } = await muster(
    {
      'PATCH /v1/tenants/acme': (response) => answer(response, 200, tenant),
      'GET /v1/tenants/acme': (response) => answer(response, 200, tenant),
    },
    ['set', 'acme', '--running', '5', '--waiting', 'none'],
  );
  expect(sent()).toEqual({ limits: { running: 5, waiting: null } });
  expect(stdout).toMatch(/^waiting +none$/m);
});

const LIMIT_NAMES = [...new Set([...Object.keys(fleetLimitsPatchSchema.shape), ...Object.keys(tenantLimitsPatchSchema.shape)])];
it.each(LIMIT_NAMES)('%s is set by an option of its name', async (name) => {
  const { stdout } = await runMuster(['limits', 'set', '--help'], { env: {} });
  expect(stdout).toContain(`--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)} <`);
});
