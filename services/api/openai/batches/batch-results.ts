import type { Settings } from '#shared/config/index.ts';
import type { Ledger } from '#shared/ledger/index.ts';
import { traceIdOf } from '#shared/log/index.ts';
import { chatCompletion } from '../chat/chat-object.ts';
import { failureOf, statusOf } from '../failure.ts';
import type { SentFiles } from '../files/sent-files.ts';
import { readAnswer } from '../output/run-answer.ts';
import { responseObject } from '../responses/response-object.ts';
import { readLine } from './batch-lines.ts';
import { type Batch, type BatchStore, taskOfLine } from './batch-store.ts';

interface ResultPorts {
  readonly ledger: Ledger;
  readonly sentFiles: SentFiles;
  readonly batches: BatchStore;
  readonly config: { readonly settings: Settings };
}

/** What became of one request: a line of the output where it was answered, else one of the errors. */
interface Result {
  readonly text: string;
  readonly isAnswer: boolean;
}

/** The files with what became of the requests of a batch; null for a file that would be empty. */
export interface ResultFiles {
  readonly outputFile: string | null;
  readonly errorFile: string | null;
}

/** Writes what became of all requests of a batch. `why`: the code of those that it ended without; null where it came to its end. */
export async function writeResults(ports: ResultPorts, batch: Batch, lines: readonly string[], why: string | null): Promise<ResultFiles> {
  const { settings } = ports.config;
  const maxBytes = settings.files.maxBytesPerTask;
  const errors: string[] = [];
  const answers = answersOf(ports, { batch, lines, why, maxBytes }, errors);
  const first = await answers.next();
  const outputFile = first.done === true ? null : await keep(ports, batch, 'output', within(first.value, answers));
  const errorFile =
    errors.length === 0
      ? null
      : await keep(
          ports,
          batch,
          'errors',
          errors.map((text) => Buffer.from(text)),
        );
  return { outputFile, errorFile };
}

async function* within(first: Uint8Array, rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first;
  yield* rest;
}

async function keep(
  { sentFiles, config }: ResultPorts,
  { tenant, id }: Batch,
  what: 'output' | 'errors',
  lines: AsyncIterable<Uint8Array> | readonly Uint8Array[],
): Promise<string> {
  const { tasks, files } = config.settings;
  const content = (async function* all(): AsyncGenerator<Uint8Array> {
    yield* lines;
  })();
  const file = await sentFiles.add(tenant, {
    name: `${id}_${what}.jsonl`,
    mediaType: 'application/jsonl',
    content,
    purpose: () => 'batch_output',
    keepMs: tasks.retentionMs,
    maxBytes: files.maxBytesPerTask * 2,
  });
  return file.id;
}

interface Finished {
  readonly batch: Batch;
  readonly lines: readonly string[];
  readonly why: string | null;
  readonly maxBytes: number;
}

/** The lines of the output; all others are added to `errors`. */
async function* answersOf(ports: ResultPorts, finished: Finished, errors: string[]): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for (const line of finished.lines.keys()) {
    const { text, isAnswer } = await resultOf(ports, finished, line);
    const written = Buffer.from(text);
    if (!isAnswer) {
      errors.push(text);
      continue;
    }
    bytes += written.length;
    if (bytes <= finished.maxBytes) yield written;
    else errors.push(lineOf(finished, line, { response: null, error: TOO_LARGE }));
  }
}

const TOO_LARGE = {
  code: 'output_too_large',
  message: 'The output of the batch is larger than a file may be: read the response by its id',
};
const GONE = { code: 'not_kept', message: 'The task of this request is no longer kept' };

async function resultOf({ ledger, batches }: ResultPorts, finished: Finished, line: number): Promise<Result> {
  const { batch, why } = finished;
  if (line >= batch.state.next) {
    const error = { code: why, message: 'The batch ended before this request was made' };
    return { text: lineOf(finished, line, { response: null, error }), isAnswer: false };
  }
  const [refusal] = await batches.refusals(batch, [line]);
  if (typeof refusal === 'string') return { text: lineOf(finished, line, { response: JSON.parse(refusal), error: null }), isAnswer: false };
  const answer = await readAnswer(ledger, { tenant: batch.tenant, id: taskOfLine(batch, line), part: 1 });
  if (!answer) return { text: lineOf(finished, line, { response: null, error: GONE }), isAnswer: false };
  if (why !== null && answer.task.state.status === 'cancelled') {
    const error = { code: why, message: 'The batch ended before this request was answered' };
    return { text: lineOf(finished, line, { response: null, error }), isAnswer: false };
  }
  const failure = failureOf(answer);
  const isChat = batch.record.endpoint === '/v1/chat/completions';
  const answered = (): object => (isChat ? chatCompletion(answer, answer.task.body.agent) : responseObject(answer));
  const response = {
    status_code: failure === null ? 200 : statusOf(failure),
    request_id: traceIdOf(answer.task.body.traceparent),
    body: failure === null ? answered() : { error: failure },
  };
  return { text: lineOf(finished, line, { response, error: null }), isAnswer: failure === null };
}

function lineOf({ batch, lines }: Finished, line: number, result: { response: unknown; error: unknown }): string {
  const read = readLine(lines[line] ?? '');
  const id = `batch_req_${taskOfLine(batch, line)}`;
  return `${JSON.stringify({ id, custom_id: read?.data?.custom_id ?? null, ...result })}\n`;
}
