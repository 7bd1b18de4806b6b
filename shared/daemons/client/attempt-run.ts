import type { AgentInput, AgentResult, AgentUsage } from '../../config/index.ts';
import { classifyFailure, TaskFailure } from '../../errors/index.ts';
import type { DaemonMessageToSend, HubMessage } from '../protocol.ts';
import type { AttemptName, AttemptReport, FinalMessage } from './attempt-report.ts';
import type { DaemonContext, DaemonHandler, DaemonTask } from './daemon-task.ts';
import { downloadAttachment, uploadArtifact } from './task-files.ts';

type Execute = HubMessage<'task.execute'>;
type Usage = NonNullable<Extract<DaemonMessageToSend, { type: 'task.completed' }>['usage']>;

/** An attempt that runs is stopped by one of these, and the first counts. */
export type StopReason =
  /** The hub asked for it. */
  | { readonly kind: 'cancelled'; readonly reason: string }
  /** It goes on elsewhere, or nowhere: nobody waits for its result. */
  | { readonly kind: 'dropped' }
  | { readonly kind: 'late' }
  /** This daemon ends. */
  | { readonly kind: 'stopped' };

export interface AttemptRunOptions {
  readonly handler: DaemonHandler;
  readonly report: AttemptReport;
  /** There is something to send. */
  readonly onChange: () => void;
  /** Bytes of the last message: more than the hub takes at once is a failure of its own. */
  readonly maxMessageBytes: number;
}

/** Longer timers would fire at once. */
const MAX_TIMER_MS = 2_147_483_647;

/** AttemptRun is responsible for one attempt while its handler runs: its input, its stop, its usage and its end. */
export class AttemptRun {
  readonly name: AttemptName;
  readonly #execute: Execute;
  readonly #options: AttemptRunOptions;
  readonly #controller = new AbortController();
  readonly #usage: Usage[] = [];
  readonly #inputs: AgentInput[] = [];
  readonly #inputIds = new Set<string>();
  #arrived = Promise.withResolvers<void>();
  #stopReason: StopReason | null = null;

  constructor(execute: Execute, options: AttemptRunOptions) {
    this.name = { taskId: execute.taskId, token: execute.token };
    this.#execute = execute;
    this.#options = options;
  }

  get stopReason(): StopReason | null {
    return this.#stopReason;
  }

