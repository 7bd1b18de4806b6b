import { codexServerWords } from '../../../../config/index.ts';
import { TaskFailure } from '../../../../errors/index.ts';
import { plainText, type ProgramEnd, noteEvent, type TranscriptEnd, type TranscriptEvent } from '../preset.ts';
import type { PresetServerOptions, ServedProgram } from '../preset-server.ts';
import { APPROVALS, type CodexApproval, type FileChanges } from './codex-approvals.ts';
import { type CodexNotification, itemOf, readNotification, statusOf, threadAnswer, turnAnswer, UNWANTED } from './codex-events.ts';
import { CodexRpc, INVALID_PARAMS, METHOD_NOT_FOUND, readRequestBeginning, type RpcError, type RpcId } from './codex-rpc.ts';
import { CodexTurn } from './codex-turn.ts';
import { CodexUsage } from './codex-usage.ts';

/** Requests for an approval that wait for people at a time. */
const MAX_WAITING = 50;
const MAX_INPUT = 1024 * 1024;
const TOO_LONG = 'it is too long to be shown';
/** Changes of files that are under way. */
const MAX_CHANGES = 100;
/** Requests that are known when they come again. */
const MAX_ASKED = 1000;
/** How long it may take to end its turn, ms: only then it says what its last call of a model has used. */
const INTERRUPT_MS = 2000;

/** What versions say that have no app-server: they take its name for a prompt, and find no terminal. */
const NO_SERVER = /\bos error 6\b|\bnot a terminal\b|\bunrecognized subcommand\b|\bunexpected argument\b/i;
/** What those say that have an older one. */
const NO_METHOD = /\bunknown variant\b|\bmethod not found\b/i;

const NOT_A_SERVER = 'has no "app-server" that Muster could ask for approvals by: agents with "permissions" need Codex 0.110 or newer';

/**
 * CodexServer is responsible for a turn of Codex over `codex app-server`, which asks for approvals as `codex exec` cannot: it begins a thread or goes on with
 * one, reads what comes of its turn, and answers what it asks. What it asks and nobody here can say is refused, so that it goes on.
 */
export class CodexServer implements ServedProgram {
  readonly #options: PresetServerOptions;
  readonly #rpc: CodexRpc;
  readonly #turn: CodexTurn;
  readonly #usage: CodexUsage;
  readonly #waiting = new Set<RpcId>();
  readonly #changes = new Map<string, FileChanges>();
  readonly #asked = new Set<string>();
  #thread: string | undefined;
  #turnId: string | undefined;
  #failure: TaskFailure | undefined;
  #isInitialized = false;
  #isOver = false;
  #interrupting: NodeJS.Timeout | undefined;

