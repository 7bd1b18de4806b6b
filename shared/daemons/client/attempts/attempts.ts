import { attemptKey, type AttemptName } from '../../attempt-name.ts';
import type { DaemonMessageToSend, HubMessage } from '../../protocol.ts';
import type { StopReason } from './attempt-failure.ts';
import { AttemptReport, type ReportBounds } from './attempt-report.ts';
import { AttemptRun } from './attempt-run.ts';
import { type DaemonEvent, endOf } from '../daemon-event.ts';
import type { DaemonHandler } from '../daemon-task.ts';
import { deliverable, type FinalMessage, isFinal, messageBytes, shrunk } from '../final-message.ts';
import type { FinishedResults } from '../finished-results.ts';

export interface AttemptsOptions {
  readonly handler: DaemonHandler;
  readonly results: FinishedResults;
  /** Characters of output that are kept for each attempt while it runs. */
  readonly maxOutput: number;
  /** Bytes of a message, as long as the hub does not say that it takes less. */
  readonly maxMessageBytes: number;
  readonly onEvent: (event: DaemonEvent) => void;
  /** Something may be sent, or something has ended. */
  readonly onChange: () => void;
}

type Send = (message: DaemonMessageToSend) => void;

/** Attempts is responsible for all attempts of a daemon, from `task.execute` until the hub has acknowledged their end. */
export class Attempts {
  readonly #options: AttemptsOptions;
  readonly #running = new Map<string, AttemptRun>();
  /** Of those that run, and of those whose end is not acknowledged. */
  readonly #reports = new Map<string, AttemptReport>();
  readonly #bounds: ReportBounds;
  #maxMessageBytes: number;

  constructor(options: AttemptsOptions) {
    this.#options = options;
    this.#maxMessageBytes = options.maxMessageBytes;
    this.#bounds = { maxOutput: options.maxOutput, maxMessageBytes: () => this.#maxMessageBytes };
  }

  get running(): number {
    return this.#running.size;
  }

  /** Those that have ended and that the hub has not acknowledged. */
  get unacknowledged(): number {
    return this.#reports.size - this.#running.size;
  }

  reports(): Iterable<AttemptReport> {
    return this.#reports.values();
  }

  /** Takes up what an earlier process of this daemon finished and could not deliver. */
  async load(): Promise<void> {
    const { finished, unreadable } = await this.#options.results.load();
    for (const each of finished) {
      this.#reports.set(attemptKey(each.final), new AttemptReport(each.final, this.#bounds, each));
    }
    for (const path of unreadable) this.#options.onEvent({ type: 'problem', message: `The result in ${path} cannot be read` });
  }

