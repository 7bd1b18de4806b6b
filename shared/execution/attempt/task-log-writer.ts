import type { AgentLog } from '../../config/index.ts';
import { appendLog, type Ledger, type LOG_LEVELS, type LogEntry } from '../../ledger/index.ts';
import type { RunningAttempt } from './running-attempt.ts';

interface TaskLogWriterOptions {
  readonly ledger: Ledger;
  readonly attempt: RunningAttempt;
  /** The attempt's number. */
  readonly number: number;
  /** The process's own log. */
  readonly log: AgentLog;
  readonly redact: (text: string) => string;
}

/** An agent may report its progress thousands of times a second; readers see the last of each such time. */
const PROGRESS_MS = 250;
const MIN_PERCENT = 0;
const MAX_PERCENT = 100;
const LEFT_OUT = 'This attempt reported more; that is in the log of its worker only.';

/**
 * TaskLogWriter is responsible for recording with the task what an agent reports beside its output. It is bounded in number and bytes and
 * never fails the attempt: an entry that cannot be written is lost.
 */
export class TaskLogWriter {
  readonly #options: TaskLogWriterOptions;
  /** Made when an agent asks for it; most do not. */
  #agentLog: AgentLog | undefined;
  #written = 0;
  #progress: Extract<LogEntry, { kind: 'progress' }> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;

  constructor(options: TaskLogWriterOptions) {
    this.#options = options;
  }

  /** The agent's log: every line goes to the process's log, and all but `debug` to the task's. */
  get agentLog(): AgentLog {
    this.#agentLog ??= this.#openAgentLog();
    return this.#agentLog;
  }

  #openAgentLog(): AgentLog {
    const { log } = this.#options;
    const both = (level: (typeof LOG_LEVELS)[number]) => (fields: object | string, message?: string) => {
      log[level](fields, message);
      this.#line(level, fields, message);
    };
    return {
      debug: (fields, message) => log.debug(fields, message),
      info: both('info'),
      warn: both('warn'),
      error: both('error'),
    };
  }

  progress(note?: string, percent?: number): void {
    const { log, number } = this.#options;
    log.debug({ event: 'task.progress', note, percent }, 'the agent reports progress');
    if (this.#isFull) return;
    const isFirst = this.#progress === undefined;
    this.#progress = { kind: 'progress', attempt: number, note: this.#text(note), percent: toPercent(percent) };
    if (isFirst) this.#timer = setTimeout(() => this.#flush(), PROGRESS_MS);
  }

  /** Sends what is left and waits until it is out. Never throws. */
  async end(): Promise<void> {
    this.#flush();
    await this.#sending;
  }

  get #isFull(): boolean {
    return this.#written >= this.#options.ledger.settings.tasks.maxLogEntries;
  }

  #line(level: (typeof LOG_LEVELS)[number], fields: object | string, message: string | undefined): void {
    if (this.#isFull) return;
    const { number, ledger, redact } = this.#options;
    const text = typeof fields === 'string' ? fields : message;
    const described = typeof fields === 'string' ? null : describeFields(fields, redact, ledger.settings.tasks.maxLogEntryCharacters);
    this.#send({ kind: 'log', attempt: number, level, text: this.#text(text) ?? '', fields: described });
  }

  #flush(): void {
    clearTimeout(this.#timer);
    const progress = this.#progress;
    this.#progress = undefined;
    if (progress) this.#send(progress);
  }

  #send(entry: LogEntry): void {
    if (this.#isFull) return;
    this.#written += 1;
    const kept: LogEntry = this.#isFull ? { kind: 'log', attempt: entry.attempt, level: 'warn', text: LEFT_OUT, fields: null } : entry;
    this.#sending = (this.#sending ?? Promise.resolve()).then(() => this.#append(kept));
  }

  async #append(entry: LogEntry): Promise<void> {
    const { ledger, attempt, log } = this.#options;
    if (attempt.stopped?.kind === 'lease-lost') return;
    try {
      await appendLog(ledger, attempt.ref, entry);
    } catch (error) {
      log.debug({ err: error }, 'an entry of the task’s log was lost');
    }
  }

  /** Bounded, without secrets; null for what is no text. */
  #text(value: unknown): string | null {
    if (typeof value !== 'string') return null;
    const { ledger, redact } = this.#options;
    const max = ledger.settings.tasks.maxLogEntryCharacters;
    // Cut first, with room for a secret at the end: a text may have megabytes.
    return redact(value.slice(0, max * 2)).slice(0, max);
  }
}

function toPercent(percent: unknown): number | null {
  if (typeof percent !== 'number' || Number.isNaN(percent)) return null;
  return Math.min(Math.max(percent, MIN_PERCENT), MAX_PERCENT);
}

const SECRET_FIELDS = new Set(['authorization', 'cookie', 'secret', 'apikey', 'password', 'token', 'key']);
const MAX_LEVELS = 6;

/** The fields of a log line as JSON without secrets, of at most `max` characters; null when there are none, or they are no JSON. */
function describeFields(fields: object, redact: (text: string) => string, max: number): string | null {
  try {
    const json = JSON.stringify(plain(fields, 0));
    if (json === '{}') return null;
    const redacted = redact(json);
    return redacted.length <= max ? redacted : JSON.stringify({ omitted: `${redacted.length} characters of fields` });
  } catch {
    // A getter of the agent's that throws, or a BigInt.
    return null;
  }
}

/** An error is empty as JSON, and a value that contains itself cannot be written. */
function plain(value: unknown, level: number): unknown {
  if (value instanceof Error) return { name: value.name, message: value.message };
  if (typeof value !== 'object' || value === null) return value;
  if (level >= MAX_LEVELS) return '[nested]';
  if (Array.isArray(value)) return value.map((item) => plain(item, level + 1));
  const entries = Object.entries(value).map(([name, item]) => [
    name,
    SECRET_FIELDS.has(name.toLowerCase()) ? '[redacted]' : plain(item, level + 1),
  ]);
  return Object.fromEntries(entries) as unknown;
}
