import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { APICallError, generateText, RetryError } from 'ai';
import { describe, expect, it } from 'vitest';
import type { DefinitionOf } from '#shared/agents/agent-kind.ts';
import { createFunctionLoader, handleStray, runFunction } from '#shared/agents/kinds/function.ts';
import type { AgentFunction, AgentResult } from '#shared/config/define-config.ts';
import { TaskFailure } from '#shared/errors/task-failure.ts';
import { failureOf, type ObservedRun, observeRun } from '../../../support/agents/agent-run.ts';
import { useFolder } from '../../../support/use-folder.ts';

const directory = await useFolder('muster-function-');
// The module counts how often it is evaluated, which is once however often it is run.
await writeFile(
  join(directory, 'shout.mjs'),
  'let runs = 0;\nexport const run = async (task) => ({ output: task.input.toUpperCase(), result: ++runs });\n',
);
await writeFile(join(directory, 'nothing.mjs'), 'export const start = () => undefined;\n');
await writeFile(join(directory, 'broken.mjs'), 'throw new Error("out of order");\n');

type Observed = ObservedRun<DefinitionOf<'function'>>;

function attempt(observed: Observed): Promise<AgentResult> {
  return runFunction(observed.run, createFunctionLoader(directory));
}

function given(run: AgentFunction): Observed {
  return observeRun<'function'>({ kind: 'function', run });
}

const GOOGLE = JSON.stringify({ error: { code: 429, message: 'Full', status: 'RESOURCE_EXHAUSTED', details: [{ retryDelay: '37s' }] } });

/** An error as the SDKs of OpenAI, Anthropic, Groq and Together throw it. */
function sdkError(status: number, headers: Record<string, string>, error: object): Error {
  return Object.assign(new Error(`${status} it failed`), { status, headers: new Headers(headers), error, requestID: 'r' });
}

function callError(): Error {
  const call = { url: 'http://m.test', requestBodyValues: {}, statusCode: 429, responseHeaders: { 'Retry-After': '7' } };
  return new APICallError({ message: 'Slow down', ...call, responseBody: '{"error":"slow down"}' });
}

const ABSENT: string = 'not-there-at-all';
const UNKNOWN_MODEL = { specificationVersion: 'v9', provider: 'fleet', modelId: 'new' };

