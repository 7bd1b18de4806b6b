import { z } from 'zod';
import type { ZodOpenApiResponseObject, ZodOpenApiResponsesObject } from 'zod-openapi';
import { ERROR_CODES, type ErrorCode } from '../../errors/index.ts';
import type { RouteDescription } from '../route.ts';

const codes = Object.keys(ERROR_CODES);

/** All of them, with what each means and whether the same request may succeed later. */
const codeSchema = z.enum(codes).meta({
  id: 'ErrorCode',
  description: [
    'What to branch on. Later versions may have further codes. Where "later" stands, the same request may succeed later; `Retry-After` says when, if that is known.',
    ...Object.entries(ERROR_CODES).map(
      ([code, { status, retry, title }]) => `- \`${code}\` (${status}${retry === 'later' ? ', later' : ''}): ${title}.`,
    ),
  ].join('\n'),
});

const problemSchema = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: codeSchema,
    instance: z.string().optional(),
    details: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({
    id: 'Problem',
    description: 'An error, as of RFC 9457.',
    examples: [
      {
        type: 'urn:muster:problem:task.not-found',
        title: ERROR_CODES['task.not-found'].title,
        status: 404,
        detail: 'There is no such task',
        code: 'task.not-found',
        instance: '/v1/tasks/01KQS1C8ZV0G3P5T7W9X1Y2Z3A',
        details: { task: '01KQS1C8ZV0G3P5T7W9X1Y2Z3A' },
      },
    ],
  });

/** Those that any route may answer, whatever it does. */
const EVERYWHERE: readonly ErrorCode[] = [
  'request.malformed',
  'request.method-not-allowed',
  'request.timeout',
  'request.headers-too-large',
  'record.unreadable',
  'internal.error',
];
const LATER: readonly ErrorCode[] = ['limit.rate', 'limit.bodies', 'unavailable.redis', 'unavailable.shutting-down'];
const WITH_KEY: readonly ErrorCode[] = ['auth.missing', 'auth.invalid', 'auth.forbidden', 'auth.csrf', 'tenant.disabled', 'tenant.ended'];
const WITH_INPUT: readonly ErrorCode[] = ['request.invalid'];
const WITH_BODY: readonly ErrorCode[] = ['request.too-large', 'request.unsupported-media-type'];
const WITH_EVENTS: readonly ErrorCode[] = ['limit.streams'];

/** Names of answers that many routes have alike. */
const SHARED_NAMES: Readonly<Record<number, string>> = {
  401: 'Unauthenticated',
  403: 'Forbidden',
  410: 'TenantEnded',
  413: 'TooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooMany',
  503: 'Unavailable',
};

/** The codes that a route may answer with, besides those of every route. */
function codesOf({ scope, request, media, errors = [] }: RouteDescription): ErrorCode[] {
  return [
    ...LATER,
    ...(scope === 'none' ? [] : WITH_KEY),
    ...(request === undefined ? [] : WITH_INPUT),
    ...(request?.body === undefined ? [] : WITH_BODY),
    ...(media === 'text/event-stream' ? WITH_EVENTS : []),
    ...errors,
  ];
}

/** The answers of a route that are problems, by status. */
export function problemResponses(route: RouteDescription): ZodOpenApiResponsesObject {
  const own = new Set([...(route.errors ?? []), ...(route.media === 'text/event-stream' ? WITH_EVENTS : [])]);
  const answers: ZodOpenApiResponsesObject = { default: sharedProblem('Problem', EVERYWHERE) };
  for (const [status, found] of Map.groupBy(new Set(codesOf(route)), (code) => ERROR_CODES[code].status)) {
    const name = found.some((code) => own.has(code)) ? undefined : SHARED_NAMES[status];
    const text = String(status);
    if (isStatus(text)) answers[text] = name === undefined ? problemOf(describe(found), status) : sharedProblem(name, found, status);
  }
  for (const [status, description] of Object.entries(route.problems ?? {}))
    if (isStatus(status)) answers[status] = problemOf(description, Number(status));
  return answers;
}

const shared = new Map<string, ZodOpenApiResponseObject>();

/** The document has it once, under its name, as long as it is the same object. */
function sharedProblem(name: string, found: readonly ErrorCode[], status?: number): ZodOpenApiResponseObject {
  const answer = shared.get(name) ?? { id: name, ...problemOf(describe(found), status) };
  shared.set(name, answer);
  return answer;
}

function describe(found: readonly ErrorCode[]): string {
  return found.map((code) => `\`${code}\`: ${ERROR_CODES[code].title}.`).join(' ');
}

function problemOf(description: string, status?: number): ZodOpenApiResponseObject {
  const isLater = status === 429 || status === 503;
  return {
    description,
    ...(isLater
      ? { headers: { 'Retry-After': { schema: { type: 'integer' as const }, description: 'Seconds until it may succeed.' } } }
      : {}),
    content: { 'application/problem+json': { schema: problemSchema } },
  };
}

export function isStatus(text: string): text is `${1 | 2 | 3 | 4 | 5}${string}` {
  return /^[1-5]\d\d$/.test(text);
}
