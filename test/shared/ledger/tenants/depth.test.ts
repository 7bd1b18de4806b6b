import { afterEach, describe, expect, it } from 'vitest';
import { listPressed, updatePressure } from '#shared/ledger/tenants/depth.ts';
import { useParts } from '../../../support/use-parts.ts';

const parts = await useParts({ limits: { backpressure: { warningDepth: 20, criticalDepth: 40 } } });
afterEach(async () => {
  await parts.redis.flushall();
});

const members = (prefix: string, count: number): (string | number)[] =>
  Array.from({ length: count }, (_, place) => [0, `${prefix}${place}`]).flat();

/** As if so many tasks of the tenant had not ended. */
async function load(depth: number): Promise<void> {
  const { live } = parts.keys.tenant('acme');
  await parts.redis.del(live);
  if (depth > 0) await parts.redis.zadd(live, ...Array.from({ length: depth }, (_, place) => [0, `queued/${place}`]).flat());
}

async function published(): Promise<(string | undefined)[]> {
  const entries = await parts.redis.xrange(parts.keys.tenant('acme').events, '-', '+');
  return entries.map(([, fields]) => `${fields[1]} ${fields[3]}`);
}

describe('the pressure of a tenant', () => {
  it('is published when it crosses a depth, and not again', async () => {
    for (const depth of [19, 20, 30, 25, 39, 40, 60]) {
      await load(depth);
      await updatePressure(parts.ledger, 'acme');
    }
    expect(await published()).toEqual(['backpressure.warning 20', 'backpressure.critical 40']);
    expect(await listPressed(parts.ledger, 0)).toEqual(['acme']);
  });

  it('ends below nine tenths of the depth, so that a tenant that stays near it gets one event', async () => {
    const levels: string[] = [];
    for (const depth of [40, 37, 40, 36, 35, 19, 20, 18, 17, 0]) {
      await load(depth);
      levels.push((await updatePressure(parts.ledger, 'acme')).level);
    }
    expect(levels).toEqual(['critical', 'critical', 'critical', 'critical', 'warning', 'warning', 'warning', 'warning', 'none', 'none']);
    expect(await published()).toEqual(['backpressure.critical 40', 'backpressure.warning 35', 'backpressure.cleared 17']);
    expect(await listPressed(parts.ledger, 0)).toEqual([]);
  });

  it('counts a task once that waits for a cap, or for a lane that it shares', async () => {
    const { live } = parts.keys.tenant('acme');
    await load(18);
    for (let place = 0; place < 18; place += 1) {
      await parts.redis.zadd(
        live,
        0,
        `backlog=u1/05/${place}`,
        0,
        `waits=gpu/${place}/${place}`,
        0,
        `holds=disk/${place}`,
        0,
        `hold=budget:b/05/${place}`,
      );
    }
    expect(await updatePressure(parts.ledger, 'acme')).toMatchObject({ level: 'none' });
    await parts.redis.zadd(live, 0, 'queued/18', 0, 'queued/19');
    expect(await updatePressure(parts.ledger, 'acme')).toMatchObject({ level: 'warning' });
    expect(await published()).toEqual(['backpressure.warning 20']);
  });

  it('has a wait by the starts of what has a grant, and by the grants of what waits at a cap', async () => {
    const { live } = parts.keys.tenant('acme');
    await parts.redis.zadd(live, ...members('granted=u1/', 5), ...members('backlog=u1/05/', 3));
    const waitOf = async (facts: { msPerStart: number | null; msPerGrant: number | null }): Promise<number | null> =>
      (await updatePressure(parts.ledger, 'acme', { running: 2, refused: {}, ...facts })).waitMs;
    expect(await waitOf({ msPerStart: 100, msPerGrant: null })).toBe(600);
    expect(await waitOf({ msPerStart: 100, msPerGrant: 1000 })).toBe(3000);
    expect(await waitOf({ msPerStart: null, msPerGrant: 1000 })).toBe(3000);
    expect(await waitOf({ msPerStart: 1000, msPerGrant: 100 })).toBe(6000);
    expect(await waitOf({ msPerStart: null, msPerGrant: null })).toBeNull();
  });

  it('is bound by caps where what waits for them waits longest, or where all that has a grant runs', async () => {
    const { live } = parts.keys.tenant('acme');
    await parts.redis.zadd(live, ...members('granted=u1/', 5), ...members('backlog=u1/05/', 50));
    const boundOf = async (facts: { running: number; msPerStart?: number; msPerGrant?: number }): Promise<string> =>
      (await updatePressure(parts.ledger, 'acme', { refused: {}, msPerStart: null, msPerGrant: null, ...facts })).bound;
    expect(await boundOf({ running: 5, msPerStart: 10, msPerGrant: 1000 })).toBe('caps');
    expect(await boundOf({ running: 2, msPerStart: 1000, msPerGrant: 400 })).toBe('slots');
    expect(await boundOf({ running: 5 })).toBe('caps');
    expect(await boundOf({ running: 2 })).toBe('slots');
    await parts.redis.del(live);
    expect(await boundOf({ running: 0 })).toBe('slots');
  });

  it('is published once when many see it at the same time', async () => {
    await load(25);
    await Promise.all(Array.from({ length: 10 }, () => updatePressure(parts.ledger, 'acme')));
    expect(await published()).toEqual(['backpressure.warning 25']);
  });
});
