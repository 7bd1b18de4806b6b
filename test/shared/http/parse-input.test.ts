import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { problemsOf, withoutNulls } from '#shared/http/parse-input.ts';

const schema = z.strictObject({
  name: z.string(),
  note: z.string().optional(),
  limit: z.number().default(3),
  emptied: z.string().nullable().optional(),
  parts: z.strictObject({ size: z.number().optional(), tags: z.array(z.string()).optional() }).optional(),
  list: z.array(z.strictObject({ id: z.number(), note: z.string().optional() })).optional(),
  free: z.record(z.string(), z.json()).optional(),
});
const read = (data: unknown): unknown => withoutNulls(schema, data).data;
const problems = (data: unknown): string[] => withoutNulls(schema, data).error?.issues.map(({ path }) => path.join('.')) ?? [];

describe('null in a request', () => {
  it('is absent where a member may be', () => {
    expect(read({ name: 'a', note: null, limit: null, parts: null, list: null, free: null })).toEqual({ name: 'a', limit: 3 });
  });

  it('is absent in what is inside, too', () => {
    const given = { name: 'a', parts: { size: null, tags: ['x'] }, list: [{ id: 1 }, { id: 2, note: null }] };
    expect(read(given)).toEqual({ name: 'a', limit: 3, parts: { tags: ['x'] }, list: [{ id: 1 }, { id: 2 }] });
  });

  it('stays where it means something', () => {
    expect(read({ name: 'a', emptied: null, free: { kept: null } })).toEqual({ name: 'a', limit: 3, emptied: null, free: { kept: null } });
  });

  it('is refused where something is needed, as an element of a list, under an unknown name, and as a whole', () => {
    expect(problems({ name: null })).toEqual(['name']);
    expect(problems({ name: 'a', parts: { tags: ['x', null] } })).toEqual(['parts.tags.1']);
    expect(problems({ name: 'a', other: null })).toEqual(['']);
    expect(problems(null)).toEqual(['']);
  });

  it('leaves the other problems as they are, and what was given too', () => {
    const given = Object.freeze({ name: 1, note: null });
    expect(problems(given)).toEqual(['name']);
    expect(given).toEqual({ name: 1, note: null });
  });
});

it.each([
  [z.int().max(200), 1e20, 'Too big: expected number to be <=200'],
  [z.int().min(1), -1e20, 'Too small: expected number to be >=1'],
  [z.int(), 1e20, 'Too big: expected int to be <=9007199254740991'],
])('a number beyond every integer has one problem, its narrowest bound', (bounded, value, message) => {
  const { error } = z.object({ limit: bounded }).safeParse({ limit: value });
  expect(problemsOf(error as z.ZodError, 'query')).toEqual([{ path: 'query.limit', message }]);
});
