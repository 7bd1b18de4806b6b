import { describe, expect, it } from 'vitest';
import { answer, TASK_ID } from '../fake-api.ts';
import { runMuster } from '../run-muster.ts';
import { type Handlers, useMuster } from '../use-muster.ts';

const { api, muster, sent } = useMuster();

/** Answers the path with a page of one record. */
function page(path: string, item: Record<string, unknown>): Handlers {
  return { [`GET ${path}`]: (response) => answer(response, 200, { items: [item], nextCursor: null }) };
}

const key = { id: 'k1', name: 'ci', scopes: ['submit', 'read'], createdAt: '2026-01-01T00:00:00.000Z' };
const hook = { id: 'h1', name: 'pulls', provider: 'github', agent: 'echo', enabled: true, path: '/hooks/h1' };

describe('lists of what an installation has', () => {
  it.each([
    [
      'agents',
      '/v1/agents',
      { id: 'echo', kind: 'echo', origin: 'config', description: 'Says it again' },
      /^echo +echo +config +ready +Says it again$/m,
    ],
    ['hooks', '/v1/hooks', hook, /^h1 +github +echo +enabled +pulls$/m],
    ['keys', '/v1/tenants/default/keys', key, /^k1 +submit,read +2026-01-01 00:00:00 UTC +ci$/m],
    [
      'queues',
      '/v1/queues',
      {
        name: 'chat',
        paused: true,
        waiting: 3,
        forSlot: 1,
        held: 0,
        parked: 2,
        delayed: 0,
        active: 4,
        failed: 5,
        workers: 6,
        oldestWaitingAgeMs: 85_320_000,
      },
      /^chat +paused +3 \(1 for a slot, 2 parked\) +0 +4 +5 +6 +23 h 42 min$/m,
    ],
    [
      'failures',
      '/v1/failures',
      {
        code: 'NETWORK_ERROR',
        agent: 'echo',
        release: null,
        count: 12,
        firstAt: '2026-01-01T00:00:00.000Z',
        lastAt: '2100-01-01T00:00:00.000Z',
        example: { taskId: TASK_ID, message: 'cut' },
      },
      new RegExp(`^NETWORK_ERROR +echo +12 +\\d+d +0s +${TASK_ID} +cut$`, 'm'),
    ],
    [
      'questions',
      '/v1/questions',
      {
        id: 'q1',
        taskId: TASK_ID,
        agent: 'release',
        question: 'Publish?',
        choices: ['yes', 'no'],
        schema: null,
        status: 'answered',
        answer: 'yes',
        answeredBy: { name: 'Anna' },
      },
      /^q1 +release +answered +Publish\?: "yes" by Anna$/m,
    ],
    [
      'audit',
      '/v1/audit',
      {
        at: '2026-05-01T09:00:00.123Z',
        actor: { kind: 'key', name: 'ci' },
        via: 'api',
        from: null,
        action: 'cancelTask',
        object: 'tasks/1',
        outcome: 'done',
        code: null,
      },
      /^2026-05-01 09:00:00 UTC +ci \(key\) +cancelTask +tasks\/1 +done +api +-$/m,
    ],
    [
      'people',
      '/v1/people',
      { id: 'p1', name: 'Ann', email: null, roles: [], disabled: false, lastSignInAt: '2026-05-01T09:00:00.000Z' },
      /^p1 +Ann +- +enabled +2026-05-01 09:00:00 UTC$/m,
    ],
    [
      'deliveries',
      '/v1/deliveries',
      { id: `${TASK_ID}-reply`, kind: 'reply', status: 'pending', attempts: 1, nextTryAt: '2026-05-01T09:00:00.000Z' },
      /-reply +reply +pending +1 +next attempt 2026-05-01 09:00:00 UTC$/m,
    ],
    [
      'deliveries',
      '/v1/deliveries',
      { id: `${TASK_ID}-reply`, kind: 'reply', platform: 'slack', status: 'failed', attempts: 3, error: { code: 'x.y', message: 'No' } },
      /-reply +slack +failed +3 +No \[x\.y\]$/m,
    ],
  ])('muster %s shows a line for each', async (command, path, item, line) => {
    const { code, stdout } = await muster(page(path, item), [command]);

    expect(code).toBe(0);
    expect(stdout).toMatch(line);
  });

  it('shows failures by release, and asks for nothing else', async () => {
    const at = '2026-01-01T00:00:00.000Z';
    const example = { taskId: TASK_ID, message: 'cut' };
    const items = ['v2', null].map((release) => ({ agent: null, code: null, release, count: 3, firstAt: at, lastAt: at, example }));
    const asked: string[] = [];
    const handlers: Handlers = {
      'GET /v1/failures': (response, { url }) => {
        asked.push(url ?? '');
        answer(response, 200, { items, nextCursor: null });
      },
    };
    const { code, stdout } = await muster(handlers, ['failures', '--by', 'release', '--agent', 'echo']);
    expect([code, asked]).toEqual([0, ['/v1/failures?limit=50&agent=echo&groupBy=release']]);
    expect(stdout).toMatch(/^RELEASE +TASKS/m);
    expect(stdout).toMatch(/^v2 +3 /m);
    expect(stdout).toMatch(/^unknown +3 /m);
    expect((await muster(handlers, ['failures', '--by', 'day'])).stderr).toContain('error, agent, release');
  });

  it('shows what to do when the list is empty', async () => {
    const handlers: Handlers = { 'GET /v1/hooks': (response) => answer(response, 200, { items: [], nextCursor: null }) };

    expect(await muster(handlers, ['hooks'])).toMatchObject({ stdout: '', stderr: expect.stringContaining('muster hooks create') });
  });
});

