import { beforeEach, expect, it } from 'vitest';
import type { BatchedRequest, BatchTarget } from '#shared/providers/batches/batch-record.ts';
import { ModelBatchStore, type WaitingRequest } from '#shared/providers/batches/model-batch-store.ts';
import { groupOf } from '#shared/providers/batches/batch-record.ts';
import { useEmptyParts } from '../../../support/use-parts.ts';

const parts = await useEmptyParts({ modelBatches: { maxWaiting: 3 } });
let store: ModelBatchStore;
beforeEach(() => (store = new ModelBatchStore({ ...parts, settings: parts.config.settings })));

const TARGET: BatchTarget = { provider: 'mock', baseUrl: 'http://127.0.0.1/v1', model: 'small', agent: 'model', keyDigest: 'k' };
const GROUP = groupOf(TARGET);
const request = (id: string): BatchedRequest => ({ tenant: 't', id, seq: 2 });
const add = async (...ids: string[]): Promise<boolean[]> =>
  await Promise.all(ids.map((id) => store.add(request(id), TARGET, { bytes: 10, until: 9e12 })));
const waiting = async (): Promise<WaitingRequest[]> => await store.waiting(GROUP, 10);
const idsOf = (requests: readonly BatchedRequest[] | undefined): string[] | undefined => requests?.map(({ id }) => id).toSorted();
const take = async (batch: string, requests: readonly BatchedRequest[]): Promise<boolean> =>
  await store.take(batch, { target: TARGET, total: requests.length, createdAt: 1000, until: 9e12 }, requests);

it('requests go into one batch, and wait no more', async () => {
  await add('a', 'b');
  expect(await take('one', await waiting())).toBe(true);
  expect(await waiting()).toEqual([]);
  expect(idsOf((await store.read('one'))?.open)).toEqual(['a', 'b']);
  expect(await store.find(request('a'))).toMatchObject({ waitsSince: null, batch: { id: 'one', isUploading: false, provider: null } });
  expect(await store.takeDue(10)).toEqual(['one']);
  // It is this process's for a while.
  expect(await store.takeDue(10)).toEqual([]);
});

it('a request is in one of two batches that are made of it at once, and there is none without any', async () => {
  await add('a', 'b', 'c');
  const [a, b, c] = await waiting();
  if (!a || !b || !c) throw new Error('They do not wait');
  expect(await take('one', [a, b])).toBe(true);
  expect(await take('two', [b, c])).toBe(true);
  expect(await take('three', [a, b, c])).toBe(false);
  expect(idsOf((await store.read('one'))?.open)).toEqual(['a', 'b']);
  expect(idsOf((await store.read('two'))?.open)).toEqual(['c']);
  expect(await store.read('three')).toBeNull();
  expect(await store.takeDue(10)).toEqual(['one', 'two']);
});

it('a request that is in a batch does not wait again when it is added again', async () => {
  await add('a');
  await take('one', await waiting());
  expect(await add('a')).toEqual([true]);
  expect(await waiting()).toEqual([]);
});

it('a request that is stopped before is left out, and forgotten', async () => {
  await add('a', 'b');
  const both = await waiting();
  await store.forget(request('a'), null);
  expect(await take('one', both)).toBe(true);
  expect(idsOf((await store.read('one'))?.open)).toEqual(['b']);
  expect(await store.find(request('a'))).toBeNull();
});

it('who notes a step of a batch second gets what was noted first', async () => {
  await add('a');
  await take('one', await waiting());
  const notes = await Promise.all([store.note('one', 'provider', 'batch_1'), store.note('one', 'provider', 'batch_2')]);
  expect(notes).toEqual(['batch_1', 'batch_1']);
  expect(await store.read('one')).toMatchObject({ provider: 'batch_1', isCreating: false });
});
