import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { leaseMember } from '#shared/ledger/claim/leases.ts';
import { promoteDue } from '#shared/ledger/grants/promote-tasks.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { settleAttempt } from '#shared/ledger/settle/settle-attempt.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { answerQuestion } from '#shared/waits/questions/answer-question.ts';
import { askQuestion } from '../../../support/agents/ask-question.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { writeSessionEvents } from '../../../../services/api/sessions/stream-session.ts';
import { driveTasks } from '../support/drive-tasks.ts';
import { readEvents, type EventReader, type ReadEventsOptions } from '../support/read-events.ts';
import { useApi } from '../support/use-api.ts';

const api = await useApi();
const drive = driveTasks(api.parts);

/** An event's name and data. */
type SentEvent = [name: string | undefined, data: Record<string, unknown>];

interface SessionReader extends EventReader {
  sent(): SentEvent[];
  /** Waits until an event of this name has data like this. */
  waitUntilSent(name: string, part: Record<string, unknown>): Promise<void>;
}

async function read(session: string, { key = api.key, lastEventId }: Partial<ReadEventsOptions> = {}): Promise<SessionReader> {
  const reader = await readEvents(`${api.url}/v1/sessions/${session}/stream`, { key, lastEventId });
  const sent = (): SentEvent[] => reader.events.map(({ event, data }) => [event, JSON.parse(data) as Record<string, unknown>]);
  const waitUntilSent = async (name: string, part: Record<string, unknown>): Promise<void> => {
    const fits = ([event, data]: SentEvent): boolean =>
      event === name && Object.entries(part).every(([field, value]) => data[field] === value);
    await waitFor(() => sent().some(fits), { deadlineMs: 5000, what: `${name} ${JSON.stringify(part)} among ${JSON.stringify(sent())}` });
  };
  return { ...reader, sent, waitUntilSent };
}

async function say(session: string, text: string, more: object = {}): Promise<string> {
  const { body } = await api.call('POST', `/v1/sessions/${session}/messages`, { body: { text, context: { noInput: true }, ...more } });
  return body.id as string;
}

async function yieldLane(id: string): Promise<void> {
  await waitFor(
    async () => {
      await promoteDue(api.parts.ledger, 'default', [id]);
      return (await readTask(api.parts.ledger, 'default', id))?.state.suspended?.laneUntil === undefined;
    },
    { deadlineMs: 5000, what: 'the lane to be free' },
  );
}

async function submit(session: string): Promise<string> {
  return (await acceptTask(api.parts, { tenant: 'default', agent: 'echo', input: 'by API', session })).id;
}

