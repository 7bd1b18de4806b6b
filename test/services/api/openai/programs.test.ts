import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { expect, it } from 'vitest';
import { startFakeModel } from '../../../support/agents/fake-model.ts';
import { closeAfterTests } from '../../../support/close-after-tests.ts';
import { childEnvironment } from '../../../support/test-environment.ts';
import { useWorker } from '../../../support/use-worker.ts';
import { useApi } from '../support/use-api.ts';

const fake = closeAfterTests(await startFakeModel());
const EVENT = { name: 'science fair', date: 'Friday', participants: ['Alice', 'Bob'] };
fake.mock.on({ predicate: () => true }, ({ messages, response_format: format, tools }) => {
  const results = messages.findLast(({ role }) => role === 'tool')?.content;
  if (typeof results === 'string') return { content: `It has ${results}.` };
  if (tools) return { toolCalls: [{ name: 'weather', id: 'call-1', arguments: '{"location":"San Francisco"}' }] };
  if (format) return { content: JSON.stringify(EVENT) };
  return { content: messages.at(-1)?.content === 'Say this is a test' ? 'This is a test.' : 'Aye, matey.' };
});

const api = await useApi({
  agents: { assistant: { kind: 'openai', model: 'small', baseUrl: fake.baseUrl, apiKey: 'k' } },
  openai: { models: { 'gpt-5': 'assistant', 'gpt-4o': 'assistant' } },
});
await useWorker(api.parts);

it.each([
  ['openai', ['Aye, matey.', 'This is a test.', 'Alice and Bob']],
  ['ai-sdk', ['Aye, matey.', 'This is a test.', 'Alice and Bob', 'It has 72 degrees in San Francisco.']],
])('a program with %s runs at a fleet by two variables of its environment', async (name, lines) => {
  const program = fileURLToPath(import.meta.resolve(`./fixtures/${name}-program.ts`));
  const env = childEnvironment({ OPENAI_BASE_URL: `${api.url}/openai/v1`, OPENAI_API_KEY: api.key });
  const { stdout, stderr } = await execa(process.execPath, [program], { env, extendEnv: false, timeout: 60_000 });
  expect(stdout.split('\n')).toEqual(lines);
  expect(stderr).toBe('');
});
