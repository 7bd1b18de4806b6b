import { z } from 'zod';
import { readAll } from '#shared/files/index.ts';
import type { FileStore } from '#shared/files/index.ts';
import type { SentFiles } from '../files/sent-files.ts';
import type { Batch, BatchError } from './batch-store.ts';

/** A request of a batch. */
const lineSchema = z.looseObject({
  custom_id: z.string().min(1).max(512),
  method: z.literal('POST'),
  url: z.string(),
  body: z.record(z.string(), z.unknown()),
});
export type BatchLine = z.infer<typeof lineSchema>;

interface LinesPorts {
  readonly files: FileStore;
  readonly sentFiles: SentFiles;
  readonly maxRequests: number;
}

/** What is wrong with a file, at most. */
const MAX_ERRORS = 100;
/** Bytes of files that this process holds for the batches that it runs. */
const MAX_HELD_BYTES = 67_108_864;

/** BatchLines is responsible for the requests of batches, whose files are read once while they run here. */
export class BatchLines {
  readonly #ports: LinesPorts;
  /** By batch, the one used last at the end. */
  readonly #held = new Map<string, { bytes: number; lines: readonly string[] }>();

  constructor(ports: LinesPorts) {
    this.#ports = ports;
  }

  /** Errors: `upload.not-found`, `unavailable.files`. */
  async read(batch: Batch): Promise<readonly string[]> {
    const known = this.#held.get(batch.id);
    this.#held.delete(batch.id);
    const held = known ?? (await this.#load(batch));
    this.#held.set(batch.id, held);
    this.#bound();
    return held.lines;
  }

  forget({ id }: Batch): void {
    this.#held.delete(id);
  }

  /** What is wrong with the file of a batch; none where it can be run. */
  check({ record }: Batch, lines: readonly string[]): BatchError[] {
    const { maxRequests } = this.#ports;
    if (lines.length === 0) return [{ code: 'empty_file', message: 'The file has no requests', line: null }];
    if (lines.length > maxRequests)
      return [{ code: 'too_many_tasks', message: `A batch has at most ${maxRequests} requests, and this one ${lines.length}`, line: null }];
    const errors: BatchError[] = [];
    const ids = new Set<string>();
    for (const [at, text] of lines.entries()) {
      const problem = problemOf(readLine(text), record.endpoint, ids);
      if (problem !== null) errors.push({ ...problem, line: at + 1 });
      if (errors.length === MAX_ERRORS) break;
    }
    return errors;
  }

  async #load({ tenant, record }: Batch): Promise<{ bytes: number; lines: string[] }> {
    const { files, sentFiles } = this.#ports;
    const { stored } = await sentFiles.find(tenant, record.inputFile);
    const stream = await files.open({ tenant, file: stored.file });
    const bytes = stream ? await readAll(stream, stored.bytes) : Buffer.alloc(0);
    const lines = bytes
      .toString('utf8')
      .split('\n')
      .filter((line) => line.trim() !== '');
    return { bytes: bytes.length, lines };
  }

  #bound(): void {
    let bytes = Array.from(this.#held.values()).reduce((sum, held) => sum + held.bytes, 0);
    for (const [id, held] of this.#held) {
      if (bytes <= MAX_HELD_BYTES || this.#held.size === 1) return;
      this.#held.delete(id);
      bytes -= held.bytes;
    }
  }
}

/** A line as it should be, or what is wrong with it. */
export function readLine(text: string): z.ZodSafeParseResult<BatchLine> | null {
  try {
    return lineSchema.safeParse(JSON.parse(text));
  } catch {
    return null;
  }
}

function problemOf(read: ReturnType<typeof readLine>, endpoint: string, ids: Set<string>): Pick<BatchError, 'code' | 'message'> | null {
  if (read === null) return { code: 'invalid_json_line', message: 'This line is no JSON' };
  if (!read.success) {
    const [issue] = read.error.issues;
    return { code: 'invalid_request', message: `${issue?.path.join('.')}: ${issue?.message}` };
  }
  const { url, custom_id: id } = read.data;
  if (url !== endpoint) return { code: 'mismatched_endpoint', message: `url: expected "${endpoint}", the endpoint of the batch` };
  if (ids.has(id)) return { code: 'duplicate_custom_id', message: `custom_id: "${id}" stands in a line before` };
  ids.add(id);
  return null;
}
