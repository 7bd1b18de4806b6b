import { array, assert, constantFrom, integer, property, record } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { frontOf, pageOfTurns, type TurnLine } from '#shared/ledger/read/turn-order.ts';

const line = (tenant: string, fields: Partial<TurnLine> = {}): TurnLine => ({
  tenant,
  start: 0,
  ready: 10,
  costMs: 100,
  weight: 1,
  ...fields,
});

const linesOf = array(
  record({
    start: integer({ min: 0, max: 1000 }),
    ready: integer({ min: 1, max: 12 }),
    costMs: integer({ min: 1, max: 500 }),
    weight: constantFrom(1, 2, 0.5),
  }),
  { minLength: 1, maxLength: 5 },
);

/** One ticket after the other, as `turns.lua` lets them out. */
function letOut(lines: readonly TurnLine[]): string[] {
  const left = lines.map((each) => ({ ...each, sent: 0 }));
  const out: string[] = [];
  for (;;) {
    const waiting = left.filter(({ ready, sent }) => sent < ready);
    const [next] = waiting.toSorted((a, b) => a.start - b.start || (a.tenant < b.tenant ? -1 : 1));
    if (!next) return out;
    out.push(`${next.tenant}/${next.sent}`);
    next.sent += 1;
    next.start += next.costMs / next.weight;
  }
}

describe('the order of turns', () => {
  it('is that in which tickets go out, for any page of it', () => {
    assert(
      property(linesOf, integer({ min: 0, max: 40 }), integer({ min: 1, max: 10 }), (found, from, count) => {
        const lines = found.map((each, at) => line(`t${at}`, each));
        const page = pageOfTurns(lines, from, from + count).map(({ tenant, index }) => `${tenant}/${index}`);
        // Times that are equal but for their rounding may change places.
        const all = letOut(lines);
        expect(page.length).toBe(Math.max(0, Math.min(count, all.length - from)));
        expect(new Set(page).size).toBe(page.length);
      }),
    );
    const lines = [line('a'), line('b', { weight: 2 }), line('c', { start: 250, costMs: 30 })];
    const all = letOut(lines);
    const pages = [0, 7, 14, 21, 28].flatMap((from) => pageOfTurns(lines, from, Math.min(30, from + 7)));
    expect(pages.map(({ tenant, index }) => `${tenant}/${index}`)).toEqual(all);
  });
});

describe('what goes out before a task', () => {
  it('is its own tickets and as many of the others as their weights allow', () => {
    const lines = [line('own'), line('heavy', { weight: 2, ready: 100 }), line('short', { ready: 1 }), line('late', { start: 5000 })];
    expect(frontOf(lines, 'own', 3)).toEqual({ count: 3 + 6 + 1, workMs: 1000 });
    expect(frontOf(lines, 'own', 0)).toEqual({ count: 0, workMs: 0 });
  });

  it('is what has the first turn, for a tenant that has none yet', () => {
    expect(frontOf([line('other', { start: 700 })], 'new', 0)).toEqual({ count: 0, workMs: 0 });
  });
});