it('the questions that are open are counted below their list', async () => {
  const question = { id: 'q1', taskId: TASK_ID, agent: 'release', question: 'Publish?', choices: null, schema: null, answer: null };
  const young = { ...question, status: 'open', askedAt: '2026-05-02T09:00:00.000Z' };
  const items = [young, { ...young, askedAt: '2026-05-01T09:00:00.000Z' }, { ...question, status: 'answered' }];
  const handlers: Handlers = { 'GET /v1/questions': (response) => answer(response, 200, { items, nextCursor: null }) };
  expect((await muster(handlers, ['questions'])).stderr).toMatch(/^2 open, the oldest since 2026-05-01/);
});

describe("the `/schedule` lines of a hook's answers", () => {
  const handlers: Handlers = {
    'POST /v1/hooks': (response) => answer(response, 201, hook),
    'PATCH /v1/hooks/h1': (response) => answer(response, 200, hook),
  };
  const create = ['hooks', 'create', '--provider', 'none', '--agent', 'echo'];
  const warning = expect.stringContaining('Whoever can send to it') as string;

  it.each([
    ['are switched on with a warning when it is made', [...create, '--directives'], { directives: true }, warning],
    ['are switched on with a warning', ['hooks', 'update', 'h1', '--directives'], { directives: true }, warning],
    ['are switched off', ['hooks', 'update', 'h1', '--no-directives'], { directives: false }, ''],
    ['stay as they are in another change', ['hooks', 'update', 'h1', '--name', 'pulls'], { name: 'pulls' }, ''],
  ])('%s', async (_what, words, body, stderr) => {
    const { code, stderr: said } = await muster(handlers, words);
    expect([code, said]).toEqual([0, stderr]);
    expect(sent()).toMatchObject(body);
  });
});

describe('the workers of a fleet', () => {
  const worker = {
    id: 'host-1-ab',
    status: 'busy',
    version: '0.1.0',
    queues: ['chat', 'tasks'],
    slots: 28,
    running: 3,
    memoryMb: 180,
    cpu: 0.256,
    lastBeatAt: '2100-01-01T00:00:00.000Z',
    stopped: ['the queue "chat" of shard 0 is not consumed'],
  };

  it('are listed with what they run and use, and what has stopped in them', async () => {
    const old = { ...worker, id: 'old', status: 'alive', version: null, queues: [], slots: null, running: null, cpu: null, memoryMb: null };
    const handlers: Handlers = { 'GET /v1/fleet': (response) => answer(response, 200, { workers: [worker, { ...old, stopped: [] }] }) };
    const { stdout, stderr } = await muster(handlers, ['fleet']);
    expect(stdout).toMatch(/^host-1-ab +busy +3\/28 +0\.26 +180 MB +0s +0\.1\.0 +chat,tasks$/m);
    expect(stdout).toMatch(/^old +alive +0s$/m);
    expect(stderr).toBe('host-1-ab: the queue "chat" of shard 0 is not consumed\n');
  });

  it('may be none', async () => {
    const handlers: Handlers = { 'GET /v1/fleet': (response) => answer(response, 200, { workers: [] }) };
    expect(await muster(handlers, ['fleet'])).toMatchObject({ code: 0, stdout: '', stderr: 'No worker runs.\n' });
  });

  it.each([
    [{ status: 'draining', running: 1 }, 'Worker host-1-ab takes nothing more; 1 task runs there.'],
    [{ status: 'draining', running: 0 }, 'Worker host-1-ab takes nothing more; 0 tasks run there.'],
    [{ status: 'dead', running: 2 }, 'Worker host-1-ab is dead; it drains if it comes back.'],
  ])('drain on request: %o', async (changes, line) => {
    const handlers: Handlers = { 'POST /v1/fleet/host-1-ab/drain': (response) => answer(response, 202, { ...worker, ...changes }) };
    expect(await muster(handlers, ['fleet', 'drain', 'host-1-ab'])).toMatchObject({ code: 0, stdout: `${line}\n` });
  });
});

