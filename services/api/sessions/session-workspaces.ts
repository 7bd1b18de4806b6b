import { z } from 'zod';
import { sessionNoteSchema } from '#shared/agents/index.ts';
import { DAEMON_STATUSES, type DaemonStatus, listWorkspaces, readDaemons, readLastStates, statusOf } from '#shared/daemons/index.ts';
import type { FileStore } from '#shared/files/index.ts';
import type { Ledger } from '#shared/ledger/index.ts';
import { redisNow } from '#shared/redis/index.ts';

const daemonSchema = z
  .strictObject({
    id: z.string(),
    name: z.string().nullable().meta({ description: 'Null once it is not registered any more.' }),
    status: z.enum(DAEMON_STATUSES),
  })
  .meta({ description: 'The daemon that keeps it on its own disk; while that is offline nobody can go on in it.' });

export const workspacesSchema = z
  .array(
    z.strictObject({
      agent: z.string(),
      taskId: z.string().meta({ description: 'The task that ran in it last.' }),
      keptAt: z.iso.datetime().meta({ description: 'When it was last kept.' }),
      expiresAt: z.iso.datetime().meta({ description: 'Its next run begins anew after this, or once that task is not kept any more.' }),
      bytes: z.int().nullable().meta({ description: 'As they are stored, compressed; null while its first run on a daemon goes on.' }),
      changes: z
        .string()
        .nullable()
        .meta({ description: 'What was changed in its checkout, as `git diff --stat` says it; null without a checkout.' }),
      daemon: daemonSchema.nullable().meta({ description: 'Null for one that workers go on in.' }),
    }),
  )
  .meta({
    description:
      'What programs keep for their next run in this session: their own session, and their working folder. Visitors do not see them.',
  });

type Workspaces = z.infer<typeof workspacesSchema>;

interface WorkspacePorts {
  ledger: Ledger;
  files: FileStore;
}

/** What programs keep for their next run in a session, by agent. */
export async function readWorkspaces({ ledger, files }: WorkspacePorts, tenant: string, session: string): Promise<Workspaces> {
  const [onWorkers, onDaemons] = await Promise.all([
    files.listKeptRuns(tenant, `session/${session}`),
    listWorkspaces(ledger, tenant, `session/${session}`),
  ]);
  const daemons = await describeDaemons(ledger, tenant, [...new Set(onDaemons.map(({ daemon }) => daemon))]);
  const kept = [
    ...[...onWorkers].map(([agent, { task, at, bytes, note }]) => {
      const changes = sessionNoteSchema.safeParse(note).data?.changes ?? null;
      return { agent, task, at, bytes, changes, daemon: null };
    }),
    ...onDaemons.map(({ agent, task, at, bytes, changes, daemon }) => {
      return { agent, task, at, bytes, changes, daemon: daemons.get(daemon) ?? null };
    }),
  ];
  return kept
    .map(({ agent, task: taskId, at, bytes, changes, daemon }) => {
      const expiresAt = new Date(at + ledger.settings.workspaces.keepMs).toISOString();
      return { agent, taskId, keptAt: new Date(at).toISOString(), expiresAt, bytes, changes, daemon };
    })
    .toSorted((one, other) => (one.agent < other.agent ? -1 : 1));
}

async function describeDaemons(
  ledger: Ledger,
  tenant: string,
  ids: readonly string[],
): Promise<Map<string, NonNullable<Workspaces[number]['daemon']>>> {
  const [now, registered, states] = await Promise.all([
    redisNow(ledger.redis),
    readDaemons(
      ledger,
      ids.map((id) => ({ tenant, id })),
    ),
    readLastStates(ledger, tenant, ids),
  ]);
  const statusAt = (at: number): DaemonStatus => {
    const last = states[at];
    return last?.isConnected === true ? statusOf(last.state, now) : 'offline';
  };
  return new Map(ids.map((id, at) => [id, { id, name: registered[at]?.name ?? null, status: statusAt(at) }]));
}