  /** For `daemon.hello`. */
  names(): { running: AttemptName[]; finished: AttemptName[] } {
    const reports = [...this.#reports];
    const namesOf = (isRunning: boolean): AttemptName[] =>
      reports.filter(([key]) => this.#running.has(key) === isRunning).map(([, { name }]) => name);
    return { running: namesOf(true), finished: namesOf(false) };
  }

  /** Applies what the hub decided about the attempts of the hello. */
  async welcome({ drop, resume, maxMessageBytes }: HubMessage<'hub.welcome'>): Promise<void> {
    this.#maxMessageBytes = Math.min(this.#options.maxMessageBytes, maxMessageBytes ?? Infinity);
    const lastSeqs = new Map(resume.map((each) => [attemptKey(each), each.seq]));
    for (const [key, report] of this.#reports) {
      const run = this.#running.get(key);
      // `drop` names tasks, and another attempt of one may go on. What has ended is sent in any case: its acknowledgement has the outcome.
      if (run !== undefined && drop.includes(report.name.taskId) && !lastSeqs.has(key)) run.stop({ kind: 'dropped' });
      else report.resume(lastSeqs.get(key) ?? 0);
      if (report.final !== null && messageBytes(report.final) > this.#maxMessageBytes) await this.#shrink(report, report.final);
    }
  }

  /** Shortens an end that was larger than the hub takes. Returns false when the message is no end that waits for the hub. */
  async shrink(message: DaemonMessageToSend): Promise<boolean> {
    const report = isFinal(message) ? this.#reports.get(attemptKey(message)) : undefined;
    if (!report?.final) return false;
    await this.#shrink(report, report.final);
    return true;
  }

  async handle(message: Exclude<HubMessage, { type: 'hub.welcome' | 'workspaces.remove' }>, send: Send): Promise<void> {
    switch (message.type) {
      case 'task.execute':
        return this.#accept(message, send);
      case 'task.cancel':
        return this.#cancel(message, send);
      case 'task.input':
        return this.#running.get(attemptKey(message))?.addInput(message);
      case 'task.answer':
        return this.#running.get(attemptKey(message))?.addAnswer(message);
      case 'task.acknowledged':
        return this.#acknowledge(message);
      case 'error':
        return this.#onRefusal(message);
    }
  }

  /** Of all that a daemon sends, hubs of an older version do not know `task.usage`: they count it with the end. */
  #onRefusal({ code, message }: HubMessage<'error'>): void {
    if (code === 'message.unknown-type') for (const report of this.#reports.values()) report.skipUsage();
    else this.#options.onEvent({ type: 'problem', message: `The hub refused a message: ${message} [${code}]` });
  }

  /** Stops all that run. Resolves never: see `running`. */
  stopAll(reason: StopReason): void {
    for (const run of this.#running.values()) run.stop(reason);
  }

  /** Called at every heartbeat. */
  beat(): void {
    for (const report of this.#reports.values()) report.beat();
  }

  /** Sent again until it is accepted, so it may have come before. */
  #accept(execute: HubMessage<'task.execute'>, send: Send): void {
    const { taskId, token } = execute;
    const key = attemptKey(execute);
    send({ type: 'task.accepted', taskId, token });
    if (this.#reports.has(key)) return this.#repeatEnd(key);
    // A newer token of a task: nobody waits for the older attempt.
    for (const run of this.#running.values()) if (run.name.taskId === taskId) run.stop({ kind: 'dropped' });
    void this.#run(key, execute);
  }

  async #run(key: string, execute: HubMessage<'task.execute'>): Promise<void> {
    const { handler, onChange, onEvent } = this.#options;
    const { taskId, agent, attempt } = execute;
    const report = new AttemptReport(execute, this.#bounds);
    const run = new AttemptRun(execute, { handler, report, onChange });
    this.#reports.set(key, report);
    this.#running.set(key, run);
    const startedAt = performance.now();
    onEvent({ type: 'started', taskId, agent, attempt });
    const final = deliverable(await run.run(), this.#maxMessageBytes);
    const end = endOf(final, run.stopReason);
    if (end.outcome === 'dropped') this.#reports.delete(key);
    else await this.#keep(report, final);
    this.#running.delete(key);
    onEvent({ type: 'ended', taskId, ms: performance.now() - startedAt, ...end });
    onChange();
  }

  /** Writes it down before the hub receives it: a crash in between would lose it. */
  async #keep(report: AttemptReport, final: FinalMessage): Promise<void> {
    const { results, onEvent } = this.#options;
    await results.save({ final, output: report.output() }).catch((error: unknown) => {
      onEvent({
        type: 'problem',
        message: `A result could not be kept on disk: ${error instanceof Error ? error.message : String(error)}`,
      });
    });
    report.end(final);
  }

  async #shrink(report: AttemptReport, final: FinalMessage): Promise<void> {
    const message = `The end of task ${final.taskId} has ${messageBytes(final)} bytes, more than the hub takes; a shorter one stands for it`;
    this.#options.onEvent({ type: 'problem', message });
    await this.#keep(report, shrunk(final, this.#maxMessageBytes));
  }

  #cancel({ taskId, token, reason }: HubMessage<'task.cancel'>, send: Send): void {
    const key = attemptKey({ taskId, token });
    this.#running.get(key)?.stop({ kind: 'cancelled', reason });
    this.#repeatEnd(key);
    // The hub asks until it learns of an end.
    if (!this.#reports.has(key)) {
      send({
        type: 'task.failed',
        taskId,
        token,
        error: { code: 'CANCELLED', message: 'The attempt does not run here', retryable: false },
      });
    }
  }

  #repeatEnd(key: string): void {
    this.#reports.get(key)?.repeatEnd();
    this.#options.onChange();
  }

  async #acknowledge({ taskId, token, outcome }: HubMessage<'task.acknowledged'>): Promise<void> {
    const key = attemptKey({ taskId, token });
    if (!this.#reports.has(key) || this.#running.has(key)) return;
    this.#reports.delete(key);
    this.#options.onEvent({ type: 'acknowledged', taskId, outcome });
    await this.#forget({ taskId, token });
    this.#options.onChange();
  }

  async #forget(name: AttemptName): Promise<void> {
    const { results, onEvent } = this.#options;
    await results.remove(name).catch((error: unknown) => {
      onEvent({ type: 'problem', message: `A result could not be removed: ${error instanceof Error ? error.message : String(error)}` });
    });
  }
}
