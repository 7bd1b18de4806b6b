import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { waitFor } from '../wait-for.ts';

/** A span as a collector gets it. */
export interface CollectedSpan {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  kind: number;
  attributes: Record<string, unknown>;
  links: { traceId: string; spanId: string }[];
  /** 2 for a failure. */
  status: number;
  service: unknown;
}

export interface SpanCollector {
  readonly url: string;
  readonly spans: readonly CollectedSpan[];
  /** Of the last request. */
  readonly headers: Readonly<Record<string, unknown>>;
  /** The first span that fits, once it came. */
  span(fits: (span: CollectedSpan) => boolean, what: string): Promise<CollectedSpan>;
  close(): Promise<void>;
}

interface Sent {
  resourceSpans: { resource: { attributes: Pair[] }; scopeSpans: { spans: SentSpan[] }[] }[];
}

interface Pair {
  key: string;
  value: Record<string, unknown>;
}

type SentSpan = Omit<CollectedSpan, 'attributes' | 'links' | 'status' | 'service'> & {
  attributes: Pair[];
  links?: CollectedSpan['links'];
  status: { code?: number };
};

/** Takes OTLP over HTTP as JSON on a free port, or answers each request with another `status`. */
export async function startCollector(status = 200): Promise<SpanCollector> {
  const spans: CollectedSpan[] = [];
  let headers: SpanCollector['headers'] = {};
  const take = async (request: IncomingMessage): Promise<void> => {
    const sent = await json(request);
    if (status === 200) spans.push(...read(sent as Sent));
  };
  const server = createServer((request, response) => {
    headers = request.headers;
    void take(request).then(() => response.writeHead(status, { 'content-type': 'application/json' }).end('{}'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    get headers() {
      return headers;
    },
    span: (fits, what) => waitFor(() => spans.find(fits), { deadlineMs: 10_000, what: `the span ${what}` }),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function read({ resourceSpans }: Sent): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        ...span,
        attributes: valuesOf(span.attributes),
        links: span.links ?? [],
        status: span.status.code ?? 0,
        service: valuesOf(resource.attributes)['service.name'],
      })),
    ),
  );
}

function valuesOf(pairs: Pair[]): Record<string, unknown> {
  return Object.fromEntries(pairs.map(({ key, value }) => [key, Object.values(value)[0]]));
}