describe('changes to what an installation has', () => {
  it('creates a key and prints only its secret on stdout', async () => {
    const handlers: Handlers = {
      'POST /v1/tenants/acme/keys': (response) => answer(response, 201, { ...key, secret: 'mk_secret' }),
    };
    const { stdout } = await muster(handlers, ['keys', 'create', 'ci', '--tenant', 'acme', '--scopes', 'operate, read']);

    expect(stdout).toBe('mk_secret\n');
    expect(sent()).toEqual({ name: 'ci', scopes: ['operate', 'read'] });
  });

  it('creates a hook with the secret from standard input, and prints its path', async () => {
    const handlers: Handlers = { 'POST /v1/hooks': (response) => answer(response, 201, hook) };
    const args = ['hooks', 'create', '--provider', 'github', '--agent', 'echo', '--secret', '-', '--name', 'pulls'];
    const { stdout } = await muster(handlers, args, 'from-a-vault\n');

    expect(stdout).toBe('/hooks/h1\n');
    const body: unknown = sent();
    expect(body).toEqual({ provider: 'github', agent: 'echo', secret: 'from-a-vault', name: 'pulls' });
  });

  it('creates a hook with the options of its sender, whatever characters they have', async () => {
    const handlers: Handlers = { 'POST /v1/hooks': (response) => answer(response, 201, hook) };
    const options = { header: 'X-S', prefix: 'v1=', signedContent: '{timestamp}.{body}', toleranceMs: 1000, handshake: 'zoom' };
    const given = Object.entries(options).flatMap(([name, value]) => ['--option', `${name}=${value}`]);
    await muster(handlers, ['hooks', 'create', '--provider', 'hmac', '--agent', 'echo', '--secret', 's', ...given]);
    expect(sent()).toMatchObject({ provider: 'hmac', options });
  });

  it('changes the secret of a hook, and says until when the former one is valid', async () => {
    const changed = { ...hook, formerSecretUntil: '2026-05-02T00:00:00.000Z' };
    const handlers: Handlers = { 'PATCH /v1/hooks/h1': (response) => answer(response, 200, changed) };
    const { stdout } = await muster(handlers, ['hooks', 'secret', 'h1', '--secret', '-'], 'next\n');
    expect(stdout).toMatch(/^Hook h1 is changed; a former secret is valid until .*2026/);
    expect(sent()).toEqual({ secret: 'next' });
    await muster(handlers, ['hooks', 'secret', 'h1', '--end-former']);
    expect(sent()).toEqual({ keepFormerSecret: false });
  });

  it.each([
    [['keys', 'revoke', 'k1'], 'DELETE /v1/tenants/default/keys/k1', 'Key k1 is revoked.'],
    [['keys', '--tenant', 'acme', 'revoke', 'k1'], 'DELETE /v1/tenants/acme/keys/k1', 'Key k1 is revoked.'],
    [['hooks', 'disable', 'h1'], 'PATCH /v1/hooks/h1', 'Hook h1 is disabled.'],
    [['hooks', 'delete', 'h1'], 'DELETE /v1/hooks/h1', 'Hook h1 is deleted.'],
    [['agents', 'delete', 'mine'], 'DELETE /v1/agents/mine', 'Agent mine is deleted.'],
    [
      ['agents', 'pause', 'echo'],
      'POST /v1/agents/echo/pause',
      'Agent echo is paused. Start its tasks again with: npx muster agents resume echo',
    ],
    [['queues', 'pause', 'chat'], 'POST /v1/queues/chat/pause', 'Queue chat is paused.'],
    [['queues', 'resume', 'chat'], 'POST /v1/queues/chat/resume', 'Queue chat is resumed.'],
  ])('muster %s calls the API and says so', async (args, call, line) => {
    expect(await muster({ [call]: (response) => answer(response, 200, {}) }, args)).toMatchObject({ code: 0, stdout: `${line}\n` });
  });
});

