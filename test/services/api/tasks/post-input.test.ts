import { describe, expect, it } from 'vitest';
import { takeInput } from '#shared/ledger/claim/take-input.ts';
import { driveTasks } from '../support/drive-tasks.ts';
import { useApi } from '../support/use-api.ts';
import type { Reply } from '../../../support/call-api.ts';

const api = await useApi();
const drive = driveTasks(api.parts);

async function submit(more: Record<string, unknown> = {}): Promise<string> {
  const { status, body } = await api.call('POST', '/v1/tasks', { body: { agent: 'echo', input: 'hello', ...more } });
  expect(status).toBe(202);
  return body.id;
}

interface Sender {
  key?: string;
  headers?: Record<string, string>;
}

const say = (id: string, body: unknown = { text: 'and this' }, { key = api.key, headers = {} }: Sender = {}): Promise<Reply> =>
  api.call('POST', `/v1/tasks/${id}/input`, { body, key, headers });

const outcomeOf = async (id: string): Promise<unknown> => (await api.call('GET', `/v1/tasks/${id}`)).body.outcome;

describe('input for a running task', () => {
  it('is a task of its own, and part of the running one once that takes it', async () => {
    const id = await submit({ session: 'talk' });
    const attempt = await drive.start(id);
    const { status, headers, body } = await say(id, { text: 'and this', user: 'ada' });
    expect(status).toBe(202);
    expect(body).toEqual({ id: expect.any(String), status: 'pending', outcome: null, position: expect.any(Number) });
    expect(headers.get('location')).toBe(`/v1/tasks/${body.id}`);
    expect(await takeInput(api.parts.ledger, attempt, 'steered', 10)).toMatchObject({
      inputs: [{ id: body.id, text: 'and this', user: 'ada', how: 'steered' }],
    });
    expect(await outcomeOf(body.id)).toMatchObject({ kind: 'steered', taskId: id });
    await drive.end(attempt, 'done');
    // Too late by now.
    expect(await say(id)).toMatchObject({ status: 409, body: { code: 'task.not-running' } });
  });

  it('is the next turn when the running task ends without it, also without a session', async () => {
    const id = await submit();
    const attempt = await drive.start(id);
    const { body } = await say(id);
    await drive.end(attempt, 'done');
    await drive.complete(body.id, 'done too');
    expect(await outcomeOf(body.id)).toMatchObject({ kind: 'ran' });
  });

  it('is the same task when it is sent again under its key, also after the end of the running one', async () => {
    const id = await submit({ session: 'again' });
    const attempt = await drive.start(id);
    const headers = { 'idempotency-key': 'once' };
    const first = await say(id, { text: 'once' }, { headers });
    expect(first.status).toBe(202);
    await takeInput(api.parts.ledger, attempt, 'steered', 10);
    await drive.end(attempt, 'done');
    const again = await say(id, { text: 'once' }, { headers });
    expect([again.status, again.body.id]).toEqual([200, first.body.id]);
    expect(again.body.outcome).toMatchObject({ kind: 'steered', taskId: id });
    const other = await submit({ session: 'other' });
    await drive.start(other);
    expect(await say(other, { text: 'something else' }, { headers })).toMatchObject({
      status: 409,
      body: { code: 'task.idempotency-conflict' },
    });
  });

  it('is refused for a task that does not run, or whose agent takes none', async () => {
    expect(await say(await submit())).toMatchObject({ status: 409, body: { code: 'task.not-running' } });
    const inattentive = await submit({ context: { noInput: true } });
    await drive.start(inattentive);
    expect(await say(inattentive)).toMatchObject({ status: 409, body: { code: 'task.takes-no-input' } });
  });

  it('is refused without a text, for what is no task, for another tenant’s, and without the scope', async () => {
    const id = await submit();
    await drive.start(id);
    for (const body of [{}, { text: '' }, { text: 'a', mode: 'steer' }]) expect((await say(id, body)).status).toBe(422);
    for (const unknown of ['01ARZ3NDEKTSV4RRFFQ69G5FAV', '__proto__']) expect((await say(unknown)).status).toBe(404);
    const foreign = await api.keyOf('other', ['submit']);
    expect(await say(id, { text: 'a' }, { key: foreign })).toMatchObject({ status: 404, body: { code: 'task.not-found' } });
    expect((await say(id, { text: 'a' }, { key: await api.keyOf('default', ['read']) })).status).toBe(403);
  });
});
