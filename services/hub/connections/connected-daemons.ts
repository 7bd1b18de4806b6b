import type { WebSocket } from 'ws';
import {
  CLOSE_CODES,
  type Daemon,
  type DaemonAddress,
  type LocalDaemon,
  type LocalDaemons,
  removeDaemonState,
} from '#shared/daemons/index.ts';
import { HubDaemon, type HubDaemonOptions } from '../runs/hub-daemon.ts';
import { AwaitedHellos } from './awaited-hellos.ts';
import { ConnectionProtocol, type ConnectionProtocolOptions } from './connection-protocol.ts';
import { ConnectionWatch, type ConnectionWatchOptions } from './connection-watch.ts';
import type { DaemonConnection } from './daemon-connection.ts';
import { DaemonSocket, REASONS } from './daemon-socket.ts';

export interface ConnectedDaemonsOptions
  extends Omit<ConnectionWatchOptions, 'sockets' | 'daemons'>, Pick<HubDaemonOptions, 'executor' | 'onAdopted'> {
  notify: ConnectionProtocolOptions['notify'];
}

/** ConnectedDaemons is responsible for the daemons whose connections this hub holds, until the connections end. */
export class ConnectedDaemons implements LocalDaemons {
  readonly #options: ConnectedDaemonsOptions;
  /** By `<tenant>/<id>`; also daemons that run attempts of this hub and are away. */
  readonly #daemons = new Map<string, HubDaemon>();
  readonly #sockets = new Set<DaemonSocket>();
  readonly #awaited: AwaitedHellos;
  readonly #listeners: ((daemon: LocalDaemon) => void)[] = [];
  readonly #watch: ConnectionWatch;
  #isClosed = false;

  constructor(options: ConnectedDaemonsOptions) {
    this.#options = options;
    this.#awaited = new AwaitedHellos(options.settings);
    this.#watch = new ConnectionWatch({ ...options, sockets: this.#sockets, daemons: this.#daemons });
  }

  start(): void {
    this.#watch.start();
  }

  /** Ends every connection with the code for a restart; the daemons connect to another hub, which goes on with their attempts. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const daemon of this.#daemons.values()) daemon.attempts.handOver();
    for (const socket of this.#sockets) socket.close(CLOSE_CODES.restart, REASONS[CLOSE_CODES.restart]);
    await this.#watch.stop();
  }

  /** Why it receives nothing, in words; else null. */
  get problem(): string | null {
    return this.#watch.problem;
  }

  /** Connections that are open, also before their hello. */
  get held(): number {
    return this.#sockets.size;
  }

  find(tenant: string, id: string): LocalDaemon | undefined {
    const daemon = this.#daemons.get(nameOf({ tenant, id }));
    return daemon && this.#isThere(daemon) ? daemon : undefined;
  }

  all(): Iterable<LocalDaemon> {
    return [...this.#daemons.values()].filter((daemon) => this.#isThere(daemon));
  }

  onRoom(listener: (daemon: LocalDaemon) => void): void {
    this.#listeners.push(listener);
  }

  /** Takes a connection whose token was checked. Its first message is a hello. */
  add(webSocket: WebSocket, registered: Daemon): void {
    const { settings, clock, log } = this.#options;
    const name = nameOf(registered);
    const socket = new DaemonSocket(webSocket, {
      settings,
      onMessage: (message) => protocol.receive(message),
      onClose: () => {
        this.#awaited.remove(name, socket);
        this.#sockets.delete(socket);
        if (protocol.connection) this.#disconnect(protocol.connection);
      },
      clock,
      log,
    });
    const protocol = new ConnectionProtocol(socket, registered, {
      ...this.#options,
      daemons: this.#daemons,
      watch: this.#watch,
      daemonOf: (daemon) => this.#daemonOf(daemon),
      onHello: () => this.#awaited.remove(name, socket),
    });
    this.#sockets.add(socket);
    this.#awaited.add(name, socket);
  }

  #isThere({ connection }: HubDaemon): boolean {
    return !this.#isClosed && connection?.isReady === true;
  }

  #daemonOf({ tenant, id }: DaemonAddress): HubDaemon {
    const name = nameOf({ tenant, id });
    const known = this.#daemons.get(name);
    if (known) return known;
    const { executor, settings, onAdopted } = this.#options;
    const onChange = (daemon: HubDaemon): void => {
      this.#watch.noteChange(daemon);
      if (this.#isThere(daemon)) for (const listener of this.#listeners) listener(daemon);
      if (daemon.isIdle) this.#daemons.delete(name);
    };
    const onTaken = (daemon: HubDaemon): void => this.#watch.noteChange(daemon);
    const daemon = new HubDaemon({ tenant, id, executor, settings, onAdopted, onChange, onTaken });
    this.#daemons.set(name, daemon);
    return daemon;
  }

  #disconnect(connection: DaemonConnection): void {
    const { log } = this.#options;
    const { daemon: registered } = connection;
    const { tenant, id, name } = registered;
    const daemon = this.#daemons.get(nameOf(registered));
    if (daemon?.disconnect(connection) !== true) return;
    const affectedTasks = daemon.attempts.tasks;
    log.warn({ event: 'daemon.disconnected', daemon: id, tenant, name, affectedTasks }, 'a daemon is not connected any more');
    this.#forget(connection.id, registered).catch((error: unknown) =>
      log.debug({ err: error }, 'a daemon counts as connected until its beats are missed'),
    );
    if (daemon.isIdle) this.#daemons.delete(nameOf(registered));
  }

  async #forget(connection: string, daemon: Daemon): Promise<void> {
    const { tenant, id } = daemon;
    if (await removeDaemonState(this.#options, { tenant, id, connection })) this.#options.notify('daemon.disconnected', daemon);
  }
}

function nameOf({ tenant, id }: DaemonAddress): string {
  return `${tenant}/${id}`;
}
