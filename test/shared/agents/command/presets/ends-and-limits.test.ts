import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { DefinitionOf } from '#shared/agents/agent-kind.ts';
import { openCgroups } from '#shared/agents/command/processes/cgroup.ts';
import { trackCommands } from '#shared/agents/command/processes/attempt-processes.ts';
import { runCommand } from '#shared/agents/command/run-command.ts';
import type { AgentResult, AgentUsage } from '#shared/config/define-config.ts';
import { commandSettingsSchema } from '#shared/config/settings/worker-settings.ts';
import { failureOf, type ObservedRun, observeRun } from '../../../../support/agents/agent-run.ts';
import { childEnvironment } from '../../../../support/test-environment.ts';
import { useFolder } from '../../../../support/use-folder.ts';

const directory = await useFolder('muster-ends-');
await mkdir(join(directory, 'lines'));
let files = 0;

type Definition = Partial<DefinitionOf<'command'>>;

interface Observed extends ObservedRun<DefinitionOf<'command'>> {
  readonly totals: AgentUsage[];
  readonly answer: Promise<AgentResult>;
}

/** Runs a program that writes these lines, and then does this. */
async function play(lines: readonly (object | string)[], then: string, definition: Definition = {}): Promise<Observed> {
  const file = join(directory, 'lines', String((files += 1)));
  await writeFile(file, lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''));
  const observed = observeRun<'command'>({ kind: 'command', command: ['sh', '-c', `cat "${file}"; ${then}`], ...definition });
  const totals: AgentUsage[] = [];
  const settings = commandSettingsSchema.parse({ killGraceMs: 100, pollMs: 50, answeredMs: 300 });
  const answer = runCommand(
    { ...observed.run, reportTotal: (used) => void totals.push(used) },
    {
      directory,
      variables: { PATH: childEnvironment()['PATH'] ?? '', TZ: 'UTC' },
      running: trackCommands(settings.pollMs),
      fleetId: () => Promise.resolve('f'),
      settings,
      cgroups: openCgroups(settings.cgroup),
      users: () => Promise.resolve(null),
      turn: null,
    },
  );
  answer.catch(() => undefined);
  return { ...observed, totals, answer };
}

const HANG = 'sleep 600';
const RESULT = {
  type: 'result',
  subtype: 'success',
  is_error: false,
  result: 'done',
  total_cost_usd: 0.5,
  usage: { input_tokens: 3, output_tokens: 4 },
};
const REFUSED = { ...RESULT, is_error: true, result: 'API Error', api_error_status: 500 };
const CODEX_END = [
  { type: 'item.completed', item: { type: 'agent_message', text: 'done' } },
  { type: 'turn.completed', usage: { input_tokens: 3, output_tokens: 4 } },
];
const OPENCODE_END = [
  { type: 'step_start', part: {} },
  { type: 'text', part: { text: 'done' } },
  { type: 'step_finish', part: { reason: 'stop', cost: 0.5, tokens: { input: 3, output: 4, reasoning: 0 } } },
];
const AIDER_END = ['done', 'Tokens: 3 sent, 4 received. Cost: $0.50 message, $0.50 session.'];

describe('a coding agent that has answered and does not end', () => {
  it.each([
    ['claude-code', [RESULT]],
    ['codex', CODEX_END],
    ['opencode', OPENCODE_END],
    ['aider', AIDER_END],
  ] as const)('is ended, and its answer counts: %s', async (preset, lines) => {
    const { answer, written } = await play(lines, HANG, { preset });
    const { output = written.join('') } = await answer;
    expect(output.trim()).toBe('done');
  });

  it.each([
    ['with lines that are none of its events after it', 'while sleep 0.02; do echo waiting for tools; done'],
    ['with tools that hold its stdout open', 'sleep 600 & exit 0'],
    ['without heeding SIGTERM', "trap '' TERM; while :; do sleep 0.05; done"],
  ])('%s', async (_how, then) => {
    const { answer } = await play([RESULT], then, { preset: 'claude-code' });
    expect(await answer).toMatchObject({ output: 'done', usage: { costMicroUsd: 500_000, inputTokens: 3, outputTokens: 4 } });
  });

  it.each([
    ['claude-code', [REFUSED], 'PROVIDER_ERROR'],
    ['codex', [{ type: 'turn.failed', error: { message: 'unexpected status 500' } }], 'PROVIDER_ERROR'],
    ['opencode', [{ type: 'error', error: { name: 'APIError', data: { message: 'no', statusCode: 503 } } }], 'PROVIDER_ERROR'],
  ] as const)('fails as it says that it did: %s', async (preset, lines, code) => {
    expect(await failureOf((await play(lines, HANG, { preset })).answer)).toMatchObject({ code });
  });

  it('has its answer too when its attempt takes too long meanwhile, and not when a person stops it', async () => {
    for (const [reason, expected] of [
      [new DOMException('timeout', 'TimeoutError'), 'done'],
      [new Error('cancelled'), 'cancelled'],
    ] as const) {
      // It goes on with something, so that it is left to it.
      const lines = [RESULT, { type: 'assistant', message: { content: [{ type: 'tool_use', name: 'Bash' }] } }];
      const { answer, notes, abort } = await play(lines, HANG, { preset: 'claude-code' });
      await expect.poll(() => notes).toEqual(['Bash']);
      abort(reason);
      const ended = await answer.then(
        ({ output }) => output,
        (error: unknown) => (error as Error).message,
      );
      expect(ended).toBe(expected);
    }
  });
});

