import { describe, expect, it } from 'vitest';
import { estimatedUsage, knownCost, parseUsageRow, sumUsage, type TaskUsage, usageRows } from '#shared/tasks/usage.ts';

const small: TaskUsage = { inputTokens: 1, outputTokens: 2, costMicroUsd: 3 };
const named = (model: string, used: TaskUsage): TaskUsage => ({ ...used, byModel: { [model]: used } });

describe('a sum of usages', () => {
  it('adds tokens and known costs, and is unknown and estimated in cost as soon as a part is', () => {
    const other = { ...small, cachedInputTokens: 1, reasoningTokens: 2 };
    expect(sumUsage(small, other)).toEqual({ inputTokens: 2, outputTokens: 4, cachedInputTokens: 1, reasoningTokens: 2, costMicroUsd: 6 });
    expect(sumUsage(other, estimatedUsage({ ...small, costMicroUsd: null }))).toMatchObject({ costMicroUsd: null, isEstimated: true });
    expect(sumUsage(null, small)).toEqual(small);
    expect(sumUsage(small, null)).toEqual(small);
  });

  it('keeps the known part of a cost when a later report of the model has none, in whatever order they come', () => {
    const unpriced = named('a', { ...small, costMicroUsd: null });
    for (const reports of [
      [named('a', small), unpriced],
      [unpriced, named('a', small)],
      [named('a', small), unpriced, unpriced],
      [unpriced, named('b', small), named('b', { ...small, costMicroUsd: null })],
      [small, { ...small, costMicroUsd: null }],
    ]) {
      const sum = reports.reduce<TaskUsage | null>((total, each) => sumUsage(total, each), null);
      expect(sum?.costMicroUsd).toBeNull();
      expect(knownCost(sum)).toBe(3);
      const rows = usageRows({ agent: 'writer', source: 'chat', usage: sum ?? small });
      expect(rows.reduce((total, [, figures]) => total + (figures[4] ?? 0), 0)).toBe(3);
    }
  });

  it('keeps models apart, and what is of none', () => {
    const sum = sumUsage(sumUsage(named('a', small), small), named('a', estimatedUsage(small)));
    const twice = { inputTokens: 2, outputTokens: 4, costMicroUsd: 6, isEstimated: true };
    expect(sum).toEqual({ inputTokens: 3, outputTokens: 6, costMicroUsd: 9, isEstimated: true, byModel: { a: twice, '': small } });
  });
});

describe('a model that is called as something that every object has', () => {
  it.each(['constructor', '__proto__', 'toString'])('counts like any other: %s', (model) => {
    const one = sumUsage(named('a', small), named(model, small));
    const both = estimatedUsage(sumUsage(one, named(model, small)));
    expect(Object.entries(both.byModel ?? {})).toEqual([
      ['a', { ...small, isEstimated: true }],
      [model, { inputTokens: 2, outputTokens: 4, costMicroUsd: 6, isEstimated: true }],
    ]);
    const rows = usageRows({ agent: 'writer', source: 'chat', usage: both, attempts: 1 });
    expect(rows[1]).toEqual([`writer|chat|${model}`, [2, 4, 0, 0, 6, 0, 1, 0, 0]]);
  });
});

describe('the rows of a use', () => {
  it('are one for each model, and read as they were written', () => {
    const usage = sumUsage(named('a|b c', small), named('d', estimatedUsage({ ...small, costMicroUsd: null })));
    const rows = usageRows({ agent: 'writer', source: 'chat', usage, calls: { d: 2, 'a|b c': 3 }, attempts: 1 });
    const read = rows.map(([name, figures]) => parseUsageRow(name, figures.join(' ')));
    expect(read).toMatchObject([
      {
        name: { agent: 'writer', source: 'chat', model: 'a|b c' },
        isOther: false,
        figures: { costMicroUsd: 3, unknown: 0, calls: 3, attempts: 1 },
      },
      { name: { model: 'd' }, figures: { inputTokens: 1, costMicroUsd: 0, unknown: 1, estimated: 1, calls: 2, attempts: 0 } },
    ]);
  });

  it('count calls under their models, and the attempt once', () => {
    const usage = sumUsage(named('a', small), named('b', small));
    const rows = usageRows({ agent: 'writer', source: 'chat', usage, calls: { b: 2 }, attempts: 1 });
    expect(rows.map(([name, figures]) => [name, figures.at(-2), figures.at(-1)])).toEqual([
      ['writer|chat|a', 0, 1],
      ['writer|chat|b', 2, 0],
    ]);
  });

  it.each([
    ['writer|elsewhere|a', '1 2'],
    ['writer|chat|a', '1 x'],
  ])('are none in %s: %s', (name, text) => {
    expect(parseUsageRow(name, text)).toBeNull();
  });
});
