import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { HubMessage } from '#shared/daemons/protocol.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { registerDaemon } from '../../support/daemons/start-hub.ts';

type Execute = HubMessage<'task.execute'>;

export interface BenchDaemon {
  readonly socket: WebSocket;
  /** Ends the task at once. */
  complete(task: Execute): void;
}

interface BenchDaemonOptions {
  readonly capabilities?: string[];
  readonly slots?: number;
  /** Called for every message, with the time by this process's clock, ms. */
  readonly onMessage: (message: HubMessage, at: number, daemon: BenchDaemon) => void;
}

/** Connects a daemon that sends heartbeats and accepts each task. Returns once it has its welcome. */
export async function connectBenchDaemon(parts: Parts, hub: string, options: BenchDaemonOptions): Promise<BenchDaemon> {
  const { capabilities = [], slots = 2, onMessage } = options;
  const { token } = await registerDaemon(parts);
  const socket = new WebSocket(`${hub.replace('http', 'ws')}/hub`, { headers: { authorization: `Bearer ${token}` } });
  const welcomed = Promise.withResolvers<void>();
  socket.on('error', welcomed.reject);
  const send = (message: object): void => socket.send(JSON.stringify(message));
  const daemon: BenchDaemon = {
    socket,
    complete: ({ taskId, token: attempt }) => send({ type: 'task.completed', taskId, token: attempt, output: '' }),
  };
  socket.on('message', (data: Buffer) => {
    const at = performance.now();
    const message = JSON.parse(data.toString('utf8')) as HubMessage;
    if (message.type === 'hub.welcome') {
      setInterval(() => send({ type: 'daemon.heartbeat', load: 0 }), message.heartbeatMs).unref();
      welcomed.resolve();
    }
    if (message.type === 'task.execute') send({ type: 'task.accepted', taskId: message.taskId, token: message.token });
    onMessage(message, at, daemon);
  });
  await once(socket, 'open');
  send({ type: 'daemon.hello', protocol: 1, name: 'bench', slots, capabilities });
  await welcomed.promise;
  return daemon;
}
