import { STATUS_CODES, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ErrorCode, MusterError } from '../errors/index.ts';
import { toProblem } from './send-problem.ts';

const REFUSALS: ReadonlyMap<string | undefined, [code: ErrorCode, message: string]> = new Map([
  ['HPE_HEADER_OVERFLOW', ['request.headers-too-large', 'The address and the headers together are too large']],
  ['ERR_HTTP_REQUEST_TIMEOUT', ['request.timeout', 'The request did not arrive in time']],
]);
const NO_HTTP: [ErrorCode, string] = ['request.malformed', 'This is no HTTP that can be read'];

/** Answers with a problem, like all else, what is refused before there is a request that a router could see. */
export function refuseUnreadable(server: Server): void {
  const running = new WeakMap<Duplex, Set<ServerResponse>>();
  server.on('request', ({ socket }, response) => {
    const responses = running.get(socket) ?? new Set();
    running.set(socket, responses.add(response));
    response.once('close', () => responses.delete(response));
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // Within an answer that has begun, another would be read as a part of it.
    const isWithin = [...(running.get(socket) ?? [])].some((response) => response.headersSent);
    if (isWithin || !socket.writable) socket.destroy();
    else socket.end(answerTo(error), () => socket.destroy());
  });
}

function answerTo({ code }: NodeJS.ErrnoException): string {
  const problem = toProblem(new MusterError(...(REFUSALS.get(code) ?? NO_HTTP)));
  const body = JSON.stringify(problem);
  const head = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? ''}`,
    'Content-Type: application/problem+json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'Connection: close',
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}
