import { z } from 'zod';
import { MusterError } from '../errors/index.ts';
import { truncate } from '../text/index.ts';
import type { RequestSchemas } from './route.ts';

/** What one part of a request got wrong. */
interface InputProblem {
  /** `body.priority`, `query.limit`. */
  path: string;
  /** What was expected and what came. */
  message: string;
  /** The same place in words, where the path alone does not give them. */
  place?: string;
}

/** A hostile body could have a problem per byte. */
const MAX_PROBLEMS = 50;
const MAX_IN_SENTENCE = 3;
const MAX_FORMS = 6;
const MAX_CHARACTERS = 500;

type Issue = z.core.$ZodIssue;

/** What is parsed of a request, or of a message of another protocol that stands for one. */
export interface RequestParts {
  readonly method: string;
  readonly params: unknown;
  readonly query: Readonly<Record<string, unknown>>;
  readonly headers: unknown;
  readonly body?: unknown;
}

const PARTS = ['params', 'query', 'headers', 'body'] as const;

/** The query of an endpoint that takes no parameters: a caller that sends some would take their effect for granted. */
const NO_QUERY = z.strictObject({});

/**
 * Reads the parts that have a schema, and a query always. Throws `request.invalid` with every problem in `details.problems`. In a body null counts as absent
 * where its schema does not allow null; only a PATCH means something else by it.
 */
export function parseInput(schemas: RequestSchemas, request: RequestParts): Record<string, unknown> {
  const input: Record<string, unknown> = {};
  const problems: InputProblem[] = [];
  const known: RequestSchemas = { query: NO_QUERY, ...schemas };
  for (const part of PARTS) {
    const schema = known[part];
    if (!schema) continue;
    const parsed = parse(schema, request[part], part, part === 'body' && request.method !== 'PATCH');
    if (parsed.success) input[part] = parsed.data;
    else problems.push(...problemsOf(parsed.error, part).map((problem) => withPlace(problem, request)));
  }
  if (problems.length > 0) throw invalidRequest(problems);
  return input;
}

/** Schemas go down as deep as the data does: data that is a few thousand levels deep ends their stack, and is the sender's mistake. */
function parse(schema: z.ZodType, data: unknown, part: string, areNullsAbsent: boolean): z.ZodSafeParseResult<unknown> {
  try {
    return areNullsAbsent ? withoutNulls(schema, data) : schema.safeParse(data);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw invalidRequest([{ path: part, message: 'nested too deep' }]);
  }
}

/** The problems that a schema found, with paths from `root` on. */
export function problemsOf(error: z.ZodError, root: string): InputProblem[] {
  return error.issues
    .filter((issue) => !isRepeated(issue, error.issues))
    .map((issue) => ({ path: shorten([root, ...issue.path.map(String)].join('.')), message: shorten(messageOf(issue)) }));
}

/** An integer beyond the safe range is beyond its own bound too, which says more. */
function isRepeated(issue: Issue, all: readonly Issue[]): boolean {
  if ((issue.code !== 'too_big' && issue.code !== 'too_small') || issue.origin !== 'int') return false;
  const path = issue.path.join('.');
  return all.some((other) => other !== issue && other.code === issue.code && other.path.join('.') === path);
}

/** Names and messages hold what was sent. */
function shorten(text: string): string {
  return text.length <= MAX_CHARACTERS ? text : `${truncate(text, MAX_CHARACTERS)}...`;
}

/** Zod's sentence for what has none of its forms, which does not say what was expected. */
const NONE_OF_THEM = z.union([z.null(), z.undefined()]).safeParse('').error?.issues[0]?.message;

/** Of what may have several forms and no sentence of its own, why it has none of them. */
function messageOf(issue: Issue): string {
  if (issue.code !== 'invalid_union' || issue.errors.length === 0 || issue.message !== NONE_OF_THEM) return issue.message;
  const reasons = issue.errors.map((form) => form.slice(0, MAX_IN_SENTENCE).map(withPath).join(', '));
  return [...new Set(reasons)].slice(0, MAX_FORMS).join('; or ');
}

function withPath(issue: Issue): string {
  return issue.path.length === 0 ? messageOf(issue) : `${memberPath(issue.path)}: ${messageOf(issue)}`;
}

/** A single value of a parameter that takes several needs no number. */
function withPlace(problem: InputProblem, { query }: RequestParts): InputProblem {
  const [part, name = '', at] = problem.path.split('.');
  const given = part === 'query' && at === '0' ? query[name] : undefined;
  return typeof given === 'string' && !given.includes(',') ? { ...problem, place: `query parameter ${name}` } : problem;
}

const PLACES: Readonly<Record<string, (name: string, inner: readonly string[]) => string>> = {
  body: (name, inner) => memberPath([name, ...inner]),
  item: (name, inner) => memberPath([name, ...inner]),
  query: (name, inner) => ['query parameter ' + name, ...inner.map((at) => `value ${Number(at) + 1}`)].join(', '),
  params: (name) => `${name} in the address`,
  headers: (name) => `header ${name.replaceAll(/(?<![a-z])[a-z]/g, (letter) => letter.toUpperCase())}`,
};

/** A place as callers write it: `tasks[0].priority`, `query parameter status, value 2`, `header Idempotency-Key`. */
function placeOf(path: string): string {
  const [part = '', name, ...inner] = path.split('.');
  return name === undefined ? path : (PLACES[part]?.(name, inner) ?? path);
}

