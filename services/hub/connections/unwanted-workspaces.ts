import { type DaemonAddress, type DaemonMessage, findUnwanted, type HubMessageToSend, type WorkspaceOwner } from '#shared/daemons/index.ts';
import type { Log } from '#shared/log/index.ts';

type Kept = DaemonMessage<'workspaces.kept'>['kept'][number];

interface UnwantedWorkspacesOptions {
  ports: Parameters<typeof findUnwanted>[0];
  daemon: DaemonAddress;
  send: (message: HubMessageToSend) => void;
  log: Log;
}

/** UnwantedWorkspaces is responsible for saying to a daemon which of the working folders that it keeps it is to remove: one question at a time. */
export class UnwantedWorkspaces {
  readonly #options: UnwantedWorkspacesOptions;
  #isAnswering = false;

  constructor(options: UnwantedWorkspacesOptions) {
    this.#options = options;
  }

  /** Never rejects. Without an answer the daemon keeps all, and asks again later. */
  async answer({ kept }: DaemonMessage<'workspaces.kept'>): Promise<void> {
    if (this.#isAnswering) return;
    this.#isAnswering = true;
    const { ports, daemon, send, log } = this.#options;
    try {
      const { tenant, id } = daemon;
      const named = kept.map((each) => ({ each, of: ownerOf(each), agent: each.agent }));
      const unwanted = await findUnwanted(ports, { tenant, daemon: id }, named);
      send({ type: 'workspaces.remove', remove: unwanted.map(({ each }) => each) });
    } catch (error) {
      log.debug({ err: error }, 'the working folders of a daemon could not be looked up');
    } finally {
      this.#isAnswering = false;
    }
  }
}

function ownerOf({ session, taskId }: Kept): WorkspaceOwner {
  return session === null || session === undefined ? `task/${taskId}` : `session/${session}`;
}
