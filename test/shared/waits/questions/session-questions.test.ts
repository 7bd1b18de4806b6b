import { expect, it } from 'vitest';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { answerQuestion } from '#shared/waits/questions/answer-question.ts';
import { questionOfSession } from '#shared/waits/questions/session-questions.ts';
import { driveTasks } from '../../../services/api/support/drive-tasks.ts';
import { askQuestion } from '../../../support/agents/ask-question.ts';
import { useEmptyParts } from '../../../support/use-parts.ts';

const parts = await useEmptyParts();
const drive = driveTasks(parts);
const BY = { kind: 'key', id: 'k', name: 'bot', names: ['k'] } as const;
let seq = 1;

/** A run that asks in the session once more. */
async function ask(task: string): Promise<string> {
  seq += 1;
  return await askQuestion(parts, await drive.start(task), { question: `Question ${seq}?`, seq });
}

const accept = async (session: string): Promise<string> =>
  (await acceptTask(parts, { tenant: 'default', agent: 'echo', input: 'x', session })).id;
const answer = async (id: string): Promise<unknown> => await answerQuestion(parts.ledger, 'default', { id, answer: 'yes', by: BY });
const current = async (session: string): Promise<string | undefined> => (await questionOfSession(parts.ledger, 'default', session))?.id;
const lineOf = async (session: string): Promise<string[]> =>
  await parts.redis.lrange(parts.keys.tenant('default').sessionQuestions(session), 0, -1);

it('a session is asked the first open question of its line, and no other session’s', async () => {
  const task = await accept('s');
  expect(await current('s')).toBeUndefined();
  const first = await ask(task);
  expect([await current('s'), await current('other')]).toEqual([first, undefined]);
  await answer(first);
  expect(await current('s')).toBeUndefined();
  const second = await ask(task);
  expect([await current('s'), await lineOf('s')]).toEqual([second, [second]]);
});

it('a line that nobody reads keeps no question that has ended, and goes with the longest wait', async () => {
  const task = await accept('unread');
  for (let round = 0; round < 15; round += 1) await answer(await ask(task));
  const last = await ask(task);
  expect(await lineOf('unread')).toEqual([last]);
  const leftMs = await parts.redis.pttl(parts.keys.tenant('default').sessionQuestions('unread'));
  expect(leftMs).toBeGreaterThan(6 * 86_400_000);
  expect(leftMs).toBeLessThanOrEqual(parts.config.settings.questions.maxWaitMs);
});
