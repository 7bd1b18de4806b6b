import { attemptKey, type AttemptName } from '../attempt-name.ts';
import type { DaemonMessageToSend, HubMessage } from '../protocol.ts';
import type { StopReason } from './attempt-failure.ts';
import { AttemptReport } from './attempt-report.ts';
import { AttemptRun } from './attempt-run.ts';
import type { AttemptOutcome, DaemonEvent } from './daemon-event.ts';
import type { DaemonHandler } from './daemon-task.ts';
import type { FinalMessage } from './final-message.ts';
import type { FinishedResults } from './finished-results.ts';

export interface AttemptsOptions {
  readonly handler: DaemonHandler;
  readonly results: FinishedResults;
  /** Characters of output that are kept for each attempt while it runs. */
  readonly maxOutput: number;
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

  constructor(options: AttemptsOptions) {
    this.#options = options;
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
      this.#reports.set(attemptKey(each.final), new AttemptReport(each.final, this.#options.maxOutput, each));
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
  async welcome({ drop, resume }: HubMessage<'hub.welcome'>): Promise<void> {
    const lastSeqs = new Map(resume.map((each) => [attemptKey(each), each.seq]));
    for (const [key, report] of this.#reports) {
      if (drop.includes(report.name.taskId)) await this.#drop(key, report.name);
      else report.resume(lastSeqs.get(key) ?? 0);
    }
  }

  async handle(message: HubMessage, send: Send): Promise<void> {
    switch (message.type) {
      case 'task.execute':
        return this.#accept(message, send);
      case 'task.cancel':
        return this.#cancel(message, send);
      case 'task.input':
        return this.#running.get(attemptKey(message))?.addInput(message);
      case 'task.acknowledged':
        return this.#acknowledge(message);
      case 'error':
        return this.#options.onEvent({ type: 'problem', message: `The hub refused a message: ${message.message} [${message.code}]` });
      case 'hub.welcome':
    }
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
    const { handler, maxOutput, maxMessageBytes, onChange, onEvent } = this.#options;
    const { taskId, agent, attempt } = execute;
    const report = new AttemptReport(execute, maxOutput);
    const run = new AttemptRun(execute, { handler, report, onChange, maxMessageBytes });
    this.#reports.set(key, report);
    this.#running.set(key, run);
    const startedAt = performance.now();
    onEvent({ type: 'started', taskId, agent, attempt });
    const final = await run.run();
    const outcome = outcomeOf(final, run.stopReason);
    if (outcome === 'dropped') this.#reports.delete(key);
    else await this.#keep(report, final);
    this.#running.delete(key);
    onEvent({ type: 'ended', taskId, outcome, ms: performance.now() - startedAt, ...messageOf(final) });
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

  async #drop(key: string, name: AttemptName): Promise<void> {
    const run = this.#running.get(key);
    // One that runs leaves when its handler has ended.
    if (run !== undefined) return run.stop({ kind: 'dropped' });
    this.#reports.delete(key);
    await this.#forget(name);
  }

  async #forget(name: AttemptName): Promise<void> {
    const { results, onEvent } = this.#options;
    await results.remove(name).catch((error: unknown) => {
      onEvent({ type: 'problem', message: `A result could not be removed: ${error instanceof Error ? error.message : String(error)}` });
    });
  }
}

function outcomeOf({ type }: FinalMessage, stop: StopReason | null): AttemptOutcome {
  if (stop?.kind === 'dropped') return 'dropped';
  if (stop?.kind === 'cancelled' || stop?.kind === 'stopped') return 'stopped';
  return type === 'task.completed' ? 'completed' : 'failed';
}

function messageOf(final: FinalMessage): { message?: string } {
  return final.type === 'task.failed' ? { message: `${final.error.message ?? ''} [${final.error.code}]` } : {};
}
