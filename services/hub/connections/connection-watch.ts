import type { HubSettings } from '#shared/config/index.ts';
import {
  type BeatOutcome,
  CLOSE_CODES,
  type Daemon,
  type DaemonSignal,
  isAccessGone,
  parseDaemonSignal,
  readDaemons,
  writeDaemonStates,
} from '#shared/daemons/index.ts';
import type { Log } from '#shared/log/index.ts';
import type { Keys, RedisClient, Subscription } from '#shared/redis/index.ts';
import { type Clock, Ticker } from '#shared/time/index.ts';
import type { HubDaemon } from '../runs/hub-daemon.ts';
import type { DaemonConnection } from './daemon-connection.ts';
import { type DaemonSocket, REASONS } from './daemon-socket.ts';

export interface ConnectionWatchOptions {
  redis: RedisClient;
  keys: Keys;
  /** The hub's name. */
  hub: string;
  settings: HubSettings;
  subscribe: (name: string, channels: readonly string[], onMessage: (message: string) => void) => Subscription;
  sockets: ReadonlySet<DaemonSocket>;
  /** Daemons with a connection here, or with attempts, by `<tenant>/<id>`. */
  daemons: ReadonlyMap<string, HubDaemon>;
  clock: Pick<Clock, 'monotonic'>;
  log: Log;
}

interface ReadyConnection {
  daemon: HubDaemon;
  connection: DaemonConnection;
  state: HubDaemon['state'];
}

/** Changes within this time are written together, ms. */
const CHANGE_MS = 50;
/** Beats between two readings of all registrations, for lost messages. */
const BEATS_PER_CHECK = 6;
/** How often attempts are searched for those that another hub adopted, after their daemon went there, and how long apart, ms. */
const ADOPTED_CHECKS = 5;
const ADOPTED_MS = 1000;

/**
 * ConnectionWatch is responsible for what happens to connections from outside: it tells the fleet of them at each beat, and ends those that
 * are silent, whose token is gone, or whose daemon is connected to another hub.
 */
export class ConnectionWatch {
  readonly #options: ConnectionWatchOptions;
  readonly #beats: Ticker;
  #subscription: Subscription | undefined;
  #beatCount = 0;
  /** Daemons whose state changed since it was written. */
  readonly #changed = new Set<HubDaemon>();
  #writing: NodeJS.Timeout | undefined;