describe('a function agent', () => {
  it.each([
    ['imports what is not there', async () => String(await import(ABSENT))],
    [
      'hands a model of the fleet to an AI SDK that does not know it',
      async () => (await generateText({ model: UNKNOWN_MODEL as never, prompt: 'Hi' })).text,
    ],
  ])('fails for good when it %s', async (_what, run) => {
    expect(await failureOf(attempt(given(run)))).toMatchObject({ code: 'RESOURCE_NOT_FOUND' });
  });

  it('gets the task and the context, and its answer is the answer', async () => {
    const observed = given(async (task, context) => {
      context.write(`${task.input} ${context.trace.traceparent.slice(0, 2)}`);
      return { result: { ok: true }, usage: { inputTokens: 1, outputTokens: 2, costMicroUsd: 3 } };
    });
    expect(await attempt(observed)).toEqual({ result: { ok: true }, usage: { inputTokens: 1, outputTokens: 2, costMicroUsd: 3 } });
    expect(observed.written).toEqual(['hello 00']);
  });

  it('gets the messages that arrive for its run and the earlier turns of its session', async () => {
    const history = [{ taskId: '01JD0000000000000000000001', input: 'one', output: 'two' }];
    const observed = observeRun<'function'>(
      {
        kind: 'function',
        run: async (_task, context) => ({ result: [await context.input(), await context.input(), await context.history()] }),
      },
      { history },
    );
    observed.say('more');
    const { result } = await attempt(observed);
    expect(result).toMatchObject([[{ text: 'more', user: null }], [], history]);
  });

  it('answers with a string as its output', async () => {
    expect(await attempt(given(() => Promise.resolve('done')))).toEqual({ output: 'done' });
  });

  it('answers nothing when it returns nothing', async () => {
    expect(await attempt(given(() => Promise.resolve()))).toEqual({});
  });

  it('fails with AGENT_ERROR and only the message of what it throws', async () => {
    const failure = await failureOf(attempt(given(() => Promise.reject(new Error('no luck')))));
    expect(failure).toEqual({ code: 'AGENT_ERROR', class: 'transient', message: 'no luck', details: undefined, retryAfterMs: undefined });
  });

  it.each<[string, Error, string, number | undefined]>([
    [
      'the SDK of OpenAI',
      sdkError(429, { 'retry-after-ms': '2500' }, { message: 'Slow down', code: 'rate_limit_exceeded' }),
      'THROTTLED',
      2500,
    ],
    ['the SDK of OpenAI, of money', sdkError(429, {}, { message: 'No', code: 'insufficient_quota' }), 'PROVIDER_QUOTA', 300_000],
    ['the SDK of OpenAI, of a wrong call', sdkError(400, {}, { message: 'No', param: 'messages' }), 'INVALID_INPUT', undefined],
    ['the SDK of OpenAI, of its key', sdkError(401, {}, { message: 'No', code: 'invalid_api_key' }), 'PERMISSION_DENIED', undefined],
    [
      'the SDK of Anthropic',
      sdkError(529, {}, { type: 'error', error: { type: 'overloaded_error', message: 'Busy' } }),
      'PROVIDER_ERROR',
      undefined,
    ],
    ['the SDK of Google', Object.assign(new Error(GOOGLE), { name: 'ApiError', status: 429 }), 'THROTTLED', 37_000],
    ['the AI SDK', callError(), 'THROTTLED', 7000],
    [
      'the AI SDK, after its retries',
      new RetryError({ message: 'x', reason: 'maxRetriesExceeded', errors: [callError()] }),
      'THROTTLED',
      7000,
    ],
    ['an error around one of those', new Error('it failed', { cause: callError() }), 'THROTTLED', 7000],
    [
      'another library, whose status says nothing of a model',
      Object.assign(new Error('no page'), { status: 404, headers: {} }),
      'AGENT_ERROR',
      undefined,
    ],
  ])('fails as a model call of the fleet does when a provider refuses by %s', async (_what, error, code, retryAfterMs) => {
    const failure = await failureOf(attempt(given(() => Promise.reject(error))));
    expect([failure.code, failure.retryAfterMs]).toEqual([code, retryAfterMs]);
  });

  it('fails with AGENT_ERROR when it throws before it returns a promise', async () => {
    const failure = await failureOf(
      attempt(
        given(() => {
          throw new TypeError('at once');
        }),
      ),
    );
    expect(failure).toMatchObject({ code: 'AGENT_ERROR', message: 'at once' });
  });

  it('chooses its failure by throwing a TaskFailure', async () => {
    const thrown = new TaskFailure('THROTTLED', 'later', { retryAfterMs: 5000 });
    await expect(attempt(given(() => Promise.reject(thrown)))).rejects.toBe(thrown);
  });

  it.each([
    ['a number', 7],
    ['an unknown field', { text: 'lost' }],
    ['a result with a BigInt', { result: 1n }],
    ['a result with an endless number, which JSON would make null', { result: { rate: 1 / 0 } }],
    ['a result with what is no number', { result: [Number.NaN] }],
  ])('fails with AGENT_ERROR when it answers with %s', async (_name, answer) => {
    expect(await failureOf(attempt(given(() => Promise.resolve(answer as AgentResult))))).toMatchObject({ code: 'AGENT_ERROR' });
  });

  it('fails with an error that it leaves unhandled', async () => {
    // Stands for the process, which receives such an error in the context of its code.
    const observed = given(() => new Promise(() => setImmediate(() => handleStray(new Error('nobody awaits this')))));
    expect(await failureOf(attempt(observed))).toMatchObject({ code: 'AGENT_ERROR', message: 'nobody awaits this' });
    expect(handleStray(new Error('of somebody else'))).toBe(false);
  });

  it('is left behind when it ignores the abort', async () => {
    const started = Promise.withResolvers<void>();
    const observed = given(() => {
      started.resolve();
      return new Promise<never>(() => undefined);
    });
    const reason = new Error('cancelled');
    const running = attempt(observed);
    await started.promise;
    observed.abort(reason);
    await expect(running).rejects.toBe(reason);
  });

  it('rejects with the reason of the abort when it fails because of it', async () => {
    const observed = given(
      (_task, { signal }) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('aborted inside')))),
    );
    const reason = new Error('cancelled');
    const running = attempt(observed);
    setImmediate(() => observed.abort(reason));
    await expect(running).rejects.toBe(reason);
  });
});

describe('a function agent from a file', () => {
  it('runs the export "run" of a file that is loaded once', async () => {
    const load = createFunctionLoader(directory);
    const answers = [];
    for (const input of ['a', 'b'])
      answers.push(await runFunction(observeRun<'function'>({ kind: 'function', file: './shout.mjs' }, { task: { input } }).run, load));
    expect(answers).toEqual([
      { output: 'A', result: 1 },
      { output: 'B', result: 2 },
    ]);
  });

  it.each([
    ['is missing', './absent.mjs', 'there is no file'],
    ['has no export "run"', './nothing.mjs', 'no export "run"'],
    ['cannot be loaded', './broken.mjs', 'out of order'],
  ])('fails for good when the file %s', async (_name, file, message) => {
    const failure = await failureOf(attempt(observeRun<'function'>({ kind: 'function', file })));
    expect(failure).toMatchObject({ code: 'RESOURCE_NOT_FOUND', class: 'permanent' });
    expect(failure.message).toContain(message);
  });
});
