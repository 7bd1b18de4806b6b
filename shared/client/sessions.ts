import type { HttpCalls } from './http-calls.ts';
import { readPages } from './pages.ts';
import type {
  AcceptedMessage,
  CommandAnswer,
  MessageRequest,
  Session,
  SessionStopped,
  SessionSummary,
  Turn,
  Upload,
} from './openapi.gen.ts';
import type { ListSessionsQuery } from './queries.ts';
import { newKey } from './send-tasks.ts';
import { SentTask, type TaskPorts } from './sent-task.ts';
import { type UploadOptions, uploadFile } from './upload-file.ts';

interface Signalled {
  signal?: AbortSignal | undefined;
}

interface MessageOptions extends Omit<MessageRequest, 'text'>, Signalled {
  /** The same key with the same message gives the same task. By default a new one for each call. */
  idempotencyKey?: string | undefined;
}

/** What became of a message: a task, or for a command such as `/stop` its answer. */
export type SentMessage =
  | { readonly task: SentTask; readonly accepted: AcceptedMessage; readonly command: null }
  | { readonly task: null; readonly accepted: null; readonly command: CommandAnswer };

/** Conversations. A visitor's token may send, upload, stop and read in its own. */
export class Sessions {
  readonly #ports: TaskPorts;
  readonly #calls: HttpCalls;

  constructor(ports: TaskPorts) {
    this.#ports = ports;
    this.#calls = ports.calls;
  }

  /** Sends a message into a session. Its mode decides what becomes of it when it meets a running task. */
  async send(id: string, text: string, { idempotencyKey = newKey(), signal, ...rest }: MessageOptions = {}): Promise<SentMessage> {
    const request = { method: 'POST', path: pathOf(id, '/messages'), json: { ...rest, text }, idempotencyKey, signal } as const;
    const answer = await this.#calls.json<AcceptedMessage | CommandAnswer>(request);
    if ('command' in answer) return { task: null, accepted: null, command: answer };
    return { task: new SentTask(this.#ports, answer.id), accepted: answer, command: null };
  }

  /** Stores a file for a message of this session, as `attachments: [{ uploadId: upload.id }]`. */
  async upload(id: string, file: Blob, options: UploadOptions = {}): Promise<Upload> {
    return await uploadFile(this.#calls, pathOf(id, '/uploads'), file, options);
  }

  /** The latest active first. */
  list(query: ListSessionsQuery = {}, { signal }: Signalled = {}): AsyncGenerator<SessionSummary, void> {
    return readPages(this.#calls, { path: '/v1/sessions', query, signal });
  }

  /** Who has the turn, and who waits for it. */
  async get(id: string, { signal }: Signalled = {}): Promise<Session> {
    return await this.#calls.json({ method: 'GET', path: pathOf(id), signal });
  }

  /** Its last turns, oldest first. */
  transcript(id: string, { signal }: Signalled = {}): AsyncGenerator<Turn, void> {
    return readPages(this.#calls, { path: pathOf(id, '/transcript'), signal });
  }

  /** Withdraws what waits and stops what runs. Not repeated by itself after a lost answer: it could stop a newer message. */
  async stop(id: string, { signal }: Signalled = {}): Promise<SessionStopped> {
    return await this.#calls.json({ method: 'POST', path: pathOf(id, '/stop'), signal });
  }

  /** `default` gives it the mode of its surface again. */
  async setMode(id: string, mode: Session['mode'] | 'default', { signal }: Signalled = {}): Promise<Session> {
    return await this.#calls.json({ method: 'PUT', path: pathOf(id, '/mode'), json: { mode }, signal });
  }
}

function pathOf(id: string, rest = ''): string {
  return `/v1/sessions/${encodeURIComponent(id)}${rest}`;
}