  constructor(options: ConnectionWatchOptions) {
    this.#options = options;
    this.#beats = new Ticker({
      everyMs: options.settings.heartbeatMs,
      run: () => this.#beat(),
      onError: (error) => options.log.debug({ err: error }, 'the beats of daemons could not be written'),
    });
  }

  start(): void {
    const { subscribe, keys } = this.#options;
    this.#subscription = subscribe('hub-daemons', [keys.fleet.daemonSignal], (text) => {
      const signal = parseDaemonSignal(text);
      if (signal) this.#follow(signal);
    });
    this.#subscription.start();
    this.#beats.start();
  }

  /** Writes the daemon's state soon: other hubs and people see what it runs, and not only at its next beat. */
  noteChange(daemon: HubDaemon | undefined): void {
    if (!daemon) return;
    this.#changed.add(daemon);
    this.#writing ??= setTimeout(() => {
      this.#writing = undefined;
      const changed = new Set(this.#changed);
      this.#changed.clear();
      this.#write(this.#connections(changed)).catch((error: unknown) =>
        this.#options.log.debug({ err: error }, 'the next beat has the change'),
      );
    }, CHANGE_MS);
  }

  async stop(): Promise<void> {
    clearTimeout(this.#writing);
    await this.#beats.stop();
    this.#subscription?.close();
  }

  /** Why it receives nothing, in words; else null. */
  get problem(): string | null {
    return this.#subscription?.problem ?? null;
  }

  /** Closes a connection that is the daemon's no more. Returns whether it did. */
  endByOutcome(connection: DaemonConnection, outcome: BeatOutcome): boolean {
    if (outcome === 'unknown') connection.socket.close(CLOSE_CODES.tokenGone, REASONS[CLOSE_CODES.tokenGone]);
    if (outcome === 'taken-over') this.#giveUp(connection);
    return outcome === 'unknown' || outcome === 'taken-over';
  }

  /** One write for all daemons. Daemons that sent nothing for too long are closed. */
  async #beat(): Promise<void> {
    const { settings, sockets, clock, daemons } = this.#options;
    const silentMs = settings.heartbeatMs * settings.missedHeartbeats;
    for (const socket of sockets) {
      if (clock.monotonic() - socket.heardAt > silentMs) socket.close(CLOSE_CODES.noHeartbeat, REASONS[CLOSE_CODES.noHeartbeat]);
      else socket.ping();
    }
    this.#beatCount += 1;
    if (this.#beatCount % BEATS_PER_CHECK === 0) await this.#checkAccess([...daemons.values()]);
    await this.#write(this.#connections());
  }

  async #write(connections: readonly ReadyConnection[]): Promise<void> {
    if (connections.length === 0) return;
    const beats = connections.map(({ daemon: { tenant, id }, state }) => ({ tenant, id, state }));
    const outcomes = await writeDaemonStates(this.#options, beats);
    for (const [at, { connection }] of connections.entries()) this.endByOutcome(connection, outcomes[at] ?? 'written');
  }

  #connections(daemons: Iterable<HubDaemon> = this.#options.daemons.values()): ReadyConnection[] {
    return [...daemons].flatMap((daemon) => {
      const { connection } = daemon;
      return connection?.isReady === true ? [{ daemon, connection, state: daemon.state }] : [];
    });
  }

  /** Another hub has the daemon, and adopts what it runs. */
  #giveUp(connection: DaemonConnection): void {
    const { tenant, id } = connection.daemon;
    connection.socket.close(CLOSE_CODES.takenOver, REASONS[CLOSE_CODES.takenOver]);
    const daemon = this.#options.daemons.get(`${tenant}/${id}`);
    if (daemon) this.#checkAdopted(daemon, ADOPTED_CHECKS);
  }

  /** What another hub adopted is left to it early; what it did not adopt has the grace. */
  #checkAdopted(daemon: HubDaemon, checks: number): void {
    const { log } = this.#options;
    daemon.attempts.detachAdopted().catch((error: unknown) => log.debug({ err: error }, 'the ledger will refuse what another hub has'));
    if (checks > 1 && !daemon.isIdle) setTimeout(() => this.#checkAdopted(daemon, checks - 1), ADOPTED_MS).unref();
  }

  #follow(signal: DaemonSignal): void {
    const { daemons, log } = this.#options;
    if (signal.kind === 'states') for (const { tenant, id, state } of signal.states) this.#noteElsewhere(`${tenant}/${id}`, state);
    if (signal.kind !== 'changed') return;
    const changed = [...daemons.values()].filter(({ tenant, id }) => tenant === signal.tenant && (signal.id ?? id) === id);
    this.#checkAccess(changed).catch((error: unknown) => log.debug({ err: error }, 'registrations are read again later'));
  }

  /** A daemon of this hub may have connected to another one. */
  #noteElsewhere(name: string, { hub, connection }: { hub: string; connection: string }): void {
    const daemon = this.#options.daemons.get(name);
    if (!daemon || hub === this.#options.hub || daemon.connection?.id === connection) return;
    if (!daemon.connection) this.#checkAdopted(daemon, ADOPTED_CHECKS);
    // The message may be older than the connection here: the next write tells.
    else this.#beats.tick();
  }

  /** Reads their registrations again, also of daemons that run something and are away. */
  async #checkAccess(daemons: readonly HubDaemon[]): Promise<void> {
    const registered = await readDaemons(this.#options, daemons);
    for (const [at, daemon] of daemons.entries()) this.#check(daemon, registered[at] ?? null);
  }

  /** Closes the connection when its token is gone, else narrows it. What a daemon runs that is no more goes on elsewhere. */
  #check({ connection, attempts }: HubDaemon, registered: Daemon | null): void {
    if (connection?.isReady === true) {
      if (registered !== null && !isAccessGone(connection.daemon, registered)) return connection.narrow(registered);
      connection.socket.close(CLOSE_CODES.tokenGone, REASONS[CLOSE_CODES.tokenGone]);
    }
    // With another token the same daemon comes back to what it runs.
    if (registered?.enabled !== true) attempts.failAll('DAEMON_DISCONNECTED', 'The daemon was disabled or removed');
  }
}
