import { createHmac, randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Keys, RedisClient } from '../redis/index.ts';
import { isSameSecret } from '../text/index.ts';

/** What a signed text opens, to whoever has it. */
const linkSchema = z.discriminatedUnion('may', [
  /** Reading one file. */
  z.strictObject({ may: z.literal('get'), tenant: z.string(), file: z.string(), until: z.number() }),
  /** Adding files to a task, as long as one attempt of it runs. */
  z.strictObject({
    may: z.literal('put'),
    tenant: z.string(),
    task: z.string(),
    attempt: z.number(),
    lease: z.string(),
    until: z.number(),
  }),
  /** Keeping checkpoints of a task, as long as one attempt of it runs. */
  z.strictObject({ may: z.literal('checkpoint'), tenant: z.string(), task: z.string(), lease: z.string(), until: z.number() }),
]);
export type FileLink = z.infer<typeof linkSchema>;

interface FileLinksOptions {
  readonly redis: RedisClient;
  readonly keys: Keys;
  /** Where agents reach the API, without a slash at the end. */
  readonly base: string;
}

/**
 * FileLinks is responsible for addresses that open a file, or a task's place for files, without a key: signed, bound to what they open, and
 * valid until a time. All processes of an installation sign with one secret.
 */
export class FileLinks {
  readonly #redis: RedisClient;
  readonly #key: string;
  /** Where agents reach the API, without a slash at the end. */
  readonly base: string;
  #secret: Promise<string> | undefined;

  constructor({ redis, keys, base }: FileLinksOptions) {
    this.#redis = redis;
    this.#key = keys.fleet.fileSecret;
    this.base = base;
  }

  /** The complete address. Artifacts are put below it, by their names. */
  async address(link: FileLink): Promise<string> {
    return `${this.base}/files/${await this.sign(link)}`;
  }

  /** The part of an address after `/files/`. */
  async sign(link: FileLink): Promise<string> {
    const text = Buffer.from(JSON.stringify(link)).toString('base64url');
    return `${text}.${await this.#signatureOf(text)}`;
  }

  /** What a signed part opens at this time (ms since the epoch); null when it is not of ours or has expired. */
  async verify(signed: string, now: number): Promise<FileLink | null> {
    const [text = '', signature = ''] = signed.split('.');
    if (!isSameSecret(signature, await this.#signatureOf(text))) return null;
    const link = linkSchema.safeParse(JSON.parse(Buffer.from(text, 'base64url').toString()));
    return link.success && now < link.data.until ? link.data : null;
  }

  async #signatureOf(text: string): Promise<string> {
    this.#secret ??= this.#readSecret().catch((error: unknown) => {
      this.#secret = undefined;
      throw error;
    });
    return createHmac('sha256', await this.#secret)
      .update(text)
      .digest('base64url');
  }

  /** The first process of an installation makes it. */
  async #readSecret(): Promise<string> {
    const own = randomBytes(32).toString('base64url');
    await this.#redis.set(this.#key, own, 'NX');
    return (await this.#redis.get(this.#key)) ?? own;
  }
}
