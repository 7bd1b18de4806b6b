import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { loadScripts, type RedisClient, runScript, type Script } from '../redis/index.ts';
import { tenantStateInLua } from '../tenants/index.ts';

const recordSchema = z.object({
  name: z.string(),
  mediaType: z.string(),
  bytes: z.number(),
  /** The session that it was uploaded into; absent for none. */
  session: z.string().optional(),
  /** When it is removed although its task is kept, ms since the epoch; absent for never. */
  until: z.number().optional(),
});

const taskFileSchema = recordSchema.extend({
  file: z.string(),
  /** Number of the attempt that brought it. */
  attempt: z.number(),
  /** When, ms since the epoch. */
  at: z.number(),
});

/** What the sender of a file says of it, cleaned. */
export type FileDescription = Pick<z.infer<typeof recordSchema>, 'name' | 'mediaType' | 'session' | 'until'>;

/** What is known of a stored file. */
export interface StoredFile extends z.infer<typeof recordSchema> {
  /** Its id. */
  readonly file: string;
}

/** A file that was made by a task, or fetched for it. */
export type TaskFile = z.infer<typeof taskFileSchema>;

const keptRunSchema = z.object({
  file: z.string(),
  bytes: z.number(),
  /** The task whose run left it. */
  task: z.string(),
  /** When, ms since the epoch. */
  at: z.number(),
  note: z.unknown(),
});

/** What a run left for the next one. */
export type KeptRunFile = z.infer<typeof keptRunSchema>;

export function parseKeptRun(text: string): KeptRunFile {
  return keptRunSchema.parse(JSON.parse(text));
}

/** The attempt that brings a file. */
export interface FileAttempt {
  readonly tenant: string;
  readonly task: string;
  readonly attempt: number;
  /** The name of its lease in the ledger. */
  readonly lease: string;
}

export function parseFile(file: string, text: string): StoredFile {
  return { file, ...recordSchema.parse(JSON.parse(text)) };
}

export function parseTaskFile(text: string): TaskFile {
  return taskFileSchema.parse(JSON.parse(text));
}

type ScriptName = 'add-file' | 'add-task-file' | 'bind-files' | 'check-file' | 'keep-run';

const SCRIPTS = loadScripts(fileURLToPath(new URL('scripts', import.meta.url)), { 'tenant-state': tenantStateInLua() });

/** Runs one of this folder's scripts; what it answers is in its header. */
export async function runFileScript(
  redis: RedisClient,
  name: ScriptName,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<string[]> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return (await runScript(redis, SCRIPTS.get(name) as Script, keys, args)) as string[];
}
