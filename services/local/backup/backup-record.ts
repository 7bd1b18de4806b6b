import { z } from 'zod';

/** Raised when records mean something else. */
export const BACKUP_FORM = 1;

const fields = z.array(z.tuple([z.string(), z.string()]));
const text = z.string();

const manifestSchema = z.strictObject({
  t: z.literal('manifest'),
  form: z.int(),
  /** The form of what Redis had; see decision 0011. */
  dataForm: z.int(),
  id: text,
  /** When it began, ISO; what was accepted since then may be missing. */
  at: z.iso.datetime(),
  /** Ids of the tenants in it. */
  tenants: z.array(text),
  /** Whether it has the whole fleet, or one tenant. */
  isOfFleet: z.boolean(),
  /** How secrets are in it. */
  secrets: z.enum(['sealed', 'passphrase', 'left-out']),
  /** Of the key that the passphrase gives; null without one. */
  salt: z.string().nullable(),
  /** A sealed word, by which a wrong key or passphrase is noticed; null where nothing is sealed. */
  check: z.string().nullable(),
});
export type Manifest = z.infer<typeof manifestSchema>;

/** `section`: what follows is of this sort, up to the next one. */
export const SECTIONS = ['tasks', 'sets', 'keys', 'fleet'] as const;
export type Section = (typeof SECTIONS)[number];

export const KEY_TYPES = ['string', 'hash', 'set', 'zset', 'list', 'stream'] as const;

const valueSchema = z.strictObject({
  type: z.enum(KEY_TYPES),
  /** Fields and values, members and scores, entries and their JSON, or single texts; by the type. */
  items: fields,
  /** Milliseconds since the epoch; null for a key that does not expire. */
  expiresAt: z.number().nullable(),
});
export type KeyValue = z.infer<typeof valueSchema>;

export const recordSchema = z.discriminatedUnion('t', [
  manifestSchema,
  z.strictObject({ t: z.literal('section'), section: z.enum(SECTIONS) }),
  z.strictObject({
    t: z.literal('task'),
    tenant: text,
    id: text,
    body: text,
    state: text,
    output: text.nullable(),
    result: text.nullable(),
    usage: text.nullable(),
    attempts: fields,
    journal: fields,
    files: fields,
    held: text.nullable(),
    place: text.nullable(),
  }),
  /** Entries of a tenant in a set of its shard, by the set's name. */
  z.strictObject({ t: z.literal('set'), tenant: text, name: text, items: fields }),
  /** A key of a tenant, by its name without the tenant. Large ones come in several records. */
  valueSchema.extend({ t: z.literal('key'), tenant: text, name: text }),
  /** A key, or fields of one, that the first shard has for the fleet. */
  valueSchema.extend({ t: z.literal('fleet'), name: text }),
  z.strictObject({ t: z.literal('end'), digest: text, counts: z.record(text, z.number()) }),
]);
export type BackupRecord = z.infer<typeof recordSchema>;
export type TaskRecord = Extract<BackupRecord, { t: 'task' }>;
