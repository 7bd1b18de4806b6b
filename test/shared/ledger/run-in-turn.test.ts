import { describe, expect, it } from 'vitest';
import type { Ledger } from '#shared/ledger/ledger.ts';
import { runInTurn } from '#shared/ledger/run-in-turn.ts';

const ledger = {} as Ledger;

describe('calls that run in turn', () => {
  it('start when the one before them of the same name has ended, also by an error, and in their order', async () => {
    const seen: string[] = [];
    const gate = Promise.withResolvers<void>();
    const first = runInTurn(ledger, 'a', async () => {
      seen.push('first begins');
      await gate.promise;
      seen.push('first ends');
      throw new Error('broken');
    });
    const second = runInTurn(ledger, 'a', () => Promise.resolve(seen.push('second')));
    const other = runInTurn(ledger, 'b', () => Promise.resolve(seen.push('other')));
    await other;
    expect(seen).toEqual(['first begins', 'other']);
    gate.resolve();
    await expect(first).rejects.toThrow('broken');
    await second;
    expect(seen).toEqual(['first begins', 'other', 'first ends', 'second']);
  });

  it('of another ledger do not wait', async () => {
    const never = Promise.withResolvers<void>();
    void runInTurn(ledger, 'c', () => never.promise);
    expect(await runInTurn({} as Ledger, 'c', () => Promise.resolve('at once'))).toBe('at once');
    never.resolve();
  });
});
