import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import type { FakeHttpEndpoint } from '../../../../support/fake-http-endpoint.ts';
import { answer, startFakeApi, TASK_ID } from '../../fake-api.ts';
import { runMuster, type MusterResult } from '../../run-muster.ts';

let api: FakeHttpEndpoint | undefined;
afterEach(async () => {
  await api?.close();
  api = undefined;
});

function muster(...args: string[]): Promise<MusterResult> {
  return runMuster(args, { env: { MUSTER_URL: api?.url ?? '', MUSTER_API_KEY: 'a-key' } });
}

async function serve(handlers: Record<string, unknown>): Promise<void> {
  const routes = Object.entries(handlers).map(
    ([route, body]) => [route, (response: ServerResponse) => answer(response, 200, body)] as const,
  );
  api = await startFakeApi(Object.fromEntries(routes));
}

const bodyOf = (index: number): unknown => JSON.parse(api?.requests[index]?.body ?? '');

/** As the API writes it. */
const schedule = {
  id: '01JQZX5M8Q2V7W3K4N6P9R0T1T',
  number: 17,
  name: null,
  kind: 'cron',
  rule: '0 9 * * 1',
  sentence: 'At 09:00, only on Monday',
  tz: 'Europe/Berlin',
  agent: 'research',
  message: 'summarise\nthe \u001B[31mweek',
  status: 'active',
  pausedReason: null,
  priority: 10,
  channel: null,
  platform: null,
  missed: 'once',
  maxLateness: null,
  overlap: 'skip',
  jitter: null,
  until: null,
  maxRuns: null,
  nextFireAt: '2026-05-11T07:00:00.000Z',
  next: ['2026-05-11T07:00:00.000Z', '2026-05-18T07:00:00.000Z'],
  lastRunAt: '2026-05-04T07:00:00.000Z',
  lastRunId: TASK_ID,
  runCount: 3,
};
const run = {
  id: TASK_ID,
  scheduleId: schedule.id,
  occurrence: '2026-05-04T07:00:00.000Z',
  status: 'skipped',
  reason: 'the run before goes on',
  agent: 'research',
  startedAt: null,
  completedAt: null,
  inputTokens: null,
  outputTokens: null,
  resultSummary: null,
  error: null,
};

describe('muster schedule <when> <message>', () => {
  it('creates a schedule and shows how it was understood, in the zone of the schedule', async () => {
    await serve({ 'POST /v1/schedules': schedule });

    const message = "summarise last week's PRs";
    const { code, stdout, stderr } = await muster(
      'schedule',
      'every monday at 09:00',
      message,
      '--agent',
      'research',
      '--tz',
      'Europe/Berlin',
    );

    expect(code).toBe(0);
    expect(bodyOf(0)).toEqual({
      phrase: 'every monday at 09:00',
      message,
      agent: 'research',
      tz: 'Europe/Berlin',
      idempotencyKey: expect.stringMatching(/^[\da-f-]{36}$/),
    });
    expect(stdout.split('\n')).toEqual([
      `#17 → research: ${message}`,
      'At 09:00, only on Monday (Europe/Berlin)  0 9 * * 1',
      '  2026-05-11 09:00 Europe/Berlin',
      '  2026-05-18 09:00 Europe/Berlin',
      '',
    ]);
    expect(stderr).toContain('muster schedule cancel 17');
  });

  it('sends all options, and prints the record for --json', async () => {
    await serve({ 'POST /v1/schedules': schedule });

    const options = [
      '--name',
      'weekly',
      '--priority',
      'high',
      '--context',
      'a=1',
      '--missed',
      'skip',
      '--max-lateness',
      '1h',
      '--overlap',
      'queue',
    ];
    const { stdout } = await muster(
      'schedule',
      '5m',
      'go',
      ...options,
      '--jitter',
      '30s',
      '--until',
      '2027-01-01T00:00Z',
      '--max-runs',
      '9',
      '--exact',
      '--platform',
      'slack',
      '--channel',
      'C1',
      '--callback-url',
      'https://example.com/x',
      '--json',
    );

    expect(JSON.parse(stdout)).toEqual(schedule);
    expect(bodyOf(0)).toMatchObject({
      phrase: '5m',
      agent: 'echo',
      name: 'weekly',
      priority: 'high',
      context: { a: 1 },
      missed: 'skip',
      maxLateness: '1h',
      overlap: 'queue',
      jitter: '30s',
      until: '2027-01-01T00:00Z',
      maxRuns: 9,
      exact: true,
      platform: 'slack',
      channel: 'C1',
      callbackUrl: 'https://example.com/x',
    });
  });

  it('shows why the server cannot read a phrase', async () => {
    const details = { given: '"soon"', reason: 'is no rule that can be read', accepted: ['at TIME', 'tomorrow'] };
    const detail = '"soon" is no rule that can be read. Accepted forms: at TIME; tomorrow.';
    const problem = { code: 'schedule.unreadable', detail, details };
    api = await startFakeApi({ 'POST /v1/schedules': (response) => answer(response, 422, problem) });

    const { code, stderr } = await muster('schedule', 'soon', 'go');

    expect(code).toBe(2);
    expect(stderr).toContain('muster: "soon" is no rule that can be read [schedule.unreadable]\nIt can be:\n  at TIME\n  tomorrow\n');
  });

  it('accepts the word create, and options after it', async () => {
    await serve({ 'POST /v1/schedules': schedule });
    const { code } = await runMuster(['schedule', 'create', 'daily', 'go', '--url', api?.url ?? '', '--key', 'a-key']);
    expect(code).toBe(0);
    expect(bodyOf(0)).toMatchObject({ phrase: 'daily', message: 'go' });
  });

  it('reports a missing argument, and sends nothing', async () => {
    await serve({});
    for (const args of [[], ['every day at 9'], ['every day at 9', ' ']]) {
      const { code, stderr } = await muster('schedule', ...args);
      expect(code).toBe(2);
      expect(stderr).toContain(args.length < 2 ? 'needs a time and a message' : 'There is no message');
    }
    expect(api?.requests).toEqual([]);
  });
});

