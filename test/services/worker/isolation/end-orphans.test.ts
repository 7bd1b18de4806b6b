import { expect, it } from 'vitest';
import { orphanEnder } from '../../../../services/worker/end-orphans.ts';
import { useParts } from '../../../support/use-parts.ts';

const parts = await useParts();

it('looks at the processes of the machine once at a time: calls during a look share the one after it', async () => {
  const looks: PromiseWithResolvers<string>[] = [];
  const read = (): Promise<string> => {
    const look = Promise.withResolvers<string>();
    looks.push(look);
    return look.promise;
  };
  const fleetId = Object.assign(Object.create(parts.fleetId) as typeof parts.fleetId, { read });
  const endOrphaned = orphanEnder({ ...parts, fleetId }, new AbortController().signal);
  const first = endOrphaned();
  const others = [endOrphaned(), endOrphaned(), endOrphaned()];
  expect(looks).toHaveLength(1);
  looks[0]?.resolve('a-fleet');
  await first;
  expect(looks).toHaveLength(2);
  looks[1]?.resolve('a-fleet');
  await Promise.all(others);
  expect(looks).toHaveLength(2);
});