describe('muster agents show', () => {
  const mine = {
    id: 'mine',
    origin: 'api',
    kind: 'openai',
    model: 'small',
    baseUrl: 'https://models.test/v1',
    timeoutMs: 90_000,
    maxRunning: null,
    maxAttempts: 5,
    effective: { timeoutMs: 90_000, maxAttempts: 5, retryDelayMs: 2000, retryBackoff: 'exponential' },
    retries: { PROVIDER_QUOTA: 'stop' },
    hasSecret: true,
    system: 'Be short.\nBe kind.',
    hold: { gate: 'agent', since: '2026-01-01T00:00:00.000Z', reason: 'a new release broke it' },
  };

  it('shows the definition as text, with why it is held', async () => {
    const { stdout } = await muster({ 'GET /v1/agents/mine': (response) => answer(response, 200, mine) }, ['agents', 'show', 'mine']);
    expect(stdout).toMatch(/^mine {2}paused$/m);
    expect(stdout).toMatch(/^ +reason +a new release broke it$/m);
    expect(stdout).toMatch(/^ +model +small$/m);
    expect(stdout).toMatch(/^ +attempts +5$/m);
    expect(stdout).toMatch(/^ +retry delay +2\.0 s \(default\)$/m);
    expect(stdout).toMatch(/^ +at once +no bound$/m);
    expect(stdout).toMatch(/^ +retries +PROVIDER_QUOTA: stop$/m);
    expect(stdout).toContain('\nInstructions\n  Be short.\n  Be kind.\n');
  });

  it('prints the answer with --json', async () => {
    const args = ['agents', 'show', 'mine', '--json'];
    expect(JSON.parse((await muster({ 'GET /v1/agents/mine': (response) => answer(response, 200, mine) }, args)).stdout)).toEqual(mine);
  });
});

describe('what a hook received', () => {
  const delivery = {
    id: 'r-1-0',
    at: '2026-01-01T00:00:00.000Z',
    verdict: 'refused',
    code: 'auth.bad-signature',
    reason: 'No',
    event: null,
    taskId: null,
  };

  it('lists deliveries with the reason of a refusal', async () => {
    const handlers: Handlers = {
      'GET /v1/hooks/h1/deliveries': (response) => answer(response, 200, { items: [delivery], nextCursor: null }),
    };
    expect((await muster(handlers, ['hooks', 'deliveries', 'h1'])).stdout).toMatch(
      /^r-1-0 +2026-01-01 00:00:00 UTC +refused +No \[auth\.bad-signature\]$/m,
    );
  });

  it('lists the page that is asked for, with options on either side of the subcommand', async () => {
    const page1 = { items: [delivery], nextCursor: 'r-1-0' };
    const handlers: Handlers = { 'GET /v1/hooks/h1/deliveries': (response) => answer(response, 200, page1) };
    const { stdout } = await muster(handlers, ['hooks', 'deliveries', 'h1', '--limit', '3', '--cursor', 'r-2-0', '--json']);
    expect([JSON.parse(stdout), api().requests[0]?.path]).toEqual([page1, '/v1/hooks/h1/deliveries?limit=3&cursor=r-2-0']);
    await muster(handlers, ['hooks', '--limit', '4', 'deliveries', 'h1']);
    expect(api().requests[0]?.path).toBe('/v1/hooks/h1/deliveries?limit=4');
    await muster(handlers, ['hooks', 'deliveries', 'h1']);
    expect(api().requests[0]?.path).toBe('/v1/hooks/h1/deliveries?limit=50');
  });

  it('makes tasks of a test and of a replay, and prints their ids', async () => {
    const handlers: Handlers = {
      'POST /v1/hooks/h1/test': (response) => answer(response, 202, { id: 'from-test' }),
      'POST /v1/hooks/h1/deliveries/a-1-0/replay': (response) => answer(response, 202, { id: 'from-replay' }),
    };
    expect((await muster(handlers, ['hooks', 'replay', 'h1', 'a-1-0'])).stdout).toBe('from-replay\n');
    expect((await muster(handlers, ['hooks', 'test', 'h1', '--event', 'push', '--payload', '{"n":1}'])).stdout).toBe('from-test\n');
    const body: unknown = sent();
    expect(body).toEqual({ event: 'push', payload: { n: 1 } });
  });
});

describe('the command line itself', () => {
  it('prints its version', async () => {
    expect((await runMuster(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it('prints a link that signs a browser in', async () => {
    const link = { path: '/sign-in/link?token=ml_x', expiresAt: new Date(Date.now() + 600_000).toISOString() };
    const { stdout, stderr } = await muster({ 'POST /v1/sign-in-links': (response) => answer(response, 201, link) }, ['open', '--print']);
    expect(stdout).toBe(`${api().url}/sign-in/link?token=ml_x\n`);
    expect(stderr).toContain('once, within 10 min');
  });
});
