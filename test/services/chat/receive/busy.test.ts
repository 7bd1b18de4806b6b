import { expect, it } from 'vitest';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { environmentOf } from '../running-chat.ts';
import { useChat, useFakePlatforms } from '../use-chat.ts';
import { completedState } from '../../../shared/ledger/support/stored-states.ts';

const fakes = await useFakePlatforms();
const chat = await useChat(environmentOf(fakes), { agents: { echo: { kind: 'echo' } }, routing: { agent: 'echo' } });
const { parts } = chat;
const notes = (): string[] => fakes.telegram.shown.map(({ text }) => text).filter((text) => text.startsWith('Busy'));

it('tells a person once how long their answer will take, when that is a minute or more', async () => {
  const own = parts.keys.tenant('default');
  const request = { tenant: 'default', agent: 'echo', input: 'x', source: 'chat' } as const;
  // Two tasks, the second of which waited three minutes for the first. Another process accepted them: a count of tickets is kept for a moment.
  for (const end of [completedState(1000, 1000, 1500), completedState(1000, 181000, 181500)]) {
    const { id } = await acceptTask({ ...parts, ledger: { ...parts.ledger }, queues: { ...parts.queues } }, request);
    await parts.redis.hset(own.states, id, end);
    await parts.redis.zadd(own.index, 0, `status=completed/${id}`);
  }
  await parts.relay.idle();
  const { ready } = parts.keys.shard(0);
  await parts.redis.del(ready);
  await parts.redis.zadd(ready, 0, 'chat/00/default/000000000001000/x.1/1000/3/echo/');
  for (const number of [1, 2]) {
    expect((await chat.post('telegram', fakes.telegram.personWrites({ text: 'hi', number, chat: '1' }))).status).toBe(200);
  }
  await waitFor(() => notes().length > 0, { deadlineMs: 5000, what: 'the note' });
  expect(notes()).toEqual(['Busy: about 3 minutes.']);
});
