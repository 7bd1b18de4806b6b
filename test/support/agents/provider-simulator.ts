import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { childEnvironment } from '../test-environment.ts';

export interface SimulatorOptions {
  requestsPerMinute: number;
  /** Calls that it takes at once after a pause; the rest has to be spread. */
  burst: number;
  /** Its limit of tokens, which its answers tell in headers; a call counts with all that it may use until it has ended. By default none. */
  tokens?: { perMinute: number; burst: number };
  /** Of a call without such a limit. Defaults to 20. */
  tokensPerCall?: number;
  /** How long an answer takes. */
  answerMs: number;
}

/** Why a call was refused with 429: more than the rate within a minute, more at once than the bucket holds, or no quota. */
export type Refusal = 'minute' | 'burst' | 'minute of tokens' | 'burst of tokens' | 'wall';

/** A call as the provider saw it. */
export interface SimulatedCall {
  /** Monotonic, ms, by the provider's clock. */
  at: number;
  /** Null for a call that it took. */
  refusal: Refusal | null;
  prompt: string;
  /** That it uses when it is taken. */
  tokens: number;
}

export type ProviderCommand = 'wall' | 'lift';
export type ProviderEvent = { kind: 'ready'; url: string } | { kind: 'call'; call: SimulatedCall } | { kind: 'done'; now: number };

export interface ProviderSimulator {
  /** What an `openai` agent takes as `baseUrl`. */
  readonly baseUrl: string;
  readonly calls: readonly SimulatedCall[];
  /** From now on the account is out of quota, until it is lifted. Resolves when `calls` has all that came before, with the provider's time. */
  wall(): Promise<number>;
  lift(): Promise<number>;
  close(): Promise<void>;
}

const ENTRY = fileURLToPath(new URL('provider-process.ts', import.meta.url));

/**
 * A provider of OpenAI's form on a free port of the loopback that counts as strictly as the documented ones: a bucket that refills evenly,
 * and no more than the rate within any minute. It tells nothing of its limit of requests in headers. It answers with as many tokens as
 * the prompt asks for, "answer with 20 tokens", or with one. It is a process of its own: what keeps this one
 * busy would make calls late, and a call counts when it is read.
 */
export async function startProviderSimulator(options: SimulatorOptions): Promise<ProviderSimulator> {
  const child = fork(ENTRY, [JSON.stringify(options)], {
    env: childEnvironment(),
    execArgv: [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const calls: SimulatedCall[] = [];
  const waiting: ((event: Exclude<ProviderEvent, { kind: 'call' }>) => void)[] = [];
  const answer = (): Promise<Exclude<ProviderEvent, { kind: 'call' }>> => new Promise((resolve) => waiting.push(resolve));
  child.on('message', (event: ProviderEvent) => {
    if (event.kind === 'call') calls.push(event.call);
    else waiting.shift()?.(event);
  });
  const isEnded = once(child, 'exit');
  const failed = isEnded.then(([code]) => {
    throw new Error(`The simulated provider ended with ${code}`);
  });
  failed.catch(() => undefined);
  const order = async (command: ProviderCommand): Promise<number> => {
    const answered = answer();
    child.send(command);
    const event = await Promise.race([answered, failed]);
    return event.kind === 'done' ? event.now : 0;
  };
  const ready = await Promise.race([answer(), failed]);
  return {
    baseUrl: `${ready.kind === 'ready' ? ready.url : ''}/v1`,
    calls,
    wall: () => order('wall'),
    lift: () => order('lift'),
    close: async () => {
      if (child.connected) child.disconnect();
      await isEnded;
    },
  };
}
