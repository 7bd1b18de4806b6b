import { expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '#shared/config/define-config.ts';
import { useApi } from '../support/use-api.ts';

const triage = defineAgent({
  name: 'triage',
  input: z.object({ title: z.string().min(1), votes: z.number().int().default(0) }),
  output: z.object({ label: z.enum(['bug', 'idea']) }),
  run: () => ({ label: 'bug' as const }),
});
const dated = defineAgent({ name: 'dated', input: z.date(), output: z.string(), run: () => 'today' });
const api = await useApi({ agents: { triage, dated, plain: { kind: 'function', run: () => Promise.resolve('hello') } } });

const read = async (id: string): Promise<object> => (await api.call('GET', `/v1/agents/${id}`)).body;

it('an agent of defineAgent is shown with what it takes and what it results in, as JSON Schema', async () => {
  expect(await read('triage')).toMatchObject({
    inputSchema: {
      type: 'object',
      properties: { title: { type: 'string', minLength: 1 }, votes: { type: 'integer', default: 0 } },
      // What has a default may be left out.
      required: ['title'],
    },
    outputSchema: { type: 'object', properties: { label: { enum: ['bug', 'idea'] } }, required: ['label'] },
  });
});

it('an input that JSON Schema cannot say is null, and an agent without one has neither', async () => {
  expect(await read('dated')).toMatchObject({ inputSchema: null, outputSchema: { type: 'string' } });
  expect(Object.keys(await read('plain')).filter((name) => name.endsWith('Schema'))).toEqual([]);
});
