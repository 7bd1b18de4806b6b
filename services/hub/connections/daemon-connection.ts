import type { HubSettings } from '#shared/config/index.ts';
import type { Daemon, DaemonMessage, DaemonState, HubMessageToSend } from '#shared/daemons/index.ts';
import { type DaemonLimits, limitsOf } from './daemon-limits.ts';
import type { DaemonSocket } from './daemon-socket.ts';

interface DaemonConnectionOptions {
  /** Unique among all connections. */
  id: string;
  hub: string;
  socket: DaemonSocket;
  daemon: Daemon;
  hello: DaemonMessage<'daemon.hello'>;
  settings: HubSettings;
}

/** DaemonConnection is responsible for what is known of a daemon by one connection: who it is, what it may do, how busy it says it is. */
export class DaemonConnection {
  readonly id: string;
  readonly socket: DaemonSocket;
  readonly hello: DaemonMessage<'daemon.hello'>;
  readonly #options: DaemonConnectionOptions;
  readonly connectedAt = Date.now();
  #daemon: Daemon;
  #limits: DaemonLimits;
  #isReady = false;
  #changes = 0;
  #beat: Pick<DaemonMessage<'daemon.heartbeat'>, 'load' | 'memoryMb' | 'isDraining'> | null = null;

  constructor(options: DaemonConnectionOptions) {
    const { id, socket, daemon, hello, settings } = options;
    this.id = id;
    this.socket = socket;
    this.hello = hello;
    this.#options = options;
    this.#daemon = daemon;
    this.#limits = limitsOf(daemon, hello, settings);
  }

  get daemon(): Daemon {
    return this.#daemon;
  }

  get limits(): DaemonLimits {
    return this.#limits;
  }

  /** Counts what changes its part of the daemon's state. */
  get changes(): number {
    return this.#changes;
  }

  /** Whether the daemon has its welcome, and may get tasks. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** The registration was changed. */
  narrow(daemon: Daemon): void {
    this.#daemon = daemon;
    this.#limits = limitsOf(daemon, this.hello, this.#options.settings);
    this.#changes += 1;
  }

  /** Whether it has sent a heartbeat. */
  get hasBeat(): boolean {
    return this.#beat !== null;
  }

  /** Whether it takes nothing more, as it said last. */
  get isDraining(): boolean {
    return this.#beat?.isDraining ?? false;
  }

  beat(message: DaemonMessage<'daemon.heartbeat'>): void {
    this.#beat = message;
    this.#changes += 1;
  }

  welcome(message: Extract<HubMessageToSend, { type: 'hub.welcome' }>): void {
    this.#isReady = true;
    this.socket.send(message);
  }

  /** Sends a message to a daemon that has its welcome; it gets all others again later. */
  send(message: HubMessageToSend): void {
    if (this.#isReady) this.socket.send(message);
  }

  stateWith(running: Pick<DaemonState, 'running' | 'cpuIntensive' | 'tasks'>): DaemonState {
    const { id: connection, hub, settings } = this.#options;
    const { load, memoryMb = null, isDraining } = this.#beat ?? { load: 0, isDraining: false };
    const { version = null, host = null } = this.hello;
    return {
      connection,
      hub,
      isDraining,
      user: this.#daemon.user,
      name: this.#daemon.name,
      isWorker: false,
      ...this.#limits,
      ...running,
      load,
      memoryMb,
      hasBeat: this.hasBeat,
      version,
      host,
      connectedAt: this.connectedAt,
      beatAt: Date.now(),
      validMs: settings.heartbeatMs * (settings.missedHeartbeats + 1),
    };
  }
}
