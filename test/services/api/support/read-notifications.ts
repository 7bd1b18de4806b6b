import { waitFor } from '../../../support/wait-for.ts';
import { readEvents, type EventReader } from './read-events.ts';
import type { Api } from './start-api.ts';

type Data = Record<string, unknown>;

export interface NotificationReader extends EventReader {
  /** The data of the notifications so far. */
  received(): Data[];
  kinds(): unknown[];
  /** Waits for a notification with data like this. */
  waitFor(part: Data): Promise<Data>;
  /** Where a client would continue. */
  lastEventId(): string;
}

export interface ReadOptions {
  key?: string;
  kinds?: string;
  lastEventId?: string;
}

/** Reads the stream of notifications, from its `open` event on. */
export async function readNotifications(api: Api, { key = api.key, kinds, lastEventId }: ReadOptions = {}): Promise<NotificationReader> {
  const chosen = kinds === undefined ? '' : `?kinds=${encodeURIComponent(kinds)}`;
  const reader = await readEvents(`${api.url}/v1/notifications/stream${chosen}`, { key, lastEventId });
  const { events, text } = reader;
  const received = (): Data[] => events.filter(({ event }) => event === 'notification').map(({ data }) => JSON.parse(data) as Data);
  await waitFor(() => events.length > 0, { deadlineMs: 5000, what: 'the stream to open' });
  return {
    ...reader,
    received,
    kinds: () => received().map(({ kind }) => kind),
    waitFor: async (part) =>
      await waitFor(() => received().find((data) => isLike(data, part)), {
        deadlineMs: 10_000,
        what: `${JSON.stringify(part)} among ${JSON.stringify(received())}`,
      }),
    lastEventId: () =>
      text()
        .match(/^id: .*$/gm)
        ?.at(-1)
        ?.slice(4) ?? '',
  };
}

function isLike(data: Data, part: Data): boolean {
  return Object.entries(part).every(([field, value]) => data[field] === value);
}
