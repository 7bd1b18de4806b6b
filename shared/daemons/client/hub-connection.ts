import { WebSocket } from 'ws';
import { type DaemonMessageToSend, type HubMessage, parseHubMessage } from '../protocol.ts';
import { HubRefusal, refusalOfAnswer, refusalOfClose, refusalOfError } from './hub-refusal.ts';

export interface ConnectionOptions {
  /** `ws://` or `wss://`, with the path. */
  readonly url: string;
  readonly token: string;
  readonly hello: DaemonMessageToSend;
  /** For the connection, and again for the welcome. */
  readonly timeoutMs: number;
}

export interface ConnectionEnd {
  readonly code: number;
  /** In words; empty when the other side gave none. */
  readonly reason: string;
}

type Welcome = HubMessage<'hub.welcome'>;

/** Bytes of one message of the hub: a prompt with a long history. */
const MAX_PAYLOAD = 64 * 1_048_576;
/** Bytes that wait in a slow socket before nothing more is written to it. */
const MAX_BUFFERED = 1_048_576;

/** HubConnection is responsible for one WebSocket to a hub: from the welcome until it is closed or silent. */
export class HubConnection {
  readonly welcome: Welcome;
  /** Resolves once the connection has ended; never rejects. */
  readonly ended: Promise<ConnectionEnd>;
  readonly #socket: WebSocket;
  readonly #inbox: Inbox;
  #largest: { readonly message: DaemonMessageToSend; readonly bytes: number } | undefined;
  #silentBeats = 0;
  #timer: NodeJS.Timeout | undefined;

  private constructor(socket: WebSocket, welcome: Welcome, inbox: Inbox) {
    this.welcome = welcome;
    this.ended = inbox.ended;
    this.#socket = socket;
    this.#inbox = inbox;
    const heard = (): void => void (this.#silentBeats = 0);
    for (const event of ['message', 'ping', 'pong']) socket.on(event, heard);
    socket.once('close', () => clearInterval(this.#timer));
  }

  /** Connects and says hello. Rejects with a `HubRefusal`. */
  static async open(options: ConnectionOptions, signal: AbortSignal): Promise<HubConnection> {
    const socket = new WebSocket(options.url, {
      headers: { Authorization: `Bearer ${options.token}` },
      handshakeTimeout: options.timeoutMs,
      maxPayload: MAX_PAYLOAD,
      perMessageDeflate: false,
      // Another server may not get the token.
      followRedirects: false,
    });
    const inbox = openInbox(socket);
    const abort = (): void => socket.terminate();
    signal.addEventListener('abort', abort, { once: true });
    const late = setTimeout(abort, 2 * options.timeoutMs);
    try {
      await connected(socket, options.url);
      socket.send(JSON.stringify(options.hello));
      return new HubConnection(socket, await inbox.welcome, inbox);
    } catch (error) {
      socket.terminate();
      throw error;
    } finally {
      clearTimeout(late);
      signal.removeEventListener('abort', abort);
    }
  }

  /** Whether more may be written: a slow socket would keep it all in memory. */
  get hasRoom(): boolean {
    return this.#socket.readyState === WebSocket.OPEN && this.#socket.bufferedAmount < MAX_BUFFERED;
  }

  /** The largest message that was sent after the hello: the one to blame when the hub says that one was too large. */
  get largest(): DaemonMessageToSend | undefined {
    return this.#largest?.message;
  }

  /** Passes messages to `listener`, beginning with those that came right after the welcome. */
  listen(listener: (message: HubMessage) => void): void {
    this.#inbox.listen(listener);
  }

  /** Sends a message; `onSent` is called once the socket has taken it. What is sent while the connection ends is lost. */
  send(message: DaemonMessageToSend, onSent?: () => void): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    const json = JSON.stringify(message);
    const bytes = Buffer.byteLength(json);
    if (bytes > (this.#largest?.bytes ?? 0)) this.#largest = { message, bytes };
    this.#socket.send(json, (error) => error ?? onSent?.());
  }

  /** Calls `sendHeartbeat` now and at every interval. A hub that is silent for two intervals counts as gone. */
  keepAlive(sendHeartbeat: () => void): void {
    const beat = (): void => {
      if (this.#silentBeats >= 2) return this.#socket.terminate();
      this.#silentBeats += 1;
      sendHeartbeat();
      if (this.#socket.readyState === WebSocket.OPEN) this.#socket.ping();
    };
    beat();
    this.#timer = setInterval(beat, this.welcome.heartbeatMs);
  }

  /** Ends the connection in order. The socket is cut when the hub does not answer. */
  close(): void {
    this.#socket.close(1000);
  }

  /** Ends the connection at once. */
  cut(): void {
    this.#socket.terminate();
  }
}

/** Messages of a socket from its beginning: those that come before somebody listens wait. */
interface Inbox {
  readonly welcome: Promise<Welcome>;
  readonly ended: Promise<ConnectionEnd>;
  listen(listener: (message: HubMessage) => void): void;
}

function openInbox(socket: WebSocket): Inbox {
  const welcome = Promise.withResolvers<Welcome>();
  const ended = Promise.withResolvers<ConnectionEnd>();
  const waiting: HubMessage[] = [];
  let listener: ((message: HubMessage) => void) | undefined;
  let lastError = '';
  socket.on('message', (frame: Buffer) => {
    const parsed = parseHubMessage(frame.toString());
    // A newer hub may send what this daemon does not know.
    if (!parsed.ok) return;
    const { message } = parsed;
    if (message.type === 'error') lastError = message.message;
    if (message.type === 'hub.welcome') welcome.resolve(message);
    else if (listener === undefined) waiting.push(message);
    else listener(message);
  });
  socket.once('close', (code: number, reason: Buffer) => {
    ended.resolve({ code, reason: reason.toString() || lastError });
    const why = lastError === '' ? `closed the connection (${code})` : `refused the connection: ${lastError}`;
    welcome.reject(refusalOfClose(code) ?? new HubRefusal('unreachable', `The hub ${why}`));
  });
  welcome.promise.catch(() => undefined);
  const listen = (added: NonNullable<typeof listener>): void => {
    listener = added;
    for (const message of waiting.splice(0)) added(message);
  };
  return { welcome: welcome.promise, ended: ended.promise, listen };
}

function connected(socket: WebSocket, url: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.once('open', resolve);
  socket.once('unexpected-response', (_request, answer) => {
    reject(refusalOfAnswer(answer, url));
    answer.resume();
  });
  // Stays: an error may come at any time, and a close follows it.
  socket.on('error', (error) => reject(refusalOfError(error, url)));
  socket.once('close', () => reject(new HubRefusal('unreachable', `The hub at ${url} does not answer`)));
  return promise;
}
