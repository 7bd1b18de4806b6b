import { describe, expect, it } from 'vitest';
import { DeliveryRefused, type ChatPort } from '#shared/deliveries/replies/chat-port.ts';
import { createLog } from '#shared/log/create-log.ts';
import { CommandSender } from '../../../../services/chat/replies/command-sender.ts';
import { keepListening } from '../../../../services/chat/platforms/platform-driver.ts';
import { waitFor } from '../../../support/wait-for.ts';

const log = createLog({ level: 'silent', service: 'test', destination: { write: () => undefined } });

/** A port that says no in these ways, one after the other, and then yes. */
function portOf(
  ...refusals: DeliveryRefused[]
): Pick<ChatPort, 'platform' | 'maxCharacters' | 'post'> & { readonly posts: string[]; calls: number } {
  const posts: string[] = [];
  const port = {
    platform: 'telegram',
    maxCharacters: 10,
    posts,
    calls: 0,
    post: (_thread: string, text: string) => {
      port.calls += 1;
      const refusal = refusals.shift();
      if (refusal) return Promise.reject(refusal);
      posts.push(text);
      return Promise.resolve({ id: '1' });
    },
  };
  return port;
}

const soon = (kind: 'throttled' | 'transient'): DeliveryRefused => new DeliveryRefused(kind, 'no', { retryAfterMs: 1 });

describe('the answer to a command', () => {
  it('is tried again a few times, and cut to one message', async () => {
    const port = portOf(soon('throttled'), soon('transient'));
    new CommandSender({ log, tries: 3 }).send(port, 'there', 'Nothing runs and nothing waits.');
    await waitFor(() => port.posts.length > 0, { deadlineMs: 5000, what: 'the answer' });
    expect(port.posts).toEqual(['Nothing r…']);
  });

  it.each([
    ['after its last try', [soon('transient'), soon('transient'), soon('transient')], 2],
    ['when the chat is gone', [new DeliveryRefused('gone', 'no')], 1],
    ['when it may have been shown', [new DeliveryRefused('unknown', 'no')], 1],
    ['when it would come much too late', [new DeliveryRefused('throttled', 'no', { retryAfterMs: 60_000 })], 1],
  ])('is dropped %s', async (_when, refusals, calls) => {
    const port = portOf(...refusals);
    const sender = new CommandSender({ log, tries: 2 });
    sender.send(port, 'there', 'Hello');
    await waitFor(() => port.calls === calls, { deadlineMs: 5000, what: 'the tries' });
    await sender.stop(5000);
    expect([port.calls, port.posts]).toEqual([calls, []]);
  });
});

describe('a connection of a platform’s own', () => {
  it('is made again when it ends, until it is to end', async () => {
    const stopping = new AbortController();
    let connections = 0;
    const listen = (): Promise<void> => {
      connections += 1;
      if (connections === 3) stopping.abort();
      return connections === 2 ? Promise.reject(new Error('refused')) : Promise.resolve();
    };
    await keepListening({ listen, signal: stopping.signal, log, firstMs: 1 });
    expect(connections).toBe(3);
  });
});
