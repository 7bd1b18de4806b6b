import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { verifyCallback } from '#shared/client/verify-callback.ts';
import { ASKED } from '../../support/agents/asking-agent.ts';
import { readEvents } from '../../services/api/support/read-events.ts';
import { type FakeHttpEndpoint, startFakeHttpEndpoint } from '../../support/fake-http-endpoint.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { waitFor } from '../../support/wait-for.ts';

const FILE = fileURLToPath(import.meta.resolve('../../support/agents/asking-agent.ts'));
const QUESTION = { question: 'Publish 1.4.0?', choices: ['yes', 'no'] };

let fleet: Fleet;
let endpoint: FakeHttpEndpoint;
/** The addresses of two processes of the API. */
let urls: string[];
beforeEach(async () => {
  endpoint = await startFakeHttpEndpoint((response) => response.writeHead(200).end());
  const questions = { remindMs: [100] };
  const outbound = { allowNetworks: ['127.0.0.0/8'] };
  fleet = await openFleet({ settings: { agents: { asking: { kind: 'function', file: FILE } }, questions, outbound } });
  urls = [(await fleet.start('api')).url, (await fleet.start('api')).url];
});
afterEach(async () => {
  await fleet.stop();
  await endpoint.close();
});

interface Shown {
  id: string;
  status: string;
}

const list = async (query: string): Promise<Shown[]> => (await fleet.client.call('GET', `/v1/questions?${query}`)).body['items'] as Shown[];

/** The task that asks, and its question once it is open. */
async function ask(question: object = QUESTION, more: object = {}): Promise<{ task: string; id: string }> {
  const task = await fleet.client.submit({ agent: 'asking', context: { ask: question }, ...more });
  await fleet.client.reaches(task, ['suspended']);
  const [open] = await list(`status=open&taskId=${task}`);
  return { task, id: open?.id ?? '' };
}

const answer = async (id: string, given: unknown, url?: string): Promise<{ status: number; body: Record<string, unknown> }> =>
  await fleet.client.call('POST', `/v1/questions/${id}/answer`, { body: { answer: given }, ...(url !== undefined && { url }) });
/** What a visitor of the session says. */
const sayAsGuest = async (key: string, text: string): Promise<{ status: number; body: Record<string, unknown> }> =>
  await fleet.client.call('POST', '/v1/sessions/s/messages', { key, body: { text } });

