import type { AgentLog } from '../../config/index.ts';
import { type Log, traceIdOf } from '../../log/index.ts';
import { type TaskBody, type TaskState } from '../../tasks/index.ts';

/**
 * AttemptLog is responsible for the log of one attempt, with its task, tenant and trace in every line, and
 * its daemon where one runs it. The child logger is made for the
 * first line that is written: where the level is off, it would cost an attempt more than its claim.
 */
export class AttemptLog implements AgentLog {
  readonly #parent: Log;
  readonly #body: TaskBody;
  readonly #number: number;
  readonly #daemon: string | undefined;
  #own: Log | undefined;

  constructor(parent: Log, body: TaskBody, { attempt, daemon }: Pick<TaskState, 'attempt' | 'daemon'>) {
    this.#parent = parent;
    this.#body = body;
    this.#number = attempt;
    this.#daemon = daemon;
  }

  debug(fields: object | string, message?: string): void {
    this.#write('debug', fields, message);
  }

  info(fields: object | string, message?: string): void {
    this.#write('info', fields, message);
  }

  warn(fields: object | string, message?: string): void {
    this.#write('warn', fields, message);
  }

  error(fields: object | string, message?: string): void {
    this.#write('error', fields, message);
  }

  #write(level: keyof AgentLog, fields: object | string, message?: string): void {
    if (!this.#parent.isLevelEnabled(level)) return;
    const { id, tenant, agent, scheduleId, traceparent } = this.#body;
    const run = {
      ...(scheduleId === null ? {} : { schedule: scheduleId }),
      ...(this.#daemon === undefined ? {} : { daemon: this.#daemon }),
    };
    this.#own ??= this.#parent.child({ task: id, tenant, attempt: this.#number, agent, ...run, trace: traceIdOf(traceparent) });
    this.#own[level](fields, message);
  }
}
