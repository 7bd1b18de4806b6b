import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { type DaemonMessage, type HubMessageToSend, parseDaemonMessage } from '#shared/daemons/protocol.ts';
import { waitFor } from '../wait-for.ts';

type Type = DaemonMessage['type'];
type Welcome = Extract<HubMessageToSend, { type: 'hub.welcome' }>;

/** One daemon that is connected to a fake hub. */
export interface FakeConnection {
  /** Every message so far, the hello included. */
  readonly messages: DaemonMessage[];
  readonly authorization: string | undefined;
  send(message: HubMessageToSend): void;
  close(code: number): void;
  /** Cuts it without a word. */
  cut(): void;
  /** Reads nothing more, and answers nothing. */
  freeze(): void;
  readonly isOpen: boolean;
  /** The messages of one type so far. */
  all<T extends Type>(type: T): DaemonMessage<T>[];
  /** The first message of a type, also one that is to come. */
  first<T extends Type>(type: T, accepts?: (message: DaemonMessage<T>) => boolean): Promise<DaemonMessage<T>>;
}

export interface FakeHub {
  readonly url: string;
  readonly connections: readonly FakeConnection[];
  /** The connection with this number, from 0, also one that is to come. */
  connection(index: number): Promise<FakeConnection>;
  /** Answers every further hello with these. */
  welcome(fields: Partial<Welcome>): void;
  /** Answers every further connection with this HTTP status. */
  refuse(status: number | null): void;
  close(): Promise<void>;
}

const DEADLINE_MS = 10_000;
/** A daemon that is a process has to start first, on a machine with much to do. */
const CONNECT_MS = 45_000;

/** A hub over real sockets that does what a test says. Messages of more than `maxPayload` bytes end their connection with 1009. */
export async function startFakeHub(port = 0, maxPayload = 1_048_576): Promise<FakeHub> {
  const connections: FakeConnection[] = [];
  let fields: Partial<Welcome> = {};
  let status: number | null = null;
  const server = createServer((_request, response) => response.writeHead(404).end());
  const sockets = new WebSocketServer({ noServer: true, maxPayload });
  server.on('upgrade', (request, socket, head) => {
    // A daemon that is stopped cuts a connection that is being refused.
    socket.on('error', () => undefined);
    if (status !== null || request.url !== '/hub') {
      socket.end(`HTTP/1.1 ${status ?? 404} Refused\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    sockets.handleUpgrade(request, socket, head, (accepted) => {
      connections.push(openConnection(accepted, request.headers.authorization, () => fields));
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections,
    connection: (index) => waitFor(() => connections[index], { deadlineMs: CONNECT_MS, what: `connection ${index}` }),
    welcome: (given) => void (fields = given),
    refuse: (given) => void (status = given),
    close: () => closeServer(server, sockets),
  };
}

function openConnection(socket: WebSocket, authorization: string | undefined, welcome: () => Partial<Welcome>): FakeConnection {
  const messages: DaemonMessage[] = [];
  const send = (message: HubMessageToSend): void => socket.send(JSON.stringify(message));
  const all = <T extends Type>(type: T): DaemonMessage<T>[] =>
    messages.filter((message): message is DaemonMessage<T> => message.type === type);
  socket.on('message', (frame: Buffer) => {
    const parsed = parseDaemonMessage(frame.toString());
    if (!parsed.ok) throw new Error(`The daemon sent what a hub refuses: ${parsed.message}`);
    messages.push(parsed.message);
    if (parsed.message.type !== 'daemon.hello') return;
    send({ type: 'hub.welcome', daemonId: 'dmn_1', heartbeatMs: 10_000, keep: [], drop: [], ...welcome() });
  });
  socket.on('error', () => undefined);
  return {
    messages,
    authorization,
    send,
    all,
    close: (code) => socket.close(code),
    cut: () => socket.terminate(),
    freeze: () => socket.pause(),
    get isOpen() {
      return socket.readyState === WebSocket.OPEN;
    },
    first: (type, accepts = () => true) => waitFor(() => all(type).find(accepts), { deadlineMs: DEADLINE_MS, what: `the message ${type}` }),
  };
}

async function closeServer(server: Server, sockets: WebSocketServer): Promise<void> {
  for (const client of sockets.clients) client.terminate();
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
}

let lastTask = 0;

/** A task for a daemon, with a token of its own. */
export function executeMessage(
  fields: Partial<Extract<HubMessageToSend, { type: 'task.execute' }>> = {},
): Extract<HubMessageToSend, { type: 'task.execute' }> {
  lastTask += 1;
  return {
    type: 'task.execute',
    taskId: `task-${lastTask}`,
    token: lastTask,
    attempt: 1,
    agent: 'coder',
    input: 'hello',
    timeoutMs: 60_000,
    ...fields,
  };
}
