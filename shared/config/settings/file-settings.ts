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
    /** Bytes of a task's attachments together, and of its artifacts together. */
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
