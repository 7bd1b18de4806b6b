import { startFakeHttpEndpoint } from '../fake-http-endpoint.ts';
import type { ProviderCommand, ProviderEvent, Refusal, SimulatorOptions } from './provider-simulator.ts';

// The simulated provider: a process of its own, whose parent gets each call as it comes.
const MINUTE_MS = 60_000;

const { requestsPerMinute, burst, answerMs, tokensPerCall = 20 } = JSON.parse(process.argv[2] ?? '{}') as SimulatorOptions;
const taken: number[] = [];
let bucket = { left: burst, at: performance.now() };
let isWalled = false;

function send(event: ProviderEvent): void {
  process.send?.(event);
}

function refusalAt(now: number): Refusal | null {
  if (isWalled) return 'wall';
  while ((taken[0] ?? now) <= now - MINUTE_MS) taken.shift();
  bucket = { left: Math.min(burst, bucket.left + ((now - bucket.at) * requestsPerMinute) / MINUTE_MS), at: now };
  if (taken.length >= requestsPerMinute) return 'minute';
  if (bucket.left < 1) return 'burst';
  bucket.left -= 1;
  taken.push(now);
  return null;
}

function promptOf(body: string): string {
  const { messages = [] } = JSON.parse(body) as { messages?: { content?: unknown }[] };
  const content = messages.at(-1)?.content;
  return typeof content === 'string' ? content : JSON.stringify(content);
}

function answerOf(prompt: string): string {
  const chunk = { id: 'answer', object: 'chat.completion.chunk', created: 0, model: 'simulated' };
  const usage = { prompt_tokens: tokensPerCall - 1, completion_tokens: 1, total_tokens: tokensPerCall };
  const events = [
    { ...chunk, choices: [{ index: 0, delta: { role: 'assistant', content: prompt }, finish_reason: null }] },
    { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage },
  ];
  return [...events.map((event) => JSON.stringify(event)), '[DONE]'].map((data) => `data: ${data}\n\n`).join('');
}

const endpoint = await startFakeHttpEndpoint((response) => {
  const now = performance.now();
  const prompt = promptOf(endpoint.requests.pop()?.body ?? '{}');
  const refusal = refusalAt(now);
  send({ kind: 'call', call: { at: now, refusal, prompt } });
  if (refusal !== null) {
    const code = refusal === 'wall' ? 'insufficient_quota' : 'rate_limit_exceeded';
    response.writeHead(429, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { message: 'No more calls now', type: code, code } }));
    return;
  }
  setTimeout(() => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(answerOf(prompt));
  }, answerMs);
});

process.on('message', (command: ProviderCommand) => {
  isWalled = command === 'wall';
  send({ kind: 'done', now: performance.now() });
});
// Also when its parent was killed.
process.once('disconnect', () => process.exit());
send({ kind: 'ready', url: endpoint.url });