  constructor(options: PresetServerOptions) {
    this.#options = options;
    this.#turn = new CodexTurn(options.zone);
    this.#usage = new CodexUsage(options.usedBefore ?? null);
    this.#rpc = new CodexRpc({
      send: options.send,
      answerMs: options.handshakeMs,
      onRequest: (method, id, params) => this.#onRequest(method, id, params),
      onNotification: (method, params) => this.#onNotification(method, params),
      onRefused: (method, error) => this.#onRefused(method, error),
    });
  }

  start(): void {
    const clientInfo = { name: 'muster', title: 'Muster', version: '1' };
    const capabilities = { experimentalApi: false, requestAttestation: false, optOutNotificationMethods: UNWANTED };
    this.#rpc.call('initialize', { clientInfo, capabilities }, () => {
      this.#isInitialized = true;
      this.#rpc.notify('initialized');
      this.#openThread();
      return [];
    });
  }

  read(line: string): readonly TranscriptEvent[] {
    return this.#rpc.read(line) ?? plainText(line);
  }

  /** A request that is not read gets an answer all the same: its program waits for one. */
  readBeginning(beginning: string): readonly TranscriptEvent[] {
    const request = readRequestBeginning(beginning);
    return request ? this.#refuse(request.method, request.id, { code: INVALID_PARAMS, message: TOO_LONG }) : [];
  }

  interrupt(): void {
    if (this.#turnId === undefined || this.#isOver) return this.#options.stop();
    this.#interrupting = setTimeout(this.#options.stop, INTERRUPT_MS);
    this.#rpc.call('turn/interrupt', { threadId: this.#thread, turnId: this.#turnId }, () => []);
  }

  close(): void {
    this.#isOver = true;
    this.#waiting.clear();
    this.#rpc.close();
    clearTimeout(this.#interrupting);
  }

  end({ ended, exitCode, stderr }: ProgramEnd): TranscriptEnd {
    const { failure = this.#failure, ...answer } = this.#turn.end();
    if (failure !== undefined) return { ...answer, failure };
    if (this.#isOver || ended !== null) return answer;
    if (!this.#isInitialized && NO_SERVER.test(stderr)) return { failure: unsupported() };
    return exitCode === 0 ? { failure: new TaskFailure('COMMAND_FAILED', 'Codex has ended before its turn did') } : answer;
  }

  #openThread(): void {
    const { session, command, cwd } = this.#options;
    const { thread: begun } = codexServerWords(command);
    // A thread remembers the folder that it was begun in, which is gone.
    const resumed = { ...begun, threadId: session, cwd, excludeTurns: true };
    this.#rpc.call(session === null ? 'thread/start' : 'thread/resume', session === null ? begun : resumed, (result) => {
      const read = threadAnswer.safeParse(result);
      if (!read.success) return this.#fail(unsupported());
      const { thread, model, approvalPolicy } = read.data;
      this.#thread = thread.id;
      this.#usage.begin(thread.id, { model, isResumed: session !== null });
      if (approvalPolicy === 'never')
        this.#options.warn('the approval policy of Codex is "never": it refuses what it would ask people for');
      this.#startTurn(thread.id);
      return [{ kind: 'session', id: thread.id }];
    });
  }

  #startTurn(threadId: string): void {
    const input = [{ type: 'text', text: this.#options.prompt, text_elements: [] }];
    this.#rpc.call('turn/start', { threadId, input }, (result) => {
      const read = turnAnswer.safeParse(result);
      if (!read.success) return this.#fail(unsupported());
      this.#turnId = read.data.turn.id;
      return [];
    });
  }

  #onRefused(method: string, error: RpcError | null): TranscriptEvent[] {
    // Its turn has ended meanwhile.
    if (method === 'turn/interrupt') return [];
    if (error === null) {
      this.#fail(new TaskFailure('COMMAND_SILENT', `Codex did not answer "${method}" within ${this.#options.handshakeMs} ms`));
      this.#options.stop();
      return [];
    }
    if (NO_METHOD.test(error.message)) return this.#fail(unsupported());
    this.#turn.fail(`${method}: ${error.message}`);
    return this.#finish();
  }

  #fail(failure: TaskFailure): TranscriptEvent[] {
    this.#failure ??= failure;
    return this.#finish();
  }

  /** Nothing more comes of it. */
  #finish(): TranscriptEvent[] {
    this.#isOver = true;
    this.#options.endInput();
    if (this.#interrupting !== undefined) this.#options.stop();
    return [{ kind: 'answered' }];
  }

  #onRequest(method: string, id: RpcId, params: unknown): TranscriptEvent[] {
    const read = Object.hasOwn(APPROVALS, method) ? APPROVALS[method] : undefined;
    const approval = read?.(params, { changesOf: (item) => this.#changes.get(item), isAgain: (asked) => this.#isAgain(asked) }) ?? null;
    if (approval === null) {
      const [code, message] = read ? [INVALID_PARAMS, 'it does not say what it is for'] : [METHOD_NOT_FOUND, 'nobody here answers that'];
      return this.#refuse(method, id, { code, message });
    }
    const problem = this.#problemOf(approval);
    if (problem !== null) return this.#refuse(method, id, { code: INVALID_PARAMS, message: problem });
    this.#waiting.add(id);
    void this.#decide(id, approval);
    return [];
  }

  #isAgain(asked: string): boolean {
    // Of so many it may be one.
    if (this.#asked.has(asked) || this.#asked.size >= MAX_ASKED) return true;
    this.#asked.add(asked);
    return false;
  }

  /** Codex takes an error for a refusal, and goes on. */
  #refuse(method: string, id: RpcId, error: RpcError): TranscriptEvent[] {
    this.#rpc.refuse(id, error);
    return [noteEvent(`refused ${method}: ${error.message}`)];
  }

  /** Why people are not asked; null where they are. */
  #problemOf({ request }: CodexApproval): string | null {
    if (this.#waiting.size >= MAX_WAITING) return 'too many wait for an answer';
    return JSON.stringify(request.input).length > MAX_INPUT ? TOO_LONG : null;
  }

  async #decide(id: RpcId, { request, answer }: CodexApproval): Promise<void> {
    const decision = await this.#options.decide(request).catch((error: unknown) => {
      this.#options.warn('people could not be asked what Codex asks', error);
      return { isAllowed: false };
    });
    // Without one it is to end, and asks again when it goes on. It may also have taken the request back.
    if (decision !== null && this.#waiting.delete(id)) this.#rpc.answer(id, answer(decision.isAllowed));
  }

  #onNotification(method: string, given: unknown): TranscriptEvent[] {
    const event = readNotification(method, given);
    if (event === null || this.#isOver) return [];
    if (event.method === 'serverRequest/resolved') this.#waiting.delete(event.params.requestId);
    else if (event.method === 'thread/tokenUsage/updated') return this.#usage.read(event.params, this.#turnId);
    // What agents of its own do in their threads is told by its own.
    else return event.params.threadId === this.#thread ? this.#onThread(event) : this.#noteChanges(event);
    return [];
  }

  /** They may ask as well. */
  #noteChanges(event: CodexNotification): [] {
    if (event.method === 'item/fileChange/patchUpdated') this.#keepChanges(event.params.itemId, event.params.changes);
    if (event.method === 'item/started') this.#keepChanges(event.params.item.id, event.params.item.changes);
    if (event.method === 'item/completed') this.#changes.delete(event.params.item.id);
    return [];
  }

  #keepChanges(item: string, changes: FileChanges | undefined): void {
    if (changes !== undefined && (this.#changes.size < MAX_CHANGES || this.#changes.has(item))) this.#changes.set(item, changes);
  }

  #onThread(event: CodexNotification): TranscriptEvent[] {
    this.#noteChanges(event);
    if (event.method === 'item/started') return this.#turn.start(itemOf(event.params.item));
    if (event.method === 'item/completed') return this.#turn.complete(itemOf(event.params.item));
    if (event.method === 'error') return this.#turn.trouble(event.params.error.message);
    return event.method === 'turn/completed' ? this.#onTurnEnd(event.params.turn) : [];
  }

  #onTurnEnd({ id, status, error }: Extract<CodexNotification, { method: 'turn/completed' }>['params']['turn']): TranscriptEvent[] {
    if (this.#turnId !== undefined && id !== this.#turnId) return [];
    if (status === 'completed') this.#turn.succeed();
    else this.#turn.fail(error?.message ?? `The turn of Codex was ${status}`, error ? statusOf(error) : undefined);
    return this.#finish();
  }
}

function unsupported(): TaskFailure {
  return new TaskFailure('COMMAND_UNSUPPORTED', `This version of Codex ${NOT_A_SERVER}`);
}
