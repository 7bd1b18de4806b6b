import { afterEach } from 'vitest';
import type { FakeHttpEndpoint } from '../../support/fake-http-endpoint.ts';
import { startFakeApi } from './fake-api.ts';
import { type MusterResult, runMuster } from './run-muster.ts';

export type Handlers = NonNullable<Parameters<typeof startFakeApi>[0]>;

interface FakeMuster {
  /** Runs a command against a fake API with these handlers, which ends with the test. */
  readonly muster: (handlers: Handlers, args: string[], input?: string) => Promise<MusterResult>;
  /** The JSON of a request to the API of the last command. */
  readonly sent: (request?: number) => unknown;
  /** The API of the last command. */
  readonly api: () => FakeHttpEndpoint;
}

/** Commands against fake APIs, for the tests of a file. */
export function useMuster(): FakeMuster {
  const opened: FakeHttpEndpoint[] = [];
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((api) => api.close()));
  });
  const last = (): FakeHttpEndpoint => {
    const api = opened.at(-1);
    if (!api) throw new Error('No command ran yet');
    return api;
  };
  return {
    muster: async (handlers, args, input) => {
      const api = await startFakeApi(handlers);
      opened.push(api);
      const env = { MUSTER_URL: api.url, MUSTER_API_KEY: 'a-key' };
      return await runMuster(args, input === undefined ? { env } : { env, input });
    },
    sent: (request = 0) => JSON.parse(last().requests[request]?.body ?? ''),
    api: last,
  };
}
