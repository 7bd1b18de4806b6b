import type { AttemptReport } from './attempts/attempt-report.ts';
import type { HubConnection } from './hub-connection.ts';

/** What is written within such a time goes out together. */
const PAUSE_MS = 25;

/** Outbox is responsible for sending what attempts report, in turn, as fast as the connection takes it. */
export class Outbox {
  readonly #reports: () => Iterable<AttemptReport>;
  #connection: HubConnection | null = null;
  #pause: NodeJS.Timeout | undefined;
  #isDirty = false;

  constructor(reports: () => Iterable<AttemptReport>) {
    this.#reports = reports;
  }

  attach(connection: HubConnection): void {
    this.#connection = connection;
    this.flush();
  }

  detach(): void {
    this.#connection = null;
    clearTimeout(this.#pause);
    this.#pause = undefined;
  }

  /** Sends what there is: at once after a pause, else at the end of the next. */
  flush(): void {
    this.#isDirty = true;
    if (this.#connection === null || this.#pause !== undefined) return;
    this.#pause = setTimeout(() => {
      this.#pause = undefined;
      if (this.#isDirty) this.flush();
    }, PAUSE_MS);
    this.#send(this.#connection);
  }

  #send(connection: HubConnection): void {
    this.#isDirty = false;
    for (let sent = true; sent;) {
      sent = false;
      for (const report of this.#reports()) {
        if (!connection.hasRoom) {
          this.#isDirty = true;
          return;
        }
        const message = report.next();
        if (message !== null) connection.send(message);
        sent ||= message !== null;
      }
    }
  }
}
