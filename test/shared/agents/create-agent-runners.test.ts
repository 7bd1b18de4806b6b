import { describe, expect, it } from 'vitest';
import { createAgentRunners, type AgentRunnersOptions } from '#shared/agents/create-agent-runners.ts';
import { runAgent } from '#shared/agents/run-agent.ts';
import type { AgentDefinition } from '#shared/config/agent-definitions.ts';
import { failureOf, observeRun } from '../../support/agents/agent-run.ts';
import { startFakeHttpEndpoint } from '../../support/fake-http-endpoint.ts';

const OPTIONS: AgentRunnersOptions = {
  directory: process.cwd(),
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
