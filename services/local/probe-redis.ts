import { connect } from 'node:net';
import type { LocalRedisAddress } from './local-redis-address.ts';

export interface RedisProbe {
  /** `loading`: it reads its data and will answer later; `silent`: nothing there answers as a Redis of ours would. */
  state: 'ready' | 'loading' | 'silent';
  /** What it says its process is. */
  pid: number | null;
}

/** Asks one question of a Redis that may not be there; never throws. */
export async function probeRedis(address: LocalRedisAddress, timeoutMs = 1000): Promise<RedisProbe> {
  const answer = await ask(address, timeoutMs);
  const pid = /^process_id:(\d+)/m.exec(answer)?.[1];
  const state = answer.includes('+PONG') ? 'ready' : answer.includes('-LOADING') ? 'loading' : 'silent';
  return { state, pid: pid === undefined ? null : Number(pid) };
}

/** A client library would reconnect and queue; here each look is one connection, and no answer is an answer. */
function ask(address: LocalRedisAddress, timeoutMs: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(address.kind === 'socket' ? { path: address.path } : { host: '127.0.0.1', port: address.port });
    let answer = '';
    socket.setEncoding('utf8');
    socket.setTimeout(timeoutMs, () => socket.destroy());
    socket.on('connect', () =>
      socket.write(`${address.kind === 'port' ? `AUTH ${address.password}\r\n` : ''}INFO server\r\nPING\r\nQUIT\r\n`),
    );
    socket.on('data', (text: string) => (answer += text));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => resolve(answer));
  });
}
