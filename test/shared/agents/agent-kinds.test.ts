import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AgentEnvironment, AgentRunnersOptions } from '#shared/agents/agent-kind.ts';
import { assertAgents, checkAgents, createAgentRunners, runAgent } from '#shared/agents/agent-kinds.ts';
import type { AgentDefinition } from '#shared/config/agent-definitions.ts';
import { environmentSchema } from '#shared/config/environment.ts';
import { settingsSchema, type SettingsInput } from '#shared/config/settings/settings.ts';
import { failureOf, observeRun } from '../../support/agents/agent-run.ts';
import { startFakeHttpEndpoint } from '../../support/fake-http-endpoint.ts';
import { useFolder } from '../../support/use-folder.ts';

const OPTIONS: AgentRunnersOptions = {
  directory: process.cwd(),
  fleetId: () => Promise.resolve('f'),
  openaiBaseUrl: undefined,
  openaiApiKey: undefined,
  readSecret: (name) => (name === 'PATH' ? '/usr/bin:/bin' : undefined),
  allowNetworks: ['127.0.0.0/8'],
  maxResponseBytes: 10_000,
};

async function run(definition: AgentDefinition, options = OPTIONS): Promise<{ output: string }> {
  const { run: attempt, written } = observeRun(definition);
  const answer = await runAgent(createAgentRunners(options), attempt);
  return { output: answer.output ?? written.join('') };
}

describe('the agent runners', () => {
  it('run an agent of each kind', async () => {
    const endpoint = await startFakeHttpEndpoint((response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"output":"http"}'),
    );
    try {
      expect(await run({ kind: 'echo' })).toEqual({ output: 'hello' });
      expect(await run({ kind: 'function', run: () => Promise.resolve('function') })).toEqual({ output: 'function' });
      expect(await run({ kind: 'function', file: './agents/word-count.ts' })).toEqual({ output: '1 words' });
      expect(await run({ kind: 'http', url: endpoint.url })).toEqual({ output: 'http' });
      expect(await run({ kind: 'command', command: ['cat'] })).toEqual({ output: 'hello' });
      expect(await failureOf(run({ kind: 'openai', model: 'small', baseUrl: endpoint.url }))).toMatchObject({ code: 'PROVIDER_ERROR' });
    } finally {
      await endpoint.close();
    }
  });

  it('are not made when a network of theirs cannot be read', () => {
    expect(() => createAgentRunners({ ...OPTIONS, allowNetworks: ['everything'] })).toThrow(
      expect.objectContaining({ code: 'config.invalid' }),
    );
  });
});

const folder = await useFolder('muster-check-');
await mkdir(join(folder, 'bin'));
await writeFile(join(folder, 'bin', 'agent'), '#!/bin/sh\n');
await chmod(join(folder, 'bin', 'agent'), 0o755);
await writeFile(join(folder, 'bin', 'notes'), 'text', { mode: 0o644 });
await writeFile(join(folder, 'good.mjs'), 'export const run = async () => undefined;\n');
await writeFile(join(folder, 'no-run.mjs'), 'export const run = 5;\n');

function check(agent: AgentDefinition, options: Partial<AgentEnvironment> = {}): Promise<string[]> {
  const readSecret = (name: string): string | undefined => (name === 'PATH' ? join(folder, 'bin') : undefined);
  return checkAgents({ tested: agent }, { directory: folder, openaiBaseUrl: undefined, openaiApiKey: undefined, readSecret, ...options });
}

describe('the check of the agents', () => {
  it.each<[string, AgentDefinition]>([
    ['an echo', { kind: 'echo' }],
    ['a function', { kind: 'function', run: () => Promise.resolve() }],
    ['a file that exports "run"', { kind: 'function', file: './good.mjs' }],
    ['a program on the PATH', { kind: 'command', command: ['agent', '--fast'] }],
    ['a program by its place', { kind: 'command', command: ['./agent'], cwd: './bin' }],
    ['a program of a sandbox that is there', { kind: 'command', command: ['elsewhere'], sandbox: ['agent', 'run'] }],
    ['a model with an address', { kind: 'openai', model: 'm', baseUrl: 'http://127.0.0.1:1/v1' }],
    ['an endpoint with a secret', { kind: 'http', url: 'http://127.0.0.1:1/', secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }],
  ])('finds nothing wrong with %s', async (_name, agent) => {
    expect(await check(agent)).toEqual([]);
  });

  it.each<[string, AgentDefinition, string]>([
    ['a function without "file" or "run"', { kind: 'function' }, '"file" or "run"'],
    ['a file that is missing', { kind: 'function', file: './absent.mjs' }, 'no file at'],
    ['a file without a function "run"', { kind: 'function', file: './no-run.mjs' }, 'no export "run"'],
    ['a program that is not there', { kind: 'command', command: ['absent'] }, '"absent" is not found'],
    ['a program that may not be run', { kind: 'command', command: ['notes'] }, '"notes" is not found'],
    ['a folder as a program', { kind: 'command', command: ['./bin'] }, '"./bin" is not found'],
    ['a preset whose program is not there', { kind: 'command', preset: 'codex' }, '"codex" is not found'],
    ['a sandbox that is not there', { kind: 'command', command: ['agent'], sandbox: ['box', '--'] }, '"box" is not found'],
    ['a folder that is not there', { kind: 'command', command: ['agent'], cwd: './nowhere' }, 'no folder at'],
    ['a variable to pass that is not set', { kind: 'command', command: ['agent'], passEnv: ['TOKEN'] }, 'TOKEN'],
    ['a model without address and key', { kind: 'openai', model: 'm' }, 'OPENAI_BASE_URL'],
    ['a key in a variable that is not set', { kind: 'openai', model: 'm', baseUrl: 'http://127.0.0.1:1', apiKeyEnv: 'MY_KEY' }, 'MY_KEY'],
    ['a secret that cannot sign', { kind: 'http', url: 'http://127.0.0.1:1/', secret: 'whsec_***' }, '"secret"'],
  ])('reports %s', async (_name, agent, problem) => {
    const problems = await check(agent);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^agents\.tested: /);
    expect(problems[0]).toContain(problem);
  });

  it('looks for the sandbox that all agents have, except those without one', async () => {
    const sandbox = ['box'];
    expect(await check({ kind: 'command', command: ['agent'] }, { sandbox })).toEqual([expect.stringContaining('"box" is not found')]);
    expect(await check({ kind: 'command', command: ['agent'], sandbox: [] }, { sandbox })).toEqual([]);
  });

  it('takes a model for reachable when there is a key for OpenAI', async () => {
    expect(await check({ kind: 'openai', model: 'm' }, { openaiApiKey: 'sk-1' })).toEqual([]);
  });
});

async function assert(agents: SettingsInput['agents']): Promise<void> {
  const settings = settingsSchema.parse({ agents });
  await assertAgents({ settings, env: environmentSchema.parse({}), digest: 'test', directory: folder, readVariable: () => undefined });
}

it('a start is refused while agents could not run here, and every one of them is named', async () => {
  const started = assert({ scribe: { kind: 'function', file: './gone.ts' }, helper: { kind: 'openai', model: 'any' } });
  await expect(started).rejects.toMatchObject({
    code: 'config.invalid',
    message: expect.stringMatching(/2 problems[^]*agents\.scribe: [^]*gone\.ts[^]*agents\.helper: /),
  });
});

it('agents that can run do not stand in the way of a start', async () => {
  await expect(assert({ echo: { kind: 'echo' } })).resolves.toBeUndefined();
});
