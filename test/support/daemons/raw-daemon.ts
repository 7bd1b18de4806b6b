import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { DaemonMessageToSend, HubMessage } from '#shared/daemons/protocol.ts';
import { waitFor } from '../wait-for.ts';

const ANSWER_MS = 10_000;

type Hello = Partial<Omit<Extract<DaemonMessageToSend, { type: 'daemon.hello' }>, 'type'>>;

/** A daemon by hand: a connection that sends what a test says and keeps what arrives. */
export class RawDaemon {
  /** All that arrived, oldest first. */
  readonly received: HubMessage[] = [];
  /** The code that the hub closed with; null while the connection is open. */
  closeCode: number | null = null;
  closeReason: string | null = null;
  readonly socket: WebSocket;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data: Buffer) => this.received.push(JSON.parse(data.toString('utf8')) as HubMessage));
    socket.on('close', (code, reason) => {
      this.closeCode = code;
      this.closeReason = reason.toString('utf8');
    });
    socket.on('error', () => undefined);
  }

  /** Rejects with the status of a refused handshake as its message. */
  static async connect(url: string, token: string): Promise<RawDaemon> {
    const socket = new WebSocket(url.replace('http', 'ws'), { headers: { authorization: `Bearer ${token}` } });
    const daemon = new RawDaemon(socket);
    const refused = Promise.withResolvers<never>();
    socket.on('unexpected-response', (_request, response) => {
      refused.reject(new Error(`${response.statusCode}`));
      socket.terminate();
    });
    await Promise.race([once(socket, 'open'), refused.promise]);
    return daemon;
  }

  /** Connects and says who it is; returns with the hub's welcome. */
  static async welcomed(url: string, token: string, hello: Hello = {}): Promise<RawDaemon> {
    const daemon = await RawDaemon.connect(url, token);
    daemon.hello(hello);
    await daemon.next('hub.welcome');
    return daemon;
  }

  hello(hello: Hello = {}): void {
    this.send({ type: 'daemon.hello', protocol: 1, name: 'raw', slots: 5, ...hello });
  }

  send(message: DaemonMessageToSend): void {
    this.socket.send(JSON.stringify(message));
  }

  /** The first message of this type that no call has returned yet, of two calls at once to each another. */
  async next<Type extends HubMessage['type']>(type: Type): Promise<HubMessage<Type>> {
    return await waitFor(() => this.#take(type), {
      deadlineMs: ANSWER_MS,
      what: `${type}, after ${JSON.stringify(this.received).slice(0, 500)}`,
    });
  }

  #take<Type extends HubMessage['type']>(type: Type): HubMessage<Type> | undefined {
    const found = this.received.find((message): message is HubMessage<Type> => message.type === type);
    if (found) this.received.splice(this.received.indexOf(found), 1);
    return found;
  }

  /** Takes the next task and accepts it. */
  async accept(): Promise<HubMessage<'task.execute'>> {
    const execute = await this.next('task.execute');
    this.send({ type: 'task.accepted', taskId: execute.taskId, token: execute.token });
    return execute;
  }

  /** Resolves once the hub has read all that was sent, which it shows by its answer to nonsense. */
  async flushed(): Promise<void> {
    this.socket.send('{"type":"nonsense"}');
    await this.next('error');
  }

  async closed(): Promise<number> {
    await waitFor(() => this.closeCode !== null, { deadlineMs: ANSWER_MS, what: 'the end of the connection' });
    return this.closeCode ?? 0;
  }

  /** Goes without a word, as when the network is cut. */
  vanish(): void {
    this.socket.terminate();
  }
}
