import type { Ledger } from '../ledger/index.ts';

/** What stands for a session where a hint names a task. Task ids hold no `~`, and this holds neither `/` nor `,`. */
export function sessionTopic(id: string): string {
  return `~${encodeURIComponent(id)}`;
}

/** Tells whoever watches the session that there is something new in it. A lost hint costs them a moment, so nobody waits for it. */
export function hintSession({ redis, keys }: Ledger, tenant: string, id: string): void {
  const { signal } = keys.shard(keys.shardOf(tenant));
  redis.publish(signal, `${tenant}/${sessionTopic(id)}/session.changed`).catch(() => undefined);
}
