import { expect, it } from 'vitest';
import { acceptNewTasks, readHeads, readOpenings } from '#shared/ledger/index.ts';
import { useEmptyParts } from '../../../support/use-parts.ts';
import { aTask } from '../support/test-ledger.ts';

const parts = await useEmptyParts();
const TENANT = 'default';
const INPUT = 'a "b" \\ \n\u0001 ä 🚂 end';

it('an input begins with what is read of it, wherever that is cut', async () => {
  const full = aTask({ tenant: TENANT, input: INPUT });
  const empty = aTask({ tenant: TENANT, input: '' });
  await acceptNewTasks(parts.ledger, [full, empty]);
  const read = async (bytes: number): Promise<string | undefined> =>
    (await readOpenings(parts.ledger, TENANT, [full.body.id, empty.body.id, 'nobody'], bytes)).get(full.body.id)?.input;
  const texts: (string | undefined)[] = [];
  for (let bytes = 0; bytes < 60; bytes += 1) texts.push(await read(bytes));
  expect(texts.filter((text) => text === undefined || !INPUT.startsWith(text))).toEqual([]);
  expect([texts[0], texts.at(-1)]).toEqual(['', INPUT]);
  const heads = await readHeads(parts.ledger, TENANT, ['nobody', empty.body.id, full.body.id]);
  expect([...heads.keys()]).toEqual([empty.body.id, full.body.id]);
});
