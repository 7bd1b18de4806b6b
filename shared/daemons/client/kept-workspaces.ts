import { type DaemonMessageToSend, type HubMessage, MAX_WORKSPACES } from '../protocol.ts';

/** A working folder on this machine that the next run of an agent goes on in: of a session, or of a task without one. */
export interface KeptWorkspace {
  readonly agent: string;
  /** Null for that of a task without one. */
  readonly session: string | null;
  /** The task that ran in it last. */
  readonly taskId: string;
}

/** The working folders that a daemon keeps. */
export interface WorkspaceShelf {
  /** All that there are now. Called when it has connected, and every minute then: what is kept for too long can be removed here. */
  readonly list: () => Promise<readonly KeptWorkspace[]>;
  /** The hub says so: its time is over, or its session or task was removed. */
  readonly remove: (workspace: KeptWorkspace) => Promise<void>;
}

interface KeptWorkspacesOptions {
  readonly shelf: WorkspaceShelf;
  readonly onProblem: (error: unknown) => void;
}

const ASK_MS = 60_000;

/** KeptWorkspaces is responsible for removing the working folders that the fleet does not want any more: it asks each hub, some at a time. */
export class KeptWorkspaces {
  readonly #options: KeptWorkspacesOptions;
  #send: ((message: DaemonMessageToSend) => void) | null = null;
  #timer: NodeJS.Timeout | undefined;
  /** Those that the hub was not asked about in this round. */
  #left: KeptWorkspace[] = [];

  constructor(options: KeptWorkspacesOptions) {
    this.#options = options;
  }

  /** The daemon is connected. */
  attach(send: (message: DaemonMessageToSend) => void): void {
    this.#send = send;
    const ask = (): void => void this.#begin().catch(this.#options.onProblem);
    this.#timer = setInterval(ask, ASK_MS);
    ask();
  }

  detach(): void {
    this.#send = null;
    this.#left = [];
    clearInterval(this.#timer);
  }

  async receive({ remove }: HubMessage<'workspaces.remove'>): Promise<void> {
    this.#askNext();
    for (const { agent, session = null, taskId } of remove) {
      await this.#options.shelf.remove({ agent, session, taskId }).catch(this.#options.onProblem);
    }
  }

  async #begin(): Promise<void> {
    this.#left = [...(await this.#options.shelf.list())];
    this.#askNext();
  }

  #askNext(): void {
    const kept = this.#left.splice(0, MAX_WORKSPACES);
    if (kept.length > 0) this.#send?.({ type: 'workspaces.kept', kept });
  }
}
