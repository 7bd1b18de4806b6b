import { array, assert, integer, property, record } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { divideCaps, parseShares, shareOf, type SharesRecord, type TenantDemand } from '#shared/tenants/fleet-limits/fleet-shares.ts';
import { shareOut } from '#shared/tenants/fleet-limits/share-out.ts';

const claim = (demand: number, { weight = 1, taken = 0 } = {}): { demand: number; weight: number; taken: number } => ({
  demand,
  weight,
  taken,
});

describe('a cap', () => {
  it.each([
    ['gives all what they want, and the rest in equal parts', 10, [claim(2), claim(4), claim(0)], [3, 5, 1]],
    ['is divided in equal parts where all want more', 9, [claim(50), claim(50), claim(50)], [3, 3, 3]],
    ['leaves to others what one does not want', 10, [claim(1), claim(50), claim(50)], [1, 5, 4]],
    ['is divided by weight', 8, [claim(50, { weight: 3 }), claim(50)], [6, 2]],
    ['is lowered at once, and raises nobody before that is free', 10, [claim(50, { taken: 10 }), claim(50)], [5, 0]],
    ['raises as far as there is room', 10, [claim(50, { taken: 7 }), claim(50, { taken: 1 })], [5, 3]],
    ['that was lowered below what runs raises nobody', 2, [claim(5, { taken: 5 }), claim(5)], [1, 0]],
  ])('%s', (_what, cap, claims, shares) => {
    expect(shareOut(cap, claims, 0)).toEqual(shares);
  });

  it('with fewer places than tenants gives each its turn', () => {
    const claims = [claim(5), claim(5), claim(5)];
    expect([0, 1, 2].map((turn) => shareOut(1, claims, turn))).toEqual([
      [1, 0, 0],
      [0, 1, 0],
      [0, 0, 1],
    ]);
  });

  it('is never exceeded, whatever any of them does with its former and its new share', () => {
    const someClaim = record({
      demand: integer({ min: 0, max: 40 }),
      weight: integer({ min: 1, max: 5 }),
      taken: integer({ min: 0, max: 10 }),
    });
    assert(
      property(integer({ min: 1, max: 60 }), array(someClaim, { maxLength: 8 }), integer({ min: 0, max: 9 }), (cap, claims, turn) => {
        const shares = shareOut(cap, claims, turn);
        const before = claims.reduce((sum, { taken }) => sum + taken, 0);
        const greatest = claims.reduce((sum, { taken }, position) => sum + Math.max(taken, shares[position] ?? 0), 0);
        expect(greatest).toBeLessThanOrEqual(Math.max(cap, before));
      }),
    );
  });
});

const demand = (tenant: string, waiting: number, granted = 0): TenantDemand => ({
  tenant,
  weight: 1,
  granted: { user: granted },
  waiting: { user: waiting },
});
const divide = (before: SharesRecord | null, demands: TenantDemand[], now: number): SharesRecord =>
  divideCaps(before, demands, { caps: { user: 4 }, now, holdMs: 300 });

describe('a division', () => {
  it('waits with a raise until the former shares of others hold nowhere any more, and what they granted has ended', () => {
    const first = divide(null, [demand('a', 9)], 1000);
    expect(first.tenants).toEqual({ a: { user: 4 } });
    const second = divide(first, [demand('a', 5, 4), demand('b', 9)], 1100);
    expect(second.tenants).toEqual({ a: { user: 2 }, b: {} });
    const third = divide(second, [demand('a', 5, 2), demand('b', 9)], 1299);
    expect(third.tenants).toEqual({ a: { user: 2 }, b: {} });
    const fourth = divide(third, [demand('a', 5, 3), demand('b', 9)], 1301);
    expect(fourth.tenants).toEqual({ a: { user: 2 }, b: { user: 1 } });
    expect(divide(fourth, [demand('a', 5, 2), demand('b', 9)], 1700).tenants).toEqual({ a: { user: 2 }, b: { user: 2 } });
  });

  it('counts a share that nobody wants any more until it holds nowhere', () => {
    const first = divide(null, [demand('gone', 9)], 1000);
    expect(divide(first, [demand('b', 9)], 1200).tenants).toEqual({ gone: {}, b: {} });
    expect(divide(first, [demand('b', 9)], 1301).tenants).toEqual({ b: { user: 4 } });
  });

  it('is what each process reads of it, for the caps that there are', () => {
    const limits = { maxConcurrent: 9, runningByClass: { user: 4 }, runningLow: 2, rates: {} };
    const stored = parseShares(JSON.stringify(divide(null, [demand('a', 9)], 1000)));
    expect(shareOf(stored, limits, 'a')).toEqual({ ends: 1300, shares: { user: 4, low: 0 } });
    expect(shareOf(stored, limits, 'constructor')).toEqual({ ends: 1300, shares: { user: 0, low: 0 } });
    expect(shareOf(stored, { ...limits, runningByClass: { user: 3 }, runningLow: null }, 'a')).toEqual({ ends: 1300, shares: { user: 3 } });
    expect(shareOf(stored, { ...limits, runningByClass: {}, runningLow: null }, 'a')).toBeNull();
    expect(shareOf(parseShares('of a newer release'), limits, 'a')).toEqual({ ends: 0, shares: { user: 0, low: 0 } });
  });
});
