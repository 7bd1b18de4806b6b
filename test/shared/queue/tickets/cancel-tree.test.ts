import { expect, it } from 'vitest';
import { acceptNewTasks } from '#shared/ledger/index.ts';
import { cancelTree } from '#shared/queue/index.ts';
import { aTask } from '../../ledger/support/test-ledger.ts';
import { useEmptyParts } from '../../../support/use-parts.ts';

const parts = await useEmptyParts();

/** More than a root may have by default, which a higher `runaways.maxDescendants` admits. */
const MANY = 1100;

it('reaches every task below the stopped one, however many they are', async () => {
  const root = aTask({ tenant: 'default' });
  const children = Array.from({ length: MANY }, () => aTask({ tenant: 'default', parentTaskId: root.body.id }));
  await acceptNewTasks(parts.ledger, [root, ...children]);
  expect(await cancelTree(parts.ledger, 'default', root.body.id, 'enough')).toEqual({ answer: { kind: 'cancelled' }, subTasks: MANY });
});
