import { expect, it } from 'vitest';
import { usageDay } from '#shared/tasks/usage.ts';
import { readUsageGroups } from '#shared/usage/read-usage.ts';
import { useParts } from '../../support/use-parts.ts';

const parts = await useParts({ usage: { maxRead: 400 } });
const DAY_MS = 86_400_000;
const UNTIL = Date.parse('2026-06-01T12:00:00Z');

/** One input token on this day. */
async function use(tenant: string, day: number, row = 'echo|api|large'): Promise<void> {
  await parts.redis.hset(parts.keys.tenant(tenant).usageDay(day), row, '1');
}

it('sums every one of many days', async () => {
  const days = 250;
  for (let back = 0; back < days; back += 1) await use('daily', usageDay(UNTIL) - back);
  const query = { tenants: ['daily'], groupBy: 'day', since: UNTIL - (days - 1) * DAY_MS, until: UNTIL } as const;
  const { items, total } = await readUsageGroups(parts, query);
  expect([items.length, total.inputTokens]).toEqual([days, days]);
});

it('refuses more days of several tenants than it may read', async () => {
  const query = { groupBy: 'day', since: UNTIL - 199 * DAY_MS, until: UNTIL } as const;
  await expect(readUsageGroups(parts, { ...query, tenants: ['a', 'b'] })).resolves.toMatchObject({ items: [] });
  await expect(readUsageGroups(parts, { ...query, tenants: ['a', 'b', 'c'] })).rejects.toMatchObject({ code: 'request.invalid' });
});

it('groups what came when a day was full as other, by agent and by model', async () => {
  await use('full', usageDay(UNTIL), '*|api|*');
  await use('full', usageDay(UNTIL), 'echo|api|');
  const query = { tenants: ['full'], since: UNTIL, until: UNTIL };
  const groupsBy = async (groupBy: 'agent' | 'model'): Promise<(string | null)[]> =>
    (await readUsageGroups(parts, { ...query, groupBy })).items.map(({ group }) => group);
  expect(new Set(await groupsBy('agent'))).toEqual(new Set(['echo', 'other']));
  expect(new Set(await groupsBy('model'))).toEqual(new Set(['other', null]));
});
