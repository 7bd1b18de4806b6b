import { createParser, type EventSourceMessage } from 'eventsource-parser';

/** Reads server-sent events one by one until the stream ends. Rejects when the connection is cut. */
export async function* readEvents(body: ReadableStream<Uint8Array>, onChunk: () => void): AsyncGenerator<EventSourceMessage> {
  const ready: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => void ready.push(event) });
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    onChunk();
    parser.feed(decoder.decode(chunk, { stream: true }));
    yield* ready.splice(0);
  }
}
