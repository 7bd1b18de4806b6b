import { startFakeHttpEndpoint } from '../fake-http-endpoint.ts';

export interface SimulatorOptions {
  requestsPerMinute: number;
  /** Calls that it takes at once after a pause; the rest has to be spread. */
  burst: number;
  tokensPerCall?: number;
  /** How long an answer takes. */
  answerMs: number;
}

/** A call as the provider saw it. */
export interface SimulatedCall {
  /** Monotonic, ms. */
  at: number;
  status: 200 | 429;
  prompt: string;
}

export interface ProviderSimulator {
  /** What an `openai` agent takes as `baseUrl`. */
  readonly baseUrl: string;
  readonly calls: readonly SimulatedCall[];
  /** From now on the account is out of quota, until it is lifted. */
  wall(): void;
  lift(): void;
  close(): Promise<void>;
}

const MINUTE_MS = 60_000;

/**
 * A provider of OpenAI's form on a free port of the loopback that counts as strictly as the documented ones: a bucket that refills evenly,
 * and no more than the rate within any minute. It tells nothing of its limits in headers.
 */
export async function startProviderSimulator(options: SimulatorOptions): Promise<ProviderSimulator> {
  const { requestsPerMinute, burst, tokensPerCall = 20, answerMs } = options;
  const calls: SimulatedCall[] = [];
  let bucket = { left: burst, at: performance.now() };
  let isWalled = false;

  const isAllowed = (now: number): boolean => {
    const refilled = Math.min(burst, bucket.left + ((now - bucket.at) * requestsPerMinute) / MINUTE_MS);
    const ofMinute = calls.filter(({ at, status }) => status === 200 && at > now - MINUTE_MS).length;
    const isFree = refilled >= 1 && ofMinute < requestsPerMinute;
    bucket = { left: refilled - (isFree ? 1 : 0), at: now };
    return isFree;
  };

  const endpoint = await startFakeHttpEndpoint((response) => {
    const now = performance.now();
    const prompt = promptOf(endpoint.requests.at(-1)?.body ?? '{}');
    const refusal = isWalled ? 'insufficient_quota' : isAllowed(now) ? null : 'rate_limit_exceeded';
    calls.push({ at: now, status: refusal === null ? 200 : 429, prompt });
    if (refusal !== null) {
      response.writeHead(429, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: 'No more calls now', type: refusal, code: refusal } }));
      return;
    }
    setTimeout(() => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(answerOf(prompt, tokensPerCall));
    }, answerMs);
  });
  return {
    baseUrl: `${endpoint.url}/v1`,
    calls,
    wall: () => {
      isWalled = true;
    },
    lift: () => {
      isWalled = false;
    },
    close: () => endpoint.close(),
  };
}

function promptOf(body: string): string {
  const { messages = [] } = JSON.parse(body) as { messages?: { content?: unknown }[] };
  const content = messages.at(-1)?.content;
  return typeof content === 'string' ? content : JSON.stringify(content);
}

function answerOf(prompt: string, tokens: number): string {
  const chunk = { id: 'answer', object: 'chat.completion.chunk', created: 0, model: 'simulated' };
  const usage = { prompt_tokens: tokens - 1, completion_tokens: 1, total_tokens: tokens };
  const events = [
    { ...chunk, choices: [{ index: 0, delta: { role: 'assistant', content: prompt }, finish_reason: null }] },
    { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage },
  ];
  return [...events.map((event) => JSON.stringify(event)), '[DONE]'].map((data) => `data: ${data}\n\n`).join('');
}
