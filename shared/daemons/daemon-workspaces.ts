import { z } from 'zod';
import type { DaemonPorts } from './scripts.ts';

const keptSchema = z.object({
  /** The task that ran in it last. */
  task: z.string(),
  /** When that began or ended, ms since the epoch. */
  at: z.number(),
  /** As the daemon stores it; null before its first run has ended. */
  bytes: z.number().nullable(),
  /** What was changed in its checkout, as `git diff --stat` says it; null for none. */
  changes: z.string().nullable(),
});

/** What is known of a working folder that a daemon keeps for the next run of an agent in a session, or of a task without one. */
export type DaemonWorkspace = z.infer<typeof keptSchema>;

/** Whose it is: `session/<id>`, or `task/<id>` of a task without a session. */
export type WorkspaceOwner = `session/${string}` | `task/${string}`;

interface WorkspacePlace {
  readonly of: WorkspaceOwner;
  readonly agent: string;
  /** The id of the daemon. */
  readonly daemon: string;
}

/** Notes what a daemon keeps, for `keepMs` from now. */
export async function noteWorkspace(
  { redis, keys }: DaemonPorts,
  tenant: string,
  { of, agent, daemon, keepMs, ...kept }: WorkspacePlace & DaemonWorkspace & { readonly keepMs: number },
): Promise<void> {
  const key = keys.tenant(tenant).keptOnDaemons(of);
  await redis.multi().hset(key, `${agent}/${daemon}`, JSON.stringify(kept)).pexpire(key, keepMs).exec();
}

/** What daemons keep of a session, or of a task without one, by agent and daemon. */
export async function listWorkspaces(
  { redis, keys }: DaemonPorts,
  tenant: string,
  of: WorkspaceOwner,
): Promise<(DaemonWorkspace & Omit<WorkspacePlace, 'of'>)[]> {
  const found = Object.entries(await redis.hgetall(keys.tenant(tenant).keptOnDaemons(of)));
  return found
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([field, text]) => {
      const slash = field.lastIndexOf('/');
      return Object.assign(keptSchema.parse(JSON.parse(text)), { agent: field.slice(0, slash), daemon: field.slice(slash + 1) });
    });
}

/** Of these working folders of a daemon those that are not to be kept: their time is over, or their session or task was removed. */
export async function findUnwanted<Named extends Omit<WorkspacePlace, 'daemon'>>(
  { redis, keys }: DaemonPorts,
  { tenant, daemon }: { tenant: string; daemon: string },
  named: readonly Named[],
): Promise<Named[]> {
  const own = keys.tenant(tenant);
  const areWanted = await Promise.all(named.map(({ of, agent }) => redis.hexists(own.keptOnDaemons(of), `${agent}/${daemon}`)));
  return named.filter((_, at) => areWanted[at] === 0);
}

/** Forgets what daemons keep of a session, or of a task without one: each removes it when it is connected, within about a minute. */
export async function forgetWorkspaces({ redis, keys }: DaemonPorts, tenant: string, of: WorkspaceOwner): Promise<void> {
  await redis.unlink(keys.tenant(tenant).keptOnDaemons(of));
}