function memberPath(names: readonly PropertyKey[]): string {
  return names.map((name, at) => (/^\d+$/.test(String(name)) ? `[${String(name)}]` : `${at === 0 ? '' : '.'}${String(name)}`)).join('');
}

/** `request.invalid` with these problems; the first few are in its sentence. */
export function invalidRequest(problems: readonly InputProblem[]): MusterError {
  const shown = problems.slice(0, MAX_IN_SENTENCE).map(({ path, message, place = placeOf(path) }) => `${place}: ${message}`);
  const more = problems.length > MAX_IN_SENTENCE ? `; and ${problems.length - MAX_IN_SENTENCE} more` : '';
  const details = { problems: problems.slice(0, MAX_PROBLEMS).map(({ path, message }) => ({ path, message })) };
  return new MusterError('request.invalid', `${shown.join('; ')}${more}`, { details });
}

/** A whole number of a query, which has texts only. One sentence says the form and the range, because Zod gives it for each fault. */
export function countSchema(min: number, max: number): z.ZodCoercedNumber {
  return z.coerce.number(`expected one whole number from ${min} to ${max}`).int().min(min).max(max);
}

/** The headers of a PUT that can be told to replace none. Another value than `*` would name a version, which records do not have. */
export const onlyNewHeadersSchema = z.object({
  'if-none-match': z.literal('*').optional().meta({ description: '`*`: replaces none; where one of this name exists the answer is 412.' }),
});

/** How many items a page of a list has at most. */
export const pageLimitSchema = countSchema(1, 200).default(50).meta({ description: 'Items of a page, at most.' });

/**
 * Reads data in which null may stand for an absent member, as in the API's answers: null members that the schema refuses are left out. What
 * is needed stays needed, and elements of lists stay where they are.
 */
export function withoutNulls<T>(schema: z.ZodType<T>, data: unknown): z.ZodSafeParseResult<T> {
  const members = membersOf(schema);
  const simple = members && parseMembers(members, data);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each member is an output of its own schema
  if (simple) return { success: true, data: simple as T };
  const parsed = schema.safeParse(data);
  if (parsed.success) return parsed;
  const refused = new Place();
  for (const { path } of parsed.error.issues) if (isNullMember(data, path)) refused.add(path);
  return refused.inner.size === 0 ? parsed : schema.safeParse(without(data, refused));
}

/** The members of an object's schema that is made of nothing else. */
interface Members {
  readonly byName: ReadonlyMap<string, z.core.$ZodType>;
  /** Those that an object has to have, and those that become a value where they are absent. */
  readonly needed: readonly string[];
}

const knownMembers = new WeakMap<z.ZodType, Members | null>();

function membersOf(schema: z.ZodType): Members | null {
  const known = knownMembers.get(schema);
  if (known !== undefined) return known;
  const members = isMadeOfMembers(schema) ? readMembers(schema) : null;
  knownMembers.set(schema, members);
  return members;
}

function isMadeOfMembers(schema: z.ZodType): schema is z.ZodObject {
  if (!(schema instanceof z.ZodObject) || (schema.def.checks ?? []).length > 0) return false;
  return schema.def.catchall instanceof z.ZodNever;
}

function readMembers({ shape }: z.ZodObject): Members {
  const byName = new Map(Object.entries(shape));
  const needed = [...byName].flatMap(([name, member]) => (isOptional(member) ? [] : [name]));
  return { byName, needed };
}

function isOptional(member: z.core.$ZodType): boolean {
  const absent = z.safeParse(member, undefined);
  return absent.success && absent.data === undefined;
}

/** What the schema makes of an object that has few of many members: it would look at each. Null for what is not that simple, or is wrong. */
function parseMembers({ byName, needed }: Members, data: unknown): Record<string, unknown> | null {
  if (!isOwner(data) || Array.isArray(data) || !needed.every((name) => Object.hasOwn(data, name))) return null;
  const parsed: Record<string, unknown> = {};
  for (const name of Object.keys(data)) {
    const member = byName.get(name);
    const result = member && z.safeParse(member, data[name]);
    if (result?.success !== true) return null;
    parsed[name] = result.data;
  }
  return parsed;
}

/** What was refused in a value, by the names that lead there; one without inner places was refused itself. */
class Place {
  readonly inner = new Map<PropertyKey, Place>();

  add(path: readonly PropertyKey[]): void {
    path.reduce<Place>((place, name) => place.#innerAt(name), this);
  }

  #innerAt(name: PropertyKey): Place {
    const known = this.inner.get(name);
    if (known) return known;
    const made = new Place();
    this.inner.set(name, made);
    return made;
  }
}

function isNullMember(data: unknown, path: readonly PropertyKey[]): boolean {
  const owner = path.slice(0, -1).reduce<unknown>((value, name) => (isOwner(value) ? value[name] : undefined), data);
  const name = path.at(-1);
  return name !== undefined && isOwner(owner) && !Array.isArray(owner) && owner[name] === null;
}

/** Copies each object once, however many of its members go. */
function without(data: unknown, { inner }: Place): unknown {
  if (!isOwner(data)) return data;
  if (Array.isArray(data)) {
    return data.map((element: unknown, index) => {
      const place = inner.get(index);
      return place ? without(element, place) : element;
    });
  }
  const kept = Object.entries(data).flatMap(([name, member]) => {
    const place = inner.get(name);
    if (!place) return [[name, member] as const];
    return place.inner.size === 0 ? [] : [[name, without(member, place)] as const];
  });
  return Object.fromEntries(kept);
}

function isOwner(value: unknown): value is Record<PropertyKey, unknown> {
  return typeof value === 'object' && value !== null;
}
