import { expect, test } from 'vitest';
import { agentDefinitionSchema, apiAgentDefinitionSchema } from '#shared/config/agent-definitions.ts';
import { exists, read } from '../deploy/repository.ts';
import { serveOpenapi } from './documents.ts';

const KINDS = agentDefinitionSchema.options.map(({ shape }) => shape.kind.value);
const API_KINDS = apiAgentDefinitionSchema.options.map(({ shape }) => shape.kind.value);
const { document, text } = await serveOpenapi();

test.each(KINDS)('the kind of agent %s is in the documentation, with an example', (kind) => {
  const page = read('docs/agents.md');
  expect(page).toMatch(new RegExp(`^\\| \`${kind}\` \\|`, 'm'));
  expect(page).toContain(`{ kind: '${kind}'`);
});

test.each(KINDS)('the kind of agent %s has a runner of its own', (kind) => {
  expect([`shared/agents/kinds/${kind}.ts`, `shared/agents/${kind}/${kind}.ts`].some(exists)).toBe(true);
});

test('the API shows agents of every kind', () => {
  expect(document).toMatchObject({ paths: { '/v1/agents': { get: expect.anything() } } });
  expect(text).toContain(JSON.stringify({ enum: KINDS }).slice(1, -1));
});

test.each(API_KINDS)('the documentation says that the API makes agents of kind %s', (kind) => {
  const sentence = /`PUT \/v1\/agents\/<id>` adds ([^]*?) agents;/.exec(read('docs/agents.md'))?.[1];
  expect(sentence).toContain(`\`${kind}\``);
});
