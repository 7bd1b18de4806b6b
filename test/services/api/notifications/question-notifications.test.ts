import { beforeEach, describe, expect, it } from 'vitest';
import { remindOfQuestions } from '#shared/events/question-events.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { answerQuestion } from '#shared/waits/questions/answer-question.ts';
import { askQuestion } from '../../../support/agents/ask-question.ts';
import { driveTasks } from '../support/drive-tasks.ts';
import { type NotificationReader, readNotifications } from '../support/read-notifications.ts';
import { useApi } from '../support/use-api.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const api = await useApi({ events: { pollMs: 100 }, questions: { remindMs: [HOUR, DAY, 3 * DAY], digestAt: '00:00' } });
const { parts } = api;
const ANNA = { kind: 'person', id: 'oidc:7', name: 'Anna', names: ['oidc:7'] } as const;
const LONG_AGO = Date.now() - 2 * DAY;

let tenant = 'acme-0';
let reader: NotificationReader;
beforeEach(async () => {
  tenant = tenant.replace(/\d+/, (number) => `${Number(number) + 1}`);
  await api.call('POST', '/v1/tenants', { body: { id: tenant } });
  reader = await readNotifications(api, { key: await api.keyOf(tenant, ['read']), kinds: 'question.reminded,question.digest' });
});

async function ask(question: string, askedAt = Date.now(), of = tenant): Promise<{ task: string; id: string }> {
  const { id: task } = await acceptTask(parts, { tenant: of, agent: 'echo', input: 'hello' });
  const attempt = await driveTasks(parts, of).start(task);
  return { task, id: await askQuestion(parts, attempt, { question, choices: ['yes', 'no'], askedAt }) };
}

/** What was notified until now: a last question of its own ends the wait. */
const notified = async (): Promise<Record<string, unknown>[]> => {
  const { id } = await ask('The last?', LONG_AGO);
  await remindOfQuestions(parts);
  await reader.waitFor({ kind: 'question.reminded', questionId: id });
  return reader.received().filter(({ questionId }) => questionId !== id);
};
const remindedOf = async (): Promise<unknown[]> =>
  (await notified()).filter(({ kind }) => kind === 'question.reminded').map(({ questionId }) => questionId);

describe('an open question', () => {
  it('is notified again once for all times that have passed, with what it asks', async () => {
    const { task, id } = await ask('Ship?', LONG_AGO);
    await remindOfQuestions(parts);
    const asked = { questionId: id, taskId: task, agent: 'echo', session: null, question: 'Ship?', choices: ['yes', 'no'] };
    const times = { askedAt: new Date(LONG_AGO).toISOString(), expiresAt: null };
    expect(await reader.waitFor({ kind: 'question.reminded' })).toEqual({
      kind: 'question.reminded',
      at: expect.any(String),
      ...asked,
      ...times,
    });
    expect(await parts.redis.zscore(parts.keys.shard(0).reminders, `${tenant}/${id}`)).toBe(String(LONG_AGO + 3 * DAY));
    await remindOfQuestions(parts);
    expect(await remindedOf()).toEqual([id]);
  });

  it('is notified once when two processes look at once', async () => {
    const { id } = await ask('Ship?', LONG_AGO);
    await Promise.all([remindOfQuestions(parts), remindOfQuestions(parts), remindOfQuestions(parts)]);
    expect(await remindedOf()).toEqual([id]);
  });

  it('is not notified before its time, nor once it is answered', async () => {
    await ask('Ship?');
    const { id } = await ask('Sell?', LONG_AGO);
    await answerQuestion(parts.ledger, tenant, { id, answer: 'yes', by: ANNA });
    await remindOfQuestions(parts);
    expect(await remindedOf()).toEqual([]);
  });
});

describe('a digest of open questions', () => {
  it('is notified once a day, with the oldest and how many there are, to its tenant alone', async () => {
    const old = await ask('Ship?', LONG_AGO);
    const young = await ask('Sell?');
    await ask('Whose?', LONG_AGO, 'default');
    await Promise.all([remindOfQuestions(parts), remindOfQuestions(parts)]);
    const digest = await reader.waitFor({ kind: 'question.digest' });
    expect(digest).toMatchObject({
      open: 2,
      questions: [
        { questionId: old.id, taskId: old.task, question: 'Ship?', choices: ['yes', 'no'], askedAt: new Date(LONG_AGO).toISOString() },
        { questionId: young.id, question: 'Sell?' },
      ],
    });
    await remindOfQuestions(parts);
    expect((await notified()).filter(({ kind }) => kind === 'question.digest')).toEqual([digest]);
  });

  it('is not notified while nothing is open since its time', async () => {
    await ask('Ship?');
    await remindOfQuestions(parts);
    expect(await parts.redis.exists(parts.keys.tenant(tenant).questionDigest)).toBe(0);
    expect(reader.kinds()).toEqual([]);
  });
});
