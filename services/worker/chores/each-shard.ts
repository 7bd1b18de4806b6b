import type { Keys } from '#shared/redis/index.ts';

/** Does the same for each shard: a node of a cluster that is away keeps no other waiting. Rejects with the first failure at the end. */
export async function eachShard({ shards }: Pick<Keys, 'shards'>, work: (shard: number) => Promise<void>): Promise<void> {
  const failures: unknown[] = [];
  for (let shard = 0; shard < shards; shard += 1) await work(shard).catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}
