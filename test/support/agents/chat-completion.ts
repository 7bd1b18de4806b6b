import type { ServerResponse } from 'node:http';

const USAGE = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };

/** Answers a call of a model with "Hi", in OpenAI's form. */
export function answerCompletion(response: ServerResponse, usage: object = USAGE): void {
  const choices = [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }];
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ id: 'x', model: 'm', choices, usage }));
}
