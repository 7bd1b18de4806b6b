import { chmodSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

/** What the commands of this machine need to reach the fleet without being told: `local.json` in the data directory. */
const localRecordSchema = z.object({
  /** Null until the first start that came up: its key waits to be shown. */
  url: z.string().nullable(),
  /** The admin key in plain; null when this machine has never seen it. */
  key: z.string().nullable(),
});
export type LocalRecord = z.infer<typeof localRecordSchema>;

export const localRecordFile = (directory: string): string => join(directory, 'local.json');

/** Null when no fleet has run here, or the file cannot be read. */
export function readLocalRecord(directory: string): LocalRecord | null {
  try {
    return localRecordSchema.parse(JSON.parse(readFileSync(localRecordFile(directory), 'utf8')));
  } catch {
    return null;
  }
}

/** Readable by the owner only. In Redis there is just the key's hash. */
export function writeLocalRecord(directory: string, record: LocalRecord): void {
  const draft = `${localRecordFile(directory)}.draft`;
  writeFileSync(draft, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
  // A draft that was there already keeps its mode.
  chmodSync(draft, 0o600);
  renameSync(draft, localRecordFile(directory));
}
