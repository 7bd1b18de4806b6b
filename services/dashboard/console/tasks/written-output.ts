import { z } from 'zod';

const outputSchema = z.object({ attempt: z.number(), seq: z.number(), text: z.string() });

/** What the present run of an attempt has written. */
export interface WrittenOutput {
  readonly attempt: number;
  readonly seq: number;
  readonly text: string;
}

export const NOTHING_WRITTEN: WrittenOutput = { attempt: 0, seq: 0, text: '' };

/** An attempt that was interrupted and ran again keeps its number and begins with its first entry; a later one replaces it. */
export function addOutput(before: WrittenOutput, data: unknown): WrittenOutput {
  const entry = outputSchema.safeParse(data);
  if (!entry.success) return before;
  const { attempt, seq, text } = entry.data;
  const goesOn = attempt === before.attempt && seq > before.seq;
  return { attempt, seq, text: goesOn ? before.text + text : text };
}
