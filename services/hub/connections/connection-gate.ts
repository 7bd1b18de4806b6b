import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { HubSettings } from '#shared/config/index.ts';
import type { Daemon } from '#shared/daemons/index.ts';
import { MusterError } from '#shared/errors/index.ts';
import { networkOf, refuseSocket, type UpgradeHandler } from '#shared/http/index.ts';
import type { Log } from '#shared/log/index.ts';

export interface ConnectionGateOptions {
  settings: HubSettings;
  findDaemon: (token: string) => Promise<Daemon | null>;
  /** Counts a handshake without a valid token for its address. Errors: `limit.rate`. */
  countAddress: (network: string) => Promise<void>;
  /** Counts a handshake of a daemon. Errors: `limit.rate`. */
  countDaemon: (daemon: string) => Promise<void>;
  /** Whether a proxy in front of this hub names the addresses. */
  isBehindProxy: boolean;
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

/** Errors: `auth.missing`, `auth.invalid`, `limit.rate`, `limit.streams`, `unavailable.shutting-down`. */
async function admit(options: ConnectionGateOptions, request: IncomingMessage): Promise<Daemon> {
  const { settings, held, isClosed } = options;
  if (isClosed()) throw new MusterError('unavailable.shutting-down', 'This hub ends; connect again');
  const daemon = await authenticate(options, request);
  if (held() >= settings.maxConnections)
    throw new MusterError('limit.streams', `This hub holds ${settings.maxConnections} connections already`);
  return daemon;
}

/** A valid token is counted for its daemon only: others at the same address do not lock it out. */
async function authenticate(options: ConnectionGateOptions, request: IncomingMessage): Promise<Daemon> {
  const { findDaemon, countAddress, countDaemon, isBehindProxy } = options;
  const [, token] = BEARER.exec(request.headers.authorization ?? '') ?? [];
  const daemon = token === undefined ? null : await findDaemon(token);
  if (daemon) {
    await countDaemon(daemon.id);
    return daemon;
  }
  await countAddress(networkOf(addressOf(request, isBehindProxy)));
  if (token === undefined) throw new MusterError('auth.missing', "A daemon's token is needed, as `Authorization: Bearer <token>`");
  throw new MusterError('auth.invalid', "The token is no daemon's, or not any more");
}

/** The proxy adds the address that it sees; a caller could write those before it. */
function addressOf({ headers, socket }: IncomingMessage, isBehindProxy: boolean): string | undefined {
  const forwarded = isBehindProxy ? [headers['x-forwarded-for']].flat().at(-1) : undefined;
  return forwarded === undefined ? socket.remoteAddress : forwarded.split(',').at(-1)?.trim();
}

function refuse(socket: Duplex, error: unknown): void {
  if (socket.writable) refuseSocket(socket, error);
  else socket.destroy();
}
