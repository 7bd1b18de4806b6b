import { once } from 'node:events';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';

/** What is used of packages that the adapter brings along, and that are not the project's own. */
interface Socket {
  on(event: 'message', listener: (data: Buffer) => void): void;
  on(event: 'error', listener: () => void): void;
  send(text: string): void;
  close(code: number): void;
}
interface SocketServer {
  on(event: 'connection', listener: (socket: Socket) => void): void;
  readonly clients: Set<{ terminate(): void }>;
}

const ofAdapter = createRequire(import.meta.resolve('@chat-adapter/discord'));
const restOptions = (ofAdapter('@discordjs/rest') as { DefaultRestOptions: { api: string } }).DefaultRestOptions;
const { WebSocketServer } = ofAdapter('ws') as { WebSocketServer: new (options: object) => SocketServer };

const HELLO = 10;
const IDENTIFY = 2;
const HEARTBEAT = 1;
const HEARTBEAT_ACK = 11;

export interface FakeDiscordGateway {
  /** Times that somebody connected and said who they are. */
  readonly identified: number;
  /** Closes whoever says who they are with this code, until it is null again. */
  refuseWith(code: number | null): void;
  /** Closes the connections that there are. */
  closeWith(code: number): void;
  /** Sends a message event to everybody who is connected. */
  message(data: Record<string, unknown>): void;
  close(): Promise<void>;
}

/**
 * Discord's Gateway on the loopback: https://docs.discord.com/developers/events/gateway. The library has its address as a
 * setting that its users share, which is another one until `close()`.
 */
export async function startFakeDiscordGateway(botUser: string): Promise<FakeDiscordGateway> {
  const sockets = new Set<Socket>();
  let identified = 0;
  let refusal: number | null = null;
  let sequence = 0;
  const dispatch = (socket: Socket, type: string, data: unknown): void => {
    sequence += 1;
    socket.send(JSON.stringify({ op: 0, t: type, s: sequence, d: data }));
  };
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'application/json');
    const limit = { total: 1000, remaining: 999, reset_after: 0, max_concurrency: 1 };
    if (request.url?.endsWith('/gateway/bot') === true)
      response.end(JSON.stringify({ url: address, shards: 1, session_start_limit: limit }));
    else response.writeHead(404).end('{}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const address = `ws://127.0.0.1:${port}`;
  const socketServer = new WebSocketServer({ server });
  socketServer.on('connection', (socket) => {
    socket.on('error', () => undefined);
    socket.send(JSON.stringify({ op: HELLO, d: { heartbeat_interval: 45_000 } }));
    socket.on('message', (text) => {
      const { op } = JSON.parse(text.toString()) as { op: number };
      if (op === HEARTBEAT) socket.send(JSON.stringify({ op: HEARTBEAT_ACK }));
      if (op !== IDENTIFY) return;
      identified += 1;
      if (refusal !== null) {
        socket.close(refusal);
        return;
      }
      sockets.add(socket);
      dispatch(socket, 'READY', readyOf(botUser, address));
    });
  });
  const before = restOptions.api;
  restOptions.api = `http://127.0.0.1:${port}/api`;
  return {
    get identified() {
      return identified;
    },
    refuseWith: (code) => {
      refusal = code;
    },
    closeWith: (code) => {
      for (const socket of sockets) socket.close(code);
      sockets.clear();
    },
    message: (data) => {
      for (const socket of sockets) dispatch(socket, 'MESSAGE_CREATE', messageOf(data));
    },
    close: async () => {
      restOptions.api = before;
      for (const client of socketServer.clients) client.terminate();
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function readyOf(id: string, address: string): Record<string, unknown> {
  return {
    v: 10,
    user: { id, username: 'muster', discriminator: '0', avatar: null, bot: true, flags: 0 },
    guilds: [],
    session_id: 'session',
    resume_gateway_url: address,
    application: { id, flags: 0 },
  };
}

/** A private message, unless it says something else. */
function messageOf(data: Record<string, unknown>): Record<string, unknown> {
  return {
    channel_id: '4001',
    channel_type: 1,
    type: 0,
    author: { id: '77', username: 'ada', discriminator: '0', avatar: null, global_name: 'Ada' },
    timestamp: new Date().toISOString(),
    edited_timestamp: null,
    tts: false,
    pinned: false,
    mention_everyone: false,
    mentions: [],
    mention_roles: [],
    attachments: [],
    embeds: [],
    components: [],
    ...data,
  };
}