describe('the stream of a session', () => {
  it('sends one question at a time, with how it ended, to visitors too', async () => {
    const { token } = (await api.call('POST', '/v1/sessions/asked/visitors', { body: { name: 'guest' } })).body as { token: string };
    const reader = await read('asked', { key: token });
    const [first, second] = [await submit('asked'), await submit('asked')];
    const choices = ['yes', 'no'];
    const id = await askQuestion(api.parts, await drive.start(first), { question: 'First?', choices });
    await reader.waitUntilSent('question', { id, taskId: first, question: 'First?', status: 'open', answer: null });
    await yieldLane(first);
    const other = await askQuestion(api.parts, await drive.start(second), { question: 'Second?' });
    await answerQuestion(api.parts.ledger, 'default', { id, answer: 'yes', by: { kind: 'key', id: 'k', name: 'bot', names: ['k'] } });
    await reader.waitUntilSent('question', { id, status: 'answered', answer: 'yes' });
    await reader.waitUntilSent('question', { id: other, status: 'open', choices: null });
    await api.call('POST', '/v1/sessions/asked/stop');
    await reader.waitUntilSent('question', { id: other, status: 'withdrawn' });
    const asked = reader.sent().filter(([event]) => event === 'question');
    expect(asked.map(([, data]) => [data['id'], data['status']])).toEqual([
      [id, 'open'],
      [id, 'answered'],
      [other, 'open'],
      [other, 'withdrawn'],
    ]);
    expect(asked.flatMap(([, data]) => Object.keys(data))).not.toContain('answeredBy');
    await reader.leave();
  });

  it('sends each message, its output and its one end, in order', async () => {
    const reader = await read('live');
    await reader.waitUntilSent('history', {});
    const first = await say('live', 'hello', { user: 'ada' });
    await reader.waitUntilSent('message', { taskId: first });
    const second = await say('live', 'and you?');
    await reader.waitUntilSent('message', { taskId: second });
    const attempt = await drive.start(first);
    await drive.write(attempt, 1, 1, 'one ');
    await reader.waitUntilSent('output', { text: 'one ' });
    await drive.write(attempt, 1, 2, 'two');
    await drive.end(attempt, 'one two');
    await drive.complete(second, 'fine');
    await reader.waitUntilSent('end', { taskId: second });
    const sent = reader.sent();
    expect(sent[0]).toEqual(['history', { items: [] }]);
    expect(sent[1]).toEqual([
      'message',
      { taskId: first, text: 'hello', user: 'ada', agent: 'echo', status: 'queued', createdAt: expect.any(String), attachments: [] },
    ]);
    const ofFirst = sent.filter(([name, { taskId }]) => taskId === first && name !== 'message');
    expect(ofFirst).toEqual([
      ['status', { taskId: first, status: 'running', outcome: null }],
      ['output', { taskId: first, attempt: 1, seq: 1, text: 'one ' }],
      ['output', { taskId: first, attempt: 1, seq: 2, text: 'two' }],
      ['status', { taskId: first, status: 'completed', outcome: expect.objectContaining({ kind: 'ran' }) }],
      [
        'end',
        {
          taskId: first,
          status: 'completed',
          output: 'one two',
          outcome: expect.objectContaining({ kind: 'ran' }),
          error: null,
          artifacts: [],
        },
      ],
    ]);
    expect(sent.filter(([name]) => name === 'end').map(([, { taskId }]) => taskId)).toEqual([first, second]);
    expect(sent.filter(([name]) => name === 'message')).toHaveLength(2);
    await reader.leave();
  });

  it('names the files of a message and those that its task made, at once and in the history', async () => {
    const upload = await api.parts.files.upload(
      'default',
      { name: 'photo.png', mediaType: 'image/png' },
      Readable.from([Buffer.from('12345')]),
    );
    const reader = await read('files');
    await reader.waitUntilSent('history', {});
    const id = await say('files', 'look', { attachments: [{ uploadId: upload.file }] });
    const attempt = await drive.start(id);
    const by = { tenant: 'default', task: id, attempt: 1, lease: leaseMember(attempt) };
    await api.parts.files.add(by, 'out/report.txt', { name: 'report.txt', mediaType: 'text/plain' }, Readable.from([Buffer.from('fine')]));
    await drive.end(attempt, 'done');
    const attachments = [{ name: 'photo.png', mediaType: 'image/png', bytes: 5 }];
    const artifacts = [{ name: 'report.txt', mediaType: 'text/plain', bytes: 4 }];
    await reader.waitUntilSent('end', { taskId: id });
    const dataOf = (name: string): unknown => reader.sent().find(([event]) => event === name)?.[1];
    expect(dataOf('message')).toMatchObject({ taskId: id, attachments });
    expect(dataOf('end')).toMatchObject({ taskId: id, artifacts });
    await reader.leave();
    const again = await read('files');
    await again.waitUntilSent('history', {});
    expect(again.sent()[0]).toMatchObject(['history', { items: [{ taskId: id, attachments, artifacts }] }]);
    await again.leave();
  });

  it('begins with what was said, and goes on with what is not over', async () => {
    const over = await say('past', 'question');
    await drive.complete(over, 'answer');
    const running = await say('past', 'go on');
    const attempt = await drive.start(running);
    await drive.write(attempt, 1, 1, 'so far');
    const waiting = await say('past', 'after that');
    const reader = await read('past');
    await reader.waitUntilSent('message', { taskId: waiting });
    expect(reader.sent()).toMatchObject([
      ['history', { items: [{ taskId: over, text: 'question', output: 'answer', status: 'completed', user: null, error: null }] }],
      ['message', { taskId: running, status: 'running' }],
      ['output', { taskId: running, text: 'so far' }],
      ['message', { taskId: waiting, status: 'pending' }],
    ]);
    await reader.leave();
  });

  it('begins with what an answer had come to when it was stopped', async () => {
    const stopped = await say('halfway', 'a long story');
    const attempt = await drive.start(stopped);
    await drive.write(attempt, 1, 1, 'Once upon ');
    await drive.write(attempt, 1, 2, 'a time');
    const withdrawn = await say('halfway', 'and then?');
    await api.call('POST', '/v1/sessions/halfway/stop');
    await settleAttempt(api.parts.ledger, attempt, { kind: 'cancelled', reason: 'stopped' });
    const reader = await read('halfway');
    await reader.waitUntilSent('history', {});
    expect(reader.sent()).toMatchObject([
      [
        'history',
        {
          items: [
            { taskId: stopped, status: 'cancelled', output: 'Once upon a time' },
            { taskId: withdrawn, output: null },
          ],
        },
      ],
    ]);
    await reader.leave();
  });

  it('goes on behind the output that the reader saw, and sends the rest again', async () => {
    const id = await say('resumed', 'count');
    const attempt = await drive.start(id);
    for (const seq of [1, 2, 3]) await drive.write(attempt, 1, seq, `${seq} `);
    const reader = await read('resumed');
    await reader.waitUntilSent('output', { seq: 3 });
    const seen = reader.events.find(({ data }) => data.includes('"seq":2'))?.id ?? '';
    expect(seen).toMatch(/^\d+-\d+$/);
    await reader.leave();
    await drive.write(attempt, 1, 4, '4 ');
    const again = await read('resumed', { lastEventId: seen });
    await again.waitUntilSent('output', { seq: 4 });
    expect(again.sent().map(([name, { seq }]) => seq ?? name)).toEqual(['history', 'message', 3, 4]);
    await again.leave();
    expect((await api.call('GET', '/v1/sessions/resumed/stream', { headers: { 'last-event-id': 'nonsense' } })).status).toBe(422);
  });

  it('sends the outcome of messages that never ran', async () => {
    const reader = await read('outcomes');
    const running = await say('outcomes', 'first');
    await drive.start(running);
    const refused = await say('outcomes', 'second', { mode: 'reject' });
    await reader.waitUntilSent('end', { taskId: refused });
    expect(reader.sent().find(([name, { taskId }]) => name === 'end' && taskId === refused)?.[1]).toMatchObject({
      status: 'cancelled',
      output: null,
      outcome: { kind: 'rejected', taskId: running },
    });
    await reader.leave();
  });

  it('sends tasks that came some other way, and none of another session', async () => {
    const reader = await read('quiet');
    await reader.waitUntilSent('history', {});
    await submit('quiet/2');
    await submit('quie');
    const id = await submit('quiet');
    await reader.waitUntilSent('message', { taskId: id });
    expect(reader.sent().filter(([name]) => name === 'message')).toHaveLength(1);
    await reader.leave();
  });

  it('is open to a visitor of the session', async () => {
    const { body } = await api.call('POST', '/v1/sessions/visited/visitors', { body: { name: 'Ada' } });
    const reader = await read('visited', { key: body.token });
    const id = await say('visited', 'hello');
    await reader.waitUntilSent('message', { taskId: id });
    expect(reader.sent().map(([name]) => name)).toEqual(['history', 'message']);
    await reader.leave();
  });

  it('ends when the token of its reader expires', async () => {
    const sent: string[] = [];
    const send = (event: string): Promise<void> => {
      sent.push(event);
      return Promise.resolve();
    };
    const stream = { lastEventId: null, signal: new AbortController().signal, send, write: send, comment: () => undefined };
    await writeSessionEvents(api.parts, { tenant: 'default', session: 'visited', after: null, until: Date.now() + 20 }, stream);
    expect(sent[0]).toBe('history');
  });

  it('has nothing of another tenant’s session of the same name', async () => {
    await drive.complete(await say('secret', 'ours'), 'hidden');
    const reader = await read('secret', { key: await api.keyOf('other', ['read']) });
    await reader.waitUntilSent('history', {});
    await say('secret', 'ours too');
    const theirs = await api.call('POST', '/v1/sessions/secret/messages', {
      key: await api.keyOf('other', ['submit']),
      body: { text: 'x' },
    });
    await reader.waitUntilSent('message', { taskId: theirs.body.id });
    expect(reader.sent().map(([name]) => name)).toEqual(['history', 'message']);
    expect(JSON.stringify(reader.sent())).not.toMatch(/hidden|ours/);
    await reader.leave();
  });

  it('refuses a place that no output can have', async () => {
    const headers = { 'last-event-id': '99999999999999999999-1' };
    expect((await api.call('GET', '/v1/sessions/misplaced/stream', { headers })).status).toBe(422);
  });
});
