import { Readable } from 'node:stream';
import { afterEach, expect, it } from 'vitest';
import type { SettingsInput } from '#shared/config/settings/settings.ts';
import { leaseMember } from '#shared/ledger/claim/leases.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { DeliveryFleet, TENANT } from '../delivery-fleet.ts';

let fleet: DeliveryFleet;

const open = async (deliveries: SettingsInput['deliveries'] = {}): Promise<DeliveryFleet> => {
  fleet = await DeliveryFleet.open({ deliveries });
  return fleet;
};

afterEach(async () => {
  await fleet.close();
});

/** A chat message whose attempt made files, and ended. */
async function completeWith(names: readonly string[], output = 'Here they are'): Promise<string> {
  const { drive, parts } = fleet;
  const id = await fleet.message();
  const attempt = await drive.start(id);
  const by = { tenant: TENANT, task: id, attempt: 1, lease: leaseMember(attempt) };
  for (const name of names) {
    await parts.files.add(by, `out/${name}`, { name, mediaType: 'text/plain' }, Readable.from([Buffer.from(`of ${name}`)]));
  }
  await drive.end(attempt, output);
  return id;
}

const statuses = async (id: string): Promise<unknown> => (await fleet.delivery(id))?.files?.map(({ name, status }) => [name, status]);

it('the artifacts of a task go into its chat after the text, once each', async () => {
  const { port } = await open();
  fleet.start();
  const id = await completeWith(['a.txt', 'b.txt']);
  const delivery = await fleet.becomes(id, 'delivered');
  expect(port.texts()).toEqual(['Here they are']);
  expect(port.files).toEqual(['a.txt: of a.txt', 'b.txt: of b.txt']);
  expect(port.calls.map(({ call }) => call).filter((call) => call !== 'typing')).toEqual(['post', 'file', 'file']);
  expect(delivery.files).toEqual([
    { name: 'a.txt', status: 'sent', messageId: 'f1' },
    { name: 'b.txt', status: 'sent', messageId: 'f2' },
  ]);
});

it('files without a text need no words', async () => {
  const { port } = await open();
  fleet.start();
  await fleet.becomes(await completeWith(['a.txt'], ''), 'delivered');
  expect(port.texts()).toEqual([]);
  expect(port.files).toHaveLength(1);
});

it('a file that its platform refuses is named in the text, and the reply is delivered with the others', async () => {
  const { port } = await open();
  port.refuse('file', 'gone');
  fleet.start();
  const id = await completeWith(['a.txt', 'b.txt']);
  await fleet.becomes(id, 'delivered');
  expect(port.texts()).toEqual(['Here they are\n\nFiles: `a.txt` (not sent)']);
  expect(port.files).toEqual(['b.txt: of b.txt']);
});

it('where no message can be edited, a message after the files names what was refused', async () => {
  const { port } = await open();
  port.minEditMs = null;
  port.refuse('file', 'gone');
  fleet.start();
  await fleet.becomes(await completeWith(['a.txt']), 'delivered');
  expect(port.texts()).toEqual(['Here they are', 'Files: `a.txt` (not sent)']);
});

it('files beyond the bounds of count and bytes are named, not sent', async () => {
  const { port } = await open({ maxFiles: 2, maxFileBytes: 20 });
  fleet.start();
  const id = await completeWith(['a.txt', 'b-is-too-long-for-this.txt', 'c.txt', 'd.txt']);
  await fleet.becomes(id, 'delivered');
  expect(port.files).toEqual(['a.txt: of a.txt', 'c.txt: of c.txt']);
  expect(await statuses(id)).toEqual([
    ['a.txt', 'sent'],
    ['b-is-too-long-for-this.txt', 'left-out'],
    ['c.txt', 'sent'],
    ['d.txt', 'left-out'],
  ]);
  expect(port.texts()[0]).toMatch(/Files: `b-is-too-long-for-this.txt` \(.*\), `d.txt` \(/);
});

it('a file that fails for now is tried again, without the text and the files before it', async () => {
  const { port } = await open();
  port.refuse('file', 'transient', { times: 2 });
  fleet.start();
  await fleet.becomes(await completeWith(['a.txt', 'b.txt']), 'delivered');
  expect(port.texts()).toEqual(['Here they are']);
  expect(port.files).toEqual(['a.txt: of a.txt', 'b.txt: of b.txt']);
  expect(port.count('post')).toBe(1);
});

it('a file that fails at every try does not fail the reply', async () => {
  const { port } = await open({ maxAttempts: 2 });
  port.refuse('file', 'transient', { times: 2 });
  fleet.start();
  const id = await completeWith(['a.txt']);
  await fleet.becomes(id, 'delivered');
  expect(await statuses(id)).toEqual([['a.txt', 'refused']]);
});

it('a file whose process died while it was sent is not sent again, and the text says so', async () => {
  const { port } = await open();
  const dying = fleet.start();
  const { reached, release } = port.hang('file');
  const id = await completeWith(['a.txt', 'b.txt']);
  await reached;
  await dying.stop(0);
  expect(await statuses(id)).toEqual([
    ['a.txt', 'sending'],
    ['b.txt', 'pending'],
  ]);
  fleet.start();
  await fleet.becomes(id, 'delivered');
  release();
  expect(port.files).toEqual(['a.txt: of a.txt', 'b.txt: of b.txt']);
  expect(port.texts()).toEqual(['Here they are\n\nFiles: `a.txt` (may not have arrived)']);
});

it('a reply that another release wrote in a form that is not known here waits unchanged, and is sent once by a process that knows it', async () => {
  const { port, parts } = await open();
  const { drive } = fleet;
  const id = await fleet.offered();
  const attempt = await drive.start(id);
  const by = { tenant: TENANT, task: id, attempt: 1, lease: leaseMember(attempt) };
  await parts.files.add(by, 'out/a.txt', { name: 'a.txt', mediaType: 'text/plain' }, Readable.from([Buffer.from('of a.txt')]));
  await drive.end(attempt, 'Here it is');
  const key = parts.keys.tenant(TENANT).delivery(`${id}-reply`);
  const known = (await parts.redis.get(key)) ?? '';
  const newer = JSON.stringify({ ...(JSON.parse(known) as object), pictures: [] });
  await parts.redis.set(key, newer);
  fleet.start();
  const replies = parts.queues.get(0, 'replies');
  await waitFor(async () => (await replies.getDelayedCount()) === 1, { deadlineMs: 8000, what: 'the reply to wait for another process' });
  expect(await parts.redis.get(key)).toBe(newer);
  expect([port.texts(), port.files]).toEqual([[], []]);
  await parts.redis.set(key, known);
  await fleet.becomes(id, 'delivered');
  expect([port.texts(), port.files]).toEqual([['Here it is'], ['a.txt: of a.txt']]);
});