describe('muster schedule preview', () => {
  it('shows a rule without creating a schedule', async () => {
    const { rule, sentence, tz, next } = schedule;
    await serve({ 'POST /v1/schedules/preview': { kind: 'cron', rule, sentence, tz, next } });

    const { stdout } = await muster('schedule', 'preview', 'weekly', '--tz', tz, '--count', '2', '--from', '2026-05-08T00:00Z');

    expect(bodyOf(0)).toEqual({ phrase: 'weekly', tz, count: 2, from: '2026-05-08T00:00Z' });
    expect(stdout.split('\n')[0]).toBe('At 09:00, only on Monday (Europe/Berlin)  0 9 * * 1');
    expect(stdout).toContain('  2026-05-11 09:00 Europe/Berlin\n');
  });
});

describe('muster schedule list', () => {
  it('shows a line for each, without control characters', async () => {
    const paused = { ...schedule, number: 18, status: 'paused', nextFireAt: null, next: [] };
    const items = [schedule, paused, { ...schedule, number: 19, kind: 'once', rule: '2026-05-11T07:00:00.000Z' }];
    await serve({ 'GET /v1/schedules': { items, nextCursor: 'more' } });

    const { stdout, stderr } = await muster('schedule', 'list', '--status', 'active');

    expect(api?.requests[0]?.path).toBe('/v1/schedules?limit=20&status=active');
    const [heading, first, second, third] = stdout.split('\n');
    expect(heading?.split(/ +/)).toEqual(['#', 'STATUS', 'AGENT', 'RULE', 'NEXT', 'ZONE', 'RUNS', 'MESSAGE']);
    expect(first).toMatch(/^17 +active +research +0 9 \* \* 1 +2026-05-11 09:00 +Europe\/Berlin +3 +summarise the week$/);
    expect(second).toMatch(/^18 +paused .* - +Europe/);
    expect(third).toMatch(/^19 +active +research +once +2026-05-11 09:00/);
    expect(stderr).toContain('--cursor more');
  });

  it('reads --json as its own option', async () => {
    const page = { items: [schedule], nextCursor: null };
    await serve({ 'GET /v1/schedules': page });
    expect(JSON.parse((await muster('schedule', 'list', '--json')).stdout)).toEqual(page);
  });
});

