import { createHash, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';
import { z } from 'zod';
import { unreadable } from '../../redis/index.ts';

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/** Bytes of one task's parts, as text; a larger task stays in Redis. */
export const MAX_PART_BYTES = 16_777_216;
/** As JSON each of them may be escaped. */
const MAX_OBJECT_BYTES = 6 * MAX_PART_BYTES;
const FORM = 1;

/** The long parts of an ended task, as the ledger keeps them. */
export interface TaskParts {
  body: string;
  output: string | null;
  result: string | null;
  journal: [field: string, value: string][];
}

const objectSchema = z.strictObject({
  form: z.literal(FORM),
  tenant: z.string(),
  task: z.string(),
  body: z.string(),
  output: z.string().nullable(),
  result: z.string().nullable(),
  journal: z.array(z.tuple([z.string(), z.string()])),
});

/** Whose parts an object has. */
export interface PartsOwner {
  tenant: string;
  id: string;
}

/** An object of the archive: JSON, compressed. `place` is its name, length and digest, as the body of its task has them. */
export interface PackedParts {
  bytes: Buffer;
  object: string;
  place: string;
}

/** Each object has a name of its own, so that none is ever written twice. */
export async function packParts({ tenant, id }: PartsOwner, parts: TaskParts): Promise<PackedParts> {
  const bytes = await compress(JSON.stringify({ form: FORM, tenant, task: id, ...parts }));
  const object = randomBytes(16).toString('hex');
  return { bytes, object, place: `${object} ${bytes.length} ${digestOf(bytes)}` };
}

export interface ObjectPlace {
  object: string;
  bytes: number;
  sha256: string;
}

export function parsePlace(place: string): ObjectPlace {
  const [object = '', bytes = '', sha256 = ''] = place.split(' ');
  return { object, bytes: Number(bytes), sha256 };
}

/** Errors: `record.unreadable` for bytes that are not those which were written for this task. */
export async function unpackParts({ tenant, id }: PartsOwner, place: string, bytes: Buffer): Promise<TaskParts> {
  if (digestOf(bytes) !== parsePlace(place).sha256) throw unreadable(id, 'its object in the archive has other bytes than were written');
  try {
    const text = await decompress(bytes, { maxOutputLength: MAX_OBJECT_BYTES });
    const { form: _form, tenant: owner, task, ...parts } = objectSchema.parse(JSON.parse(text.toString()));
    if (owner !== tenant || task !== id) throw new Error('it is of another task');
    return parts;
  } catch (error) {
    throw unreadable(id, error);
  }
}

function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
