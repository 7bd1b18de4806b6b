import { describe, expect, test } from 'vitest';
import { ApiProblem } from '../../../../../../services/dashboard/console/api/api-problem.ts';
import {
  changesOf,
  draftOf,
  fieldProblems,
  type ShownAgent,
  toDefinition,
} from '../../../../../../services/dashboard/console/pages/agents/agent-draft.ts';

const COMMON = { id: 'a', description: 'Writes', timeoutMs: 1001, maxRunning: 2 };
const MODEL: ShownAgent = { ...COMMON, kind: 'openai', model: 'm', baseUrl: 'https://models.example/v1', system: 'Be brief.' };
const SERVICE: ShownAgent = { ...COMMON, kind: 'http', url: 'https://service.example/run' };
const DAEMON: ShownAgent = { ...COMMON, kind: 'daemon', capabilities: ['code', 'browser'] };
const ECHO: ShownAgent = { ...COMMON, kind: 'echo', description: null, timeoutMs: null, maxRunning: null };

test.each([MODEL, SERVICE, DAEMON, ECHO])('an agent of kind $kind that is opened and saved stays the same', (agent) => {
  expect(changesOf(draftOf(agent), draftOf(agent))).toEqual({});
});

test('of a changed agent only what a person changed is sent, and what was emptied is null', () => {
  const before = draftOf(MODEL);
  expect(changesOf(before, { ...before, model: 'large' })).toEqual({ model: 'large' });
  expect(changesOf(before, { ...before, system: '', url: '', maxRunning: '', timeoutSeconds: '' })).toEqual({
    system: null,
    baseUrl: null,
    maxRunning: null,
    timeoutMs: null,
  });
  expect(changesOf(before, { ...before, secret: 'sk-new' })).toEqual({ apiKey: 'sk-new' });
  expect(changesOf(before, { ...before, secret: null })).toEqual({ apiKey: null });
  const daemon = draftOf(DAEMON);
  expect(changesOf(daemon, { ...daemon, capabilities: ' code,browser , gpu ' })).toEqual({ capabilities: ['code', 'browser', 'gpu'] });
  expect(changesOf(daemon, { ...daemon, timeoutSeconds: 1.5 })).toEqual({ timeoutMs: 1500 });
});

test('a new agent has what was filled in', () => {
  const draft = { ...draftOf(null), id: 'a', model: 'm', secret: 'sk-1', maxRunning: 2 };
  expect(toDefinition(draft)).toEqual({ kind: 'openai', model: 'm', apiKey: 'sk-1', maxRunning: 2 });
});

const problem = (code: string, problems: { path: string; message: string }[] = []): ApiProblem =>
  new ApiProblem({ code, status: 400, detail: 'It is refused', details: { problems } });

describe('a refusal', () => {
  test('is shown at its fields', () => {
    expect(fieldProblems(problem('agent.exists'))).toEqual({ id: 'It is refused.' });
    expect(fieldProblems(problem('agent.operator-only'))).toEqual({ id: 'It is refused.' });
    const problems = [
      { path: 'body.baseUrl', message: 'no address' },
      { path: 'body.capabilities.0', message: 'no name' },
    ];
    expect(fieldProblems(problem('request.invalid', problems))).toEqual({ url: 'no address', capabilities: 'no name' });
  });

  test('of what has no field is not swallowed', () => {
    const problems = [
      { path: 'body.headers', message: 'expected again' },
      { path: 'body.url', message: 'no address' },
    ];
    expect(fieldProblems(problem('request.invalid', problems))).toBeNull();
    expect(fieldProblems(problem('auth.forbidden'))).toBeNull();
    expect(fieldProblems(new TypeError('Failed to fetch'))).toBeNull();
    expect(fieldProblems(null)).toBeNull();
  });
});
