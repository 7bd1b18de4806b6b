import { Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import {
  type AgentAttachment,
  type AgentContext,
  type AgentEvent,
  type AgentInput,
  type AgentLog,
  type AgentTask,
  type AgentTurn,
  type AgentUsage,
  answerProblem,
  type Asked,
  type DelegateCall,
  type Delegated,
  type Question,
  readAnswer,
  readAsked,
  type Tool,
} from '../../config/index.ts';
import { TaskFailure } from '../../errors/index.ts';
import { runTestLoop } from './test-loop.ts';
import { type FakeModel, openFakeModel } from './fake-model.ts';

/** A file that a test gives its agent. */
export interface TestFile {
  name: string;
  data: string | Uint8Array;
  /** Defaults to `application/octet-stream`. */
  mediaType?: string;
}

/** A file that the agent made. */
export interface Artifact {
  name: string;
  mediaType: string;
  data: Buffer;
}

export interface ProgressNote {
  note: string | null;
  percent: number | null;
}

export interface LogEntry {
  level: 'debug' | 'info' | 'warn' | 'error';
  /** By the clock of the test, ISO 8601. */
  at: string;
  message: string;
  fields: object;
}

/** An event that comes for the agent. */
export interface TestEvent {
  name: string;
  /** JSON; null by default. */
  data?: unknown;
  /** By default one of its own. */
  id?: string;
}

export interface TestContextOptions {
  clock?: { now(): number };
  models?: Readonly<Record<string, FakeModel>>;
  history?: readonly Pick<AgentTurn, 'input' | 'output'>[];
  messages?: readonly (readonly string[])[];
  answers?: readonly unknown[];
  attachments?: readonly TestFile[];
  events?: readonly TestEvent[];
  signal?: AbortSignal;
  delegates?: Readonly<Record<string, FakeDelegate>>;
  tools?: Readonly<Record<string, Tool>>;
}

/** What a sub-task gives, by its input: a text is its output too. What it throws is its failure. */
export type FakeDelegate = (input: unknown) => unknown;

const ANY_MEDIA_TYPE = 'application/octet-stream';

/** TestContext is responsible for giving an agent what a worker would, and for remembering what it did with it. */
export class TestContext implements AgentContext {
  readonly task: AgentTask;
  readonly signal: AbortSignal;
  readonly attachments: readonly AgentAttachment[];
  readonly log: AgentLog;
  readonly trace = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };
  readonly written: string[] = [];
  readonly progressNotes: ProgressNote[] = [];
  readonly entries: LogEntry[] = [];
  readonly artifacts = new Map<string, Artifact>();
  /** What its models used and what it reported. */
  readonly used: AgentUsage = { inputTokens: 0, outputTokens: 0 };
  readonly #options: TestContextOptions;
  readonly #messages: (readonly string[])[];
  readonly #events: AgentEvent[];
  readonly #answers: unknown[];
  #received = 0;
  /** The step that began last. */
  #step = '';

  constructor(task: AgentTask, options: TestContextOptions) {
    this.task = task;
    this.#options = options;
    this.#messages = [...(options.messages ?? [])];
    this.#events = (options.events ?? []).map(({ name, data = null, id }, at) => ({ name, data, id: id ?? `event-${at + 1}` }));
    this.#answers = [...(options.answers ?? [])];
    this.signal = options.signal ?? new AbortController().signal;
    this.attachments = (options.attachments ?? []).map(openFile);
    this.log = { debug: this.#logAs('debug'), info: this.#logAs('info'), warn: this.#logAs('warn'), error: this.#logAs('error') };
  }

  readonly now: AgentContext['now'] = () => (this.#options.clock ?? Date).now();

  /** Does not wait: a test's clock says what time it is. */
  readonly sleep: AgentContext['sleep'] = async () => {
    this.signal.throwIfAborted();
    await Promise.resolve();
  };

  /** Gives the first event that fits and was not given yet; null where the test has none. */
  readonly waitFor: AgentContext['waitFor'] = async (name, { match = {} } = {}) => {
    this.signal.throwIfAborted();
    const at = this.#events.findIndex((event) => event.name === name && isFitting(event.data, match));
    return await Promise.resolve(at === -1 ? null : (this.#events.splice(at, 1)[0] ?? null));
  };

  /** Gives the next answer of the test, checked as a worker's. Without one left nobody answers in time. */
  readonly ask: AgentContext['ask'] = async <Answer>(question: Question<Answer>) => {
    this.signal.throwIfAborted();
    const asked = readAsked(question);
    const answer = this.#answers.length === 0 ? (question.default ?? null) : fittingAnswer(asked, this.#answers.shift());
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- It was checked.
    return await Promise.resolve(readAnswer(question, answer) as Answer);
  };

  readonly delegate = async <Result>(...[agent, input]: DelegateCall): Promise<Delegated<Result>> => {
    this.signal.throwIfAborted();
    const { delegates = {} } = this.#options;
    const answer = Object.hasOwn(delegates, agent) ? delegates[agent] : undefined;
    if (answer) return await delegatedTo<Result>(() => answer(asJson(input)));
    const given = Object.keys(delegates).join(', ') || 'none';
    const message = `The agent delegates to "${agent}": expected it in delegates of runAgent, got ${given}`;
    throw new TaskFailure('RESOURCE_NOT_FOUND', message);
  };

  readonly delegateAll: AgentContext['delegateAll'] = async (calls) => await Promise.all(calls.map((call) => this.delegate(...call)));

  readonly agent: AgentContext['agent'] = async (options) => await runTestLoop(this, options, this.#options.tools);

  readonly random: AgentContext['random'] = () => Math.random();

  readonly once: AgentContext['once'] = (key) => `${this.#step}:${key}`;

  /** Tries again without a pause, and gives what comes back as JSON, as a worker does. */
  readonly step: AgentContext['step'] = async (name, work, { retries = 0 } = {}) => {
    for (let tries = 0; ; tries += 1) {
      this.signal.throwIfAborted();
      this.#step = name;
      try {
        return asJson(await work({ signal: this.signal }));
      } catch (error) {
        if (tries >= retries) throw error;
      }
    }
  };

  readonly write: AgentContext['write'] = (text) => {
    this.signal.throwIfAborted();
    this.written.push(text);
  };

  readonly progress: AgentContext['progress'] = (note, percent) => {
    this.progressNotes.push({ note: note ?? null, percent: percent ?? null });
  };

  readonly reportUsage: AgentContext['reportUsage'] = (usage) => {
    this.used.inputTokens += usage.inputTokens;
    this.used.outputTokens += usage.outputTokens;
    if (usage.costMicroUsd !== undefined) this.used.costMicroUsd = (this.used.costMicroUsd ?? 0) + usage.costMicroUsd;
  };

  readonly input: AgentContext['input'] = async () => {
    this.signal.throwIfAborted();
    return await Promise.resolve((this.#messages.shift() ?? []).map((text) => this.#receive(text)));
  };

  readonly history: AgentContext['history'] = async () =>
    await Promise.resolve((this.#options.history ?? []).map(({ input, output }, at) => ({ taskId: `turn-${at + 1}`, input, output })));

  readonly attach: AgentContext['attach'] = async (name, data, mediaType = ANY_MEDIA_TYPE) => {
    this.artifacts.set(name, { name, mediaType, data: await bytesOf(data) });
  };

  readonly model: AgentContext['model'] = (name) => {
    const models = this.#options.models ?? {};
    const known = Object.keys(models);
    const chosen = name ?? (known.length === 1 ? known[0] : 'default') ?? 'default';
    const fake = Object.hasOwn(models, chosen) ? models[chosen] : undefined;
    if (fake !== undefined) return openFakeModel(chosen, fake, (used) => this.reportUsage(used));
    const given = known.length === 0 ? 'none' : known.join(', ');
    throw new TaskFailure(
      'RESOURCE_NOT_FOUND',
      `The agent asks for the model "${chosen}": expected it in models of runAgent, got ${given}`,
    );
  };

  #receive(text: string): AgentInput {
    this.#received += 1;
    return { id: `message-${this.#received}`, text, user: null, attachments: [] };
  }

  #logAs(level: LogEntry['level']): AgentLog['info'] {
    return (fields, message) => {
      const at = new Date(this.now()).toISOString();
      this.entries.push(
        typeof fields === 'string' ? { level, at, message: fields, fields: {} } : { level, at, message: message ?? '', fields },
      );
    };
  }
}

function isFitting(data: unknown, match: Readonly<Record<string, unknown>>): boolean {
  const fields: Readonly<Record<string, unknown>> = typeof data === 'object' && data !== null && !Array.isArray(data) ? { ...data } : {};
  return Object.entries(match).every(([field, value]) => Object.hasOwn(fields, field) && isDeepStrictEqual(fields[field], asJson(value)));
}

function fittingAnswer(asked: Asked, answer: unknown): unknown {
  const problem = answerProblem(asked, answer);
  if (problem !== null) throw new TypeError(`answers of runAgent do not fit the question "${asked.question}": ${problem}`);
  return answer;
}

/** What a sub-task of a test comes to. */
async function delegatedTo<Result>(answer: () => unknown): Promise<Delegated<Result>> {
  try {
    const value = asJson((await answer()) ?? null);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- The test says what its sub-tasks give.
    const result = (typeof value === 'string' ? null : value) as Result | null;
    return { status: 'completed', output: typeof value === 'string' ? value : '', result, error: null };
  } catch (error) {
    const { code, message } = error instanceof TaskFailure ? error : { code: 'AGENT_ERROR', message: String(error) };
    return { status: 'permanently_failed', output: null, result: null, error: { code, message } };
  }
}

function asJson<T>(value: T): T {
  const json = JSON.stringify(value) as string | undefined;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- It is of the same form, but for what is no JSON.
  return (json === undefined ? undefined : JSON.parse(json)) as T;
}

function openFile({ name, data, mediaType = ANY_MEDIA_TYPE }: TestFile): AgentAttachment {
  const bytes = Buffer.from(data);
  return {
    name,
    mediaType,
    bytes: bytes.byteLength,
    read: async () => await Promise.resolve(bytes),
    stream: async () => await Promise.resolve(Readable.from([bytes])),
    url: async () => await Promise.resolve(`data:${mediaType};base64,${bytes.toString('base64')}`),
  };
}

async function bytesOf(data: string | Uint8Array | AsyncIterable<Uint8Array>): Promise<Buffer> {
  if (typeof data === 'string') return Buffer.from(data);
  if (data instanceof Uint8Array) return Buffer.from(data);
  const parts: Uint8Array[] = [];
  for await (const part of data) parts.push(part);
  return Buffer.concat(parts);
}
