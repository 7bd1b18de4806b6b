import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { pageLimitSchema, parseInput, problemsOf, withoutNulls } from '#shared/http/parse-input.ts';
import { taskRequestSchema } from '#shared/tasks/task-request.ts';

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

/** Members of a task's request and of the schema above: right, wrong and null ones, and unknown names. */
const MEMBERS: readonly (readonly [name: string, value: unknown])[] = [
  ...['agent', 'input', 'session', 'mode', 'name', 'note', '__proto__', 'constructor'].map((name) => [name, 'queue'] as const),
  ...['agent', 'input', 'session', 'priority', 'limit', 'emptied'].map((name) => [name, null] as const),
  ...['priority', 'limit', 'metadata', 'input'].map((name) => [name, 7] as const),
  ['priority', 'high'],
  ['priority', 11],
  ['input', ' '],
  ['deadline', '2026-11-23T09:00:00+01:00'],
  ['metadata', { team: 'a', list: [null] }],
  ['requirements', { capabilities: ['gpu'], memoryMb: null }],
  ['parts', { size: null }],
  ['list', [{ id: 1, note: null }]],
  ['execution', { timeoutMs: 5 }],
];

describe('an object of which only the members are checked that it has', () => {
  it.each([
    ['a task', taskRequestSchema],
    ['one with defaults', schema],
    ['one with a check of its own', schema.refine(({ limit }) => limit < 5)],
    ['one of any members', z.looseObject({ name: z.string().optional() })],
  ])('is read as by the complete schema: %s', (_what, checked: z.ZodObject) => {
    // A check keeps the schema from being read by its members.
    const complete = checked.refine(() => true);
    const member = fc.constantFrom(...MEMBERS);
    const some = fc.array(member, { maxLength: 4 });
    const task = fc.constant(TASK);
    const data = fc.oneof(
      some.map(own),
      fc.tuple(task, some).map((parts) => own(parts.flat())),
      some,
      fc.constant(null),
    );
    fc.assert(
      fc.property(data, (given) => {
        const [one, other] = [withoutNulls(checked, given), withoutNulls(complete, given)];
        expect(one.data).toEqual(other.data);
        expect(one.error?.issues).toEqual(other.error?.issues);
      }),
      { numRuns: 500 },
    );
  });
});

const TASK = [
  ['agent', 'echo'],
  ['input', 'hello'],
] as const;

/** As JSON gives it, with members of its own only. */
function own(members: readonly (readonly [string, unknown])[]): unknown {
  return JSON.parse(`{${members.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`);
}

it.each([
  [z.int().max(200), 1e20, 'Too big: expected number to be <=200'],
  [z.int().min(1), -1e20, 'Too small: expected number to be >=1'],
  [z.int(), 1e20, 'Too big: expected int to be <=9007199254740991'],
])('a number beyond every integer has one problem, its narrowest bound', (bounded, value, message) => {
  const { error } = z.object({ limit: bounded }).safeParse({ limit: value });
  expect(problemsOf(error as z.ZodError, 'query')).toEqual([{ path: 'query.limit', message }]);
});

describe('what may have several forms', () => {
  const forms = [z.iso.date(), z.string().regex(/^[0-9]+$/)] as const;

  it('is refused with the reasons of each form', () => {
    expect(problemsOf(z.union(forms).safeParse('x').error ?? new z.ZodError([]), 'since')).toMatchObject([
      { path: 'since', message: expect.stringContaining('; or ') },
    ]);
  });

  it('is refused with its own sentence where it has one', () => {
    const ownWords = z.union(forms, { error: 'expected a day or a number' });
    expect(problemsOf(ownWords.safeParse('x').error ?? new z.ZodError([]), 'since')).toEqual([
      { path: 'since', message: 'expected a day or a number' },
    ]);
  });
});

it.each(['abc', '0', '201', '1.5', ['1', '2']])('says what is expected of the limit %j of a page', (given) => {
  expect(problemsOf(pageLimitSchema.safeParse(given).error ?? new z.ZodError([]), 'query.limit')).toEqual([
    { path: 'query.limit', message: 'expected one whole number from 1 to 200' },
  ]);
});

describe('the sentence of a refusal names each place as a caller writes it', () => {
  const statuses = z
    .union([z.string(), z.array(z.string())])
    .transform((given) => [given].flat().flatMap((each) => each.split(',')))
    .pipe(z.array(z.enum(['running'], 'unknown')));
  const schemas = {
    params: z.object({ id: z.string().max(3, 'too long') }),
    query: z.object({ status: statuses.optional(), limit: z.string().max(1, 'too long').optional() }),
    headers: z.object({ 'idempotency-key': z.string().max(3, 'too long').optional() }),
    body: z.object({ name: z.string('expected a name'), tasks: z.array(z.object({ priority: z.number('expected a number') })).optional() }),
  };
  const right = { method: 'POST', params: { id: 'a' }, query: {}, headers: {}, body: { name: 'a' } };

  it.each([
    [{ query: { status: 'x' } }, 'query parameter status: unknown', 'query.status.0'],
    [{ query: { status: 'running,x' } }, 'query parameter status, value 2: unknown', 'query.status.1'],
    [{ query: { status: ['x', 'running'] } }, 'query parameter status, value 1: unknown', 'query.status.0'],
    [{ query: { limit: '12' } }, 'query parameter limit: too long', 'query.limit'],
    [{ params: { id: 'abcd' } }, 'id in the address: too long', 'params.id'],
    [{ headers: { 'idempotency-key': 'abcd' } }, 'header Idempotency-Key: too long', 'headers.idempotency-key'],
    [{ body: { name: 1 } }, 'name: expected a name', 'body.name'],
    [{ body: { name: 'a', tasks: [{ priority: 1 }, {}] } }, 'tasks[1].priority: expected a number', 'body.tasks.1.priority'],
    [{ body: 7 }, 'body: Invalid input: expected object, received number', 'body'],
  ])('%j', (given, sentence, path) => {
    const readInput = (): unknown => parseInput(schemas, { ...right, ...given });
    const [, message = ''] = /: (.*)$/.exec(sentence) ?? [];
    expect(readInput).toThrow(expect.objectContaining({ message: sentence, details: { problems: [{ path, message }] } }));
  });
});
