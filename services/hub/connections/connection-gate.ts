import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { HubSettings } from '#shared/config/index.ts';
import type { Daemon } from '#shared/daemons/index.ts';
import { MusterError } from '#shared/errors/index.ts';
import { refuseSocket, type UpgradeHandler } from '#shared/http/index.ts';
import type { Log } from '#shared/log/index.ts';

export interface ConnectionGateOptions {
  settings: HubSettings;
  findDaemon: (token: string) => Promise<Daemon | null>;
  /** Connections that this hub holds now. */
  held: () => number;
  /** Whether this hub takes no more connections. */
  isClosed: () => boolean;
  onConnection: (socket: WebSocket, daemon: Daemon) => void;
  log: Log;
}

const BEARER = /^Bearer +(\S+)$/i;

/** Checks a daemon's token before the handshake, and hands its WebSocket on. What it refuses gets a problem as its answer. */
export function openConnectionGate(options: ConnectionGateOptions): UpgradeHandler {
  const { settings, log } = options;
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: settings.maxMessageBytes,
  });
  return {
    path: '/hub',
    handle: (request, socket, head) => {
      // Nobody else listens before the handshake.
      socket.on('error', () => socket.destroy());
      const accept = async (): Promise<void> => {
        const daemon = await admit(options, request);
        if (!socket.destroyed) server.handleUpgrade(request, socket, head, (connected) => options.onConnection(connected, daemon));
      };
      accept().catch((error: unknown) => {
        log.debug({ err: error }, 'a connection to the hub was refused');
        refuse(socket, error);
      });
    },
  };
}

/** Errors: `auth.missing`, `auth.invalid`, `limit.streams`, `unavailable.shutting-down`. */
async function admit({ settings, findDaemon, held, isClosed }: ConnectionGateOptions, { headers }: IncomingMessage): Promise<Daemon> {
  if (isClosed()) throw new MusterError('unavailable.shutting-down', 'This hub ends; connect again');
  const [, token] = BEARER.exec(headers.authorization ?? '') ?? [];
  if (token === undefined) throw new MusterError('auth.missing', "A daemon's token is needed, as `Authorization: Bearer <token>`");
  const daemon = await findDaemon(token);
  if (daemon === null) throw new MusterError('auth.invalid', "The token is no daemon's, or not any more");
  if (held() >= settings.maxConnections)
    throw new MusterError('limit.streams', `This hub holds ${settings.maxConnections} connections already`);
  return daemon;
}

function refuse(socket: Duplex, error: unknown): void {
  if (socket.writable) refuseSocket(socket, error);
  else socket.destroy();
}
