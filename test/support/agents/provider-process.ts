import type { ServerResponse } from 'node:http';
import { startFakeHttpEndpoint } from '../fake-http-endpoint.ts';
import { MinuteLimit, type Taken } from './minute-limit.ts';
import type { ProviderCommand, ProviderEvent, Refusal, SimulatorOptions } from './provider-simulator.ts';

// The simulated provider: a process of its own, whose parent gets each call as it comes.
const BYTES_PER_TOKEN = 4;

const { requestsPerMinute, burst, answerMs, tokensPerCall = 20, ...rates } = JSON.parse(process.argv[2] ?? '{}') as SimulatorOptions;
const requests = new MinuteLimit(requestsPerMinute, burst);
const tokens = rates.tokens && new MinuteLimit(rates.tokens.perMinute, rates.tokens.burst);
let isWalled = false;

function send(event: ProviderEvent): void {
  process.send?.(event);
}

/** A call, with the tokens that it may use at most and those that it will. */
interface Call {
  prompt: string;
  inputTokens: number;
  maxTokens: number;
  used: number;
}

function readCall(body: string): Call {
  const { messages = [], max_tokens: max } = JSON.parse(body) as { messages?: { content?: unknown }[]; max_tokens?: number };
  const content = messages.at(-1)?.content;
  const prompt = typeof content === 'string' ? content : JSON.stringify(content);
  const inputTokens = rates.tokens ? Math.ceil(Buffer.byteLength(prompt) / BYTES_PER_TOKEN) : tokensPerCall - 1;
  const [, asked] = /answer with (\d+) tokens/.exec(prompt) ?? [];
  const used = inputTokens + Number(asked ?? 1);
  return { prompt, inputTokens, used, maxTokens: Math.max(used, inputTokens + (max ?? 0)) };
}

function refusalAt(now: number, { maxTokens }: Call): Refusal | null {
  if (isWalled) return 'wall';
  const inTokens = tokens?.refusal(now, maxTokens);
  return requests.refusal(now, 1) ?? (inTokens ? `${inTokens} of tokens` : null);
}

/** What an answer tells of the limit of tokens; of requests it tells nothing. */
function headersAt(now: number): Record<string, string> {
  if (!tokens || !rates.tokens) return {};
  return {
    'x-ratelimit-limit-tokens': `${rates.tokens.perMinute}`,
    'x-ratelimit-remaining-tokens': `${Math.floor(tokens.left(now))}`,
    'x-ratelimit-reset-tokens': `${(tokens.resetMs(now) / 1000).toFixed(3)}s`,
  };
}

function answerOf({ prompt, inputTokens, used }: Call): string {
  const chunk = { id: 'answer', object: 'chat.completion.chunk', created: 0, model: 'simulated' };
  const usage = { prompt_tokens: inputTokens, completion_tokens: used - inputTokens, total_tokens: used };
  const events = [
    { ...chunk, choices: [{ index: 0, delta: { role: 'assistant', content: prompt }, finish_reason: null }] },
    { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage },
  ];
  return [...events.map((event) => JSON.stringify(event)), '[DONE]'].map((data) => `data: ${data}\n\n`).join('');
}

function refuse(response: ServerResponse, now: number, { refusal, call }: { refusal: Refusal; call: Call }): void {
  const code = refusal === 'wall' ? 'insufficient_quota' : 'rate_limit_exceeded';
  const isOfTokens = refusal.endsWith('of tokens');
  const wait = isOfTokens ? { 'retry-after-ms': `${Math.ceil(tokens?.waitMs(now, call.maxTokens) ?? 0)}` } : {};
  const message = isOfTokens ? `Rate limit reached on tokens per min (TPM): requested ${call.maxTokens}` : 'No more calls now';
  response.writeHead(429, { 'content-type': 'application/json', ...headersAt(now), ...wait });
  response.end(JSON.stringify({ error: { message, type: isOfTokens ? 'tokens' : code, code } }));
}

/** Books the most that a call may use, until its answer says what it used. */
function answer(response: ServerResponse, now: number, call: Call): void {
  requests.take(now, 1);
  const booked: Taken | undefined = tokens?.take(now, call.maxTokens);
  setTimeout(() => {
    const headers = headersAt(performance.now());
    if (booked) tokens?.correct(booked, call.used);
    response.writeHead(200, { 'content-type': 'text/event-stream', ...headers });
    response.end(answerOf(call));
  }, answerMs);
}

const endpoint = await startFakeHttpEndpoint((response) => {
  const now = performance.now();
  const call = readCall(endpoint.requests.pop()?.body ?? '{}');
  const refusal = refusalAt(now, call);
  send({ kind: 'call', call: { at: now, refusal, prompt: call.prompt, tokens: call.used } });
  if (refusal === null) answer(response, now, call);
  else refuse(response, now, { refusal, call });
});

process.on('message', (command: ProviderCommand) => {
  isWalled = command === 'wall';
  send({ kind: 'done', now: performance.now() });
});
// Also when its parent was killed.
process.once('disconnect', () => process.exit());
send({ kind: 'ready', url: endpoint.url });
