import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkAgents, type CheckAgentsOptions } from '#shared/agents/check-agents.ts';
import type { AgentDefinition } from '#shared/config/agent-definitions.ts';
import { useFolder } from '../../support/use-folder.ts';

const directory = await useFolder('muster-check-');
await mkdir(join(directory, 'bin'));
await writeFile(join(directory, 'bin', 'agent'), '#!/bin/sh\n');
await chmod(join(directory, 'bin', 'agent'), 0o755);
await writeFile(join(directory, 'bin', 'notes'), 'text', { mode: 0o644 });
await writeFile(join(directory, 'good.mjs'), 'export const run = async () => undefined;\n');
await writeFile(join(directory, 'no-run.mjs'), 'export const run = 5;\n');

function check(agent: AgentDefinition, options: Partial<CheckAgentsOptions> = {}): Promise<string[]> {
  const readSecret = (name: string): string | undefined => (name === 'PATH' ? join(directory, 'bin') : undefined);
  return checkAgents({ tested: agent }, { directory, openaiBaseUrl: undefined, openaiApiKey: undefined, readSecret, ...options });
}

describe('the check of the agents', () => {
  it.each<[string, AgentDefinition]>([
    ['an echo', { kind: 'echo' }],
    ['a function', { kind: 'function', run: () => Promise.resolve() }],
    ['a file that exports "run"', { kind: 'function', file: './good.mjs' }],
    ['a program on the PATH', { kind: 'command', command: ['agent', '--fast'] }],
    ['a program by its place', { kind: 'command', command: ['./agent'], cwd: './bin' }],
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

  it('takes a model for reachable when there is a key for OpenAI', async () => {
    expect(await check({ kind: 'openai', model: 'm' }, { openaiApiKey: 'sk-1' })).toEqual([]);
  });
});
