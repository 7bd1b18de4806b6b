import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface FakeHttpEndpoint {
  readonly url: string;
  readonly requests: ReceivedRequest[];
  readonly close: () => Promise<void>;
}

/** A server on a free port of the loopback that keeps what it got and answers by `respond`. */
export async function startFakeHttpEndpoint(
  respond: (response: ServerResponse, request: IncomingMessage) => void,
): Promise<FakeHttpEndpoint> {
  const requests: ReceivedRequest[] = [];
  const server = createServer((request, response) => {
    void receive(request).then((received) => requests.push(received) && respond(response, request));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function receive(request: IncomingMessage): Promise<ReceivedRequest> {
  return { method: request.method ?? '', path: request.url ?? '', headers: request.headers, body: await text(request) };
}
