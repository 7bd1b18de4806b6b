import { format } from 'oxfmt';
import { expect } from 'vitest';
import type { Api } from '../api/support/start-api.ts';

/** What one operation was asked, and what it answered by status. */
interface Example {
  request?: unknown;
  answers: Record<string, unknown>;
}

const HEADER =
  '// Written by `npm run openapi`: what the API was asked by a test, and what it answered, with other ids, times and secrets.\n\n';

/** Calls an API and keeps what was said as examples. `examples` is the module of all of them, the same each time. */
export function examplesOf(api: Api): {
  call: (operationId: string, method: string, path: string, body?: unknown) => Promise<{ id: string }>;
  examples: () => Promise<string>;
} {
  const kept: Record<string, Example> = {};
  return {
    call: async (operationId, method, path, body) => {
      const answer = await api.call(method, path, body === undefined ? {} : { body });
      expect([path, answer.status < 300]).toEqual([path, true]);
      const example = (kept[operationId] ??= { ...(body === undefined ? {} : { request: body }), answers: {} });
      example.answers[answer.status] ??= answer.body as unknown;
      return answer.body as { id: string };
    },
    examples: async () => {
      const text = `${HEADER}export const EXAMPLES: Readonly<Record<string, { request?: unknown; answers: Readonly<Record<string, unknown>> }>> = ${JSON.stringify(steady(kept))};`;
      return (await format('examples.gen.ts', text, { printWidth: 140, singleQuote: true })).code;
    },
  };
}

/** Fields whose values differ from time to time, and what stands there instead. */
const VALUES: Readonly<Record<string, unknown>> = {
  estimatedStartMs: 150,
  estimatedWaitMs: 150,
  traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
  requestId: '7f0c2a4e5b6d4c1e8a9b0c1d2e3f4a5b',
  secret: 'msk_example',
  token: 'example-token',
  worker: 'worker-1',
  startedAt: '2026-05-04T09:00:01.000Z',
  completedAt: '2026-05-04T09:00:04.000Z',
  endedAt: '2026-05-04T09:00:04.000Z',
  lastAt: '2026-05-04T09:00:04.000Z',
};
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;
const IDS = /\b[0-9A-HJKMNP-TV-Z]{26}\b/g;
/** Of keys and daemons. */
const RANDOM_IDS = /\b((?:key|dmn)_)[0-9a-f]{12}([0-9a-f]*)\b/g;
const FIRST_ID = '01KQS1C8ZV0G3P5T7W9X1Y2Z3';
const LAST_LETTERS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** The same with ids by the order in which they appear, and with fixed times. */
function steady(value: unknown): unknown {
  const ids = new Map<string, string>();
  const idOf = (id: string): string => {
    const known = ids.get(id) ?? `${FIRST_ID}${LAST_LETTERS[ids.size] ?? '0'}`;
    ids.set(id, known);
    return known;
  };
  const change = (name: string, each: unknown): unknown => {
    if (each === null || each === undefined) return each;
    if (Array.isArray(each)) return each.map((item, place) => (TIME.test(String(item)) ? dayAfter(place) : change('', item)));
    if (typeof each === 'object') return Object.fromEntries(Object.entries(each).map(([key, inner]) => [key, change(key, inner)]));
    if (name in VALUES) return VALUES[name];
    if (typeof each !== 'string') return each;
    return TIME.test(each) ? timeOf(name) : each.replaceAll(IDS, idOf).replaceAll(RANDOM_IDS, (_id, kind: string) => `${kind}0a1b2c3d4e5f`);
  };
  return change('', value);
}

/** A Monday; what is still to come is on the next days. */
const timeOf = (name: string): string => (/next|expires|ends/i.test(name) ? dayAfter(0) : '2026-05-04T09:00:00.000Z');
const dayAfter = (days: number): string => new Date(Date.UTC(2026, 4, 5 + days, 7)).toISOString();
