import { createHash } from 'node:crypto';
import { z } from 'zod';

/** A request of a run that goes by a batch: the entry of its journal that the run waits at. */
export interface BatchedRequest {
  readonly tenant: string;
  /** The task. */
  readonly id: string;
  readonly seq: number;
}

/** What names a request among those of the fleet. */
export function requestName({ tenant, id, seq }: BatchedRequest): string {
  return `${tenant}/${id}/${seq}`;
}

export function readRequestName(name: string): BatchedRequest {
  const [tenant = '', id = '', seq = ''] = name.split('/');
  return { tenant, id, seq: Number(seq) };
}

/** What names a request at its provider, which learns nothing of tenants. At most 64 characters, as OpenAI takes them. */
export function customIdOf({ id, seq }: BatchedRequest): string {
  return `${id}_${seq}`;
}

/** What requests of one batch have in common: whom they call, and with whose key. */
export const batchTargetSchema = z.object({
  /** Its name in `providers`. */
  provider: z.string(),
  baseUrl: z.string(),
  model: z.string(),
  /** An agent whose key it is, of the configuration or of a tenant, who made it by API. */
  agent: z.string(),
  tenant: z.string().optional(),
  /** Of that key, with the tenant: requests of two tenants are in one batch by a key of the configuration only. */
  keyDigest: z.string(),
});
export type BatchTarget = z.infer<typeof batchTargetSchema>;

const DIGEST_LENGTH = 16;

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, DIGEST_LENGTH);
}

/** Tells keys apart. `tenant`: whose key it is; none for one of the configuration. */
export function keyDigestOf(apiKey: string | undefined, tenant: string | undefined): string {
  return digestOf([...(tenant === undefined ? [] : [tenant]), apiKey ?? ''].join('\n'));
}

/** The group that requests are gathered in. */
export function groupOf({ provider, baseUrl, model, keyDigest }: BatchTarget): string {
  return digestOf([provider, baseUrl, model, keyDigest].join('\n'));
}

/** What a run waits for, in the entry of its journal. */
const waitSchema = z.object({
  target: batchTargetSchema,
  /** JSON of the request, as it would be sent directly. */
  body: z.string(),
  /** The most that it costs in a batch, millionths of a US dollar. */
  maxMicroUsd: z.number(),
  /** The part of its price that the batch saves. */
  discount: z.number(),
  /** The agent's own price of the model, millionths of a US dollar for a million tokens. */
  ownPrice: z.object({ input: z.number(), output: z.number() }).optional(),
});
export type BatchWait = z.infer<typeof waitSchema>;

/** What the wait of an entry is for; null for an entry without one, or one that cannot be opened here. */
export function batchWaitOf(entry: { kind: string; wait?: string | undefined } | null): BatchWait | null {
  return entry?.kind === 'batch' && entry.wait !== undefined ? waitSchema.parse(JSON.parse(entry.wait)) : null;
}

/** What a run gets of its batch: the body of the answer as JSON, or why it is to call directly. `batch`: its id at the provider. */
export const batchAnswerSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('answered'), batch: z.string(), body: z.string() }),
  z.object({ kind: z.literal('direct'), batch: z.string().nullable(), reason: z.string() }),
]);
export type BatchAnswer = z.infer<typeof batchAnswerSchema>;

/** What is known of a request that waits, besides its journal. */
const requestSchema = z.object({
  group: z.string(),
  bytes: z.number(),
  /** Until when its run waits, ms since the epoch. */
  until: z.number(),
});
export type RequestRecord = z.infer<typeof requestSchema>;

export function readRequestRecord(text: string | null | undefined): RequestRecord | null {
  return text == null ? null : requestSchema.parse(JSON.parse(text));
}

/** What a batch is made of. Times are ms since the epoch. */
const batchSchema = z.object({ target: batchTargetSchema, total: z.number(), createdAt: z.number(), until: z.number() });
export type ModelBatchRecord = z.infer<typeof batchSchema>;

const progressSchema = z.object({
  status: z.string(),
  completed: z.number(),
  failed: z.number(),
  total: z.number(),
  /** When the provider ends it at the latest, ms since the epoch; null where it does not say. */
  expiresAt: z.number().nullable(),
});
/** What the provider said of a batch last. */
export type BatchProgress = z.infer<typeof progressSchema>;

/** A batch as Redis has it. */
export interface ModelBatch {
  readonly id: string;
  readonly record: ModelBatchRecord;
  /** Whether its file was begun to be sent, and its id at the provider once it was. */
  readonly isUploading: boolean;
  readonly file: string | null;
  /** Whether it was begun to be made there, and its id once it was. */
  readonly isCreating: boolean;
  readonly provider: string | null;
  readonly progress: BatchProgress | null;
  /** Failed looks in a row. */
  readonly failures: number;
  /** Requests without an answer. */
  readonly open: readonly BatchedRequest[];
}

const OPEN = 'request:';

/** Reads the fields of a batch; null for one that is not there any more. */
export function readBatch(id: string, fields: Readonly<Record<string, string>>): ModelBatch | null {
  const { record, uploading, file, creating, provider, progress, failures } = fields;
  if (record === undefined) return null;
  return {
    id,
    record: batchSchema.parse(JSON.parse(record)),
    isUploading: uploading !== undefined,
    file: file ?? null,
    isCreating: creating !== undefined,
    provider: provider ?? null,
    progress: progress === undefined ? null : progressSchema.parse(JSON.parse(progress)),
    failures: Number(failures ?? 0),
    open: Object.keys(fields).flatMap((name) => (name.startsWith(OPEN) ? [readRequestName(name.slice(OPEN.length))] : [])),
  };
}
