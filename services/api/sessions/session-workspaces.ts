import { z } from 'zod';
import { sessionNoteSchema } from '#shared/agents/index.ts';
import type { FileStore } from '#shared/files/index.ts';

export const workspacesSchema = z
  .array(
    z.strictObject({
      agent: z.string(),
      taskId: z.string().meta({ description: 'The task that ran in it last.' }),
      keptAt: z.iso.datetime().meta({ description: 'When it was last kept.' }),
      expiresAt: z.iso.datetime().meta({ description: 'Its next run begins anew after this, or once that task is not kept any more.' }),
      bytes: z.int().meta({ description: 'As they are stored, compressed.' }),
      changes: z
        .string()
        .nullable()
        .meta({ description: 'What was changed in its checkout, as `git diff --stat` says it; null without a checkout.' }),
    }),
  )
  .meta({
    description:
      'What programs keep for their next run in this session: their own session, and their working folder. Visitors do not see them.',
  });

/** What programs keep for their next run in a session, by agent. */
export async function listWorkspaces(
  { files, keepMs }: { files: FileStore; keepMs: number },
  tenant: string,
  session: string,
): Promise<z.infer<typeof workspacesSchema>> {
  const kept = await files.listKeptRuns(tenant, `session/${session}`);
  return [...kept]
    .map(([agent, { task, at, bytes, note }]) => ({
      agent,
      taskId: task,
      keptAt: new Date(at).toISOString(),
      expiresAt: new Date(at + keepMs).toISOString(),
      bytes,
      changes: sessionNoteSchema.safeParse(note).data?.changes ?? null,
    }))
    .toSorted((one, other) => (one.agent < other.agent ? -1 : 1));
}
