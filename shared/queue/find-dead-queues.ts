import type { Queues } from './queues.ts';

/** Names the queues that do not answer, in words: through BullMQ, as those do who add to them. */
export async function findDeadQueues(queues: Queues): Promise<string[]> {
  const looks = queues.all().map(async ({ shard, name, queue }) => {
    const isDead = await queue.isPaused().then(
      () => false,
      () => true,
    );
    return { shard, name, isDead };
  });
  const byShard = Map.groupBy(await Promise.all(looks), ({ shard }) => shard);
  return [...byShard].flatMap(([shard, found]) => {
    const dead = found.filter(({ isDead }) => isDead);
    if (dead.length === found.length) return [`no queue of shard ${shard} answers`];
    return dead.map(({ name }) => `the queue "${name}" of shard ${shard} does not answer`);
  });
}
