import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { newDelivery } from '#shared/deliveries/delivery.ts';
import { putDelivery } from '#shared/deliveries/delivery-store.ts';
import { newTaskId } from '#shared/tasks/ids.ts';
import { savePerson } from '#shared/tenants/person-store.ts';
import { apiRoutes } from '../../../services/api/routes.ts';
import { askQuestion } from '../../support/agents/ask-question.ts';
import { driveTasks } from './support/drive-tasks.ts';
import { useApi } from './support/use-api.ts';

const api = await useApi();
const drive = driveTasks(api.parts);

/** Each of them may be taken for another one's beginning. */
const NAMES = ['a', 'a/b', 'a/0', 'a%2Fb', 'a/01ARZ3NDEKTSV4RRFFQ69G5FAV', 'a//'];

async function submit(more: Record<string, unknown>): Promise<string> {
  const { body } = await api.call('POST', '/v1/tasks', { body: { agent: 'echo', input: 'hello', ...more } });
  return body.id;
}

async function signInPerson(subject: string): Promise<void> {
  const roles = [{ tenant: 'default', scopes: ['read' as const] }];
  const person = { issuer: 'https://id.example.com', subject, name: subject, email: null, roles, lastAt: Date.now() };
  await savePerson(api.parts, person, { maxPeople: 10, peopleRetentionMs: 60_000 });
}

/** Has the run of a task ask a question. */
async function ask(id: string): Promise<void> {
  await askQuestion(api.parts, await drive.start(id), { question: 'Go on?', choices: ['yes', 'no'] });
}

interface Listed {
  id?: string;
  /** Of a group of failures, which has no id of its own. */
  example?: { taskId: string };
}

/** Every item of a list, read page by page by the cursors it answers. */
async function readAll(path: string, limit = 1): Promise<Listed[]> {
  const items: Listed[] = [];
  const separator = path.includes('?') ? '&' : '?';
  let cursor = '';
  for (let page = 0; page < 100; page += 1) {
    const { status, body } = await api.call('GET', `${path}${separator}limit=${limit}${cursor}`);
    expect([path, cursor, status]).toEqual([path, cursor, 200]);
    items.push(...body.items);
    if (body.nextCursor === null) return items;
    cursor = `&cursor=${encodeURIComponent(body.nextCursor)}`;
  }
  throw new Error(`${path} has no end`);
}

const idsOf = (items: readonly Listed[]): string[] => items.map(({ id, example }) => id ?? `${example?.taskId}`).toSorted();

const lists = apiRoutes(api.parts).filter(({ method, request }) => method === 'get' && hasCursor(request?.query));

describe('every list that has pages', () => {
  it('refuses a filter that it does not know, because the list would be of everything', async () => {
    for (const { path } of lists) {
      const { status, body } = await api.call('GET', `${path.replace(':id', newTaskId())}?sinse=2026-05-01`);
      expect([path, status, body.detail]).toEqual([
        path,
        422,
        expect.stringMatching(/^query: Unrecognized key: "sinse"; (?:"since" may be meant|taken are .*cursor)/),
      ]);
    }
  });

  it('takes the cursors that it answers, to its end', async () => {
    for (const session of NAMES) await submit({ session });
    const made = await api.call('POST', '/v1/schedules', { body: { agent: 'echo', message: 'go', every: '1h', overlap: 'allow' } });
    await api.call('POST', '/v1/schedules', { body: { agent: 'echo', message: 'go', every: '1h' } });
    for (let run = 0; run < 3; run += 1) await api.call('POST', `/v1/schedules/${made.body.id}/run`);
    for (let count = 0; count < 3; count += 1)
      await putDelivery(
        api.parts.ledger,
        null,
        newDelivery({ tenant: 'default', task: newTaskId(), kind: 'reply' }, Date.now()),
        Date.now(),
      );
    for (const agent of ['echo', 'hidden']) await drive.fail(await submit({ agent }), null);
    for (let count = 0; count < 2; count += 1)
      await api.call('POST', '/v1/tasks/actions', { body: { action: 'retry', filter: { code: 'NONE' } } });
    for (const subject of ['ada', 'grace']) await signInPerson(subject);
    for (let count = 0; count < 3; count += 1) await ask(await submit({}));
    const atLeast: Record<string, number> = {
      '/v1/tasks': NAMES.length + 5,
      '/v1/tasks/actions': 2,
      '/v1/failures': 2,
      '/v1/sessions': NAMES.length,
      '/v1/deliveries': 3,
      '/v1/schedules': 2,
      '/v1/schedules/:id/runs': 3,
      '/v1/runs': 3,
      '/v1/people': 2,
      '/v1/questions': 3,
      '/v1/audit': 7,
    };
    for (const { path } of lists) {
      const items = await readAll(path.replace(':id', made.body.id));
      expect([path, new Set(idsOf(items)).size]).toEqual([path, items.length]);
      expect([path, items.length]).toEqual([path, Math.max(items.length, atLeast[path] ?? Infinity)]);
    }
  });
});

function hasCursor(query: z.ZodType | undefined): boolean {
  return query instanceof z.ZodObject && 'cursor' in query.shape;
}

describe('tasks of sessions and correlations whose names begin with one another', () => {
  it.each(['session', 'correlation'])('are found by %s, all of them and no others', async (filter) => {
    const field = { session: 'session', correlation: 'correlationId' }[filter] ?? '';
    const own = new Map<string, string[]>(NAMES.map((name) => [name, []]));
    for (let round = 0; round < 3; round += 1) for (const [name, ids] of own) ids.push(await submit({ [field]: `${filter}/${name}` }));
    for (const [name, ids] of own) {
      const path = `/v1/tasks?${filter}=${encodeURIComponent(`${filter}/${name}`)}`;
      expect([name, idsOf(await readAll(path))]).toEqual([name, ids.toSorted()]);
      expect([name, idsOf(await readAll(path, 2))]).toEqual([name, ids.toSorted()]);
    }
  });
});

describe('the transcript of a session', () => {
  it('has its turns although a session below it has more than any page', async () => {
    await drive.complete(await submit({ session: 'log' }), 'the answer');
    // Fewer at a time than a server accepts connections of.
    for (let from = 0; from < 2100; from += 100)
      await Promise.all(Array.from({ length: 100 }, (_, number) => submit({ session: `log/${from + number}` })));
    const { body } = await api.call('GET', '/v1/sessions/log/transcript');
    expect(body.items).toMatchObject([{ input: 'hello', output: 'the answer' }]);
  }, 60_000);
});
