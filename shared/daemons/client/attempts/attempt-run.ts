import type { AgentInput, AgentUsage } from '../../../config/index.ts';
import { TaskFailure } from '../../../errors/index.ts';
import { mediaTypeOfName } from '../../../files/index.ts';
import type { AttemptName } from '../../attempt-name.ts';
import type { HubMessage } from '../../protocol.ts';
import { failureOfError, failureOfStop, type StopReason } from './attempt-failure.ts';
import type { AttemptReport } from './attempt-report.ts';
import { type DaemonContext, type DaemonHandler, readTask, type WorkspaceLeft } from '../daemon-task.ts';
import { completedMessage, failedMessage, type FinalMessage, type FinalMessageOptions } from '../final-message.ts';
import { OpenQuestion } from '../open-question.ts';
import { downloadAttachment, sendCheckpoint, uploadArtifact } from '../task-files.ts';
import { addUsage, readUsage, usageOfTotal, type UsageTotal } from '../usage.ts';

type Execute = HubMessage<'task.execute'>;

export interface AttemptRunOptions {
  readonly handler: DaemonHandler;
  readonly report: AttemptReport;
  /** There is something to send. */
  readonly onChange: () => void;
}

/** Longer timers would fire at once. */
const MAX_TIMER_MS = 2_147_483_647;

/** What is reported within such a time goes out together: the hub counts it against budgets each time. */
const USAGE_MS = 1000;

/** AttemptRun is responsible for one attempt while its handler runs: its input, its stop, its usage and its end. */
export class AttemptRun {
  readonly name: AttemptName;
  readonly #execute: Execute;
  readonly #options: AttemptRunOptions;
  readonly #controller = new AbortController();
  readonly #inputs: AgentInput[] = [];
  readonly #inputIds = new Set<string>();
  readonly #question: OpenQuestion;
  #arrived = Promise.withResolvers<void>();
  #stopReason: StopReason | null = null;
  /** What the handler reported that it used. */
  #total: UsageTotal = [];
  #usageTimer: NodeJS.Timeout | undefined;
  #left: WorkspaceLeft | null = null;

  constructor(execute: Execute, options: AttemptRunOptions) {
    this.name = { taskId: execute.taskId, token: execute.token };
    this.#execute = execute;
    this.#options = options;
    const { report, onChange } = options;
    const askMs = Math.min(execute.checkpoint?.askMs ?? 0, MAX_TIMER_MS);
    this.#question = new OpenQuestion({ report, askMs, signal: this.#controller.signal, onChange });
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

  /** Takes a message for the handler. A message that is sent twice counts once. */
  addInput({ id, text }: HubMessage<'task.input'>): void {
    if (this.#inputIds.has(id)) return;
    this.#inputIds.add(id);
    this.#inputs.push({ id, text, user: null, attachments: [] });
    this.#arrived.resolve();
  }

  /** Takes the answer to what its handler asks people. */
  addAnswer(answer: HubMessage<'task.answer'>): void {
    this.#question.receive(answer);
  }

  /** Runs the handler to its end. Resolves with the message that reports it. Never rejects. */
  async run(): Promise<FinalMessage> {
    const { timeoutMs } = this.#execute;
    const timer = setTimeout(() => this.stop({ kind: 'late' }), Math.min(timeoutMs, MAX_TIMER_MS));
    try {
      const answer = await this.#options.handler(readTask(this.#execute), this.#context());
      if (this.#stopReason !== null) return failedMessage(failureOfStop(this.#stopReason), this.#reported);
      return completedMessage(answer, this.#reported);
    } catch (error) {
      return failedMessage(this.#stopReason === null ? failureOfError(error) : failureOfStop(this.#stopReason), this.#reported);
    } finally {
      clearTimeout(timer);
      clearTimeout(this.#usageTimer);
    }
  }

  get #reported(): FinalMessageOptions {
    return { name: this.name, usage: usageOfTotal(this.#total), workspace: this.#left };
  }

  #reportUsage(used: AgentUsage): void {
    this.#total = addUsage(this.#total, used);
    this.#usageTimer ??= setTimeout(() => {
      this.#usageTimer = undefined;
      const usage = usageOfTotal(this.#total);
      if (usage !== null) this.#options.report.setUsage(usage);
      this.#options.onChange();
    }, USAGE_MS);
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
      reportUsage: (usage) => this.#reportUsage(readUsage(usage)),
      reportTotal: (usage) => {
        this.#total = [];
        this.#reportUsage(readUsage(usage));
      },
      input: () => {
        this.#arrived = Promise.withResolvers();
        return Promise.resolve(this.#inputs.splice(0));
      },
      inputArrived: () => this.#arrived.promise,
      download: (attachment, path) => downloadAttachment(attachment, path, this.#controller.signal),
      attach: (name, content, mediaType = mediaTypeOfName(name)) =>
        uploadArtifact(this.#execute.artifactsUrl ?? null, { name, mediaType, content }, this.#controller.signal),
      keepCheckpoint: (text) => sendCheckpoint(this.#execute.checkpoint ?? null, text, this.#controller.signal),
      keptWorkspace: (left) => void (this.#left = left),
      askPeople: (signal) => this.#question.ask(signal),
      trace: { traceparent: this.#execute.traceparent ?? '' },
    };
  }
}