  /** Stops the handler. Does nothing the second time. */
  stop(reason: StopReason): void {
    if (this.#stopReason !== null) return;
    this.#stopReason = reason;
    this.#controller.abort(new TaskFailure(failureOfStop(reason).code, failureOfStop(reason).message));
  }

  /** Takes a message for the handler; one that was sent twice counts once. */
  addInput({ id, text }: HubMessage<'task.input'>): void {
    if (this.#inputIds.has(id)) return;
    this.#inputIds.add(id);
    this.#inputs.push({ id, text, user: null, attachments: [] });
    this.#arrived.resolve();
  }

  /** Runs the handler to its end. Resolves with the message that reports it. Never rejects. */
  async run(): Promise<FinalMessage> {
    const { timeoutMs } = this.#execute;
    const timer = setTimeout(() => this.stop({ kind: 'late' }), Math.min(timeoutMs, MAX_TIMER_MS));
    try {
      const answer = await this.#options.handler(readTask(this.#execute), this.#context());
      return this.#stopReason === null ? this.#completed(answer) : this.#failed(failureOfStop(this.#stopReason));
    } catch (error) {
      return this.#failed(this.#stopReason === null ? describe(error) : failureOfStop(this.#stopReason));
    } finally {
      clearTimeout(timer);
    }
  }

  #context(): DaemonContext {
    const { report, onChange } = this.#options;
    return {
      signal: this.#controller.signal,
      write: (text) => {
        if (text === '' || this.#stopReason !== null) return;
        report.write(text);
        onChange();
      },
      progress: (note = '', percent) => {
        report.setProgress({ note, ...(percent === undefined ? {} : { percent: Math.min(100, Math.max(0, percent)) }) });
        onChange();
      },
      reportUsage: (usage) => void this.#usage.push(readUsage(usage)),
      input: () => {
        this.#arrived = Promise.withResolvers();
        return Promise.resolve(this.#inputs.splice(0));
      },
      inputArrived: () => this.#arrived.promise,
      download: (attachment, path) => downloadAttachment(attachment, path, this.#controller.signal),
      attach: (name, content, mediaType = 'application/octet-stream') =>
        uploadArtifact(this.#execute.artifactsUrl ?? null, { name, mediaType, content }, this.#controller.signal),
      trace: { traceparent: this.#execute.traceparent ?? '' },
    };
  }

  #completed(answer: AgentResult | string | undefined | void): FinalMessage {
    const { output, result, usage } = typeof answer === 'string' ? { output: answer } : { ...answer };
    const final: FinalMessage = {
      type: 'task.completed',
      ...this.name,
      ...(output === undefined ? {} : { output }),
      ...(result === undefined ? {} : { result }),
      ...this.#usageField(usage),
    };
    const { maxMessageBytes } = this.#options;
    if (Buffer.byteLength(JSON.stringify(final)) <= maxMessageBytes) return final;
    const message = `The result has more than ${maxMessageBytes} bytes; what is written meanwhile may be longer`;
    return this.#failed({ code: 'OUTPUT_TOO_LARGE', message });
  }

  #failed({ code, message, details }: Failure): FinalMessage {
    const error = { code, message, retryable: classifyFailure(code) !== 'permanent', ...(details === undefined ? {} : { details }) };
    return { type: 'task.failed', ...this.name, error, ...this.#usageField(undefined) };
  }

  /** The answer's own usage stands for all reports. */
  #usageField(total: AgentUsage | undefined): { usage?: Usage } {
    if (total !== undefined) return { usage: readUsage(total) };
    return this.#usage.length === 0 ? {} : { usage: this.#usage.reduce(addUsage) };
  }
}

interface Failure {
  readonly code: string;
  readonly message: string;
  readonly details?: Record<string, unknown> | undefined;
}

function failureOfStop(stop: StopReason): Failure {
  switch (stop.kind) {
    case 'cancelled':
      return { code: 'CANCELLED', message: stop.reason };
    case 'dropped':
      return { code: 'CANCELLED', message: 'The attempt goes on elsewhere, or has ended' };
    case 'late':
      return { code: 'EXECUTION_TIMEOUT', message: 'The attempt took longer than it may' };
    case 'stopped':
      return { code: 'DAEMON_CRASHED', message: 'The daemon was stopped during the attempt' };
  }
}

const CODE = /^[\w.:-]{1,64}$/;
const MAX_MESSAGE = 4000;

function describe(error: unknown): Failure {
  const message = (error instanceof Error ? error.message : String(error)).slice(0, MAX_MESSAGE);
  // By its shape, because a handler may bring another copy of the class.
  if (
    error instanceof Error &&
    error.name === 'TaskFailure' &&
    'code' in error &&
    typeof error.code === 'string' &&
    CODE.test(error.code)
  ) {
    return { code: error.code, message, details: error instanceof TaskFailure ? error.details : undefined };
  }
  return { code: 'AGENT_ERROR', message };
}

function readTask(execute: Execute): DaemonTask {
  return {
    id: execute.taskId,
    agent: execute.agent,
    input: execute.input,
    system: execute.system ?? null,
    session: execute.session ?? null,
    context: execute.context,
    attempt: execute.attempt,
    takesInput: execute.takesInput,
    timeoutMs: execute.timeoutMs,
    deadline: execute.deadline ?? null,
    history: execute.history,
    attachments: execute.attachments,
    artifactsUrl: execute.artifactsUrl ?? null,
  };
}

function readUsage({ inputTokens, outputTokens, costMicroUsd, model }: AgentUsage): Usage {
  return {
    inputTokens,
    outputTokens,
    ...(costMicroUsd === undefined ? {} : { costMicroUsd }),
    ...(model === undefined ? {} : { model }),
  };
}

function addUsage(sum: Usage, each: Usage): Usage {
  const total: Usage = { ...sum, ...each };
  for (const field of ['inputTokens', 'outputTokens', 'costMicroUsd'] as const) {
    if (sum[field] !== undefined || each[field] !== undefined) total[field] = (sum[field] ?? 0) + (each[field] ?? 0);
  }
  return total;
}
