import { expect, it } from 'vitest';
import { z } from 'zod';
import { argumentsSchema } from '#shared/http/openapi/arguments-schema.ts';

const named = z.object({ url: z.url().max(20) }).meta({ id: 'ArgumentsSchemaTest', description: 'A place.' });

it('the schema of arguments has what a model needs: no references, no patterns, no null, each field explained', () => {
  const schema = z.strictObject({
    agent: z.string().regex(/^[a-z]+$/),
    places: z.array(named).nullish(),
    priority: z.union([z.int().min(1).max(10), z.enum(['low', 'high'])]).nullish(),
    at: z.iso.datetime().optional().meta({ description: 'When.' }),
  });
  expect(argumentsSchema(schema)).toEqual({
    type: 'object',
    required: ['agent'],
    additionalProperties: false,
    properties: {
      agent: { type: 'string', description: 'The agent that runs the work.' },
      places: {
        type: 'array',
        items: {
          type: 'object',
          required: ['url'],
          description: 'A place.',
          properties: { url: { type: 'string', format: 'uri', maxLength: 20, description: expect.any(String) as string } },
        },
      },
      priority: {
        anyOf: [
          { type: 'integer', minimum: 1, maximum: 10 },
          { type: 'string', enum: ['low', 'high'] },
        ],
        description: 'From 1 to 10, the most urgent, or its name.',
      },
      at: { type: 'string', format: 'date-time', description: 'When.' },
    },
  });
});

it('the schema of what is in itself ends', () => {
  const node = z.object({
    get inner() {
      return z.array(node);
    },
  });
  expect(JSON.stringify(argumentsSchema(node)).length).toBeLessThan(10_000);
});