describe('what a program has used so far', () => {
  it('is known with each of its results, and by a last line that it did not end', async () => {
    const { answer, totals, usages } = await play([REFUSED], `printf 'muster-usage {"inputTokens":1}' >&2; exit 1`, {
      preset: 'claude-code',
    });
    await failureOf(answer);
    expect(totals).toEqual([{ inputTokens: 3, outputTokens: 4, cachedInputTokens: 0, costMicroUsd: 500_000 }]);
    expect(usages).toEqual([{ inputTokens: 1, outputTokens: 0 }]);
  });
});

describe('a program that writes nothing', () => {
  it('is ended after silenceMs, in words of its own', async () => {
    const failure = await failureOf((await play(['busy'], HANG, { silenceMs: 100 })).answer);
    expect(failure).toMatchObject({ code: 'COMMAND_SILENT', class: 'transient', details: { silenceMs: 100 } });
    expect(failure.message).toBe('"sh" wrote nothing for 100 ms (silenceMs), and was ended');
  });

  it('is not silent while it writes to stderr', async () => {
    const { answer, written } = await play([], 'for n in 1 2 3 4 5 6; do echo $n >&2; sleep 0.1; done; echo done', { silenceMs: 400 });
    expect(await answer).toEqual({});
    expect(written.join('')).toBe('done\n');
  });
});

const SOON = Math.floor(Date.now() / 1000) + 3600;
const NOTICE = `Claude AI usage limit reached|${SOON}`;
const window = (info: object): object => ({ type: 'rate_limit_event', rate_limit_info: { rateLimitType: 'five_hour', ...info } });

describe('a program whose account has reached its limit', () => {
  it.each([
    ['claude-code, in the text of its result', 'claude-code', [{ ...RESULT, is_error: true, result: NOTICE }], 'exit 1'],
    ['claude-code, as if it were an answer', 'claude-code', [{ ...RESULT, result: NOTICE }], 'exit 0'],
    ['claude-code, in an event', 'claude-code', [window({ status: 'rejected', resetsAt: SOON }), REFUSED], 'exit 1'],
    ['claude-code, in an event without anything else', 'claude-code', [window({ status: 'rejected', resetsAt: SOON })], 'exit 1'],
    [
      'claude-code, of a week',
      'claude-code',
      [window({ status: 'rejected', resetsAt: 5 }), window({ status: 'rejected', resetsAt: SOON }), REFUSED],
      HANG,
    ],
    ['codex, with its turn', 'codex', [{ type: 'turn.failed', error: { message: `usage_limit_reached "resets_at":${SOON}` } }], 'exit 1'],
    ['codex, without its turn', 'codex', [{ type: 'error', message: `You've hit your usage limit, resets ${SOON}` }], 'exit 1'],
    [
      'opencode, by a header',
      'opencode',
      [{ type: 'error', error: { data: { message: 'slow down', statusCode: 429, responseHeaders: { 'retry-after': '3600' } } } }],
      'exit 1',
    ],
    [
      'opencode, in a body',
      'opencode',
      [{ type: 'error', error: { data: { message: 'Monthly usage limit reached', responseBody: `{"resets_at":${SOON}}` } } }],
      HANG,
    ],
    ['aider', 'aider', ['litellm.RateLimitError: Retry-After: 3600'], 'exit 0'],
    ['a program that says so', undefined, [], `echo 'muster-limit {"until":${SOON}}' >&2; exit 1`],
    [
      'a program that says so in ms, and hangs',
      undefined,
      [],
      `echo 'muster-limit {"retryAfterMs":3600000,"reason":"no more today"}' >&2; ${HANG}`,
    ],
    [
      'a program that says so, and has no answer',
      undefined,
      [],
      `echo 'muster-limit {"until":"${new Date(SOON * 1000).toISOString()}"}' >&2`,
    ],
    ['a program by its last words', undefined, ['working'], 'echo "Error: Your quota will reset after 1h0m0s." >&2; exit 1'],
  ] as const)('%s', async (_what, preset, lines, then) => {
    const failure = await failureOf((await play(lines, then, preset === undefined ? {} : { preset })).answer);
    expect(failure).toMatchObject({ code: 'PROVIDER_QUOTA', class: 'throttled' });
    expect(failure.retryAfterMs).toBeGreaterThan(3_500_000);
    expect(failure.retryAfterMs).toBeLessThanOrEqual(3_601_000);
  });

  it.each([
    ['claude-code', [{ ...RESULT, is_error: true, result: 'rate_limit_error', api_error_status: 429 }]],
    ['codex', [{ type: 'turn.failed', error: { message: 'exceeded retry limit, last status: 429 Too Many Requests' } }]],
    ['opencode', [{ type: 'error', error: { data: { message: 'busy', statusCode: 529 } } }]],
  ] as const)('waits for one that gets through where it names no time: %s', async (preset, lines) => {
    const failure = await failureOf((await play(lines, 'exit 1', { preset })).answer);
    expect(failure).toMatchObject({ code: 'THROTTLED', class: 'throttled', retryAfterMs: undefined });
  });

  it.each(['{"until":1e15}', '{"until":1e300}', '{"retryAfterMs":1e15}', '{"until":1000000000000}'])(
    'waits for one that gets through where the time is no time of a limit: %s',
    async (limit) => {
      const failure = await failureOf((await play([], `echo 'muster-limit ${limit}' >&2; exit 1`)).answer);
      expect(failure).toMatchObject({ code: 'THROTTLED', class: 'throttled', retryAfterMs: undefined });
    },
  );

  it('has answered all the same when it says so besides, and when what it may buy is refused', async () => {
    const overage = window({ status: 'allowed', resetsAt: SOON, overageStatus: 'rejected', isUsingOverage: false });
    const { answer } = await play([overage, RESULT], 'exit 0', { preset: 'claude-code' });
    expect(await answer).toMatchObject({ output: 'done' });
    const plain = await play(['done'], `echo 'muster-limit {"until":${SOON}}' >&2`);
    expect(await plain.answer).toEqual({});
  });
});
