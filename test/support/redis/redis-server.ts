import { connect } from 'node:net';

export interface StartRedisOptions {
  /** Further arguments, which win over the defaults, except about logging: `['--appendonly', 'yes', '--appendfsync', 'always']`. */
  args?: string[];
  /** The port on the loopback address. Defaults to a free one, which `restart()` keeps. */
  port?: number;
  /** Where its data is; `stop()` leaves it there. Defaults to a new folder that `stop()` removes. */
  dataDir?: string;
}

/** A Redis that one test file owns: nobody else connects to it, so it may be killed, frozen and flushed. */
export interface RedisServer {
  readonly url: string;
  readonly port: number;
  /** The server's process, another one after `restart()`; not on this machine when it runs in a container. */
  readonly pid: number;
  /** Sends a signal, by default SIGKILL, and returns once the process is gone when the signal ends it. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Starts it again at the same address on the same data, after killing it when it still runs. Returns once it answers. */
  restart(): Promise<void>;
  /** Ends it and removes what it made. May be called twice. */
  stop(): Promise<void>;
}

/** What both kinds start with: nothing written to disk, nothing evicted. */
export const REDIS_DEFAULTS: readonly string[] = ['--save', '', '--appendonly', 'no', '--maxmemory-policy', 'noeviction'];

/** Whether a Redis at this address answers PING; a server that loads its data does not. */
export function answersPing(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host, () => socket.write('PING\r\n'));
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk.toString();
      if (answer.includes('\r\n')) socket.destroy();
    });
    socket.on('error', () => undefined);
    // With `requirepass` an error is an answer too.
    socket.on('close', () => resolve(answer.startsWith('+PONG') || answer.startsWith('-NOAUTH')));
  });
}