describe('a run that asks people', () => {
  it('goes on with the first of two answers that come to two processes at once, its worker killed meanwhile, and asks once', async () => {
    const worker = await fleet.start('worker');
    const { task, id } = await ask();
    expect((await fleet.client.call('GET', `/v1/tasks/${task}/why`)).body).toMatchObject({ reasons: [{ gate: 'question' }] });
    await worker.kill();
    expect((await answer(id, 'maybe')).body).toMatchObject({ status: 422, code: 'question.invalid' });
    const answers = await Promise.all([answer(id, 'yes', urls[0]), answer(id, 'no', urls[1])]);
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([200, 409]);
    const won = answers.find(({ status }) => status === 200)?.body;
    expect(answers.find(({ status }) => status === 409)?.body).toMatchObject({ code: 'question.answered' });
    await fleet.start('worker');
    const [ended] = await fleet.client.ended([task], 60_000);
    expect(ended).toMatchObject({ status: 'completed', result: { answer: won?.['answer'] }, output: 'asked answered' });
    expect(await list(`taskId=${task}`)).toMatchObject([{ id, status: 'answered', answeredBy: { kind: 'key' } }]);
    expect(await list('status=answered')).toMatchObject([{ id }]);
    const effects = readFileSync(`${fleet.directory}/${ASKED}`, 'utf8').trim().split('\n');
    expect(effects.map((line) => (JSON.parse(line) as { what: string }).what)).toEqual(['before', 'after']);
  });

  it('takes its default when nobody answers in time, and is withdrawn with its task', async () => {
    await fleet.start('worker');
    const { task, id } = await ask({ ...QUESTION, timeoutMs: 1500, default: 'no' });
    const other = await ask();
    expect((await fleet.client.ended([task], 30_000))[0]).toMatchObject({ status: 'completed', result: { answer: 'no' } });
    expect(await list(`taskId=${task}`)).toMatchObject([{ id, status: 'expired', answer: 'no', answeredBy: null }]);
    expect((await answer(id, 'yes')).body).toMatchObject({ status: 409, code: 'question.closed' });
    expect(await list('status=open')).toMatchObject([{ id: other.id }]);
    await fleet.client.call('POST', `/v1/tasks/${other.task}/cancel`);
    await waitFor(async () => (await list('status=withdrawn')).length === 1, { deadlineMs: 10_000, what: 'the question to be withdrawn' });
    expect((await answer(other.id, 'yes')).body).toMatchObject({ status: 409, code: 'question.closed' });
    expect(await list('status=open')).toEqual([]);
  });

  it('is answered by a text of its session, but not by one of a visitor', async () => {
    await fleet.start('worker');
    const { task, id } = await ask(QUESTION, { session: 's' });
    const { token } = await fleet.client.make('/v1/sessions/s/visitors', { name: 'guest' });
    const tried = await fleet.client.call('POST', `/v1/questions/${id}/answer`, { key: String(token), body: { answer: 'yes' } });
    expect(tried.body).toMatchObject({ status: 403, code: 'auth.forbidden' });
    await waitFor(
      async () => {
        const said = await fleet.client.call('POST', '/v1/sessions/s/messages', { body: { text: '2', agent: 'work' } });
        return said.body['command'] === 'answer';
      },
      { deadlineMs: 10_000, everyMs: 500, what: 'the text to answer' },
    );
    expect((await fleet.client.ended([task], 30_000))[0]).toMatchObject({ result: { answer: 'no' } });
    const other = await ask(QUESTION, { session: 's' });
    expect((await sayAsGuest(String(token), 'yes')).status).toBe(202);
    expect((await sayAsGuest(String(token), '/answer yes')).body).toEqual({
      command: 'answer',
      text: 'Visitors do not answer this question.',
    });
    expect(await list('status=open')).toMatchObject([{ id: other.id }]);
    await answer(other.id, 'no');
    const third = await ask({ ...QUESTION, to: 'visitors' }, { session: 's' });
    expect((await answer(third.id, 'yes')).body).toMatchObject({ status: 403, code: 'question.forbidden' });
    expect((await sayAsGuest(String(token), 'YES')).body).toEqual({ command: 'answer', text: 'Answered: yes' });
    expect(await list(`taskId=${third.task}`)).toMatchObject([{ status: 'answered', answeredBy: { kind: 'visitor', name: 'guest' } }]);
  });

  it('is brought to the callback of its task and notified, once though its worker is killed, and reminded of', async () => {
    const worker = await fleet.start('worker');
    const reader = await readEvents(`${urls[1]}/v1/notifications/stream?kinds=question.*`, { key: fleet.adminKey });
    const kinds = (): unknown[] =>
      reader.events.filter(({ event }) => event === 'notification').map(({ data }) => (JSON.parse(data) as { kind: string }).kind);
    const { task, id } = await ask(QUESTION, { callbackUrl: `${endpoint.url}/hook` });
    await worker.kill();
    await fleet.start('worker');
    await waitFor(() => endpoint.requests.length === 1, { deadlineMs: 30_000, what: 'the callback' });
    const { secret } = (await fleet.client.call('GET', '/v1/callbacks/secret')).body as { secret: string };
    const [{ headers, body } = { headers: {}, body: '' }] = endpoint.requests;
    const called = await verifyCallback(headers, body, secret);
    expect(called).toMatchObject({ event: 'question', question: { id, taskId: task, status: 'open', ...QUESTION } });
    await waitFor(() => kinds().includes('question.reminded'), { deadlineMs: 60_000, what: 'the reminder' });
    await answer(id, 'yes');
    await fleet.client.ended([task], 30_000);
    await waitFor(() => endpoint.requests.length === 2, { deadlineMs: 30_000, what: 'the callback of the end' });
    await waitFor(() => kinds().includes('question.answered'), { deadlineMs: 20_000, what: 'the answer' });
    expect(kinds()).toEqual(['question.opened', 'question.reminded', 'question.answered']);
    await reader.leave();
  }, 180_000);
});
