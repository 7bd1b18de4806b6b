import { randomUUID } from 'node:crypto';
import type { WebSocket } from 'ws';
import {
  CLOSE_CODES,
  type Daemon,
  type DaemonMessage,
  type LocalDaemon,
  type LocalDaemons,
  PROTOCOL,
  removeDaemonState,
  writeDaemonStates,
} from '#shared/daemons/index.ts';
import { HubDaemon, type HubExecutor } from '../runs/hub-daemon.ts';
import { AwaitedHellos } from './awaited-hellos.ts';
import { ConnectionWatch, type ConnectionWatchOptions } from './connection-watch.ts';
import { DaemonConnection } from './daemon-connection.ts';
import { DaemonSocket, REASONS } from './daemon-socket.ts';

export interface ConnectedDaemonsOptions extends Omit<ConnectionWatchOptions, 'sockets' | 'daemons'> {
  executor: HubExecutor;
  /** Notifies the daemon's tenant: it connected after it was offline, or its connection ended. */
  notify: (event: 'daemon.connected' | 'daemon.disconnected', daemon: Daemon) => void;
}

/** Messages that a daemon may send before it has its welcome. */
const MAX_EARLY = 1000;
/**
 * ConnectedDaemons is responsible for the daemons whose connections this hub holds, from their hello to the end of the connection.
 */
export class ConnectedDaemons implements LocalDaemons {
  readonly #options: ConnectedDaemonsOptions;
  /** By `<tenant>/<id>`; also those that run attempts of this hub and are away. */
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
    for (const daemon of this.#daemons.values()) daemon.handOver();
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
    const daemon = this.#daemons.get(`${tenant}/${id}`);
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
    const name = `${registered.tenant}/${registered.id}`;
    let connection: DaemonConnection | undefined;
    const early: DaemonMessage[] = [];
    const onMessage = (message: DaemonMessage): void => {
      if (connection) this.#receive(connection, message, early);
      else if (message.type === 'daemon.hello') {
        this.#awaited.remove(name, socket);
        connection = this.#greet(socket, registered, message, early);
      } else socket.send({ type: 'error', code: 'message.no-hello', message: 'The first message of a connection is daemon.hello' });
    };
    const socket = new DaemonSocket(webSocket, {
      settings,
      onMessage,
      onClose: () => {
        this.#awaited.remove(name, socket);
        this.#sockets.delete(socket);
        if (connection) this.#disconnect(connection);
      },
      clock,
      log,
    });
    this.#sockets.add(socket);
    this.#awaited.add(name, socket);
  }

  #isThere({ connection }: HubDaemon): boolean {
    return !this.#isClosed && connection?.isReady === true;
  }

  /** Undefined for a daemon of another protocol, which is refused. */
  #greet(socket: DaemonSocket, daemon: Daemon, hello: DaemonMessage<'daemon.hello'>, early: DaemonMessage[]): DaemonConnection | undefined {
    const { hub, settings, log } = this.#options;
    if (hello.protocol !== PROTOCOL) {
      socket.send({ type: 'error', code: 'message.unknown-protocol', message: `This hub speaks protocol ${PROTOCOL}` });
      socket.close(CLOSE_CODES.policy, 'unknown protocol');
      return undefined;
    }
    const connection = new DaemonConnection({ id: randomUUID(), hub, socket, daemon, hello, settings });
    this.#welcome(connection, early).catch((error: unknown) => {
      log.warn({ event: 'daemon.not-welcomed', daemon: daemon.id, err: error }, 'a daemon could not be connected; it connects again');
      socket.close(CLOSE_CODES.restart, 'try again');
    });
    return connection;
  }

  /** Makes this connection the daemon's own, takes over what it runs, and hands it its messages since. */
  async #welcome(connection: DaemonConnection, early: DaemonMessage[]): Promise<void> {
    const { settings, log } = this.#options;
    const { daemon: registered, hello } = connection;
    const daemon = this.#daemonOf(registered);
    daemon.connect(connection)?.socket.close(CLOSE_CODES.takenOver, REASONS[CLOSE_CODES.takenOver]);
    const [outcome] = await writeDaemonStates(this.#options, [{ ...registered, state: daemon.state, isFirst: true }]);
    if (outcome !== undefined && this.#watch.endByOutcome(connection, outcome)) return;
    if (outcome === 'connected') this.#options.notify('daemon.connected', registered);
    const { keep, drop, resume } = await daemon.reattach(hello);
    if (daemon.connection !== connection) return;
    connection.welcome({ type: 'hub.welcome', daemonId: registered.id, heartbeatMs: settings.heartbeatMs, keep, drop, resume });
    log.info(
      {
        event: 'daemon.connected',
        daemon: registered.id,
        tenant: registered.tenant,
        name: registered.name,
        kept: keep.length,
        dropped: drop.length,
      },
      'a daemon is connected',
    );
    for (const message of early.splice(0)) this.#receive(connection, message, early);
    daemon.resumeAll(hello);
  }

  #daemonOf({ tenant, id }: Pick<Daemon, 'tenant' | 'id'>): HubDaemon {
    const name = `${tenant}/${id}`;
    const known = this.#daemons.get(name);
    if (known) return known;
    const { executor, settings } = this.#options;
    const onRoom = (daemon: HubDaemon): void => {
      this.#watch.noteChange(daemon);
      if (this.#isThere(daemon)) for (const listener of this.#listeners) listener(daemon);
      if (daemon.isIdle) this.#daemons.delete(name);
    };
    const daemon = new HubDaemon({ tenant, id, executor, settings, onChange: onRoom, onTaken: (each) => this.#watch.noteChange(each) });
    this.#daemons.set(name, daemon);
    return daemon;
  }

  #receive(connection: DaemonConnection, message: DaemonMessage, early: DaemonMessage[]): void {
    if (!connection.isReady) {
      if (early.length >= MAX_EARLY) connection.socket.close(CLOSE_CODES.policy, 'too many messages before the welcome');
      else early.push(message);
      return;
    }
    if (message.type === 'daemon.hello') {
      connection.socket.send({ type: 'error', code: 'message.second-hello', message: 'A connection has one daemon.hello' });
    } else if (message.type === 'daemon.heartbeat') {
      const wasDraining = connection.isDraining;
      connection.beat(message);
      const { tenant, id } = connection.daemon;
      if (connection.isDraining !== wasDraining) this.#watch.noteChange(this.#daemons.get(`${tenant}/${id}`));
    } else {
      const { tenant, id } = connection.daemon;
      this.#daemons.get(`${tenant}/${id}`)?.receive(message);
    }
  }

  #disconnect(connection: DaemonConnection): void {
    const { log } = this.#options;
    const { tenant, id, name } = connection.daemon;
    const daemon = this.#daemons.get(`${tenant}/${id}`);
    if (daemon?.disconnect(connection) !== true) return;
    log.info({ event: 'daemon.disconnected', daemon: id, tenant, name }, 'a daemon is not connected any more');
    const { daemon: registered } = connection;
    this.#forget(connection.id, registered).catch((error: unknown) =>
      log.debug({ err: error }, 'a daemon counts as connected until its beats are missed'),
    );
    if (daemon.isIdle) this.#daemons.delete(`${tenant}/${id}`);
  }

  async #forget(connection: string, daemon: Daemon): Promise<void> {
    const { tenant, id } = daemon;
    if (await removeDaemonState(this.#options, { tenant, id, connection })) this.#options.notify('daemon.disconnected', daemon);
  }
}
