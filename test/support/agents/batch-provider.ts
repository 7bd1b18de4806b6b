import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { startFakeModel, type FakeModel } from './fake-model.ts';

/** A line of the file of a batch, as the provider got it. */
export interface SentLine {
  custom_id: string;
  method: string;
  url: string;
  body: { model: string; messages: { role: string; content: unknown }[]; stream?: boolean };
}

/** A batch that was made, with the lines of its file. */
export interface MadeBatch {
  id: string;
  lines: SentLine[];
  isCancelled: boolean;
  /** The header `authorization` that it was made with. */
  key: string;
}

export interface BatchProvider {
  readonly model: FakeModel;
  readonly baseUrl: string;
  /** Batches in the order in which they were made. */
  readonly batches: readonly MadeBatch[];
  /** Prompts that were called directly. */
  readonly direct: readonly string[];
  /** While true its batches stay in progress. */
  isHolding: boolean;
  /** How its batches end, as aimock has it. */
  outcome: string;
  /** What it answers to a line in place of `BATCH_ANSWER`; null for that. */
  answer: (body: SentLine['body']) => object | null;
  /** Whether a line is refused, by its prompt. */
  refuses: (prompt: string) => boolean;
  /** Called before a request is answered; what it returns is the status of a refusal. */
  onRequest: (method: string, path: string) => number | undefined;
  /** Whether it does what was asked, and its answer is lost. */
  losesReply: (method: string, path: string) => boolean;
  /** Files that it got. */
  readonly files: ReadonlyMap<string, SentLine[]>;
  /** Files that it was asked to delete, which the test's own aimock cannot. */
  readonly deleted: readonly string[];
  /** Forgets what it was asked, and does as aimock does. */
  readonly reset: () => void;
  readonly close: () => Promise<void>;
}

export function promptOf({ body }: Pick<SentLine, 'body'>): string {
  const content = body.messages.at(-1)?.content;
  return typeof content === 'string' ? content : JSON.stringify(content);
}

/** What aimock answers in batches. */
export const BATCH_ANSWER = 'Mock batch completion';

const ORDINARY = {
  isHolding: false,
  outcome: 'completed',
  answer: () => null,
  refuses: () => false,
  onRequest: () => undefined,
  losesReply: () => false,
} as const satisfies Partial<BatchProvider>;

/** A provider with batches: aimock, of which this holds or refuses some, which it cannot do. */
export async function startBatchProvider(): Promise<BatchProvider> {
  const model = await startFakeModel();
  const batches: MadeBatch[] = [];
  const direct: string[] = [];
  const files = new Map<string, SentLine[]>();
  const deleted: string[] = [];
  const provider: BatchProvider = {
    model,
    batches,
    direct,
    files,
    deleted,
    baseUrl: '',
    ...ORDINARY,
    reset: () => {
      batches.length = 0;
      direct.length = 0;
      files.clear();
      deleted.length = 0;
      Object.assign(provider, ORDINARY);
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await model.close();
    },
  };

  const note = ({ method, path, key }: Asked, sent: string, answer: Record<string, unknown>): void => {
    const id = String(answer['id']);
    if (method === 'POST' && path === '/v1/files') files.set(id, linesOf(sent));
    if (method === 'POST' && path === '/v1/batches') {
      const { input_file_id: file } = JSON.parse(sent) as { input_file_id: string };
      batches.push({ id, lines: files.get(file) ?? [], isCancelled: false, key });
    }
    const cancelled = batches.find(({ id: known }) => path === `/v1/batches/${known}/cancel`);
    if (cancelled) cancelled.isCancelled = true;
    if (path === '/v1/chat/completions') direct.push(promptOf({ body: JSON.parse(sent) as SentLine['body'] }));
  };

  const held = (id: string): object => ({
    id,
    object: 'batch',
    status: 'in_progress',
    created_at: 0,
    request_counts: { total: batches.find((batch) => batch.id === id)?.lines.length ?? 0, completed: 0, failed: 0 },
  });

  const isHeld = (method: string, path: string): boolean => {
    const known = method === 'GET' ? batches.find(({ id }) => path === `/v1/batches/${id}`) : undefined;
    return provider.isHolding && known !== undefined && !known.isCancelled;
  };

  const pass = async (request: IncomingMessage, { method, path }: { method: string; path: string }): Promise<Passed> => {
    const sent = await text(request);
    const { 'content-type': type = 'application/json', authorization: key = '' } = request.headers;
    const headers = { 'x-aimock-batch-outcome': provider.outcome, 'content-type': type };
    const got = await fetch(`${model.mock.url}${path}`, { method, headers, ...(method === 'POST' && { body: sent }) });
    const body = await got.text();
    if (got.ok && method === 'POST')
      note({ method, path, key }, sent, body.startsWith('{') ? (JSON.parse(body) as Record<string, unknown>) : {});
    return { status: got.status, type: got.headers.get('content-type') ?? type, body };
  };

  const drop = (response: ServerResponse, file: string): void => {
    deleted.push(file);
    send(response, 200, JSON.stringify({ id: file, object: 'file', deleted: true }));
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = 'GET', url: path = '' } = request;
    const status = provider.onRequest(method, path);
    if (status !== undefined) return refuse(response, status);
    if (isHeld(method, path)) return send(response, 200, JSON.stringify(held(path.split('/').at(-1) ?? '')));
    if (method === 'DELETE') return drop(response, path.split('/').at(-1) ?? '');
    const got = await pass(request, { method, path });
    if (provider.losesReply(method, path)) return void response.destroy();
    const isResults = /^\/v1\/files\/[^/]+\/content$/.test(path);
    send(response, got.status, isResults ? withRefusals(got.body) : got.body, got.type);
  };

  const withRefusals = (results: string): string => {
    const sent = new Map(batches.flatMap(({ lines }) => lines.map((line) => [line.custom_id, line] as const)));
    const lines = results
      .trim()
      .split('\n')
      .map((line) => {
        const { custom_id: id } = JSON.parse(line) as SentLine;
        const asked = sent.get(id);
        if (!asked || !provider.refuses(promptOf(asked))) return asked ? withAnswer(line, provider.answer(asked.body)) : line;
        const error = { error: { message: 'This request is too odd', type: 'invalid_request_error' } };
        return JSON.stringify({ id: 'x', custom_id: id, response: { status_code: 400, request_id: 'r', body: error }, error: null });
      });
    return `${lines.join('\n')}\n`;
  };

  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('It has no port');
  return Object.assign(provider, { baseUrl: `http://127.0.0.1:${address.port}/v1` });
}

function withAnswer(line: string, message: object | null): string {
  if (message === null) return line;
  const result = JSON.parse(line) as { response: { body: { choices: object[] } } };
  const finish = 'tool_calls' in message ? 'tool_calls' : 'stop';
  result.response.body.choices = [{ index: 0, message, finish_reason: finish }];
  return JSON.stringify(result);
}

interface Asked {
  method: string;
  path: string;
  key: string;
}

interface Passed {
  status: number;
  type: string;
  body: string;
}

/** The lines of a file in the form that was sent. */
function linesOf(form: string): SentLine[] {
  return form.split(/\r?\n/).flatMap((line) => (line.startsWith('{"custom_id"') ? [JSON.parse(line) as SentLine] : []));
}

function send(response: ServerResponse, status: number, body: string, type = 'application/json'): void {
  response.writeHead(status, { 'content-type': type });
  response.end(body);
}

function refuse(response: ServerResponse, status: number): void {
  send(response, status, JSON.stringify({ error: { message: 'Not now', type: 'server_error' } }));
}