describe('a schedule by its number', () => {
  const path = '/v1/schedules/17';

  it('is shown, with its latest runs', async () => {
    const shown = { ...schedule, jitter: '30s', maxLateness: 1500, platform: 'slack', channel: 'C1' };
    await serve({ [`GET ${path}`]: shown, [`GET ${path}/runs`]: { items: [run], nextCursor: null } });

    const { stdout } = await muster('schedule', 'show', '#17');

    expect(stdout).toContain(`#17  active  ${schedule.id}\nAt 09:00, only on Monday (Europe/Berlin)  0 9 * * 1\n`);
    expect(stdout).toMatch(/channel +slack C1\n/);
    expect(stdout).toMatch(/max lateness +1500 ms\n/);
    expect(stdout).toMatch(/jitter +30s\n/);
    expect(stdout).toMatch(/last run +2026-05-04 09:00 Europe\/Berlin/);
    expect(stdout).toContain(`  2026-05-04 09:00 Europe/Berlin  skipped  ${TASK_ID}  the run before goes on\n`);
  });

  it('lists its runs', async () => {
    const failed = { ...run, status: 'failed', reason: null, error: { code: 'NETWORK_ERROR', message: 'no way' } };
    await serve({ [`GET ${path}`]: schedule, [`GET ${path}/runs`]: { items: [failed], nextCursor: null } });

    expect((await muster('schedule', 'runs', '17', '--limit', '5')).stdout).toContain('no way [NETWORK_ERROR]');
    expect(api?.requests[0]?.path).toBe(`${path}/runs?limit=5`);
  });

  it('is paused and resumed', async () => {
    await serve({ [`PATCH ${path}`]: schedule });

    expect((await muster('schedule', 'pause', '17')).stdout).toContain('Schedule 17 is paused.');
    expect((await muster('schedule', 'resume', '17')).stdout).toContain('2026-05-11 09:00');
    expect([bodyOf(0), bodyOf(1)]).toEqual([{ status: 'paused' }, { status: 'active' }]);
  });

  it('is cancelled, also where the answer is empty', async () => {
    api = await startFakeApi({ [`DELETE ${path}`]: (response) => void response.writeHead(204).end() });

    const { code, stdout } = await muster('schedule', 'cancel', '17');

    expect([code, stdout]).toEqual([0, 'Schedule 17 is cancelled.\n']);
  });

  it('runs now, and prints the id of the task', async () => {
    await serve({ [`POST ${path}/run`]: { id: TASK_ID, status: 'queued' } });

    const { stdout, stderr } = await muster('schedule', 'run', '17');

    expect(stdout).toBe(`${TASK_ID}\n`);
    expect(stderr).toContain('queued; follow it');
  });

  it('ends with 1 when it does not exist', async () => {
    await serve({});
    expect((await muster('schedule', 'pause', '99')).code).toBe(1);
  });
});

describe('muster schedule skip', () => {
  it('skips the occurrence that is next', async () => {
    const after = { ...schedule, nextFireAt: schedule.next[1], next: [schedule.next[1]] };
    await serve({ 'GET /v1/schedules/17': schedule, 'POST /v1/schedules/17/skip': after });
    const { code, stdout } = await muster('schedule', 'skip', '17');
    expect([code, bodyOf(1)]).toEqual([0, { occurrence: schedule.nextFireAt }]);
    expect(stdout).toContain('Schedule 17 skips 2026-05-11 09:00 Europe/Berlin.');
  });
});

describe('muster schedule backfill', () => {
  it('prints the occurrences, and which had a run', async () => {
    const items = [
      { occurrence: '2026-05-01T07:00:00.000Z', id: TASK_ID, isNew: false },
      { occurrence: '2026-05-02T07:00:00.000Z', id: null, isNew: true },
    ];
    await serve({ 'POST /v1/schedules/17/backfill': { items, newRuns: 1 } });
    const { code, stdout, stderr } = await muster('schedule', 'backfill', '17', '--since', '2026-05-01T00:00:00Z', '--dry-run');
    expect([code, bodyOf(0)]).toEqual([0, { since: '2026-05-01T00:00:00Z', dryRun: true }]);
    expect(stdout.trim().split('\n')).toEqual([
      `2026-05-01 07:00:00 UTC  ${TASK_ID}  had a run already`,
      '2026-05-02 07:00:00 UTC  would run',
    ]);
    expect(stderr).toContain('1 of 2 would run.');
  });
});
