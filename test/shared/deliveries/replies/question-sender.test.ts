import { afterEach, expect, it } from 'vitest';
import type { SettingsInput } from '#shared/config/settings/settings.ts';
import { cancelTree } from '#shared/queue/tickets/cancel-tree.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { DeliveryFleet, TENANT } from '../delivery-fleet.ts';

let fleet: DeliveryFleet;
afterEach(async () => {
  await fleet.close();
});

const open = async (settings: SettingsInput = {}): Promise<DeliveryFleet> => {
  fleet = await DeliveryFleet.open({ ...settings, deliveries: { pollMs: 50, ...settings.deliveries } });
  return fleet;
};
const CHOICES = { choices: ['yes', 'no'] };
const END = 'Ship? / Answered by Anna: yes';

it('asks once, however long nobody answers, and its message shows the answer', async () => {
  const { port } = await open();
  fleet.start();
  const question = await fleet.asks(await fleet.offered(), 'Ship?', CHOICES);
  await fleet.shows(['Ship? [yes|no]']);
  const typings = port.count('typing');
  await fleet.answer(question, 'yes');
  await fleet.shows([END]);
  expect(port.count('post')).toBe(1);
  expect(port.count('typing') - typings).toBeLessThan(10);
});

it('asks again after each time that `questions.remindMs` names, and all its messages show the answer', async () => {
  await open({ questions: { remindMs: [200, 400] } });
  fleet.start();
  const question = await fleet.asks(await fleet.offered(), 'Ship?', CHOICES);
  const reminder = 'Still open: Ship? [yes|no]';
  await fleet.shows(['Ship? [yes|no]', reminder, reminder]);
  await fleet.answer(question, 'yes');
  await fleet.shows([END, END, END]);
  expect(fleet.port.count('post')).toBe(3);
});

it('reminds once of all times that passed while no process served the chat', async () => {
  await open({ questions: { remindMs: [3000, 3010, 3020, 3_600_000] } });
  const id = await fleet.offered();
  const first = fleet.start();
  await fleet.asks(id, 'Ship?', CHOICES);
  const { at } = await waitFor(async () => (await fleet.delivery(id))?.asked ?? null, { deadlineMs: 8000, what: 'the question' });
  await first.stop(500);
  await waitFor(() => Date.now() > at + 3020, { deadlineMs: 8000, what: 'the times to pass' });
  fleet.start();
  await waitFor(async () => (await fleet.delivery(id))?.asked?.messages.length === 2, { deadlineMs: 8000, what: 'the reminder' });
  expect((await fleet.delivery(id))?.asked?.posts).toBe(4);
  expect(fleet.port.texts()).toEqual(['Ship? [yes|no]', 'Still open: Ship? [yes|no]']);
});

it('asks again what its platform refused for now, and not what may have been shown', async () => {
  const { port } = await open();
  port.refuse('post', 'throttled', { retryAfterMs: 10 });
  fleet.start();
  await fleet.asks(await fleet.offered(), 'Ship?', CHOICES);
  await fleet.shows(['Ship? [yes|no]']);
  expect(port.count('post')).toBe(2);
  port.refuse('post', 'unknown');
  const other = await fleet.offered({ reply: { platform: port.platform, thread: 't2' } });
  await fleet.asks(other, 'Sell?');
  await waitFor(async () => (await fleet.delivery(other))?.asked?.posts === 1, { deadlineMs: 8000, what: 'the other to be asked' });
  await fleet.asks(await fleet.offered({ reply: { platform: port.platform, thread: 't3' } }), 'Rent?');
  await fleet.shows(['Rent?'], 't3');
  expect(port.texts('t2')).toEqual([]);
});

it('asks in a session one question at a time, the next once nobody is asked any more', async () => {
  await open();
  fleet.start();
  const first = await fleet.offered({ session: 's' });
  await fleet.asks(first, 'First?');
  await fleet.shows(['First?']);
  await fleet.asks(await fleet.offered({ session: 's' }), 'Second?');
  await fleet.asks(await fleet.offered({ session: 'other', reply: { platform: fleet.port.platform, thread: 't2' } }), 'Third?');
  await fleet.shows(['Third?'], 't2');
  expect(fleet.port.texts()).toEqual(['First?']);
  await cancelTree(fleet.parts.ledger, TENANT, first, 'stopped by /stop');
  await fleet.shows(['First? / Withdrawn: its task has ended.', 'Second?']);
});

it('tells a chat that cannot edit how its question ended, when that happened elsewhere', async () => {
  const { port } = await open();
  port.minEditMs = null;
  fleet.start();
  const question = await fleet.asks(await fleet.offered(), 'Ship?', CHOICES);
  await fleet.shows(['Ship? [yes|no]']);
  await fleet.answer(question, 'yes');
  await fleet.shows(['Ship? [yes|no]', 'Answered by Anna: yes']);
  expect(port.count('edit')).toBe(0);
});

it('a later answer of the session does not wait for a run that asks', async () => {
  await open({ deliveries: { orderWaitMs: 3_600_000 } });
  fleet.start();
  await fleet.asks(await fleet.offered({ session: 's' }), 'Ship?');
  await fleet.shows(['Ship?']);
  await fleet.drive.complete(await fleet.offered({ session: 's' }), 'Beside it.');
  await fleet.shows(['Ship?', 'Beside it.']);
  expect(fleet.port.count('post')).toBe(2);
});
