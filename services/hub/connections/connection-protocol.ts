import { randomUUID } from 'node:crypto';
import { CLOSE_CODES, type Daemon, type DaemonMessage, PROTOCOL, writeDaemonStates } from '#shared/daemons/index.ts';
import type { HubDaemon } from '../runs/hub-daemon.ts';
import type { ConnectionWatch, ConnectionWatchOptions } from './connection-watch.ts';
import { DaemonConnection } from './daemon-connection.ts';
import { type DaemonSocket, REASONS } from './daemon-socket.ts';
import { UnwantedWorkspaces } from './unwanted-workspaces.ts';

export interface ConnectionProtocolOptions extends Pick<ConnectionWatchOptions, 'redis' | 'keys' | 'hub' | 'settings' | 'daemons' | 'log'> {
  /** Notifies the daemon's tenant: it connected after it was offline, or its connection ended. */
  notify: (event: 'daemon.connected' | 'daemon.disconnected', daemon: Daemon) => void;
  watch: Pick<ConnectionWatch, 'noteChange' | 'endByOutcome'>;
  /** The daemon at this hub, which is made when it is not known yet. */
  daemonOf: (registered: Daemon) => HubDaemon;
  /** A hello came. */
  onHello: () => void;
}

/** Messages that a daemon may send before it has its welcome. */
const MAX_EARLY = 1000;

/** ConnectionProtocol is responsible for the order of messages on one connection: hello, welcome, then heartbeats and reports. */
export class ConnectionProtocol {
  readonly #socket: DaemonSocket;
  readonly #registered: Daemon;
  readonly #options: ConnectionProtocolOptions;
  /** Messages that came before the welcome. */
  readonly #early: DaemonMessage[] = [];
  readonly #unwanted: UnwantedWorkspaces;
  #connection: DaemonConnection | undefined;

  constructor(socket: DaemonSocket, registered: Daemon, options: ConnectionProtocolOptions) {
    this.#socket = socket;
    this.#registered = registered;
    this.#options = options;
    this.#unwanted = new UnwantedWorkspaces({
      ports: options,
      daemon: registered,
      send: (message) => socket.send(message),
      log: options.log,
    });
  }

  /** Undefined before the hello, and for a daemon that was refused. */
  get connection(): DaemonConnection | undefined {
    return this.#connection;
  }

  receive(message: DaemonMessage): void {
    if (this.#connection) this.#receiveFrom(this.#connection, message);
    else if (message.type === 'daemon.hello') {
      this.#options.onHello();
      this.#connection = this.#greet(message);
    } else this.#socket.send({ type: 'error', code: 'message.no-hello', message: 'The first message of a connection is daemon.hello' });
  }

  /** Undefined for a daemon of another protocol, which is refused. */
  #greet(hello: DaemonMessage<'daemon.hello'>): DaemonConnection | undefined {
    const { hub, settings, log } = this.#options;
    const [socket, daemon] = [this.#socket, this.#registered];
    if (hello.protocol !== PROTOCOL) {
      socket.send({ type: 'error', code: 'message.unknown-protocol', message: `This hub speaks protocol ${PROTOCOL}` });
      socket.close(CLOSE_CODES.policy, 'unknown protocol');
      return undefined;
    }
    const connection = new DaemonConnection({ id: randomUUID(), hub, socket, daemon, hello, settings });
    this.#welcome(connection).catch((error: unknown) => {
      log.warn({ event: 'daemon.not-welcomed', daemon: daemon.id, err: error }, 'a daemon could not be connected; it connects again');
      socket.close(CLOSE_CODES.restart, 'try again');
    });
    return connection;
  }

  /** Makes this connection the daemon's own, takes over what it runs, and hands it its messages since. */
  async #welcome(connection: DaemonConnection): Promise<void> {
    const { settings, watch, daemonOf, notify, log } = this.#options;
    const { daemon: registered, hello } = connection;
    const { id, tenant, name } = registered;
    const daemon = daemonOf(registered);
    daemon.connect(connection)?.socket.close(CLOSE_CODES.takenOver, REASONS[CLOSE_CODES.takenOver]);
    const [outcome] = await writeDaemonStates(this.#options, [{ ...registered, state: daemon.state, isFirst: true }]);
    if (outcome !== undefined && watch.endByOutcome(connection, outcome)) return;
    if (outcome === 'connected') notify('daemon.connected', registered);
    const { heartbeatMs, maxMessageBytes } = settings;
    const { keep, drop, resume } = await daemon.attempts.reattach(hello);
    if (daemon.connection !== connection) return;
    connection.welcome({ type: 'hub.welcome', daemonId: id, heartbeatMs, maxMessageBytes, keep, drop, resume });
    const { capabilities } = hello;
    const fields = { daemon: id, tenant, name, capabilities, kept: keep.length, dropped: drop.length };
    log.info({ event: 'daemon.connected', ...fields }, 'a daemon is connected');
    for (const message of this.#early.splice(0)) this.#receiveFrom(connection, message);
    daemon.resume(hello);
  }

  #receiveFrom(connection: DaemonConnection, message: DaemonMessage): void {
    if (!connection.isReady) {
      if (this.#early.length >= MAX_EARLY) this.#socket.close(CLOSE_CODES.policy, 'too many messages before the welcome');
      else this.#early.push(message);
      return;
    }
    const { tenant, id } = connection.daemon;
    const daemon = this.#options.daemons.get(`${tenant}/${id}`);
    if (message.type === 'daemon.hello') {
      this.#socket.send({ type: 'error', code: 'message.second-hello', message: 'A connection has one daemon.hello' });
    } else if (message.type === 'daemon.heartbeat') {
      const { hasBeat, isDraining } = connection;
      connection.beat(message);
      if (!hasBeat) daemon?.noteFirstBeat();
      else if (connection.isDraining !== isDraining) this.#options.watch.noteChange(daemon);
    } else if (message.type === 'workspaces.kept') {
      void this.#unwanted.answer(message);
    } else daemon?.attempts.receive(message);
  }
}
