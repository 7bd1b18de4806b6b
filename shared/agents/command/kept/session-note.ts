import { z } from 'zod';
import { COMMAND_PRESETS } from '../../../config/index.ts';
import { writtenUsageSchema } from '../../read-agent-answer.ts';

/** What is known of a program's own session, as it is kept with an archive. */
export const sessionNoteSchema = z.object({
  preset: z.enum(COMMAND_PRESETS).nullable(),
  /** Null where only the working folder is kept. */
  id: z.string().nullable(),
  /** What it used in all by its own count; null where that is not known. */
  used: writtenUsageSchema.nullable(),
  /** What was changed in the checkout, as `git diff --stat` says it; null for none. */
  changes: z.string().nullable(),
});

export type SessionNote = z.infer<typeof sessionNoteSchema>;
