import { z } from 'zod';
import { int } from '../fields.ts';

/** A bucket of S3 or of a server that speaks its protocol. */
const s3SettingsSchema = z.strictObject({
  /** Address of the server, without the bucket: `https://s3.eu-central-1.amazonaws.com`. */
  endpoint: z.url({ protocol: /^https?$/ }),
  region: z.string().min(1).default('us-east-1'),
  bucket: z.string().min(1),
  /** What the names of all objects begin with. */
  prefix: z
    .string()
    .regex(/^(?:[\w.-]+\/)*$/, 'expected folders that each end in "/", of letters, digits, ".", "_" and "-"')
    .default('muster/'),
  /** How long one call may take. */
  timeoutMs: int(60_000, 100),
});

/** Files in and out: uploads, attachments and artifacts. */
export const fileSettingsSchema = z
  .strictObject({
    /** Where files are stored when `s3` is not set, and where they are written while they arrive. A relative path starts at `MUSTER_DATA_DIR`. */
    dir: z.string().min(1).default('files'),
    /** The bucket that files are stored in instead; the keys come from `MUSTER_S3_ACCESS_KEY` and `MUSTER_S3_SECRET_KEY`. */
    s3: s3SettingsSchema.optional(),
    /** Bytes of one file. */
    maxFileBytes: int(26_214_400),
    /** Bytes of one file that a visitor may send into a session; with 0 visitors send none. */
    maxVisitorFileBytes: int(0),
    /** Attachments of one task, and artifacts of one task. */
    maxPerTask: int(20),
    /** Bytes of a task's attachments together, of its artifacts together, and of what its steps gave together as far as that is in files. */
    maxBytesPerTask: int(104_857_600),
    /** Bytes of attachments that one message to a model may have. */
    maxModelBytes: int(20_971_520),
    /** Files of one tenant. */
    maxPerTenant: int(10_000),
    /** Bytes of one tenant's files together. */
    maxBytesPerTenant: int(5_368_709_120),
    /** Files that one process receives at once. */
    maxTransfers: int(64),
    /** How long an upload waits for its task. */
    uploadMs: int(86_400_000, 1000),
    /** How long the address of a file that an agent is given holds, beyond the timeout of its attempt. */
    linkMs: int(600_000, 1000),
    /** How long the download of an attachment's `url` may take. */
    fetchMs: int(30_000, 100),
    /** Between two checks whether the tasks of a file are still kept. */
    checkMs: int(600_000, 100),
    /** Between two searches for files to check. */
    sweepMs: int(30_000, 50),
  })
  .prefault({});

export type FileSettings = z.infer<typeof fileSettingsSchema>;

/** Where the long parts of tasks go that ended some time ago. Absent: all of a task stays in Redis until it is forgotten. */
export const archiveSettingsSchema = z
  .strictObject({
    /** `directory`: the folder `dir`. `s3`: the bucket `s3` or, without it, that of `files.s3`, under `archive.tasks/` there. */
    storage: z.enum(['directory', 's3']),
    /** The folder. A relative path starts at `MUSTER_DATA_DIR`. Objects are written there first in any case. */
    dir: z.string().min(1).default('archive'),
    /** A bucket of its own; the keys come from `MUSTER_S3_ACCESS_KEY` and `MUSTER_S3_SECRET_KEY`. */
    s3: s3SettingsSchema.optional(),
    /** How long after its end a task's parts stay in Redis. */
    afterMs: int(86_400_000, 0),
    /** Tasks whose parts have fewer bytes stay in Redis: an object costs more than it saves. */
    minBytes: int(4096, 1),
    /** Between two rounds, each of which archives tasks and removes objects that no task has any more. */
    everyMs: int(30_000, 50),
    /** Tasks, and bytes of their parts, that one round archives. */
    maxTasksPerRound: int(1000),
    maxBytesPerRound: int(67_108_864),
  })
  .optional();

export type ArchiveSettings = NonNullable<z.infer<typeof archiveSettingsSchema>>;
