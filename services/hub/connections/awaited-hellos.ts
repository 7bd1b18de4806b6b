import type { HubSettings } from '#shared/config/index.ts';
import { CLOSE_CODES } from '#shared/daemons/index.ts';
import type { DaemonSocket } from './daemon-socket.ts';

/**
 * AwaitedHellos is responsible for connections before their hello: each has `hub.helloMs` for it, and one daemon's token opens only a few,
 * so that it cannot use up the connections of all others.
 */
export class AwaitedHellos {
  readonly #settings: Pick<HubSettings, 'helloMs' | 'maxConnectionsBeforeHello'>;
  /** By daemon, oldest first, with the timer that closes each. */
  readonly #daemons = new Map<string, Map<DaemonSocket, NodeJS.Timeout>>();

  constructor(settings: Pick<HubSettings, 'helloMs' | 'maxConnectionsBeforeHello'>) {
    this.#settings = settings;
  }

  /** Waits for the hello of a new connection. Closes the daemon's oldest one when there are too many. */
  add(daemon: string, socket: DaemonSocket): void {
    const { helloMs, maxConnectionsBeforeHello } = this.#settings;
    const waiting = this.#daemons.get(daemon) ?? new Map<DaemonSocket, NodeJS.Timeout>();
    this.#daemons.set(daemon, waiting);
    const timer = setTimeout(() => socket.close(CLOSE_CODES.noHeartbeat, 'no hello came'), helloMs);
    waiting.set(socket, timer);
    const [oldest] = waiting.keys();
    if (waiting.size > maxConnectionsBeforeHello) oldest?.close(CLOSE_CODES.noHeartbeat, 'too many connections without a hello');
  }

  /** The hello came, or the connection ended. */
  remove(daemon: string, socket: DaemonSocket): void {
    const waiting = this.#daemons.get(daemon);
    clearTimeout(waiting?.get(socket));
    waiting?.delete(socket);
    if (waiting?.size === 0) this.#daemons.delete(daemon);
  }
}
