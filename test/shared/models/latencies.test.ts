import { expect, it } from 'vitest';
import { Latencies } from '#shared/models/latencies.ts';

it('a model that answered slowly counts as slow for some minutes, and is tried again then', () => {
  let now = 0;
  const latencies = new Latencies({ monotonic: () => now });
  for (let call = 1; call <= 19; call += 1) latencies.add('a', 100);
  expect(latencies.p95('a')).toBeNull();
  for (let call = 0; call < 2; call += 1) latencies.add('a', 9000);
  expect(latencies.p95('a')).toBe(9000);
  now += 299_999;
  expect(latencies.p95('a')).toBe(9000);
  now += 2;
  expect(latencies.p95('a')).toBeNull();
});
