import { afterAll, describe, expect, it } from 'vitest';
import { keepCheckpoint } from '#shared/ledger/journal/checkpoint.ts';
import { leaseMember } from '#shared/ledger/claim/leases.ts';
import { RawDaemon } from '../../support/daemons/raw-daemon.ts';
import { registerDaemon, startHub } from '../../support/daemons/start-hub.ts';
import { waitFor } from '../../support/wait-for.ts';
import { useApi } from '../api/support/use-api.ts';

const ASK_MS = 59_999;
const api = await useApi({
  agents: { coder: { kind: 'daemon' } },
  hub: { resendMs: 50, sweepMs: 200, graceMs: 60_000 },
  commands: { permissionWaitMs: ASK_MS },
});
const { parts } = api;
const hub = await startHub(parts);
const other = await startHub(parts);
afterAll(() => Promise.all([hub.stop(), other.stop()]));

interface Given {
  name: { taskId: string; token: number };
  daemon: RawDaemon;
  secret: string;
  askMs: number | null | undefined;
  /** Leaves a checkpoint, as the daemon does by HTTP. */
  keep: (left: object) => Promise<unknown>;
}

let count = 0;

/** A task that runs on a daemon of its own. */
async function given(): Promise<Given> {
  count += 1;
  const { id, token: secret } = await registerDaemon(parts);
  const daemon = await RawDaemon.welcomed(hub.url, secret);
  daemon.send({ type: 'daemon.heartbeat', load: 0 });
  await api.call('POST', '/v1/tasks', { body: { agent: 'coder', input: `work ${count}`, requirements: { targetDaemon: id } } });
  const { taskId, token, checkpoint } = await daemon.accept();
  await daemon.flushed();
  const lease = leaseMember({ tenant: 'default', id: taskId, token });
  const keep = (left: object): Promise<unknown> =>
    keepCheckpoint(parts.ledger, { tenant: 'default', id: taskId, lease }, JSON.stringify(left));
  return { name: { taskId, token }, daemon, secret, askMs: checkpoint?.askMs, keep };
}

const asking = (question: string, more: object = {}): object => ({
  permissions: {},
  suspend: { ask: { question, choices: ['yes', 'no'], ...more } },
});

interface OpenView {
  id: string;
  question: string;
}

async function openOf({ name }: Given): Promise<OpenView[]> {
  return (await api.call('GET', `/v1/questions?status=open&taskId=${name.taskId}`)).body.items as OpenView[];
}

/** The one question that is open, once it is this one. */
const opened = (run: Given, question: string): Promise<OpenView> =>
  waitFor(async () => (await openOf(run)).find((each) => each.question === question), {
    deadlineMs: 20_000,
    what: `"${question}" to be open`,
  });

const answer = (id: string, text: string): Promise<unknown> => api.call('POST', `/v1/questions/${id}/answer`, { body: { answer: text } });

describe('a daemon whose agent asks people while it goes on', () => {
  it('gets the answer, and the same again where it asks again', async () => {
    const run = await given();
    expect(run.askMs).toBe(ASK_MS);
    await run.keep(asking('May it?'));
    run.daemon.send({ type: 'task.ask', ...run.name, seq: 1 });
    run.daemon.send({ type: 'task.ask', ...run.name, seq: 1 });
    await answer((await opened(run, 'May it?')).id, 'yes');
    expect(await run.daemon.next('task.answer')).toEqual({ type: 'task.answer', ...run.name, seq: 1, answer: '"yes"' });
    run.daemon.send({ type: 'task.ask', ...run.name, seq: 1 });
    expect(await run.daemon.next('task.answer')).toMatchObject({ seq: 1, answer: '"yes"' });
    // An older one comes late.
    await run.keep(asking('And this?'));
    run.daemon.send({ type: 'task.ask', ...run.name, seq: 2 });
    run.daemon.send({ type: 'task.ask', ...run.name, seq: 1 });
    await answer((await opened(run, 'And this?')).id, 'no');
    await waitFor(() => run.daemon.received.some((each) => each.type === 'task.answer' && each.seq === 2), {
      deadlineMs: 20_000,
      what: 'the second answer',
    });
    await run.keep({ permissions: {} });
    run.daemon.send({ type: 'task.completed', ...run.name, output: 'done' });
    expect(await run.daemon.next('task.acknowledged')).toMatchObject({ outcome: 'kept' });
  });

  it('gets none for what its checkpoint does not ask, and for what nobody can be asked', async () => {
    const run = await given();
    const none = { type: 'task.answer', ...run.name };
    run.daemon.send({ type: 'task.ask', ...run.name, seq: 1 });
    expect(await run.daemon.next('task.answer')).toEqual({ ...none, seq: 1 });
    for (const [at, left] of [{ suspend: 'nonsense' }, { suspend: { event: 'x' } }, asking('Ever?', { timeoutMs: '9 years' })].entries()) {
      await run.keep(left);
      run.daemon.send({ type: 'task.ask', ...run.name, seq: at + 2 });
      expect(await run.daemon.next('task.answer')).toEqual({ ...none, seq: at + 2 });
    }
    expect(await openOf(run)).toEqual([]);
    run.daemon.vanish();
  });

  it('has people asked what it asks last', async () => {
    const run = await given();
    await run.keep(asking('This?'));
    run.daemon.send({ type: 'task.ask', ...run.name, seq: 1 });
    await opened(run, 'This?');
    await run.keep(asking('That?'));
    run.daemon.send({ type: 'task.ask', ...run.name, seq: 7 });
    const { id } = await opened(run, 'That?');
    expect(await openOf(run)).toHaveLength(1);
    await answer(id, 'yes');
    expect(await run.daemon.next('task.answer')).toMatchObject({ seq: 7, answer: '"yes"' });
    run.daemon.vanish();
  });

  it('that ends meanwhile leaves the question open, and the run waits for it without a slot', async () => {
    const run = await given();
    await run.keep(asking('Soon?'));
    run.daemon.send({ type: 'task.ask', ...run.name, seq: 1 });
    const { id } = await opened(run, 'Soon?');
    run.daemon.send({ type: 'task.completed', ...run.name });
    expect(await run.daemon.next('task.acknowledged')).toMatchObject({ outcome: 'kept' });
    expect((await api.call('GET', `/v1/tasks/${run.name.taskId}`)).body).toMatchObject({ status: 'suspended', output: null });
    expect((await opened(run, 'Soon?')).id).toBe(id);
    await answer(id, 'no');
    const again = await run.daemon.accept();
    expect(again.checkpoint).toMatchObject({ resumed: '"no"' });
    run.daemon.vanish();
  });

  it('that ended while its hub was gone goes on with the answer that came meanwhile', async () => {
    const run = await given();
    await run.keep(asking('Away?'));
    run.daemon.send({ type: 'task.ask', ...run.name, seq: 1 });
    const { id } = await opened(run, 'Away?');
    run.daemon.vanish();
    await answer(id, 'yes');
    // Another hub adopts its attempt, which has ended without the answer.
    const back = await RawDaemon.connect(other.url, run.secret);
    back.hello({ finished: [run.name] });
    await back.next('hub.welcome');
    back.send({ type: 'daemon.heartbeat', load: 0 });
    back.send({ type: 'task.completed', ...run.name });
    const again = await back.accept();
    expect([again.token, again.checkpoint?.resumed]).toEqual([run.name.token + 1, '"yes"']);
    expect((await api.call('GET', `/v1/tasks/${run.name.taskId}/attempts`)).body.items).toMatchObject([
      { status: 'interrupted' },
      { status: 'running' },
    ]);
    back.vanish();
  });
});
